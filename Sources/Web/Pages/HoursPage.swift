import Control
import Foundation
import Localization
import Mirroring
import Posts

extension PageTemplate {
    /// The dial with its sentences and its table.
    static let dial = PageTemplate("dial")
    /// The week with its tables.
    static let week = PageTemplate("week")
}

/// The posting hours of human and bot, and their likeness.
enum HoursPage: MirrorPage {
    static let section = PageSection.hours
    static let templates = [PageTemplate("hours"), .dial, .week]
    static let liveParts = ["dial", "week", "days"]
    static let routes: [MirrorRoute] = [.get("/hours", page), .get("/hours.svg", picture)]

    private static func page(_ request: MirrorRequest) async throws -> WebReply {
        guard let zone = request.zone else { return reply(contextWithoutZone(request.base)) }
        let times = try await StatsReporter(
            mirror: request.mirror, zone: zone, kept: request.keptReports
        ).times(now: request.now)
        let zones = try await ZonesReport(of: request.mirror, home: zone)
        return reply(context(times, zones, words: request.words, base: request.base))
    }

    private static func reply(_ context: PageContext) -> WebReply {
        .page(PageContent(templates[0], in: section, context))
    }

    private static func picture(_ request: MirrorRequest) async throws -> WebReply {
        guard let zone = request.zone else {
            return .missing(localized("Nobody knows yet by which clock the human lives."))
        }
        let times = try await StatsReporter(
            mirror: request.mirror, zone: zone, kept: request.keptReports
        ).times(now: request.now)
        let picture = HoursPicture(
            times, human: request.record.humanHandle, bot: request.record.botHandle,
            words: request.words)
        return .file(picture.svg, type: "image/svg+xml", name: "hours.svg")
    }

    // MARK: What it shows

    static func contextWithoutZone(_ base: String) -> PageContext {
        ["base": .text(base), "zoneless": true, "drawing": .none]
    }

    static func context(
        _ times: StatsReport.Times, _ zones: ZonesReport, words: Words, base: String
    ) -> PageContext {
        var drawing = drawings(
            times, zone: zones.timeZone, words: words,
            hand: LocalTime(words.now, in: words.zone).minute, hasSums: false)
        drawing["zones"] = .list(
            zones.zones.map { ["days": .text($0.days), "zone": .text($0.timeZone)] })
        drawing["days"] = .list(
            times.days.map { day in
                [
                    "day": .text("\(day.day)"), "human": .number(day.humanPosts),
                    "bot": .number(day.posts),
                ]
            })
        return ["base": .text(base), "zoneless": false, "drawing": .fields(drawing)]
    }

    /// The values of the templates `dial` and `week`, and the drawing of the days.
    ///
    /// - Parameters:
    ///   - times: The posts of human and bot.
    ///   - zone: The name of the human's time zone.
    ///   - words: Formats the days.
    ///   - hand: The time that the dial shows; nil for none.
    ///   - hasSums: Whether the tables of the week end with the sums of the weekdays.
    static func drawings(
        _ times: StatsReport.Times, zone: String, words: Words, hand: MinuteOfDay?, hasSums: Bool
    ) -> PageContext {
        let human = times.human
        let bot = times.bot
        let likeness = times.likeness
        return [
            "dial": .markup(
                Dial(human: human, bot: bot, likeness: likeness, now: hand).drawing.element),
            "hasHand": .flag(hand != nil),
            "weekGrid": .markup(WeekGrid(human: human, bot: bot).drawing.element),
            "dayBars": .markup(DayBars(days: times.days, words: words).drawing.element),
            "humanKey": .markup(Drawing.key("h")), "botKey": .markup(Drawing.key("b")),
            // A number without a sign, because the template adds `of 100`.
            "alike": .text(likeness.share.map { String(format: "%.0f", $0 * 100) }),
            "nothingAlike": .text(
                localized(
                    human.posts == 0
                        ? "No posts of the human are archived yet, so there is nothing to compare."
                        : "The bot has no posts yet, so there is nothing to compare.")),
            "halves": .text(likeness.halves.map { Words.percent($0) }),
            "expected": .text(expected(likeness)),
            "botCount": .text(Words.count(bot.posts, "post of the bot", "posts of the bot")),
            "human": .text(span(human, since: times.humanSince, until: times.humanUntil)),
            "bot": .text(span(bot, since: times.botSince)), "aDay": .text(postsPerDay(times.days)),
            "zone": .text(zone), "zones": [], "hours": .list(hours(human, bot)),
            "weekdays": .texts(StatsReport.weekdays),
            "weeks": .list([
                [
                    "who": .text(localized("human")),
                    "rows": .list(rows(human, hasSums: hasSums)),
                ],
                ["who": .text(localized("bot")), "rows": .list(rows(bot, hasSums: hasSums))],
            ]),
        ]
    }

    /// Returns the likeness that is expected by chance alone; `nil` unless it is below the likeness
    /// of the two halves of the human's posts.
    private static func expected(_ likeness: StatsReport.Likeness) -> String? {
        guard let expected = likeness.expected, let halves = likeness.halves, expected < halves
        else { return nil }
        return Words.percent(expected)
    }

    /// Returns the number of posts, their first and last days, and the hour with the most, as
    /// `8,412 posts, 2013-05-02 to 2026-11-25, most from 20:00 on`.
    private static func span(
        _ rhythm: StatsReport.Rhythm, since: LocalDay?, until: LocalDay? = nil
    ) -> String {
        guard let busiest = rhythm.busiest else { return localized("no posts") }
        let posts = Words.count(rhythm.posts, "post")
        let hour = "\(busiest.hour):00"
        guard let since else { return localized("\(posts), most from \(hour) on") }
        return until.map { localized("\(posts), \(since) to \($0), most from \(hour) on") }
            ?? localized("\(posts) since \(since), most from \(hour) on")
    }

    private static func postsPerDay(_ days: [StatsReport.Day]) -> String? {
        guard !days.isEmpty else { return nil }
        func mean(_ number: (StatsReport.Day) -> Int) -> String {
            let sum = days.map(number).reduce(0, +)
            return String(format: "%.1f", Double(sum) / Double(days.count))
        }
        return localized(
            "\(mean(\.posts)) posts a day; the human \(mean(\.humanPosts)), in the last four weeks")
    }

    private static func hours(_ human: StatsReport.Rhythm, _ bot: StatsReport.Rhythm)
        -> [PageContext]
    {
        // The shares are rounded as in the table, so that the difference is that of the shown
        // numbers.
        func rounded(_ share: Double) -> Double { (share * 1_000).rounded(.toNearestOrEven) / 10 }
        return (0..<24).map { hour in
            let humanShare = human.shares[hour]
            let botShare = bot.shares[hour]
            return [
                "hour": .text("\(hour):00"), "human": .text(Words.percent(humanShare, digits: 1)),
                "bot": .text(Words.percent(botShare, digits: 1)),
                "more": .text(StepBars.signed(rounded(botShare) - rounded(humanShare), digits: 1)),
            ]
        }
    }

    private static func rows(_ rhythm: StatsReport.Rhythm, hasSums: Bool) -> [PageContext] {
        let hours = (0..<24).map { hour in
            row("\(hour):00", rhythm.week.map { $0[hour] })
        }
        return hasSums ? hours + [row(localized("all"), rhythm.weekdays)] : hours
    }

    private static func row(_ heading: String, _ numbers: [Int]) -> PageContext {
        ["hour": .text(heading), "cells": .texts(numbers.map { "\($0)" })]
    }
}
