import Foundation
import TestSupport
import Testing

/// How many statements whole commands send, as the server itself reports it: those of transactions
/// are among them.
@Suite(.timeLimit(.minutes(30))) struct CommandStatementsTests {
    @Test func aCommandAsksTheServerLittle() async throws {
        let server = try await PostgresServer.start(settings: [
            "log_statement": "all", "log_min_messages": "log",
        ])
        let url = try await server.makeDatabase()
        let stage = try Stage(["TIME_ZONE": "UTC", "DATABASE_URL": url])
        try await stage.makeDatabase()
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        // Makes the plans of today and of the day of the next post.
        for words in [["plan", "reroll"], ["plan", "pin", "next"]] {
            let ending = try await stage.run(words: words)
            try #require(ending.status == 0, "\(words): \(ending.error)")
        }
        let commands: [(words: [String], most: Int)] = [
            (["status", "--check"], 25), (["plan", "skip", "next"], 17), (["pause", "--json"], 14),
            (["resume"], 12),
        ]
        for (words, most) in commands {
            let before = server.log.utf8.count
            let ending = try await stage.run(words: words)
            #expect(ending.status == 0 || words.contains("--check"), "\(words): \(ending.error)")
            let log = String(decoding: server.log.utf8.dropFirst(before), as: UTF8.self)
            let statements = log.split(separator: "\n").filter {
                $0.contains("LOG:  statement: ") || $0.contains("LOG:  execute ")
            }
            #expect(
                (1...most).contains(statements.count),
                "\(words): \(statements.joined(separator: "\n"))")
        }
    }
}
