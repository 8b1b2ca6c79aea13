import Foundation
import TestSupport
import Testing

/// The files that a Heroku-style platform reads, in the way in which it reads them.
@Suite struct DeploymentFilesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    // MARK: bin/post_compile

    /// An unpacked dictionary, and a stand-in for its compiler that writes down what it was told.
    private struct App {
        let folder: TemporaryDirectory

        init(withDictionary: Bool = true) throws {
            folder = try TemporaryDirectory()
            let words = folder.path(".apt/usr/share/mecab/dic/ipadic")
            let tools = folder.path(".apt/usr/lib/mecab")
            for path in [tools, folder.path("bin")] + (withDictionary ? [words] : []) {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try folder.write(
                Data("#!/bin/sh\necho \"$@\" >\"$4/compiled\"\n".utf8), to: ".apt/usr/lib/mecab/mecab-dict-index")
            chmod("\(tools)/mecab-dict-index", 0o755)
            if withDictionary {
                try folder.write(Data("cost-factor = 800".utf8), to: ".apt/usr/share/mecab/dic/ipadic/dicrc")
                try folder.write(Data("word".utf8), to: ".apt/usr/share/mecab/dic/ipadic/Noun.csv")
            }
            try FileManager.default.copyItem(
                atPath: root.appendingPathComponent("bin/post_compile").path, toPath: folder.path("bin/post_compile"))
        }

        /// Goes on after the hook as the Swift buildpack does: in the same shell, with variables that nobody set.
        func build() throws -> (status: Int32, output: String) {
            let script = """
                set -e; set -o pipefail; cd "$1"; source bin/post_compile "$1"; options=$-
                [[ -z "$RUN_TESTS" ]]; [[ "$options" != *u* ]]; echo installed
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["bash", "-c", script, "compile", folder.path]
            process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: output, as: UTF8.self))
        }
    }

    @Test func theBuildGoesOnAfterTheHook() throws {
        let app = try App()
        let (status, output) = try app.build()
        #expect(status == 0, "\(output)")
        #expect(output.hasSuffix("installed\n"))
        let target = app.folder.path(".apt/var/lib/mecab/dic/ipadic-utf8")
        let told = try String(contentsOfFile: "\(target)/compiled", encoding: .utf8)
        #expect(told.hasSuffix("-f EUC-JP -t UTF-8\n"))
        #expect(FileManager.default.fileExists(atPath: "\(target)/dicrc"))
        #expect(!FileManager.default.fileExists(atPath: app.folder.path(".apt/usr/share/mecab/dic/ipadic/Noun.csv")))
    }

    @Test func aMissingDictionaryEndsTheBuild() throws {
        let (status, output) = try App(withDictionary: false).build()
        #expect(status == 1)
        #expect(output.contains("is mecab-ipadic in the Aptfile?") && !output.contains("installed"))
    }

    // MARK: app.json, Aptfile

    private struct Manifest: Decodable {
        struct Variable: Decodable {
            var description: String
            var value: String?
            var required: Bool?
        }

        var env: [String: Variable]
        var formation: [String: Process]

        struct Process: Decodable {
            var quantity: Int
            var size: String
        }
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
    }

    /// Linked into the program, Swift's library knows no time zones; without a product, the crash harness is built too.
    @Test func thePlatformBuildsTheWorkerAloneWithSwiftBesideIt() throws {
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(try text("app.json").utf8))
        #expect(manifest.env["SWIFT_BUILD_FLAGS"]?.value == "--product mirror-bot")
        #expect(manifest.env["SWIFT_DYNAMIC_STDLIB"]?.value == "true")
        #expect(manifest.formation.keys.sorted() == ["worker"])
        let package = try text("Package.swift")
        #expect(package.contains(#".executable(name: "mirror-bot""#))
    }

    @Test func thePlatformAsksForWhatRunNeeds() throws {
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(try text("app.json").utf8))
        let zone = try #require(manifest.env["TIME_ZONE"])
        #expect(zone.required != false && zone.value == nil && !zone.description.isEmpty)
    }

    /// What the build links is in the build image or named here.
    @Test func theLibrariesThatTheBuildImageLacksAreNamed() throws {
        let packages = Set(try text("Aptfile").split(separator: "\n").map(String.init))
        #expect(
            packages.isSuperset(of: [
                "libarchive-dev", "libhiredis-dev", "libmecab-dev", "libsqlite3-dev", "mecab-ipadic", "mecab-utils",
            ]))
    }
}
