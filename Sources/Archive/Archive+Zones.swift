package import Foundation
package import Posts
import Storage

/// The zones in which the human lived, as a person noted them.
extension Archive {
    /// The most times in other zones; a person with more needs `utc_offset` in their files.
    package static let mostZoneSpans = 200
    private static let counter = "archive.zones"
    /// The counter with the number of the rules of time zones by which the posts were moved last.
    private static let rulesCounter = "archive.zone-rules"

    /// The outcome of naming a time zone for a span of days.
    package enum ZoneChange: Equatable, Sendable {
        case changed
        /// It was noted already.
        case unchanged
        /// Another zone is noted for some of the days.
        case overlaps(ZoneSpan)
        /// There are ``Archive/mostZoneSpans`` already.
        case full
    }

    /// By which clock the human lived when.
    ///
    /// - Parameter home: The zone of all times for which no other zone is noted.
    /// - Returns: The noted zones.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func zones(home: TimeZone) async throws -> ZoneHistory {
        let mirror = mirror
        return try await storage.read { try Self.zones(mirror, home: home, $0) }
    }

    /// Notes that the human lived in another zone for some time.
    ///
    /// The posts are still to be moved, see ``rewriteTimes(in:)``.
    ///
    /// - Parameter seen: ``seen(_:)`` of all noted times, as the person was shown them; nil to
    ///   change without comparing.
    /// - Returns: The outcome; only `.changed` has changed anything.
    /// - Throws: `SeenChanged`; ``ArchiveError``, or the store's error.
    package func add(_ span: ZoneSpan, seen: Seen? = nil, now: Date) async throws -> ZoneChange {
        let mirror = mirror
        return try await storage.transaction { connection in
            let known = try Self.zones(mirror, seen, connection)
            if known.contains(span) { return .unchanged }
            if let other = known.first(where: { $0.days.overlaps(span.days) }) {
                return .overlaps(other)
            }
            guard known.count < Self.mostZoneSpans else { return .full }
            try connection.execute(
                """
                INSERT INTO zones (mirror, first_day, last_day, time_zone, noted_ms)
                VALUES (\(mirror), \(span.days.lowerBound.description), \(span.days.upperBound.description),
                    \(span.zone.name), \(now.milliseconds))
                """)
            try Self.noteStale(mirror, connection)
            return .changed
        }
    }

    /// Removes a noted time in another zone; the posts' local times are then stale, see
    /// ``rewriteTimes(in:)``.
    ///
    /// - Parameters:
    ///   - day: Any day within it.
    ///   - seen: ``seen(_:)`` of all noted times, as the person was shown them; nil to change
    ///     without comparing.
    /// - Returns: The time and its zone; nil if none was noted for that day.
    /// - Throws: `SeenChanged`; ``ArchiveError``, or the store's error.
    package func removeZone(on day: LocalDay, seen: Seen? = nil) async throws -> ZoneSpan? {
        let mirror = mirror
        return try await storage.transaction { connection in
            let known = try Self.zones(mirror, seen, connection)
            guard let span = known.first(where: { $0.days.contains(day) }) else { return nil }
            try connection.execute(
                "DELETE FROM zones WHERE mirror = \(mirror) AND first_day = \(span.days.lowerBound.description)"
            )
            try Self.noteStale(mirror, connection)
            return span
        }
    }

    /// Whether the local times of some posts must still be computed again, in the zone in which
    /// each post was written.
    package func hasStaleTimes() async throws -> Bool {
        try await !storage.query(Self.staleness(mirror)).isEmpty
    }

    /// Whether posts are still to be moved, or were moved last by older rules of time zones.
    ///
    /// - Parameter rules: The number (`ZoneRules.number`) of the current rules.
    package func hasStaleTimes(by rules: Int64) async throws -> Bool {
        let rows = try await storage.query(
            """
            SELECT name, value FROM counters
            WHERE mirror = \(mirror) AND name IN (\(Self.counter), \(Self.rulesCounter))
            """)
        let values = try rows.reduce(into: [String: Int64]()) {
            $0[try $1.text("name")] = try $1.integer("value")
        }
        return values[Self.counter] != nil || values[Self.rulesCounter] ?? 0 < rules
    }

    /// Notes the rules of time zones by which all posts were moved.
    static func noteRules(_ rules: Int64, _ mirror: String, _ connection: any StorageConnection)
        throws
    {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(rulesCounter), \(rules))
            ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
            """)
    }

    /// The digest of all noted times, as a person is shown them.
    package static func seen(_ spans: [ZoneSpan]) -> Seen {
        Seen(
            of: spans.flatMap {
                [$0.days.lowerBound.description, $0.days.upperBound.description, $0.zone.name]
            })
    }

    /// All noted times; fails if they differ from what the person saw.
    private static func zones(
        _ mirror: String, _ seen: Seen?, _ connection: any StorageConnection
    ) throws -> [ZoneSpan] {
        let known = try zones(mirror, home: .gmt, connection).spans
        try seen.require(Self.seen(known))
        return known
    }

    static func zones(
        _ mirror: String, home: TimeZone, _ connection: any StorageConnection
    ) throws -> ZoneHistory {
        let rows = try connection.query(
            "SELECT first_day, last_day, time_zone FROM zones WHERE mirror = \(mirror) ORDER BY first_day"
        )
        let spans = try rows.map { row in
            try zoneSpan([
                try row.text("first_day"), try row.text("last_day"), try row.text("time_zone"),
            ])
        }
        return ZoneHistory(home: home, spans: spans)
    }

    /// The time in another zone with this first day, last day and zone.
    static func zoneSpan(_ fields: [String]) throws -> ZoneSpan {
        guard fields.count == 3, let first = LocalDay(fields[0]), let last = LocalDay(fields[1]),
            first <= last
        else {
            throw ArchiveError(column: "first_day", of: "zones")
        }
        // A machine that knows fewer zones must not move posts, which the next machine would move
        // back.
        guard let zone = TimeZone(identifier: fields[2]) else {
            throw ArchiveError(column: "time_zone", of: "zones")
        }
        return ZoneSpan(first...last, in: zone)
    }

    /// Increments the generation of the zones, so that a running move notices the change.
    private static func noteStale(_ mirror: String, _ connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(counter), 1)
            ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value + 1
            """)
    }

    /// The generation for which local times are stale; nil if they are not.
    static func staleness(_ mirror: String, _ connection: any StorageConnection) throws -> Int64? {
        try connection.query(staleness(mirror)).first?.integer("value")
    }

    private static func staleness(_ mirror: String) -> SQL {
        "SELECT value FROM counters WHERE mirror = \(mirror) AND name = \(counter)"
    }

    /// Notes that all local times are set, unless the generation has changed since.
    static func noteMoved(_ number: Int64?, _ mirror: String, _ connection: any StorageConnection)
        throws
    {
        guard let number else { return }
        try connection.execute(
            "DELETE FROM counters WHERE mirror = \(mirror) AND name = \(counter) AND value = \(number)"
        )
    }
}
