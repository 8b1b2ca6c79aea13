package import Foundation
import Posts
package import Storage

/// A worker process, in the form that other workers read.
package struct WorkerRecord: Equatable, Sendable {
    /// A unique name of the process.
    package let worker: String
    /// A number that grows with every beat.
    package let beat: Int64
    /// The version of the worker's program, such as `0.2.0`.
    package let version: String
    /// Whether the worker shares the mirrors of the database fairly with other workers, as
    /// `run --all` does.
    package let isSharing: Bool
    /// The number of mirrors that the worker held at its last beat.
    package let mirrors: Int
    /// The largest delay of a pass, in seconds, within the minute before its last beat.
    package let lateness: TimeInterval
    /// The time of its last beat on its wall clock; only for display.
    package let updatedMilliseconds: Int64
    /// The part of its work that the worker cannot do; nil if it can do everything.
    package let disability: Disability?

    /// The part of the work that a worker cannot do, since when and why.
    package struct Disability: Equatable, Sendable {
        /// The extent of a disability.
        package enum Extent: String, Sendable {
            /// A part, such as favorites.
            case part
            /// All work.
            case all
        }

        /// The beginning of the disability by the worker's wall clock; only for display.
        package let since: Date
        package let extent: Extent
        package let reason: String

        package init(since: Date, extent: Extent, reason: String) {
            self.since = since
            self.extent = extent
            self.reason = reason
        }
    }

    /// The rank of its disability, for comparison with others; 0 if it can do everything.
    package var severity: Int { disability.severity }

    package init(
        worker: String, beat: Int64, version: String, isSharing: Bool, mirrors: Int,
        lateness: TimeInterval,
        updatedMilliseconds: Int64, disability: Disability? = nil
    ) {
        self.worker = worker
        self.beat = beat
        self.version = version
        self.isSharing = isSharing
        self.mirrors = mirrors
        self.lateness = lateness
        self.updatedMilliseconds = updatedMilliseconds
        self.disability = disability
    }

    /// Returns the seconds since the worker's last beat, by two wall clocks; only for display.
    package func silence(at now: Date) -> TimeInterval {
        now.timeIntervalSince(Date(milliseconds: updatedMilliseconds))
    }
}

extension WorkerRecord.Disability? {
    /// The rank of a disability, for comparison; 0 for none.
    package var severity: Int {
        switch self?.extent {
        case nil: 0
        case .part: 1
        case .all: 2
        }
    }
}

/// The worker processes of a database; every call may throw the store's error.
package struct WorkerTable: Sendable {
    private let storage: any StorageEngine

    package init(storage: any StorageEngine) { self.storage = storage }

    /// Returns all processes with a row, by name, including dead ones that were not replaced yet.
    package func records() async throws -> [WorkerRecord] {
        try await storage.query(
            """
            SELECT worker, beat, version, shares, mirrors, late_ms, updated_ms, unable_ms, unable_extent, unable_reason
            FROM workers ORDER BY worker
            """
        ).map { row in
            WorkerRecord(
                worker: try row.text("worker"), beat: try row.integer("beat"),
                version: try row.text("version"),
                isSharing: try row.boolean("shares"), mirrors: try row.int("mirrors"),
                lateness: Double(try row.integer("late_ms")) / 1_000,
                updatedMilliseconds: try row.integer("updated_ms"),
                disability: try disability(row))
        }
    }

    private func disability(_ row: SQLRow) throws -> WorkerRecord.Disability? {
        guard let since = try row.optionalDate("unable_ms") else { return nil }
        // An extent that only a newer version knows counts as the worst.
        let extent =
            try row.optionalText("unable_extent").flatMap(WorkerRecord.Disability.Extent.init)
            ?? .all
        return .init(
            since: since, extent: extent, reason: try row.optionalText("unable_reason") ?? "")
    }

    /// The statement that inserts a worker with its beat, or updates the beat of an existing one;
    /// idempotent, because it contains the beat's number.
    package static func beat(_ worker: WorkerRecord) -> SQL {
        """
        INSERT INTO workers (worker, beat, version, shares, mirrors, late_ms, updated_ms, unable_ms, unable_extent,
            unable_reason)
        VALUES (\(worker.worker), \(worker.beat), \(worker.version), \(worker.isSharing), \(worker.mirrors),
            \(lateMilliseconds(worker)), \(worker.updatedMilliseconds),
            \(worker.disability?.since.milliseconds), \(worker.disability?.extent.rawValue),
            \(worker.disability?.reason))
        ON CONFLICT (worker) DO UPDATE SET \(changes(by: worker))
        """
    }

    /// The statement that updates the beat of an existing worker, and changes nothing without a
    /// row; idempotent.
    static func beatOfExisting(_ worker: WorkerRecord) -> SQL {
        "UPDATE workers SET \(changes(by: worker)) WHERE worker = \(worker.worker)"
    }

    /// The columns that a beat changes, with their values.
    private static func changes(by worker: WorkerRecord) -> SQL {
        """
        beat = \(worker.beat), mirrors = \(worker.mirrors), late_ms = \(lateMilliseconds(worker)),
            updated_ms = \(worker.updatedMilliseconds), unable_ms = \(worker.disability?.since.milliseconds),
            unable_extent = \(worker.disability?.extent.rawValue), unable_reason = \(worker.disability?.reason)
        """
    }

    private static func lateMilliseconds(_ worker: WorkerRecord) -> Int64 {
        Int64((worker.lateness * 1_000).rounded())
    }

    /// Returns the workers among these that have a row.
    static func withRow(among workers: Set<String>, on connection: any StorageConnection) throws
        -> Set<String>
    {
        guard !workers.isEmpty else { return [] }
        let rows = try connection.query(
            "SELECT worker FROM workers WHERE worker IN \(list: workers.sorted())")
        return Set(try rows.map { try $0.text("worker") })
    }

    /// The statement that removes a worker.
    ///
    /// - Parameter beat: Removes the worker only if its beat is still this one; nil for a worker
    ///   that removes itself.
    static func removing(_ worker: String, at beat: Int64? = nil) -> SQL {
        let unchanged: SQL = beat.map { " AND beat = \($0)" } ?? ""
        return "DELETE FROM workers WHERE worker = \(worker)\(unchanged)"
    }
}

/// The version of a worker's program, ordered by its numbers, so that 0.10.0 is newer than 0.9.
struct WorkerVersion: Comparable, Sendable {
    private let numbers: [Int]

    init(_ text: String) {
        let dot = UInt8(ascii: ".")
        let digits = text.utf8.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == dot }
        var numbers = digits.split(separator: dot).map { Int(Substring($0)) ?? 0 }
        while numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    static func < (left: WorkerVersion, right: WorkerVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
