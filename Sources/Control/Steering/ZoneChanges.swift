import Archive
package import Foundation
package import Mirroring
package import Posts
import Schedule
import Settings

/// What a person says of the clocks by which the human lived: who moved, or was away for a while, wrote in the morning
/// what another clock shows at night.
///
/// Posts keep their instant; only the minute and the day that count for the schedule and for the choice of texts are those
/// of the clock by which they were written. The bot's own days stay those of `TIME_ZONE`.
package struct ZoneChanges: Sendable {
    /// What came of a change.
    package struct Outcome: Sendable {
        package let span: ZoneSpan
        /// False if that was so already.
        package let isNew: Bool
        /// How many posts have another minute or day now.
        package let moved: Int
    }

    private let mirror: HumanMirror
    private let zone: TimeZone

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - zone: The human's usual time zone.
    package init(mirror: HumanMirror, zone: TimeZone) { (self.mirror, self.zone) = (mirror, zone) }

    /// By which clock the human lived when.
    ///
    /// - Throws: The store's error.
    package func report() async throws -> ZonesReport {
        let spans = try await mirror.archive.zones(home: zone).spans
        return ZonesReport(
            timeZone: mirror.configuration.name(of: zone), zones: spans.map(ZonesReport.Line.init),
            seen: Archive.seen(spans))
    }

    /// Notes that the human lived by the clock of another zone for some time.
    ///
    /// - Parameters:
    ///   - name: The zone.
    ///   - from: The first day; nil if the time has no beginning.
    ///   - to: The last day; nil if it has no end.
    ///   - seen: ``ZonesReport/seen`` that the person was shown; nil to change without comparing.
    ///   - now: Recorded with it.
    /// - Returns: What came of it.
    /// - Throws: `ChangeRefusal`; the store's error. What was noted then stays noted, and posts that were not
    ///   moved yet are moved when the mirror is next used.
    package func add(
        _ name: String, from: String?, to: String?, seen: Seen? = nil, now: Date
    ) async throws -> Outcome {
        let span = ZoneSpan(try Self.days(from: from, to: to), in: try Self.zone(named: name))
        switch try await mirror.archive.add(span, seen: seen, now: now) {
        case .unchanged: return Outcome(span: span, isNew: false, moved: 0)
        case .changed:
            return Outcome(span: span, isNew: true, moved: try await mirror.archive.rewriteTimes(in: zone))
        case .overlaps(let other):
            throw ChangeRefusal(
                .unusable,
                "some of these days are noted for \(other.zone.name), \(ZonesReport.Line(other).days); "
                    + "remove that first: mirror-bot zones remove \(ZonesReport.Line(other).anyDay)")
        case .full:
            throw ChangeRefusal(
                .full, "\(Archive.mostZoneSpans) periods in other zones are noted, which is the maximum")
        }
    }

    /// How many archived posts were written in a time that would be noted.
    ///
    /// - Returns: The time as it would be noted, and the number.
    /// - Throws: `ChangeRefusal` for what is no zone or no time; the store's error.
    package func reach(
        _ name: String, from: String?, to: String?
    ) async throws -> (change: ZonesReport.Line, posts: Int) {
        let span = ZoneSpan(try Self.days(from: from, to: to), in: try Self.zone(named: name))
        let (first, last) = (span.days.lowerBound, span.days.upperBound)
        let start = first == .earliest ? nil : LocalDayMinutes(first, in: span.zone).start
        let end = last == .latest ? nil : LocalDayMinutes(last, in: span.zone).end
        let posts = try await mirror.archive.count(from: start ?? .distantPast, to: end ?? .distantFuture)
        return (ZonesReport.Line(span), posts)
    }

    /// Takes back what was noted of a time.
    ///
    /// - Parameter word: Any of its days, or its zone where that was noted once.
    /// - Returns: What came of it.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func remove(_ word: String, seen: Seen? = nil) async throws -> Outcome {
        let day = try await self.day(of: word)
        guard let span = try await mirror.archive.removeZone(on: day, seen: seen) else {
            throw ChangeRefusal(.unknown, "no zone is noted for \(day); mirror-bot zones lists them")
        }
        return Outcome(span: span, isNew: true, moved: try await mirror.archive.rewriteTimes(in: zone))
    }

    /// Returns the outcome of adding a time that is stored already; nil if it is not stored.
    ///
    /// - Throws: As ``add(_:from:to:seen:now:)``.
    func noted(_ name: String, from: String?, to: String?) async throws -> Outcome? {
        let span = ZoneSpan(try Self.days(from: from, to: to), in: try Self.zone(named: name))
        guard try await report().zones.contains(ZonesReport.Line(span)) else { return nil }
        return Outcome(span: span, isNew: false, moved: 0)
    }

    /// Returns the outcome of removing the stored zone of a day that has none; nil if the day has one, or if `word` names a
    /// zone and no day.
    ///
    /// - Throws: The store's error.
    func removed(_ word: String) async throws -> Outcome? {
        guard let day = LocalDay(word) else { return nil }
        let spans = try await mirror.archive.zones(home: zone).spans
        guard !spans.contains(where: { $0.days.contains(day) }) else { return nil }
        return Outcome(span: ZoneSpan(day...day, in: zone), isNew: false, moved: 0)
    }

    private func day(of word: String) async throws -> LocalDay {
        if let day = LocalDay(word) { return day }
        let zone = try Self.zone(named: word)
        let named = try await mirror.archive.zones(home: zone).spans.filter { $0.zone == zone }
        guard let span = named.first else {
            throw ChangeRefusal(.unknown, "\(zone.name) is not noted; mirror-bot zones lists the zones that are")
        }
        guard named.count == 1 else {
            throw ChangeRefusal(
                .ambiguous, "\(zone.name) is noted for \(named.count) periods; give a day of the one you mean")
        }
        return span.days.lowerBound
    }

    private static func days(from: String?, to: String?) throws -> ClosedRange<LocalDay> {
        guard from != nil || to != nil else {
            throw ChangeRefusal(.unusable, "give --from, --to or both; the zone of all other times is TIME_ZONE")
        }
        let (first, last) = (from.map { LocalDay($0) } ?? .earliest, to.map { LocalDay($0) } ?? .latest)
        guard let first, let last, first <= last else {
            throw ChangeRefusal(
                .unusable, "expected two dates, the earlier one first, such as --from 2019-03-01 --to 2020-06-30")
        }
        return first...last
    }

    /// The zone that a person means.
    ///
    /// - Throws: `ChangeRefusal` that proposes one with nearly this name.
    static func zone(named name: String) throws -> TimeZone {
        let names = TimeZone.knownTimeZoneIdentifiers
        // Foundation also takes abbreviations such as EST, which know no summer time.
        if names.contains(name) || ["UTC", "GMT"].contains(name), let zone = TimeZone(identifier: name) { return zone }
        let shown = String(name.prefix(60))
        let word = name.lowercased().replacing(" ", with: "_")
        let city = names.first { $0.lowercased() == word || $0.lowercased().hasSuffix("/" + word) }
        let proposal = city ?? Spelling.nearest(to: name, among: names)
        throw ChangeRefusal(
            .unusable,
            "\"\(shown)\" is no time zone; "
                + (proposal.map { "did you mean \($0)?" } ?? "expected an IANA name such as Europe/Berlin"))
    }
}

/// What came of a change of the human's clocks, for programs.
package struct ZonesChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/zones-change/1"
    /// False if that was so already.
    package let isNew: Bool
    /// Posts that count for another time now.
    package let moved: Int
    /// What was noted or taken out.
    package let change: ZonesReport.Line
    /// All that is noted now, in order of time.
    package let zones: [ZonesReport.Line]
    /// The digest of all that is noted now, for who changes it.
    package let seen: Seen?
    package let wayBack: WayBack?

    init(_ outcome: ZoneChanges.Outcome, _ report: ZonesReport, wayBack: WayBack?) {
        (isNew, moved, change) = (outcome.isNew, outcome.moved, ZonesReport.Line(outcome.span))
        (zones, seen, self.wayBack) = (report.zones, report.seen, wayBack)
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
            [from.map { "from \($0)" }, to.map { "to \($0)" }].compactMap(\.self).joined(separator: " ")
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
        (self.timeZone, self.zones, self.seen) = (timeZone, zones, seen)
    }
}
