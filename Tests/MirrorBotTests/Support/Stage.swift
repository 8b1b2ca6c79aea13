import Foundation
import TestSupport

/// A machine that has never seen mirror-bot: an empty home, an empty working folder, hardly any
/// environment.
final class Stage: Sendable {
    let folder: TemporaryDirectory
    /// The folder of the embedded database.
    let home: String
    /// Where the program runs, and looks for `.env`.
    let workingFolder: String
    /// Set for every run.
    let environment: [String: String]
    private let database: PostgresServer.Borrowed?

    /// A machine whose settings name a server, with a database that has the tables.
    static func onServer(_ environment: [String: String] = [:]) async throws -> Stage {
        let url = try await MigratedDatabase.onPostgres()
        return try Stage(
            environment.merging(["DATABASE_URL": url]) { $1 }, with: PostgresServer.Borrowed(url))
    }

    init(_ environment: [String: String] = [:], with database: PostgresServer.Borrowed? = nil)
        throws
    {
        self.database = database
        folder = try TemporaryDirectory()
        home = folder.path("home")
        workingFolder = folder.path("work")
        try FileManager.default.createDirectory(
            atPath: workingFolder, withIntermediateDirectories: false)
        let basics = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8",
            "MIRROR_BOT_HOME": home,
            // Most pasts are learned from a file, and nobody can be asked for what is in it.
            "TMPDIR": TemporaryDirectory.usual, "TRUST_ARCHIVE": "yes", "HUMAN_CONSENT": "agreed",
        ]
        self.environment = basics.merging(environment) { _, given in given }
    }

    /// Runs a command to its end in the process of the tests, with a console of its own.
    ///
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - environment: Changes to the environment; an empty value is a variable that is set to
    ///     nothing.
    ///   - input: What standard input says.
    /// - Returns: What it left when it ended.
    /// - Throws: ``TestSupportError`` for what would end the process of the tests.
    func run(
        _ arguments: String..., environment: [String: String] = [:], input: String? = nil
    ) async throws -> Ending {
        try await run(words: arguments, environment: environment, input: input)
    }

    /// As the other `run`, with the words of a table of arguments.
    func run(words: [String], environment: [String: String] = [:], input: String? = nil)
        async throws -> Ending
    {
        let variables = self.environment.merging(environment) { _, given in given }
        guard variables["REHEARSAL_FAULT", default: ""].isEmpty else {
            throw TestSupportError("a rehearsed fault kills the process: spawn the program instead")
        }
        return try await RecordedConsole(
            environment: variables, folder: workingFolder, input: input ?? ""
        )
        .ending(of: words)
    }

    /// Runs a command in the process of the tests, at a terminal where a person answers its
    /// questions.
    ///
    /// - Parameters:
    ///   - words: The words after the program's name.
    ///   - answers: What the person types; the input ends after the last, or at another question
    ///     than the next.
    ///   - environment: Changes to the environment.
    /// - Returns: What it left when it ended; the questions and answers are in its error output.
    func type(
        _ words: [String], _ answers: [RecordedConsole.Answer], environment: [String: String] = [:]
    ) async throws -> Ending {
        let variables = self.environment.merging(environment) { _, given in given }
        return await RecordedConsole(
            environment: variables, folder: workingFolder, answers: answers
        ).ending(of: words)
    }

    /// Runs the built program to its end, for what only a process has: descriptors, signals, a
    /// death of its own.
    ///
    /// - Parameters:
    ///   - words: The words after its name.
    ///   - environment: Changes to the environment; an empty value is a variable that is set to
    ///     nothing.
    ///   - input: What standard input says.
    ///   - replaced: Descriptors that take the place of its streams.
    /// - Returns: What it left when it ended.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    func spawn(
        _ words: [String], environment: [String: String] = [:], input: String? = nil,
        replacing replaced: [Int32: Int32] = [:]
    ) async throws -> Ending {
        try await Gate.shared.run {
            try await self.start(words, environment: environment, input: input, replacing: replaced)
                .ending()
        }
    }

    /// Starts mirror-bot beside the test, in the working folder if no other is named.
    func start(
        _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:],
        input: String? = nil,
        replacing replaced: [Int32: Int32] = [:]
    ) throws -> RunningProgram {
        try RunningProgram(
            Launch(
                path: try Self.program(), arguments: arguments,
                environment: self.environment.merging(environment) { _, given in given },
                folder: folder ?? workingFolder,
                input: input, replaced: replaced))
    }

    /// Every file below the home and working folder, by path.
    func files() throws -> [String: Data] {
        let paths =
            FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Dictionary(
            uniqueKeysWithValues: paths.compactMap { path in
                FileManager.default.contents(atPath: folder.path(path)).map { (path, $0) }
            })
    }

    /// The program that was built together with the tests and lies beside them.
    static func program() throws -> String {
        let folder = Bundle.main.bundleURL
        for name in ["mirror-bot", "MirrorBot"] {
            let path = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        throw TestSupportError(
            "could not find mirror-bot in \(folder.path): run `swift build` first")
    }
}

/// Lets two programs run at a time, so that none of them is slow only because of the others.
private actor Gate {
    static let shared = Gate()

    private var free = 2
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { leave() }
        return try await body()
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
