import Archive
package import Foundation
package import Posts

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
        ZonesReport(
            timeZone: mirror.configuration.name(of: zone),
            zones: try await mirror.archive.zones(home: zone).spans.map(ZonesReport.Line.init))
    }

    /// Notes that the human lived by the clock of another zone for some time.
    ///
    /// - Parameters:
    ///   - name: The zone.
    ///   - from: The first day; nil if the time has no beginning.
    ///   - to: The last day; nil if it has no end.
    ///   - now: Recorded with it.
    /// - Returns: What came of it.
    /// - Throws: ``PlanChanges/Obstacle``; the store's error. What was noted then stays noted, and posts that were not
    ///   moved yet are moved when the mirror is next used.
    package func add(_ name: String, from: String?, to: String?, now: Date) async throws -> Outcome {
        let span = ZoneSpan(try Self.days(from: from, to: to), in: try Self.zone(named: name))
        switch try await mirror.archive.add(span, now: now) {
        case .unchanged: return Outcome(span: span, isNew: false, moved: 0)
        case .changed:
            return Outcome(span: span, isNew: true, moved: try await mirror.archive.rewriteTimes(in: zone))
        case .overlaps(let other):
            throw Obstacle(
                description: "some of these days are those of \(other.zone.name), \(ZonesReport.Line(other).days); "
                    + "take that out first: mirror-bot zones remove \(ZonesReport.Line(other).anyDay)",
                isMisuse: true)
        case .full:
            throw Obstacle(
                description: "\(Archive.mostZoneSpans) times in other zones are noted, and more are not possible",
                isMisuse: false)
        }
    }

    /// Takes back what was noted of a time.
    ///
    /// - Parameter word: Any of its days, or its zone where that was noted once.
    /// - Returns: What came of it.
    /// - Throws: ``PlanChanges/Obstacle``; the store's error.
    package func remove(_ word: String) async throws -> Outcome {
        let day = try await self.day(of: word)
        guard let span = try await mirror.archive.removeZone(on: day) else {
            throw Obstacle(
                description: "no other zone is noted of \(day); mirror-bot zones shows what is", isMisuse: true)
        }
        return Outcome(span: span, isNew: true, moved: try await mirror.archive.rewriteTimes(in: zone))
    }

    private typealias Obstacle = PlanChanges.Obstacle

    private func day(of word: String) async throws -> LocalDay {
        if let day = LocalDay(word) { return day }
        let zone = try Self.zone(named: word)
        let named = try await mirror.archive.zones(home: zone).spans.filter { $0.zone == zone }
        guard let span = named.first else {
            throw Obstacle(
                description: "\(zone.name) is noted of no time; mirror-bot zones shows what is", isMisuse: true)
        }
        guard named.count == 1 else {
            throw Obstacle(
                description: "\(zone.name) is noted of \(named.count) times; give a day of the one that is meant",
                isMisuse: true)
        }
        return span.days.lowerBound
    }

    private static func days(from: String?, to: String?) throws -> ClosedRange<LocalDay> {
        guard from != nil || to != nil else {
            throw Obstacle(
                description: "give --from, --to or both; the zone of all times is TIME_ZONE", isMisuse: true)
        }
        let (first, last) = (from.map { LocalDay($0) } ?? .earliest, to.map { LocalDay($0) } ?? .latest)
        guard let first, let last, first <= last else {
            throw Obstacle(
                description: "expected two dates, the earlier one first, such as --from 2019-03-01 --to 2020-06-30",
                isMisuse: true)
        }
        return first...last
    }

    /// The zone that a person means.
    ///
    /// - Throws: ``PlanChanges/Obstacle`` that proposes one with nearly this name.
    static func zone(named name: String) throws -> TimeZone {
        let names = TimeZone.knownTimeZoneIdentifiers
        // Foundation also takes abbreviations such as EST, which know no summer time.
        if names.contains(name) || ["UTC", "GMT"].contains(name), let zone = TimeZone(identifier: name) { return zone }
        let shown = String(name.prefix(60))
        let word = name.lowercased().replacing(" ", with: "_")
        let city = names.first { $0.lowercased() == word || $0.lowercased().hasSuffix("/" + word) }
        let proposal = city ?? Spelling.nearest(to: name, among: names)
        throw Obstacle(
            description: "\"\(shown)\" is no time zone; "
                + (proposal.map { "did you mean \($0)?" } ?? "expected an IANA name such as Europe/Berlin"),
            isMisuse: true)
    }
}

/// What came of a change of the human's clocks, for programs.
package struct ZonesChange: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/zones-change/1"
    /// False if that was so already.
    package let isNew: Bool
    /// Posts that count for another time now.
    package let moved: Int
    /// What was noted or taken out.
    package let change: ZonesReport.Line
    /// All that is noted now, in order of time.
    package let zones: [ZonesReport.Line]

    /// - Parameters:
    ///   - outcome: What was done.
    ///   - report: What is noted now.
    package init(_ outcome: ZoneChanges.Outcome, _ report: ZonesReport) {
        (isNew, moved, change, zones) = (outcome.isNew, outcome.moved, ZonesReport.Line(outcome.span), report.zones)
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

    package init(timeZone: String, zones: [Line]) { (self.timeZone, self.zones) = (timeZone, zones) }
}
