package import Foundation
import Posts
package import Storage

/// A worker process, as it shows itself to the others.
package struct WorkerRecord: Equatable, Sendable {
    /// A name that no other process has.
    package let worker: String
    /// A number that grows with every beat.
    package let beat: Int64
    /// The version of its program, as `0.2.0`.
    package let version: String
    /// Whether it shares the mirrors of the database fairly with other workers, as `run --all` does.
    package let isSharing: Bool
    /// How many mirrors it held at its last beat.
    package let mirrors: Int
    /// By how many seconds one of its passes began late, at most, within the minute before its last beat.
    package let lateness: TimeInterval
    /// The time of its last beat on its wall clock; only for display.
    package let updatedMilliseconds: Int64

    /// Returns the seconds since its last beat, by two wall clocks; only for display.
    package func silence(at now: Date) -> TimeInterval {
        now.timeIntervalSince(Date(milliseconds: updatedMilliseconds))
    }
}

/// Which mirrors the live workers hold.
package struct Ownership: Equatable, Sendable {
    /// The live workers, by name.
    package var workers: [WorkerRecord] = []
    /// The number of the asked mirrors that each live worker holds; workers without one are missing.
    package var owned: [String: Int] = [:]
    /// The number of the asked mirrors that no live worker holds.
    package var unowned = 0
}

/// The worker processes of a database; every call may throw the store's error.
package struct WorkerTable: Sendable {
    private let storage: any StorageEngine

    package init(storage: any StorageEngine) { self.storage = storage }

    /// Returns every process that has a row, by name: also those that died and were not replaced yet.
    package func records() async throws -> [WorkerRecord] {
        try await storage.query(
            "SELECT worker, beat, version, shares, mirrors, late_ms, updated_ms FROM workers ORDER BY worker"
        ).map { row in
            WorkerRecord(
                worker: try row.text("worker"), beat: try row.integer("beat"), version: try row.text("version"),
                isSharing: try row.boolean("shares"), mirrors: try row.int("mirrors"),
                lateness: Double(try row.integer("late_ms")) / 1_000,
                updatedMilliseconds: try row.integer("updated_ms"))
        }
    }

    /// Returns which of some mirrors are held by workers that have beaten lately, for `status` and the metrics.
    ///
    /// It goes by wall clocks, as every display does; ``Claims`` decides by the beats alone. Two statements, however many
    /// mirrors there are.
    ///
    /// - Parameters:
    ///   - mirrors: The names of the mirrors that ought to be held.
    ///   - limit: The age of a worker's last beat, in seconds, from which on it counts as gone.
    package func ownership(of mirrors: [String], now: Date, silence limit: TimeInterval) async throws -> Ownership {
        var ownership = Ownership()
        ownership.workers = try await records().filter { $0.silence(at: now) < limit }
        guard !ownership.workers.isEmpty else {
            ownership.unowned = mirrors.count
            return ownership
        }
        let rows = try await storage.query(
            """
            SELECT mirror, worker FROM leases
            WHERE worker IN \(list: ownership.workers.map(\.worker)) AND NOT released
            """)
        let owners = Dictionary(try rows.map { (try $0.text("mirror"), try $0.text("worker")) }) { first, _ in first }
        for mirror in mirrors {
            guard let owner = owners[mirror] else {
                ownership.unowned += 1
                continue
            }
            ownership.owned[owner, default: 0] += 1
        }
        return ownership
    }

    /// The statement that stores a beat; idempotent, as it carries the beat's number.
    static func beat(_ worker: WorkerRecord) -> SQL {
        """
        INSERT INTO workers (worker, beat, version, shares, mirrors, late_ms, updated_ms)
        VALUES (\(worker.worker), \(worker.beat), \(worker.version), \(worker.isSharing), \(worker.mirrors),
            \(Int64((worker.lateness * 1_000).rounded())), \(worker.updatedMilliseconds))
        ON CONFLICT (worker) DO UPDATE SET beat = excluded.beat, mirrors = excluded.mirrors,
            late_ms = excluded.late_ms,
            updated_ms = excluded.updated_ms
        """
    }

    /// The statement that removes a worker.
    ///
    /// - Parameter beat: Only if it has not beaten since this beat; nil for one that ends itself.
    static func removing(_ worker: String, at beat: Int64? = nil) -> SQL {
        let unchanged: SQL = beat.map { " AND beat = \($0)" } ?? ""
        return "DELETE FROM workers WHERE worker = \(worker)\(unchanged)"
    }
}

/// The version of a worker's program, ordered by its numbers, so that 0.10.0 is newer than 0.9.
struct WorkerVersion: Comparable, Sendable {
    private let numbers: [Int]

    init(_ text: String) {
        let numbers = text.prefix { $0.isNumber || $0 == "." }.split(separator: ".").map { Int($0) ?? 0 }
        self.numbers = Array(numbers.reversed().drop { $0 == 0 }.reversed())
    }

    static func < (left: WorkerVersion, right: WorkerVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
