import Expectations
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// Two servers, of which one takes the other's place.
@Suite(.serialized, .timeLimit(.minutes(30))) struct PostgresFailoverTests {
    private static let pair = Task { try await PostgresPair.start() }

    private func withTable(_ body: (PostgresPair, _ url: String) async throws -> Void) async throws
    {
        let pair = try await Self.pair.value
        let url = try await pair.makeDatabase()
        let engine = try await Storage.open(.postgres(url: url))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        await engine.close()
        try await body(pair, url)
    }

    /// What became of a change, as far as the engine says.
    private enum Answer {
        case done, refused, unknown
    }

    @Test(arguments: 1...2) func whatWasAnsweredIsThereAfterAFailover(_ time: Int) async throws {
        try await withTable { pair, url in
            let engine = try await PostgresEngine.open(url: url) {
                $0.outcomeTimeout = .milliseconds(500)
            }
            let (marks, mark) = AsyncStream.makeStream(of: Void.self)
            let writing = Task {
                var answers: [Answer] = []
                var done = 0
                // For some time after it, but not for ever.
                while done < 60, answers.count < 100_000 {
                    let number = answers.count
                    if number == 25 { mark.finish() }
                    do {
                        try await engine.transaction {
                            try $0.execute("INSERT INTO t (x) VALUES (\(number))")
                        }
                        answers.append(.done)
                        done += 1
                    } catch let error as StorageError {
                        #expect(
                            [.unavailable, .outcomeUnknown, .readOnly].contains(error.code),
                            "\(error)")
                        answers.append(error.code == .outcomeUnknown ? .unknown : .refused)
                    }
                }
                return answers
            }
            for await _ in marks {}
            try await pair.failOver()
            let answers = try await writing.value
            let rows = try await engine.query("SELECT x FROM t").map { try $0.int("x") }
            #expect(Set(rows).count == rows.count)
            for (number, answer) in answers.enumerated() where answer != .unknown {
                #expect(rows.contains(number) == (answer == .done), "\(number): \(answer)")
            }
            await engine.close()
            try await pair.restore()
        }
    }

    @Test func aStandbyIsPassedOver() async throws {
        try await withTable { pair, url in
            let primary = await pair.primary
            let standby = await pair.standby
            let database = try #require(url.split(separator: "/").last).prefix { $0 != "?" }
            // Without a word of what is wanted.
            let hosts = "127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)"
            let engine = try await Storage.open(
                .postgres(url: "postgres://postgres@\(hosts)/\(database)"))
            try await expect(engine.execute("INSERT INTO t (x) VALUES (1)"), equals: 1)
            await engine.close()
            // A database that it had from the beginning.
            let alone = "postgres://postgres@\(hosts)/postgres?target_session_attrs=standby"
            let reading = try await Storage.open(.postgres(url: alone))
            let error = await #expect(throws: StorageError.self) {
                try await reading.execute("DELETE FROM t")
            }
            #expect(error?.code == .readOnly)
            await reading.close()
        }
    }

    @Test func aHostThatSaysNothingDoesNotHoldUpTheNext() async throws {
        try await withTable { pair, url in
            let silent = try SilentListener()
            let others = url.replacingOccurrences(of: "@127", with: "@127.0.0.1:\(silent.port),127")
            // Nor has the next one more time than that: on a busy machine it may need another call.
            var opened: (any StorageEngine)?
            while opened == nil {
                do {
                    opened = try await Storage.open(.postgres(url: others + "&connect_timeout=1"))
                } catch let error as StorageError where error.code == .unavailable {}
            }
            let engine = try #require(opened)
            try await expect(engine.execute("INSERT INTO t (x) VALUES (1)"), equals: 1)
            await engine.close()
        }
    }

    @Test func whenNoHostIsRightEachIsNamed() async throws {
        // Nobody listens there, and nobody else gets it.
        let port = try LoopbackPort()
        let one = port.number
        let two = try await Self.pair.value.standby.port
        let url = "postgres://postgres@127.0.0.1:\(one),127.0.0.1:\(two)/postgres"
        let error = await #expect(throws: StorageError.self) {
            _ = try await Storage.open(.postgres(url: url))
        }
        #expect(error?.code == .unavailable)
        let text = "\(try #require(error))"
        #expect(text.contains("port \(one) failed: Connection refused"))
        #expect(text.contains("session is read-only"))
        withExtendedLifetime(port) {}
    }

    @Test func aCommitThatTheStandbyDoesNotHaveIsNotTakenForOne() async throws {
        try await withTable { pair, url in
            let primary = await pair.primary
            let standby = await pair.standby
            // The server may be impatient by itself.
            try await primary.set(
                "statement_timeout", to: "200ms", in: String(url.prefix { $0 != "?" }))
            await standby.stop()
            var code: StorageError.Code?
            repeat {
                let error = await #expect(throws: StorageError.self) {
                    let engine = try await PostgresEngine.open(url: url) {
                        $0.answerTimeout = .seconds(1)
                        $0.outcomeTimeout = .milliseconds(100)
                    }
                    try await engine.closing {
                        _ = try await $0.execute("INSERT INTO t (x) VALUES (1)")
                    }
                }
                code = error?.code
                // A busy machine may not come to the commit in that time.
            } while code == .unavailable || code == .busy
            #expect(code == .outcomeUnknown)
            try await standby.restart()
            let later = try await Storage.open(.postgres(url: url))
            try await expect(later.execute("INSERT INTO t (x) VALUES (2)"), equals: 1)
            await later.close()
        }
    }
}
