import Foundation
package import Networks
package import Storage

/// The durations of a mirror's calls and the remaining requests that its networks allow, as named
/// numbers for metrics.
package struct RequestTable: Sendable {
    /// Everything that was counted.
    package struct Counted: Sendable {
        /// The durations of calls, by network.
        package var durations: [String: Histogram] = [:]
        /// The remaining requests, sorted by name.
        package var limits: [(network: String, window: String, remaining: Int)] = []

        package init() {}
    }

    /// The number of calls by duration.
    package struct Histogram: Sendable {
        private let counts: [Int64]
        /// The sum of all durations, in seconds.
        package let sum: Double

        fileprivate init(_ durations: RequestTally.Durations) {
            counts = durations.counts
            sum = Double(durations.milliseconds) / 1_000
        }

        package var count: Int64 { counts.reduce(0, +) }

        /// The number of calls that took at most each bound, in seconds; the last bound is `+Inf`.
        package var cumulative: [(bound: String, count: Int64)] {
            var total: Int64 = 0
            let bounds = RequestTally.bounds.map { "\(Double($0) / 1_000)" } + ["+Inf"]
            return zip(bounds, counts).map { bound, count in
                total += count
                return (bound, total)
            }
        }
    }

    private static let duration = "api.duration"
    private static let remaining = "api.remaining"
    private static let milliseconds = "ms"

    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Adds the counts since the last call.
    ///
    /// - Throws: The store's error.
    package func add(_ changes: RequestTally.Changes) async throws {
        try await Self.add([(mirror, changes)], in: storage)
    }

    /// Adds the counts of several mirrors, in one transaction.
    static func add(
        _ changes: [(mirror: String, changes: RequestTally.Changes)], in storage: any StorageEngine
    ) async throws {
        var added: [SQL] = []
        var replaced: [SQL] = []
        for (mirror, changes) in changes {
            for (network, durations) in changes.durations {
                let name = "\(duration)/\(network)"
                for (place, count) in durations.counts.enumerated() where count > 0 {
                    added.append("(\(mirror), \("\(name)/\(place)"), \(count))")
                }
                added.append("(\(mirror), \("\(name)/\(milliseconds)"), \(durations.milliseconds))")
            }
            for (limit, number) in changes.remaining {
                replaced.append(
                    "(\(mirror), \("\(remaining)/\(limit.network)/\(limit.window)"), \(number))")
            }
        }
        let statements: [(rows: [SQL], value: SQL)] = [
            (added, "counters.value + excluded.value"), (replaced, "excluded.value"),
        ].filter { !$0.rows.isEmpty }
        guard !statements.isEmpty else { return }
        try await storage.transaction { connection in
            for (rows, value) in statements {
                try connection.execute(
                    """
                    INSERT INTO counters (mirror, name, value) VALUES \(SQL(joined: rows))
                    ON CONFLICT (mirror, name) DO UPDATE SET value = \(value)
                    """)
            }
        }
    }

    /// Returns all counts of some mirrors, by name, in one statement; mirrors without any are left
    /// out.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Throws: The store's error.
    package static func counted(
        of mirrors: [String], in storage: any StorageEngine
    ) async throws -> [String: Counted] {
        let rows = try await storage.query(
            """
            SELECT mirror, name, value FROM counters WHERE mirror IN \(list: mirrors) AND name LIKE 'api.%'
            ORDER BY name
            """)
        return try Dictionary(grouping: rows) { try $0.text("mirror") }.mapValues(counted)
    }

    /// Returns the durations of the calls of all mirrors of a database, by network, in one
    /// statement.
    ///
    /// - Throws: The store's error.
    package static func allDurations(
        in storage: any StorageEngine
    ) async throws -> [String: Histogram] {
        let rows = try await storage.query(
            """
            SELECT name, CAST(SUM(value) AS BIGINT) AS value FROM counters WHERE name LIKE \(duration + "/%")
            GROUP BY name
            """)
        return try counted(rows).durations
    }

    /// Returns the requests that networks still allow each mirror of a database, in one statement.
    ///
    /// - Returns: In the order of the names under which limits are stored.
    /// - Throws: The store's error.
    package static func allLimits(
        in storage: any StorageEngine
    ) async throws -> [(mirror: String, network: String, window: String, remaining: Int)] {
        let rows = try await storage.query(
            """
            SELECT mirror, name, value FROM counters WHERE name LIKE \(remaining + "/%") ORDER BY name, mirror
            """)
        return try rows.flatMap { row in
            try counted([row]).limits.map {
                (try row.text("mirror"), $0.network, $0.window, $0.remaining)
            }
        }
    }

    private static func counted(_ rows: [SQLRow]) throws -> Counted {
        var counted = Counted()
        var durations: [String: RequestTally.Durations] = [:]
        for row in rows {
            let parts = try row.text("name").split(separator: "/").map(String.init)
            let value = try row.integer("value")
            guard parts.count == 3 else { continue }
            if parts[0] == remaining {
                counted.limits.append((parts[1], parts[2], Int(value)))
            } else if parts[2] == milliseconds {
                durations[parts[1], default: .init()].milliseconds = value
            } else if let place = Int(parts[2]),
                RequestTally.Durations().counts.indices.contains(place)
            {
                durations[parts[1], default: .init()].counts[place] = value
            }
        }
        counted.durations = durations.mapValues(Histogram.init)
        return counted
    }
}

/// The tallies of the mirrors of a process, which are kept when a worker restarts.
package final class RequestTallies: @unchecked Sendable {
    // Sendable because `tallies` is only touched under `lock`.
    private let lock = NSLock()
    private var tallies: [String: RequestTally] = [:]

    /// Returns the tally of a mirror.
    package func of(_ mirror: String) -> RequestTally {
        lock.withLock {
            let tally = tallies[mirror] ?? RequestTally()
            tallies[mirror] = tally
            return tally
        }
    }

    var all: [String: RequestTally] { lock.withLock { tallies } }
}
