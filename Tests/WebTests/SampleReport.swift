import Foundation
import Outbox
import Posts
import Settings
import TestSupport

@testable import Archive
@testable import Control
@testable import Mirroring

/// A report of a mirror with a life, made of numbers that a test can compute too.
enum SampleReport {
    /// 2026-05-28, 20:26 UTC: a Thursday.
    static let now = Date(timeIntervalSince1970: 1_780_000_000)

    /// What somebody writes who wants to harm the page: it leaves elements and attributes, loads,
    /// runs and turns around.
    static let hostile =
        "\u{202E}</td></table><script>alert(1)</script><img src=x onerror=\"alert('2')\" />&lt;&#x3c;"
        + "\u{0}\u{1B}[2J\u{FFFE}]]><!-- <style>* { display: none }</style> javascript:alert(3) \"' "
        + String(repeating: "x", count: 400)

    /// The human posts at seven and at twelve, on Mondays twice; the bot at twelve.
    static func stats(_ name: String = "ann@home.example", word: String = "bread") -> StatsReport {
        let first = LocalDay(ordinal: LocalTime(now, in: .gmt).day.ordinal - 27)
        let days = (0..<28).map { first.advanced(by: $0) }
        let human = days.flatMap { day in
            [7, 12, 12].prefix(day.weekday == 1 ? 3 : 2).map {
                LocalTime(day: day, minute: MinuteOfDay(hour: $0, minute: 5))
            }
        }
        let bot = days.suffix(10).map {
            LocalTime(day: $0, minute: MinuteOfDay(hour: 12, minute: 40))
        }
        return StatsReport(
            mirror: "default", human: name, bot: "mirror@home.example", timeZone: "UTC", made: now,
            humanPosts: StatsReport.Rhythm(human), botPosts: StatsReport.Rhythm(bot),
            likeness: StatsReport.Likeness(human: human, bot: bot),
            days: days.enumerated().map { index, day in
                StatsReport.Day(
                    day: day, humanPosts: day.weekday == 1 ? 3 : 2, posts: index < 18 ? 0 : 1,
                    replies: index % 3,
                    favorites: index % 5)
            },
            authors: [StatsReport.Author(name: "@\(name)", favorites: 12, normals: 3, given: 4)],
            wordsFor: [StatsReport.Word(word: word, favorites: 9, normals: 1, logOdds: 1.25)],
            wordsAgainst: [StatsReport.Word(word: "rain", favorites: 0, normals: 21, logOdds: -2)],
            leftOut: [
                StatsReport.LeftOut(part: .archive, count: 407, reason: ReportedReason("is-reply")),
                StatsReport.LeftOut(
                    part: .reply, state: "skipped", count: 3, reason: ReportedReason(name)),
            ],
            stored: [
                StatsReport.Stored(
                    what: "public posts of the human", count: 2_188, keeps: "the newest 10000")
            ])
    }

    static func status(_ text: String = "A loaf.", person: String = "@bob@home.example")
        -> StatusReport
    {
        let kinds: [(ActionKind, ActionState, ReasonCode?)] = [
            (.post, .done, nil), (.reply, .done, nil), (.reply, .skipped, "person-cap"),
            (.favorite, .done, nil),
        ]
        let recent = kinds.enumerated().map { index, kind in
            ReportedAction(
                id: "3fa9c1d04b7\(index)", kind: kind.0, state: kind.1,
                at: now - 600 * Double(index),
                person: kind.0 == .post
                    ? nil : ReportedPerson(account: String(person.dropFirst()), name: person),
                reason: kind.2, reasonText: kind.2.map { ReportedReason($0).text },
                text: kind.2 == nil && kind.0 != .favorite ? text : nil, language: "en", why: text,
                rate: kind.0 == .favorite ? 4.25 : nil,
                words: kind.0 == .favorite ? [person, text] : nil)
        }
        return StatusReport(
            mirror: "default", storage: "SQLite at /home/ann/mirror-bot.sqlite",
            human: "ann@home.example",
            bot: "mirror@home.example", timeZone: "UTC",
            archive: .init(posts: 2_188, limit: 10_000, oldest: nil, newest: nil),
            classifier: .init(favorites: 485, normals: 852, seen: 900, counts: 4_000, waiting: nil),
            today: LocalTime(now, in: .gmt).day, slots: [], nextSlot: now + 3_600, recent: recent,
            isRunning: true,
            idle: ["no favorites: \(text)"])
    }

    /// What an archive of 8,424 texts is good for.
    static let texts: StatusReport.TextState = {
        var unsent = Archive.Unsent()
        unsent.fit = 3_204
        unsent.sometimes = ["greeting-season": 411]
        unsent.unjudged = 12
        unsent.unfit = [
            "names-somebody": 1_632, "time-bound": 1_204, "dated": 861, "link-only": 1_100,
        ]
        return StatusReport.TextState(unsent, .strict)
    }()

    static func day(_ text: String = "A loaf.", isStored: Bool = true) -> PlanReport {
        let day = LocalTime(now, in: .gmt).day.advanced(by: isStored ? 0 : 1)
        let slots = (1...3).map { number in
            PlanReport.Slot(
                id: "5b0dc48e18b\(number)", subject: "\(day)#\(number)", time: "1\(number):05",
                due: now,
                state: isStored ? "planned" : "preview", reason: nil, text: text, language: "en",
                why: "one of 12 texts within 30 minutes of 1\(number):05")
        }
        return PlanReport(
            day: day, timeZone: "UTC", isStored: isStored, slots: slots, humanHours: [],
            botHours: [])
    }

    static func report() -> MirrorReport {
        MirrorReport(status: status(), stats: stats(), days: [day(), day(isStored: false)])
    }

    /// The same, with something hostile wherever others can write.
    static func hostileReport() -> MirrorReport {
        MirrorReport(
            status: status(hostile, person: hostile), stats: stats(hostile, word: hostile),
            days: [day(hostile), day(hostile, isStored: false)])
    }
}
