import Archive
import Foundation
import Localization
import Mirroring
package import Posts
import Schedule
import Settings

/// Records that the human lived in another time zone for some time.
///
/// If a person moved or traveled, the clock of the usual zone shows night for posts that they wrote
/// in the morning. Posts keep their instant; only their local minute and day are converted to the
/// other zone. The schedule and the choice of texts use these. The bot's own days stay in
/// `TIME_ZONE`. If the command ends before all posts are converted, the others are converted when
/// the mirror is next used.
package struct AddZone: PersonOperation {
    package static let name = "zones-add"
    /// The IANA name of the zone.
    package var zone: String
    /// The first day in the zone; nil if that time has no beginning.
    package var from: String?
    /// The last day in the zone; nil if that time has no end.
    package var to: String?

    package init(zone: String, from: String? = nil, to: String? = nil) {
        self.zone = zone
        self.from = from
        self.to = to
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ZonesChange {
        let archive = desk.mirror.archive
        let span = try span
        switch try await archive.add(span, seen: seen, now: desk.now) {
        case .unchanged: return try await ZonesChange(span, at: desk, isNew: false)
        case .changed:
            let day = ZonesReport.Line(span).anyDay
            return try await ZonesChange(
                span, at: desk, moved: try await archive.rewriteTimes(in: try await desk.zone()),
                wayBack: WayBack(RemoveZone(time: day), "zones", "remove", day))
        case .overlaps(let other):
            throw ChangeRefusal(
                .unusable,
                saying: localized(
                    "some of these days are noted for \(other.zone.name), \(ZonesReport.Line(other).days); \(control: .removingZone(ZonesReport.Line(other).anyDay))"
                ))
        case .full:
            throw ChangeRefusal(
                .full,
                localized(
                    "\(Archive.mostZoneSpans) periods in other zones are noted, which is the maximum"
                ))
        }
    }

    package func outcomeIfDone(at desk: Desk) async throws -> ZonesChange? {
        let span = try span
        let outcome = try await ZonesChange(span, at: desk, isNew: false)
        return outcome.zones.contains(outcome.change) ? outcome : nil
    }

    /// The number of archived posts from that time.
    ///
    /// - Returns: The entry as it would be stored, and the number.
    /// - Throws: `ChangeRefusal` for an invalid zone or time; the store's error.
    package func reach(at desk: Desk) async throws -> (change: ZonesReport.Line, posts: Int) {
        let span = try span
        let first = span.days.lowerBound
        let last = span.days.upperBound
        let start = first == .earliest ? nil : LocalDayMinutes(first, in: span.zone).start
        let end = last == .latest ? nil : LocalDayMinutes(last, in: span.zone).end
        let posts = try await desk.mirror.archive.count(
            from: start ?? .distantPast, to: end ?? .distantFuture)
        return (ZonesReport.Line(span), posts)
    }

    /// The days and the zone of the entry.
    ///
    /// - Throws: `ChangeRefusal` for an invalid zone or time.
    private var span: ZoneSpan {
        get throws {
            guard from != nil || to != nil else {
                throw ChangeRefusal(
                    .unusable,
                    saying:
                        localized(
                            "give \(control: .zoneDays); the zone of all other times is \(Setting.timeZone.name)"
                        )
                )
            }
            let first = from.map { LocalDay($0) } ?? .earliest
            let last = to.map { LocalDay($0) } ?? .latest
            guard let first, let last, first <= last else {
                throw ChangeRefusal(
                    .unusable,
                    saying: localized(
                        "expected two dates, the earlier one first, such as \(control: .days("2019-03-01", "2020-06-30"))"
                    )
                )
            }
            return ZoneSpan(first...last, in: try TimeZone(typed: zone))
        }
    }
}

/// Removes the entry for a time in another zone.
package struct RemoveZone: PersonOperation {
    package static let name = "zones-remove"
    /// Any day of the entry, or its zone if there is only one entry with it.
    package var time: String

    package init(time: String) { self.time = time }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ZonesChange {
        let archive = desk.mirror.archive
        let day = try await day(at: desk)
        guard let span = try await archive.removeZone(on: day, seen: seen) else {
            throw ChangeRefusal(
                .unknown,
                saying: localized("no zone is noted for \(day); \(control: .zones) lists them"))
        }
        let line = ZonesReport.Line(span)
        let reversal = AddZone(
            zone: line.timeZone, from: line.from?.description, to: line.to?.description)
        let from = reversal.from.map { ["--from", $0] } ?? []
        let to = reversal.to.map { ["--to", $0] } ?? []
        return try await ZonesChange(
            span, at: desk, moved: try await archive.rewriteTimes(in: try await desk.zone()),
            wayBack: WayBack(reversal, ["zones", "add", line.timeZone] + from + to))
    }

    /// - Returns: Nil if the day still has an entry, and if a zone was named instead of a day.
    package func outcomeIfDone(at desk: Desk) async throws -> ZonesChange? {
        guard let day = LocalDay(time) else { return nil }
        let home = try await desk.zone()
        let spans = try await desk.mirror.archive.zones(home: home).spans
        guard !spans.contains(where: { $0.days.contains(day) }) else { return nil }
        return try await ZonesChange(ZoneSpan(day...day, in: home), at: desk, isNew: false)
    }

    private func day(at desk: Desk) async throws -> LocalDay {
        if let day = LocalDay(time) { return day }
        let zone = try TimeZone(typed: time)
        let history = try await desk.mirror.archive.zones(home: try await desk.zone())
        let spansInZone = history.spans.filter { $0.zone == zone }
        guard let span = spansInZone.first else {
            throw ChangeRefusal(
                .unknown,
                saying: localized(
                    "\(zone.name) is not noted; \(control: .zones) lists the zones that are"))
        }
        guard spansInZone.count == 1 else {
            throw ChangeRefusal(
                .ambiguous,
                localized(
                    "\(zone.name) is noted for \(spansInZone.count) periods; give a day of the one you mean"
                )
            )
        }
        return span.days.lowerBound
    }
}

extension TimeZone {
    /// Finds the zone that a person typed.
    ///
    /// - Throws: `ChangeRefusal` that proposes a zone with a similar name.
    fileprivate init(typed name: String) throws {
        let names = TimeZone.knownTimeZoneIdentifiers
        // Foundation also accepts abbreviations such as EST, which have no daylight saving time.
        if names.contains(name) || ["UTC", "GMT"].contains(name),
            let zone = TimeZone(identifier: name)
        {
            self = zone
            return
        }
        let word = name.lowercased().replacing(" ", with: "_")
        let city = names.first { $0.lowercased() == word || $0.lowercased().hasSuffix("/" + word) }
        let proposal = city ?? Spelling.nearest(to: name, among: names)
        throw ChangeRefusal(
            .unusable,
            proposal.map {
                localized("\"\(name.prefix(60))\" is no time zone; did you mean \($0)?")
            }
                ?? localized(
                    "\"\(name.prefix(60))\" is no time zone; expected an IANA name such as Europe/Berlin"
                ))
    }
}

/// The outcome of a change of the zones in which the human lived, for programs.
package struct ZonesChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/zones-change/1"
    /// False if nothing had to be changed.
    package let isNew: Bool
    /// The number of posts whose local times were converted.
    package let moved: Int
    /// The entry that was added or removed.
    package let change: ZonesReport.Line
    /// All entries, sorted by time.
    package let zones: [ZonesReport.Line]
    /// The digest of all entries, for changing them.
    package let seen: Seen?
    package let wayBack: WayBack?

    /// - Parameters:
    ///   - span: The entry that was added or removed.
    ///   - wayBack: The reverse operation; nil if nothing was changed.
    fileprivate init(
        _ span: ZoneSpan, at desk: Desk, isNew: Bool = true, moved: Int = 0, wayBack: WayBack? = nil
    ) async throws {
        let report = try await ZonesReport(of: desk.mirror, home: try await desk.zone())
        self.isNew = isNew
        self.moved = moved
        change = ZonesReport.Line(span)
        zones = report.zones
        seen = report.seen
        self.wayBack = wayBack
    }
}
