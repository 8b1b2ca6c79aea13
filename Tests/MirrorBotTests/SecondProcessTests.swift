import Control
import Expectations
import Foundation
import Mirroring
import Storage
import TestSupport
import Testing

/// Commands beside a process that works on the same embedded database.
@Suite(.timeLimit(.minutes(30))) struct SecondProcessTests {
    @Test func statusAndTrainingFindTheirWayBesideAProcessThatWritesAllTheTime() async throws {
        let stage = try Stage()
        try await stage.train(Fixture.lines(days: 4))
        let storage = try await Storage.open(.sqlite(path: stage.home + "/mirror-bot.sqlite"))
        let isOver = Promise<Bool>()
        // Also when a command fails: the writer would never end.
        defer { isOver.fulfill(true) }
        // As busy as a worker never is: long transactions with nothing between them.
        let writing = Task {
            var written = 0
            while !isOver.isFulfilled {
                let number = written
                try await storage.transaction { connection in
                    try connection.execute(
                        """
                        INSERT INTO counters (mirror, name, value) VALUES ('other', 'written', \(number))
                        ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
                        """)
                    _ = poll(nil, 0, 40)
                }
                written += 1
            }
            return written
        }
        for days in [8, 12] {
            try await expect(stage.status().archive.posts, equals: days - 4)
            try await stage.train(Fixture.lines(days: days))
        }
        try await expect(stage.status().archive.posts, equals: 12)
        isOver.fulfill(true)
        try await expect(writing.value) { $0 > 5 }
        await storage.close()
    }
}
