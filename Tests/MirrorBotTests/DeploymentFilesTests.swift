import ArgumentParser
import Control
import Expectations
import Foundation
import MeCab
import Mirroring
import Settings
import TestSupport
import Testing

@testable import MirrorBot

/// The files that a Heroku-style platform reads, in the way in which it reads them.
@Suite struct DeploymentFilesTests {
    // MARK: bin/post_compile

    /// An unpacked dictionary, and a stand-in for its compiler that writes down what it was told.
    private struct App {
        let folder: TemporaryDirectory

        init(withDictionary: Bool = true) throws {
            folder = try TemporaryDirectory()
            let words = folder.path(".apt/usr/share/mecab/dic/ipadic")
            let tools = folder.path(".apt/usr/lib/mecab")
            for path in [tools, folder.path("bin")] + (withDictionary ? [words] : []) {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
            }
            try folder.write(
                Data("#!/bin/sh\necho \"$@\" >\"$4/compiled\"\n".utf8),
                to: ".apt/usr/lib/mecab/mecab-dict-index")
            chmod("\(tools)/mecab-dict-index", 0o755)
            if withDictionary {
                try folder.write(
                    Data("cost-factor = 800".utf8), to: ".apt/usr/share/mecab/dic/ipadic/dicrc")
                try folder.write(Data("word".utf8), to: ".apt/usr/share/mecab/dic/ipadic/Noun.csv")
            }
            try FileManager.default.copyItem(
                atPath: Repository.root.appendingPathComponent("bin/post_compile").path,
                toPath: folder.path("bin/post_compile"))
        }

        /// Goes on around and after the hook as the Swift buildpack does: in the same shell, with
        /// variables that nobody set, and with a step of its own between it and the hook, which
        /// hands its arguments on unsaid.
        func build() throws -> (status: Int32, output: String) {
            try folder.write(Data("source ./bin/post_compile".utf8), to: "step")
            return try shell(
                """
                set -e; set -o pipefail; cd "$1"; source "$1/step" "$1" cache variables; options=$-
                [[ -z "$RUN_TESTS" ]]; [[ "$options" != *u* ]]; echo installed
                LD_LIBRARY_PATH=$1/.apt/usr/lib:$LD_LIBRARY_PATH
                echo "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$HOME/.swift-lib" >>"$1/.profile.d/swift.sh"
                """)
        }

        /// Starts a process as the platform does, from another folder than that of the build, and
        /// has it say what a variable is.
        func start(saying variable: String) throws -> String {
            try shell(
                """
                mv "$1" "$1.moved"; HOME=$1.moved; cd "$HOME"
                for script in .profile.d/*.sh; do source "$script"; done
                echo "$\(variable)"; mv "$1.moved" "$1"
                """
            ).output.trimmingCharacters(in: .newlines)
        }

