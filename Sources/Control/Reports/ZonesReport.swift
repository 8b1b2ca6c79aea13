import Archive
package import Foundation
import Localization
package import Mirroring
package import Posts
import Settings

/// The periods in which the human lived in other time zones.
package struct ZonesReport: Codable, Equatable, Sendable {
    /// A period that the human spent in another time zone.
    package struct Line: Codable, Equatable, Sendable {
        package var timeZone: String
        /// The first day; nil if the period has no beginning.
        package var from: LocalDay?
        /// The last day; nil if the period has no end.
        package var to: LocalDay?

        package init(_ span: ZoneSpan) {
            timeZone = span.zone.name
            from = span.days.lowerBound == .earliest ? nil : span.days.lowerBound
            to = span.days.upperBound == .latest ? nil : span.days.upperBound
        }

        /// The days in words.
        package var days: String {
            switch (from, to) {
            case (let from?, let to?): localized("from \(from) to \(to)")
            case (let from?, nil): localized("from \(from)")
            case (nil, let to?): localized("to \(to)")
            case (nil, nil): ""
            }
        }

        /// A day of the period, by which a person can name it.
        package var anyDay: String { (from ?? to ?? .earliest).description }
    }

    package private(set) var schema = "mirror-bot/zones/1"
    /// The zone outside of these periods.
    package var timeZone: String
    /// The periods in other time zones, in order of time.
    package var zones: [Line]
    /// The digest of all entries, for changing them; nil if unknown.
    package var seen: Seen?

    package init(timeZone: String, zones: [Line], seen: Seen? = nil) {
        self.timeZone = timeZone
        self.zones = zones
        self.seen = seen
    }

    /// - Parameter home: The human's usual time zone.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, home: TimeZone) async throws {
        let spans = try await mirror.archive.zones(home: home).spans
        self.init(
            timeZone: mirror.configuration.name(of: home), zones: spans.map(Line.init),
            seen: Archive.seen(spans))
    }
}
