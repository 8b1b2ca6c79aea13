import Configuration
import Control
import Foundation
import Mirroring
import Sandbox
import Settings
import TestSupport

extension Stage {
    /// Makes the database, which commands that only look do not.
    func makeDatabase() async throws {
        if environment["DATABASE_URL"] == nil, !FileManager.default.fileExists(atPath: home) {
            try FileManager.default.createDirectory(
                atPath: home, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            return try await MigratedDatabase.copy(to: home + "/mirror-bot.sqlite")
        }
        let ending = try await run("migrate")
        guard ending.status == 0 else { throw StageError(ending) }
    }

    /// What `status --json` says.
    func status(_ environment: [String: String] = [:]) async throws -> StatusReport {
        try Self.decode(
            StatusReport.self, from: try await run("status", "--json", environment: environment))
    }

    /// What `plan --json` says.
    func plan(_ words: String..., environment: [String: String] = [:]) async throws -> PlanReport {
        try Self.decode(
            PlanReport.self,
            from: try await run(words: ["plan", "--json"] + words, environment: environment))
    }

    /// Teaches the mirror these posts.
    func train(_ lines: String, environment: [String: String] = [:]) async throws {
        let ending = try await run(
            "train", "scheduler", "--from", "-", environment: environment, input: lines)
        guard ending.status == 0 else { throw StageError(ending) }
    }

    /// Logs the bot in, teaches the mirror some posts, and starts a worker.
    func startMirror(on sandbox: Sandbox) async throws -> RunningProgram {
        let login = try await run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            input: sandbox.botToken + "\n")
        guard login.status == 0 else { throw StageError(login) }
        try await train(Fixture.lines())
        let worker = try start(["run"])
        try await worker.waitForError("Worker started")
        return worker
    }

    /// Opens the mirror's data as the program does.
    func withMirror<Value>(
        _ environment: [String: String] = [:], _ body: (HumanMirror) async throws -> Value
    ) async throws -> Value {
        let variables = self.environment.merging(environment) { _, given in given }
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: variables))
        return try await HumanMirror.open(try MirrorConfiguration(values, environment: [:]))
            .closing(after: body)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from ending: Ending) throws -> Value {
        guard ending.status == 0 else { throw StageError(ending) }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(ending.output.utf8))
    }
}

/// A run that should have succeeded.
struct StageError: Error, CustomStringConvertible {
    let description: String

    init(_ ending: Ending) { description = "ended with \(ending.status): \(ending.error)" }
}
