import Foundation
import Sandbox
import TestSupport
import Testing

/// A machine on which every credential is planted, and everything that mirror-bot leaves there.
final class SecretStage: Sendable {
    let book = SecretBook()
    let stage: Stage
    private let left = Remains()

    /// What was written, and what may hold a secret because a person put it there.
    private final class Remains: @unchecked Sendable {
        // Sendable because everything that changes is only touched under `lock`.
        private let lock = NSLock()
        private var texts: [(place: String, data: Data)] = []
        private var ownFiles: Set<String> = []
        private var runs = 0

        var all: [(place: String, data: Data)] { lock.withLock { texts } }
        var own: Set<String> { lock.withLock { ownFiles } }

        func add(_ place: String, _ data: Data) { lock.withLock { texts.append((place, data)) } }

        func own(_ path: String) { lock.withLock { _ = ownFiles.insert(path) } }

        func nextRun() -> Int {
            lock.withLock {
                runs += 1
                return runs
            }
        }
    }

    private static let formats = ["logfmt", "json", "pretty"]

    init(_ environment: [String: String] = [:]) throws {
        let temporary = try TemporaryDirectory()
        self.temporary = temporary
        let basics = [
            "TIME_ZONE": "Asia/Tokyo", "LOG_LEVEL": "trace", "MIN_AGE_DAYS": "0",
            "POLL_SECONDS": "10",
            "TMPDIR": temporary.path,
        ]
        stage = try Stage(basics.merging(environment) { $1 })
    }

    private let temporary: TemporaryDirectory

    // MARK: Running

    /// Runs a command to its end and keeps what it wrote; the log has another format each time.
    ///
    /// - Parameters:
    ///   - words: The command.
    ///   - environment: Added to the environment.
    ///   - input: What standard input says.
    ///   - expected: The status that it must end with; nil for any.
    /// - Returns: What it left.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    @discardableResult
    func run(
        _ words: [String], _ environment: [String: String] = [:], input: String? = nil,
        ends expected: Int32? = nil
    ) async throws -> Ending {
        let ending = try await start(words, environment, input: input).ending()
        keep(ending, of: words)
        if let expected { #expect(ending.status == expected, "\(words): \(ending.error)") }
        return ending
    }

    /// Runs a command that must not succeed.
    func fail(_ words: [String], _ environment: [String: String] = [:], input: String? = nil)
        async throws
    {
        let ending = try await run(words, environment, input: input)
        #expect(ending.status != 0, "\(words): \(ending.error)")
    }

    /// Starts a command beside the scenario, which hands its ending to ``keep(_:of:)``.
    func start(
        _ words: [String], _ environment: [String: String] = [:], input: String? = nil,
        terminal: PseudoTerminal? = nil
    ) throws -> RunningProgram {
        var environment = environment
        let format = Self.formats[left.nextRun() % Self.formats.count]
        environment["LOG_FORMAT"] = environment["LOG_FORMAT"] ?? format
        return try stage.start(
            words, environment: environment, input: input,
            replacing: terminal.map { [0: $0.inner] } ?? [:])
    }

    /// Starts a command, lets it come to `text` in its log, ends it with `signal` and keeps what it
    /// wrote.
    @discardableResult
    func run(
        _ words: [String], _ environment: [String: String] = [:], until text: String,
        then signal: Int32 = SIGTERM,
        ends expected: Int32? = nil
    ) async throws -> Ending {
        let program = try start(words, environment)
        try await program.waitForError(text)
        program.send(signal)
        let ending = await program.ending()
        keep(ending, of: words)
        if let expected { #expect(ending.status == expected, "\(words): \(ending.error)") }
        return ending
    }

    func keep(_ ending: Ending, of words: [String]) {
        left.add("output of \(words.joined(separator: " "))", Data(ending.output.utf8))
        left.add("error output of \(words.joined(separator: " "))", Data(ending.error.utf8))
    }

    /// Adds what somebody else has kept: a database, a terminal.
    func keep(_ place: String, _ text: String) { left.add(place, Data(text.utf8)) }

    /// Adds every file of a folder that lies elsewhere.
    func keepFiles(in folder: String) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
                continue
            }
            if !isKey(name, data) { left.add("file \(name)", data) }
        }
    }

    /// Whether a file holds the key of the sealed logins; its contents must be nowhere else.
    private func isKey(_ path: String, _ data: Data) -> Bool {
        guard path.hasSuffix(".key") else { return false }
        book.add(
            "the key file",
            String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespaces))
        return true
    }

    /// Writes a file in which a person keeps a secret.
    func writeOwn(_ name: String, _ text: String) throws -> String {
        left.own(name)
        return try stage.folder.write(Data(text.utf8), to: name)
    }

    /// Writes `.env` beside the process.
    func writeDotEnv(_ lines: [String]) throws {
        left.own("work/.env")
        try (lines.joined(separator: "\n") + "\n")
            .write(toFile: stage.workingFolder + "/.env", atomically: false, encoding: .utf8)
    }

    // MARK: Searching

    /// Fails for every secret that is anywhere but where a person or a seal keeps it.
    func expectNoSecret() throws {
        for found in try findings() { Issue.record("\(found)") }
    }

    /// Every secret that is where it must not be, with the place and its beginning.
    func findings() throws -> [String] {
        let own = left.own
        var places = left.all
        for (path, data) in try stage.files() where !own.contains(path) {
            if !isKey(path, data) { places.append(("file \(path)", data)) }
        }
        for name in try FileManager.default.subpathsOfDirectory(atPath: temporary.path) {
            guard let data = FileManager.default.contents(atPath: temporary.path(name)) else {
                continue
            }
            places.append(("temporary file \(name)", data))
        }
        #expect(!places.isEmpty, "there was nothing to search")
        #expect(!book.all.isEmpty, "there was nothing to search")
        let traces = SecretTraces(of: book.all)
        return places.flatMap { place, data in
            traces.search(data).map {
                "\($0) in \(place): \(String(decoding: data.prefix(2_000), as: UTF8.self))"
            }
        }
    }
}
