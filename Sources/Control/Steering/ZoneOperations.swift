import Archive
package import Foundation
package import Mirroring
package import Posts
import Schedule
import Settings

/// Notes that the human lived by the clock of another zone for some time: who moved, or was away
/// for a while, wrote in the morning what another clock shows at night.
///
/// Posts keep their instant; only the minute and the day that count for the schedule and for the
/// choice of texts are those of the clock by which they were written. The bot's own days stay those
/// of `TIME_ZONE`. If the command ends before all posts are moved, the others are moved when the
/// mirror is next used.
package struct AddZone: PersonOperation {
    package static let name = "zones-add"
    /// An IANA name.
    package var zone: String
    /// The first day; nil if the time has no beginning.
    package var from: String?
    /// The last day; nil if it has no end.
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
                saying: """
                    some of these days are noted for \(other.zone.name), \(ZonesReport.Line(other).days); \
                    \(control: .removingZone(ZonesReport.Line(other).anyDay))
                    """)
        case .full:
            throw ChangeRefusal(
                .full,
                "\(Archive.mostZoneSpans) periods in other zones are noted, which is the maximum")
        }
    }

    package func outcomeIfDone(at desk: Desk) async throws -> ZonesChange? {
        let span = try span
        let outcome = try await ZonesChange(span, at: desk, isNew: false)
        return outcome.zones.contains(outcome.change) ? outcome : nil
    }

    /// How many archived posts were written in that time.
    ///
    /// - Returns: The time as it would be noted, and the number.
    /// - Throws: `ChangeRefusal` for what is no zone or no time; the store's error.
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

    /// The time that is meant.
    ///
    /// - Throws: `ChangeRefusal` for what is no zone or no time.
    private var span: ZoneSpan {
        get throws {
            guard from != nil || to != nil else {
                throw ChangeRefusal(
                    .unusable,
                    saying:
                        "give \(control: .zoneDays); the zone of all other times is \(Setting.timeZone.name)"
                )
            }
            let first = from.map { LocalDay($0) } ?? .earliest
            let last = to.map { LocalDay($0) } ?? .latest
            guard let first, let last, first <= last else {
                throw ChangeRefusal(
                    .unusable,
                    saying: """
                        expected two dates, the earlier one first, such as \
                        \(control: .days("2019-03-01", "2020-06-30"))
                        """
                )
            }
            return ZoneSpan(first...last, in: try TimeZone(typed: zone))
        }
    }
}

/// Takes back what was noted of a time.
package struct RemoveZone: PersonOperation {
    package static let name = "zones-remove"
    /// Any of its days, or its zone where that was noted once.
    package var time: String

    package init(time: String) { self.time = time }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ZonesChange {
        let archive = desk.mirror.archive
        let day = try await day(at: desk)
        guard let span = try await archive.removeZone(on: day, seen: seen) else {
            throw ChangeRefusal(
                .unknown, saying: "no zone is noted for \(day); \(control: .zones) lists them")
        }
        let line = ZonesReport.Line(span)
        let again = AddZone(
            zone: line.timeZone, from: line.from?.description, to: line.to?.description)
        let days =
            (again.from.map { ["--from", $0] } ?? []) + (again.to.map { ["--to", $0] } ?? [])
        return try await ZonesChange(
            span, at: desk, moved: try await archive.rewriteTimes(in: try await desk.zone()),
            wayBack: WayBack(again, ["zones", "add", line.timeZone] + days))
    }

    /// - Returns: Nil if the day still has a zone, and where a zone was named and no day.
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
        let named = try await desk.mirror.archive.zones(home: try await desk.zone()).spans.filter {
            $0.zone == zone
        }
        guard let span = named.first else {
            throw ChangeRefusal(
                .unknown,
                saying: "\(zone.name) is not noted; \(control: .zones) lists the zones that are")
        }
        guard named.count == 1 else {
            throw ChangeRefusal(
                .ambiguous,
                "\(zone.name) is noted for \(named.count) periods; give a day of the one you mean")
        }
        return span.days.lowerBound
    }
}

extension TimeZone {
    /// The zone that a person means.
    ///
    /// - Throws: `ChangeRefusal` that proposes one with nearly this name.
    fileprivate init(typed name: String) throws {
        let names = TimeZone.knownTimeZoneIdentifiers
        // Foundation also takes abbreviations such as EST, which know no summer time.
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
            "\"\(name.prefix(60))\" is no time zone; "
                + (proposal.map { "did you mean \($0)?" }
                    ?? "expected an IANA name such as Europe/Berlin"))
    }
}

/// The outcome of a change of the human's clocks, for programs.
package struct ZonesChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/zones-change/1"
    /// False if that was so already.
    package let isNew: Bool
    /// Posts that count for another time now.
    package let moved: Int
    /// The entry that was noted or taken out.
    package let change: ZonesReport.Line
    /// All that is noted now, in order of time.
    package let zones: [ZonesReport.Line]
    /// The digest of all that is noted now, for who changes it.
    package let seen: Seen?
    package let wayBack: WayBack?

    /// - Parameters:
    ///   - span: The entry that was noted or taken out.
    ///   - wayBack: Nil if nothing was changed.
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

/// By which clock the human lived when.
package struct ZonesReport: Codable, Equatable, Sendable {
    /// A time by the clock of another zone.
    package struct Line: Codable, Equatable, Sendable {
        package var timeZone: String
        /// The first day; nil if the time has no beginning.
        package var from: LocalDay?
        /// The last day; nil if it has no end.
        package var to: LocalDay?

        package init(_ span: ZoneSpan) {
            timeZone = span.zone.name
            from = span.days.lowerBound == .earliest ? nil : span.days.lowerBound
            to = span.days.upperBound == .latest ? nil : span.days.upperBound
        }

        /// The days in words.
        package var days: String {
            [from.map { "from \($0)" }, to.map { "to \($0)" }].compactMap(\.self).joined(
                separator: " ")
        }

        /// A day by which the time can be named.
        package var anyDay: String { (from ?? to ?? .earliest).description }
    }

    package private(set) var schema = "mirror-bot/zones/1"
    /// The zone of all other times.
    package var timeZone: String
    /// In order of time.
    package var zones: [Line]
    /// The digest of all that is noted, for who changes it; nil where that is not known.
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
