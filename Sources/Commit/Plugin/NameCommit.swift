import Foundation
import PackagePlugin

/// Generates the Swift file that names the commit which the package is built from.
@main struct NameCommit: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let output = context.pluginWorkDirectoryURL.appending(path: "BuiltCommit.swift")
        let variables = ["HOME", "PATH", "SOURCE_VERSION"]
        let environment = ProcessInfo.processInfo.environment.filter { variables.contains($0.key) }
        let sources = context.package.targets.compactMap(\.sourceModule).flatMap {
            $0.sourceFiles.map(\.url)
        }
        return [
            .buildCommand(
                displayName: "Name the commit", executable: URL(filePath: "/bin/sh"),
                arguments: [
                    root.appending(path: "Sources/Commit/Plugin/commit.sh").path, output.path,
                ],
                // Heroku and others that build without .git put the commit into SOURCE_VERSION,
                // which commit.sh reads.
                environment: environment, inputFiles: gitStateFiles(of: root) + sources,
                outputFiles: [output])
        ]
    }

    /// The files that git writes with a commit, a checkout or a staged change; none in a tree
    /// without git's data.
    private func gitStateFiles(of root: URL) -> [URL] {
        let gitEntry = root.appending(path: ".git")
        // In a linked worktree, `.git` is a file that names the folder. If `.git` cannot be read as
        // text, it is the folder itself.
        let folderPrefix = "gitdir: "
        let gitFileText = try? String(contentsOf: gitEntry, encoding: .utf8)
        let gitFolder = gitFileText?.split(separator: "\n").first.flatMap { line in
            line.hasPrefix(folderPrefix)
                ? URL(filePath: String(line.dropFirst(folderPrefix.count)), relativeTo: root) : nil
        }
        return ["HEAD", "index", "logs/HEAD"].map { (gitFolder ?? gitEntry).appending(path: $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
    }
}
