import Expectations
import Foundation
import Mirroring
import TestSupport
import Testing

/// What names a program: its commit, and the release that it is of.
@Suite(.timeLimit(.minutes(30))) struct ReleaseTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Runs a line of a shell in the folder, with a git that nobody's settings change.
    @discardableResult
    private func shell(_ line: String) async throws -> String {
        let git =
            "git -c user.name=somebody -c user.email=somebody@example.com -c commit.gpgsign=false"
        return try await ChildProcess.run([
            "/bin/bash", "-c",
            "cd '\(folder.path)' && export LC_ALL=C && unset SOURCE_VERSION GIT_DIR && git() { command \(git) \"$@\"; } && \(line)",
        ])
    }

    private func copy(_ paths: String...) throws {
        for path in paths {
            let target = folder.path(path)
            try FileManager.default.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: Repository.root.path + "/" + path, toPath: target)
        }
    }

    // MARK: The commit

    /// The commit that a build of the folder's tree would name.
    private func commit(_ variables: String = "", in subfolder: String = ".") async throws -> String
    {
        try await shell(
            "\(variables) '\(subfolder)/Sources/Commit/Plugin/commit.sh' '\(folder.path("built"))'")
        let text = String(
            decoding: FileManager.default.contents(atPath: folder.path("built")) ?? Data(),
            as: UTF8.self)
        try FileManager.default.removeItem(atPath: folder.path("built"))
        return try String(#require(text.firstMatch(of: /"(?<name>[^"]*)"/)).output.name)
    }

    @Test func aBuildNamesTheCommitOfItsTree() async throws {
        try copy("Sources/Commit/Plugin/commit.sh")
        try await #expect(commit() == "unknown commit")
        try await shell("git init -q . && git add . && git commit -qm one")
        let first = try await shell("git rev-parse --short=7 HEAD").trimmingCharacters(
            in: .newlines)
        try await #expect(commit() == first)
        try await shell("touch new")
        try await #expect(commit() == "\(first), changed")
        try await shell("git add . && git commit -qm two")
        let second = try await shell("git rev-parse --short=7 HEAD").trimmingCharacters(
            in: .newlines)
        #expect(first != second)
        try await #expect(commit() == second)
    }

    @Test func aPlatformWithoutGitNamesItByAVariable() async throws {
        try copy("Sources/Commit/Plugin/commit.sh")
        let digits = "0123456789abcdef0123456789abcdef01234567"
        try await #expect(commit("SOURCE_VERSION=\(digits)") == "0123456")
        try await #expect(commit("SOURCE_VERSION=v1.2-rc_1") == "v1.2-rc_1")
        // Whatever is in it, what is generated compiles.
        try await #expect(commit("SOURCE_VERSION='\"; fatalError(); \"'") == "unknown commit")
    }

    @Test func anArchiveOfGitKnowsItsCommitAlsoWithinAnotherRepository() async throws {
        try copy("Sources/Commit/Plugin/commit.sh", ".gitattributes")
        try await shell("git init -q . && git add . && git commit -qm one")
        try await shell("mkdir inside && git archive HEAD | tar -x -C inside")
        let name = try await shell("git rev-parse --short=7 HEAD").trimmingCharacters(in: .newlines)
        try await shell("git add . && git commit -qm two")
        try await expect(commit(in: "inside")) { $0.hasPrefix(name) }
    }

    /// What is right already is not written, for everything after it would be made anew.
    @Test func theSameCommitTouchesNothing() async throws {
        try copy("Sources/Commit/Plugin/commit.sh")
        try await shell("Sources/Commit/Plugin/commit.sh built && touch -d 2001-01-01 built")
        try await shell("Sources/Commit/Plugin/commit.sh built")
        try await #expect(shell("date -u -r built +%Y") == "2001\n")
    }

    // MARK: A release

    /// A repository that a release may be made of.
    private func makeRepository() async throws {
        try copy("deploy/release.sh", "Sources/Mirroring/Installation.swift", "CHANGELOG.md")
        try await shell("git init -q . && git add . && git commit -qm one")
    }

    private func refusal() async -> String {
        do {
            try await shell("deploy/release.sh check")
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func aReleaseIsMadeOfACommit() async throws {
        try await makeRepository()
        await #expect(refusal() == "")
        try await shell("echo >>CHANGELOG.md")
        await #expect(
            refusal().contains("there are changes that are not committed:  M CHANGELOG.md"))
        try await shell("git checkout -q . && touch new")
        await #expect(refusal().contains("there are changes that are not committed: ?? new"))
    }

    @Test(arguments: [
        "s/^## \\[\(Version.current)\\]/## [9.9.9]/",
        "s/^\\(## \\[\(Version.current)\\]\\).*/\\1 - unreleased/",
    ])
    func aReleaseIsInTheChangelog(_ edit: String) async throws {
        try await makeRepository()
        try await shell("sed -i '\(edit)' CHANGELOG.md && git commit -qam two")
        await #expect(
            refusal().contains("CHANGELOG.md has no heading '## [\(Version.current)] - YYYY-MM-DD'")
        )
    }

    @Test func aVersionIsReleasedOnce() async throws {
        try await makeRepository()
        try await shell("git tag -am release v\(Version.current)")
        await #expect(refusal() == "")
        try await shell("echo >>CHANGELOG.md && git commit -qam two")
        await #expect(refusal().contains("v\(Version.current) is the tag of another commit"))
    }

    /// A program built from an earlier commit is not packed as this one.
    @Test func aProgramOfAnotherCommitIsNotPacked() async throws {
        try await makeRepository()
        try await shell("echo .build/ >.gitignore && git add . && git commit -qm two")
        let packed = ".build/dist/mirror-bot-\(Version.current)-linux-$(uname -m)"
        let package = ".build/dist/mirror-bot_\(Version.current)_$(dpkg --print-architecture).deb"
        try await shell("mkdir -p \(packed)/bin && touch \(packed).tar.gz \(package)")
        func make(_ commit: String) async throws {
            let program = "\(packed)/bin/mirror-bot"
            try await shell(
                "printf '#!/bin/sh\\necho \"mirror-bot \(Version.current) (%s)\"\\n' \(commit) >\(program)"
            )
            try await shell("chmod +x \(packed)/bin/mirror-bot")
        }
        try await make("abc1234")
        await #expect(throws: TestSupportError.self) { try await shell("deploy/release.sh pack") }
        try await make("$(git rev-parse --short=7 HEAD)")
        try await shell(
            "deploy/release.sh pack && cd .build/release-\(Version.current) && sha256sum --check --strict SHA256SUMS"
        )
        let made = try await shell(
            "cd .build/release-\(Version.current) && ls | sed 's/_.*\\.deb/.deb/; s/linux-.*/linux/'"
        )
        #expect(
            made
                == "SHA256SUMS\nmirror-bot-\(Version.current)-linux\nmirror-bot-\(Version.current).tar.gz\nmirror-bot.deb\n"
        )
    }
}