        /// Runs a script of bash whose `$1` is the app's folder.
        private func shell(_ script: String) throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["bash", "-c", script, "compile", folder.path]
            process.environment = [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            ]
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
        #expect(
            !FileManager.default.fileExists(
                atPath: app.folder.path(".apt/usr/share/mecab/dic/ipadic/Noun.csv")))
    }

    @Test func aMissingDictionaryEndsTheBuild() throws {
        let (status, output) = try App(withDictionary: false).build()
        #expect(status == 1)
        #expect(output.contains("is mecab-ipadic in the Aptfile?"))
        #expect(!output.contains("installed"))
    }

    /// The Swift buildpack's script, which is read after the apt buildpack's, names only folders of
    /// the build.
    @Test func librariesAreFoundWhereTheAppRuns() throws {
        let app = try App()
        try #require(try app.build().status == 0)
        let folders = try app.start(saying: "LD_LIBRARY_PATH").split(separator: ":").map(
            String.init)
        let home = app.folder.path + ".moved"
        #expect(folders.contains("\(home)/.swift-lib"))
        expect(folders) {
            $0.contains { $0.hasPrefix("\(home)/.apt/usr/lib/") && $0.hasSuffix("-linux-gnu") }
        }
    }

    @Test func theDictionaryIsWhereTheProgramLooks() throws {
        let app = try App()
        try #require(try app.build().status == 0)
        let compiled = ".apt/var/lib/mecab/dic/ipadic-utf8"
        #expect(FileManager.default.fileExists(atPath: app.folder.path(compiled) + "/dicrc"))
        #expect(DictionaryProfile.ipadic.searchPaths.contains("/app/" + compiled))
    }

    /// The buildpack reads the hook into the shell that builds.
    @Test func thePlatformBuildsOnlyWhatAWorkerNeeds() async throws {
        let output = try await ChildProcess.run([
            "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "bash", "-ec", "source \"$1\"; env",
            "compile",
            Repository.root.appendingPathComponent("bin/pre_compile").path,
        ])
        let variables = output.split(separator: "\n")
        #expect(variables.contains("MIRROR_BOT_WORKER_ONLY=1"))
        #expect(
            try Repository.text(of: "Package.swift").contains(
                #"Context.environment["MIRROR_BOT_WORKER_ONLY"]"#))
    }

    // MARK: app.json, Aptfile, Procfile

    private struct Manifest: Decodable {
        struct Variable: Decodable {
            var description: String
            var value: String?
            var required: Bool?
            var generator: String?
        }

        struct Process: Decodable {
            var quantity: Int
            var size: String
        }

        struct Buildpack: Decodable { var url: String }

        var env: [String: Variable]
        var formation: [String: Process]
        var buildpacks: [Buildpack]
        var scripts: [String: String]
    }

    private func manifest() throws -> Manifest {
        try JSONDecoder().decode(
            Manifest.self, from: Data(try Repository.text(of: "app.json").utf8))
    }

    /// What the Swift buildpack reads, and not the program.
    private static let ofTheBuild = ["SWIFT_BUILD_FLAGS", "SWIFT_DYNAMIC_STDLIB"]

    /// Linked into the program, Swift's library knows no time zones; without a product, more is
    /// built than it.
    @Test func thePlatformBuildsTheWorkerAloneWithSwiftBesideIt() throws {
        let manifest = try manifest()
        #expect(
            manifest.env["SWIFT_BUILD_FLAGS"]?.value
                == "--product mirror-bot -debug-info-format none")
        #expect(manifest.env["SWIFT_DYNAMIC_STDLIB"]?.value == "true")
        let package = try Repository.text(of: "Package.swift")
        #expect(package.contains(#".executable(name: "mirror-bot""#))
    }

    /// The libraries of the first are what the second links.
    @Test func theAptBuildpackComesFirst() throws {
        let buildpacks = try manifest().buildpacks.map(\.url)
        #expect(
            buildpacks == [
                "heroku-community/apt", "https://github.com/vapor-community/heroku-buildpack",
            ])
    }

    /// The form has no headings.
    @Test func theFormSaysWhatToFillInForEachNetwork() throws {
        let env = try manifest().env
        for (first, network) in [
            ("HUMAN_CONSUMER_KEY", "X"), ("HUMAN_SERVER", "Mastodon"), ("HUMAN_HANDLE", "Bluesky"),
        ] {
            let advice = try #require(env[first]?.description)
            #expect(advice.contains("For \(network), fill in "), "\(first): \(advice)")
        }
        let places = try [
            "HUMAN_CONSUMER_KEY", "BOT_ACCESS_TOKEN", "HUMAN_SERVER", "HUMAN_HANDLE", "TIME_ZONE",
        ].map {
            try #require(try Repository.text(of: "app.json").range(of: "\"\($0)\": {")).lowerBound
        }
        #expect(places == places.sorted())
    }

    @Test func everyVariableIsOneOfTheProgram() throws {
        for (name, variable) in try manifest().env where !Self.ofTheBuild.contains(name) {
            let setting = try #require(AnySetting.all.first { $0.name == name }, "\(name)")
            if let value = variable.value { #expect(value == setting.fallback, "\(name)") }
        }
    }

    /// What a platform sets itself, what leads away from the networks and what nobody has to think
    /// of is not asked for.
    @Test func theAccountsOfEveryNetworkAreAskedFor() throws {
        let asked = Set(try manifest().env.keys)
        let ofAccounts = AnySetting.all.map(\.name).filter { name in
            ["HUMAN_", "BOT_", "X_"].contains { name.hasPrefix($0) }
                && !name.hasSuffix("_API_BASE_URL")
        }
        #expect(ofAccounts.count >= 20)
        #expect(asked.isSuperset(of: ofAccounts + ["NETWORK", "OPERATOR_CONTACT", "SECRET_KEY"]))
        #expect(asked.isDisjoint(with: ["DATABASE_URL", "REDIS_URL", "MIRROR_BOT_HOME"]))
    }

    /// A variable that is not marked otherwise must be filled in before the platform makes the app.
    @Test func nothingElseMustBeFilledIn() throws {
        let demanded = try manifest().env.filter { _, variable in
            variable.required != false && variable.value == nil && variable.generator == nil
        }
        #expect(demanded.isEmpty)
    }

    /// The processes by their names.
    private func processes() throws -> [String: String] {
        let lines = try Repository.text(of: "Procfile").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 1)
        }
        return Dictionary(
            uniqueKeysWithValues: try lines.map { parts in
                try #require(parts.count == 2)
                return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
            })
    }

    /// Fails unless the program knows the words.
    private func check(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        #expect(words.first == "mirror-bot")
        _ = try MirrorBot.parseAsRoot(Array(words.dropFirst()))
    }

    @Test func theProcessesAreCommandsOfTheProgram() throws {
        let processes = try processes()
        #expect(
            processes == [
                "release": "mirror-bot migrate", "worker": "mirror-bot run",
                "web": "mirror-bot web",
            ])
        for command in processes.values { try check(command) }
        expect(Set(try manifest().formation.keys), equals: ["worker", "web"])
    }

    /// A training that cannot be yet must not undo the deployment, and the last word says what is
    /// missing.
    @Test func theFirstDeploymentTrainsAndSaysWhatToDoNext() throws {
        let script = try #require(try manifest().scripts["postdeploy"])
        let commands = script.components(separatedBy: " && ")
        for command in commands { try check(command) }
        #expect(
            commands == [
                "mirror-bot train scheduler --if-possible",
                "mirror-bot train classifier --if-possible",
                "mirror-bot status",
            ])
    }

    /// What the build links is in the build image or named here; a link to a library leads to one
    /// that is named too.
    @Test func theLibrariesThatTheBuildImageLacksAreNamed() throws {
        let packages = try Repository.text(of: "Aptfile").split(separator: "\n").map(String.init)
            .filter {
                !$0.hasPrefix("#")
            }
        #expect(Set(packages).isSuperset(of: ["mecab-ipadic", "mecab-utils"]))
        let libraries = ["libarchive", "libhiredis", "libmecab", "libsqlite3"]
        #expect(packages.filter { $0.hasSuffix("-dev") }.sorted() == libraries.map { $0 + "-dev" })
        for library in libraries {
            expect(packages, "\(library)") {
                $0.contains { $0.hasPrefix(library) && !$0.hasSuffix("-dev") }
            }
        }
    }

    /// The Dockerfile installs for its build what the Makefile does, without the dictionary and the
    /// zone files, which only a run needs; the Aptfile names what of that the build image lacks.
    @Test func everyBuildNamesTheSameLibraries() throws {
        let makefile = try #require(
            try Repository.text(of: "Makefile").firstMatch(of: /(?m)^PACKAGES = (?<names>.+)$/)
        )
        .output.names
        let packages = Set(makefile.split(separator: " ").map(String.init))
        let build = try Repository.text(of: "Dockerfile").components(separatedBy: "\nFROM ")[1]
        let installed = build.matches(of: /\blib[a-z0-9-]+-dev\b/).map { String($0.output) }
        #expect(Set(installed) == packages.subtracting(["mecab-ipadic-utf8", "tzdata"]))
        let named = try Repository.text(of: "Aptfile").split(separator: "\n").map(String.init)
            .filter {
                $0.hasSuffix("-dev")
            }
        #expect(packages.isSuperset(of: named), "\(named)")
    }

    // MARK: Versions, and what else platforms start

    /// The changelog's newest heading and the images that Kubernetes is to run name the version
    /// that the program says.
    @Test func everyFileNamesTheProgramsVersion() throws {
        let heading = try #require(
            try Repository.text(of: "CHANGELOG.md").firstMatch(
                of: /(?m)^## \[(?<version>[0-9.]+)\]/))
        #expect(String(heading.output.version) == Version.current)
        let images = try Repository.text(of: "deploy/kubernetes/mirror-bot.yaml").matches(
            of: /image: mirror-bot:(?<version>\S+)/)
        #expect(images.map { String($0.output.version) } == [Version.current, Version.current])
    }

    /// The words with which a platform's file starts the program, in whichever way it writes them.
    @Test(
        arguments: [
            ("Dockerfile", 2), ("compose.yaml", 2), ("deploy/fly/fly.toml", 2),
            ("deploy/render/render.yaml", 2),
            ("deploy/kubernetes/mirror-bot.yaml", 3), ("deploy/debian/mirror-bot.service", 2),
            ("deploy/debian/mirror-bot-backup.service", 1),
        ])
    func platformsStartCommandsOfTheProgram(_ name: String, _ count: Int) throws {
        let lines = try Repository.text(of: name).split(separator: "\n").filter {
            !$0.drop { $0 == " " }.hasPrefix("#")
        }
        let calls = lines.compactMap { line in
            String(line).replacing(/["\[\],]+/, with: " ").firstMatch(
                of: /[ =\/]mirror-bot +(?<words>[a-z][^|}]*)/)?
                .output.words
        }
        #expect(calls.count == count, "\(calls)")
        for call in calls {
            try check("mirror-bot " + call.split(separator: " ").joined(separator: " "))
        }
    }
}
