package import Foundation
package import Posts
import Storage

/// The zones in which the human lived, as a person noted them.
extension Archive {
    /// The most spans of days in zones other than the home zone; a person with more needs
    /// `utc_offset` in their files.
    package static let mostZoneSpans = 200
    /// The counter that exists while local times are stale.
    ///
    /// Its value is the generation of the zones, which each change of a span increments.
    private static let staleCounter = "archive.zones"
    /// The counter with the version of the time-zone rules by which local times were last computed.
    private static let rulesCounter = "archive.zone-rules"

    /// The outcome of naming a time zone for a span of days.
    package enum ZoneChange: Equatable, Sendable {
        case changed
        /// The same span was noted already.
        case unchanged
        /// Another zone is noted for some of the days.
        case overlaps(ZoneSpan)
        /// There are ``Archive/mostZoneSpans`` spans already.
        case full
    }

    /// Reads the time zones in which the human lived, with their days.
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
    /// The posts' local times are then stale, see ``rewriteTimes(in:)``.
    ///
    /// - Parameter seen: The digest (``seen(_:)``) of all noted spans, as the user was shown them;
    ///   the call fails if the spans differ now. Nil skips this check.
    /// - Returns: The outcome; only `.changed` has changed anything.
    /// - Throws: `SeenChanged`; ``ArchiveError``, or the store's error.
    package func add(_ span: ZoneSpan, seen: Seen? = nil, now: Date) async throws -> ZoneChange {
        let mirror = mirror
        return try await storage.transaction { connection in
            let notedSpans = try Self.zones(mirror, seen, connection)
            if notedSpans.contains(span) { return .unchanged }
            if let overlapping = notedSpans.first(where: { $0.days.overlaps(span.days) }) {
                return .overlaps(overlapping)
            }
            guard notedSpans.count < Self.mostZoneSpans else { return .full }
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

    /// Removes a noted span in another zone; the posts' local times are then stale, see
    /// ``rewriteTimes(in:)``.
    ///
    /// - Parameters:
    ///   - day: Any day of the span.
    ///   - seen: The digest (``seen(_:)``) of all noted spans, as the user was shown them; the call
    ///     fails if the spans differ now. Nil skips this check.
    /// - Returns: The span and its zone; nil if none was noted for that day.
    /// - Throws: `SeenChanged`; ``ArchiveError``, or the store's error.
    package func removeZone(on day: LocalDay, seen: Seen? = nil) async throws -> ZoneSpan? {
        let mirror = mirror
        return try await storage.transaction { connection in
            let notedSpans = try Self.zones(mirror, seen, connection)
            guard let span = notedSpans.first(where: { $0.days.contains(day) }) else { return nil }
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

    /// Whether the local times of posts are stale, or were computed by older rules of time zones.
    ///
    /// - Parameter rules: The number (`ZoneRules.versionNumber`) of the current rules.
    package func hasStaleTimes(by rules: Int64) async throws -> Bool {
        let rows = try await storage.query(
            """
            SELECT name, value FROM counters
            WHERE mirror = \(mirror) AND name IN (\(Self.staleCounter), \(Self.rulesCounter))
            """)
        let values = try rows.reduce(into: [String: Int64]()) {
            $0[try $1.text("name")] = try $1.integer("value")
        }
        return values[Self.staleCounter] != nil || values[Self.rulesCounter] ?? 0 < rules
    }

    /// Notes the rules of time zones by which all local times were computed.
    static func noteRules(_ rules: Int64, _ mirror: String, _ connection: any StorageConnection)
        throws
    {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(rulesCounter), \(rules))
            ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
            """)
    }

    /// The digest of all noted spans, as a person is shown them.
    package static func seen(_ spans: [ZoneSpan]) -> Seen {
        Seen(
            of: spans.flatMap {
                [$0.days.lowerBound.description, $0.days.upperBound.description, $0.zone.name]
            })
    }

    /// All noted spans; fails if they differ from what the person saw.
    private static func zones(
        _ mirror: String, _ seen: Seen?, _ connection: any StorageConnection
    ) throws -> [ZoneSpan] {
        let spans = try zones(mirror, home: .gmt, connection).spans
        try seen.require(Self.seen(spans))
        return spans
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

    /// Parses a span in another zone from its first day, its last day and the name of its zone.
    static func zoneSpan(_ fields: [String]) throws -> ZoneSpan {
        guard fields.count == 3, let first = LocalDay(fields[0]), let last = LocalDay(fields[1]),
            first <= last
        else {
            throw ArchiveError(column: "first_day", of: "zones")
        }
        // A machine that does not know the zone must not compute local times without it: a machine
        // that knows it would change them back.
        guard let zone = TimeZone(identifier: fields[2]) else {
            throw ArchiveError(column: "time_zone", of: "zones")
        }
        return ZoneSpan(first...last, in: zone)
    }

    /// Increments the generation of the zones, so that a running
    /// ``rewriteTimes(in:)`` notices the change.
    private static func noteStale(_ mirror: String, _ connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(staleCounter), 1)
            ON CONFLICT (mirror, name) DO UPDATE SET value = counters.value + 1
            """)
    }

    /// The generation for which local times are stale; nil if they are not.
    static func staleness(_ mirror: String, _ connection: any StorageConnection) throws -> Int64? {
        try connection.query(staleness(mirror)).first?.integer("value")
    }

    private static func staleness(_ mirror: String) -> SQL {
        "SELECT value FROM counters WHERE mirror = \(mirror) AND name = \(staleCounter)"
    }

    /// Notes that local times are no longer stale, unless the generation has changed meanwhile.
    static func noteRewritten(
        _ generation: Int64?, _ mirror: String, _ connection: any StorageConnection
    ) throws {
        guard let generation else { return }
        try connection.execute(
            "DELETE FROM counters WHERE mirror = \(mirror) AND name = \(staleCounter) AND value = \(generation)"
        )
    }
}
