import Foundation
import TestSupport

/// What lies beside the benchmarks: programs built with them, scripts of their sources, and files
/// kept between runs.
enum Beside {
    /// mirror-bot, built as the benchmarks were.
    static func mirrorBot() throws -> String {
        let path = folder + "/mirror-bot"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw TestSupportError("could not find \(path): build the product mirror-bot")
        }
        return path
    }

    /// A script of `Benchmarks/Scripts`.
    static func script(_ name: String) throws -> String {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Scripts/\(name)").standardized.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw TestSupportError(
                "could not find \(path): run the benchmarks where they were built")
        }
        return path
    }

    /// A file that takes long to make and is kept in the build folder for the next run.
    ///
    /// - Parameters:
    ///   - name: Its name, another one for other contents.
    ///   - make: Makes it at the path that it is given, which is not yet the final one.
    /// - Returns: Its path.
    /// - Throws: What `make` throws.
    static func kept(_ name: String, make: (String) throws -> Void) throws -> String {
        let path = folder + "/kept/" + name
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        try FileManager.default.createDirectory(
            atPath: folder + "/kept", withIntermediateDirectories: true)
        let unfinished = path + ".unfinished"
        try? FileManager.default.removeItem(atPath: unfinished)
        try make(unfinished)
        try FileManager.default.moveItem(atPath: unfinished, toPath: path)
        return path
    }

    /// The folder of this executable.
    private static let folder: String = {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: path).resolvingSymlinksInPath().deletingLastPathComponent().path
    }()
}
