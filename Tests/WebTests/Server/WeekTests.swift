import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Schedule
import Storage
import TestSupport
import Testing

@testable import Web

/// The week ahead, where posts are moved by a form, and the week in review.
@Suite(.timeLimit(.minutes(30))) struct WeekTests {
    /// A slot of the form, as its option says it.
    private struct Option {
        let value: String
        let lane: Int
        let minute: Int
        let least: Int
    }

    private static func zone() throws -> TimeZone {
        try #require(TimeZone(identifier: WebStand.zone))
    }

    private func options(_ page: WebClient.Answer) throws -> [Option] {
        let pattern =
            #/<option value="([^"]+)"(?: selected)? data-lane="(\d+)" data-minute="(\d+)"(?: data-least="(\d+)")?>/#
        return try page.body.matches(of: pattern).map { found in
            Option(
                value: String(found.output.1), lane: try #require(Int(found.output.2)),
                minute: try #require(Int(found.output.3)),
                least: found.output.4.flatMap { Int($0) } ?? 0)
        }
    }

    private func move(
        _ value: String, to time: String, on page: WebClient.Answer, _ stand: WebStand
    )
        async throws -> WebClient.Answer
    {
        try await stand.client.send(
            "/m/mika/week/move",
            form: [
                ("csrf", page.field("csrf") ?? ""), ("slot", value), ("time", time),
            ])
    }

    /// The day of an option's slot, and that slot's action; nil while the day is not stored.
    private func action(_ option: Option, _ stand: WebStand) async throws -> Action? {
        let subject = String(option.value.prefix { $0 != " " })
        return try await stand.mirror().outbox(lease: nil).action(.post, subject: subject)
    }

    private func minutes(of page: WebClient.Answer, lane: Int) throws -> [Int] {
        try options(page).filter { $0.lane == lane }.map(\.minute)
    }

    private static func isMoved(_ action: Action?, to time: String) throws {
        let moved = try #require(action)
        #expect(moved.isPinned)
        let local = LocalTime(moved.due, in: try zone())
        #expect(local.minute.description == time)
        #expect(moved.subject.hasPrefix(local.day.description))
    }

    // MARK: Ahead

    @Test func everyDayOfTheReportIsShown() async throws {
        try await WebStand.with { stand in
            let week = try await WeekAhead(
                of: try await stand.mirror(), zone: try Self.zone(), now: WebStand.now)
            #expect(week.days.count == WeekAhead.length)
            #expect(week.humanHours.count == 7)
            let page = try await stand.client.send("/m/mika/week")
            #expect(page.status == 200)
            #expect(page.body.contains("<title>The week ahead · mika · mirror-bot</title>"))
            for day in week.days {
                #expect(page.body.contains("href=\"/m/mika?day=\(day.day)\""))
                for slot in day.slots.prefix(WeekAheadPage.listed(of: week.days)) {
                    #expect(page.body.contains("/m/mika/slots/\(slot.id)"), "\(slot.subject)")
                }
            }
            // No day is planned before a worker makes today's plan.
            #expect(page.body.contains("Expected, as far as one can tell: "))
            #expect(!page.body.contains("Planned: "))
            let marks = page.body.components(separatedBy: "class=\"hollow expected\"").count - 1
            #expect(marks == week.days.reduce(0) { $0 + min(WeekStrip.mostShown, $1.slots.count) })
            let ahead = week.days.flatMap(\.slots).filter { $0.due > WebStand.now }
            try expect(options(page).count, equals: min(WeekAheadPage.maximumOffered, ahead.count))
            try await #expect(
                stand.client.send("/m/mika").body.contains("href=\"/m/mika/week\">The week</a>"))
        }
    }

    /// The slot's own page is there too, however far ahead.
    @Test func theLastDayHasPagesOfItsSlots() async throws {
        try await WebStand.with { stand in
            let week = try await WeekAhead(
                of: try await stand.mirror(), zone: try Self.zone(), now: WebStand.now)
            let last = try #require(week.days.last { !$0.slots.isEmpty })
            let slot = try #require(last.slots.first)
            let page = try await stand.client.send("/m/mika/slots/\(slot.id)")
            #expect(page.status == 200)
            #expect(page.body.contains(">\(slot.time)</h1>"))
        }
    }

    /// A day that was only expected is stored as it was shown, and the slot is moved in it.
    @Test func thePostOfALaterDayIsMoved() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week")
            let option = try #require(try options(page).first { $0.lane >= 1 })
            #expect(option.least == 0)
            let stored = try await action(option, stand)
            #expect(stored == nil)
            let answer = try await move(option.value, to: "23:17", on: page, stand)
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/m/mika/week")
            let moved = try await action(option, stand)
            try Self.isMoved(moved, to: "23:17")
            let after = try await stand.client.send("/m/mika/week")
            #expect(after.body.contains("It comes at 23:17 now, on "))
            #expect(after.body.contains("<button>Back to "))
            #expect(after.body.contains("Planned: "))
            // The other slots of that day are as they were shown.
            let others = try minutes(of: page, lane: option.lane).filter { $0 != option.minute }
            let expected = (others + [23 * 60 + 17]).sorted()
            let shown = try minutes(of: after, lane: option.lane).sorted()
            #expect(shown == expected)
        }
    }

    @Test func aSecondPressIsNoError() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week")
            let option = try #require(try options(page).last)
            try await #expect(move(option.value, to: "23:17", on: page, stand).status == 303)
            let row = try await action(option, stand)
            try await #expect(move(option.value, to: "23:17", on: page, stand).status == 303)
            try await expect(action(option, stand), equals: row)
            try await #expect(
                stand.client.send("/m/mika/week").body.contains("It is at 23:17 already, on "))
        }
    }

    /// What somebody else changed since it was shown stays, and what was typed is not lost.
    @Test func whatHasChangedStays() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week")
            let option = try #require(try options(page).last)
            let subject = String(option.value.prefix { $0 != " " })
            _ = try await Desk(try await stand.mirror(), zone: try Self.zone()).perform(
                PinSlot(slot: subject))
            let before = try await action(option, stand)
            let answer = try await move(option.value, to: "23:17", on: page, stand)
            #expect(answer.status == 409)
            #expect(answer.body.contains("value=\"23:17\""))
            try await expect(action(option, stand), equals: before)
        }
    }

    @Test(arguments: ["25:99", "", "soon", "<script>"]) func aWrongTimeIsAskedForAgain(
        _ time: String
    ) async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week")
            let option = try #require(try options(page).last)
            let answer = try await move(option.value, to: time, on: page, stand)
            #expect(answer.status == 400)
            #expect(answer.body.contains("aria-invalid=\"true\" autofocus"))
            #expect(!answer.body.contains("<script>"))
            try await expect(action(option, stand)?.isPinned) { $0 != true }
        }
    }

    @Test(arguments: ["", "2026-05-30#1", "2026-05-30#1 zzz", "nothing 0", "\" onload=\"x y"])
    func whatIsNoSlotIsRefused(_ value: String) async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week")
            let answer = try await move(value, to: "23:17", on: page, stand)
            #expect(answer.status == 400)
            #expect(answer.body.firstMatch(of: #/\son[a-z]+="/#) == nil)
        }
    }

    @Test func aPageThatOnlyShowsHasNoForm() async throws {
        try await WebStand.with(isReadOnly: true) { stand in
            let page = try await stand.client.send("/m/mika/week")
            #expect(page.status == 200)
            #expect(!page.body.contains("<form"))
            let review = try await stand.client.send("/m/mika/week/review")
            #expect(!review.body.contains("<form"))
            #expect(!review.body.contains("/confirm/"))
        }
    }

    @Test(arguments: ["/week", "/week/review"]) func withoutAClockItSaysSo(_ path: String)
        async throws
    {
        try await WebStand.with(variables: ["TIME_ZONE": ""]) { stand in
            try await stand.mirror().storage.execute(
                "UPDATE mirrors SET time_zone = NULL WHERE mirror = 'mika'")
            let page = try await stand.client.send("/m/mika" + path)
            #expect(page.status == 200)
            #expect(page.body.contains("Nobody knows yet by which clock the human lives."))
        }
    }

    // MARK: In review

    /// A post that was sent, with the text of one of the archive.
    @discardableResult
    private func say(
        _ number: Int, at time: String, daysAgo: Int, language: String? = nil, _ mirror: HumanMirror
    ) async throws -> Action {
        let zone = try Self.zone()
        let day = LocalTime(WebStand.now, in: zone).day.advanced(by: -daysAgo)
        let minute = try #require(MinuteOfDay(clock: time))
        let midnight = try #require(LocalDayMinutes(day, in: zone).start)
        let at = midnight + Double(minute.value) * 60
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "https://social.example/@mika/\(number)"),
            text: "Post number \(number).", language: language, visibility: .unlisted)
        let intent = Intent(
            .post(Slot.Name(day: day, number: 1), wording), state: .planned, due: at,
            expires: at + 3_600)
        return try await finish(intent, at: at, mirror)
    }

    /// A mention in a conversation, answered or left alone.
    private func hear(
        _ number: Int, in thread: String, answered: Bool, at: Date, _ mirror: HumanMirror
    ) async throws -> Action {
        let target = Action.Target(
            post: "https://far.example/@pal/m\(number)", author: MirrorLife.pal,
            address: "\(number)", text: "how is the bread \(number)?")
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "answer-\(number)"),
            text: "The bread is fine \(number).", language: nil, visibility: .unlisted)
        let intent = Intent(
            .reply(Action.Reply(to: target, thread: thread, wording: answered ? wording : nil)),
            state: answered ? .planned : .skipped, due: at, expires: at + 3_600,
            reason: answered ? nil : .outbox(.byPerson))
        if answered { return try await finish(intent, at: at, mirror) }
        return try await mirror.outbox(lease: nil).propose(intent, now: at).action
    }

    private func finish(_ intent: Intent, at: Date, _ mirror: HumanMirror) async throws -> Action {
        let action = try await mirror.outbox(lease: nil).propose(intent, now: at).action
        try await mirror.storage.execute(
            """
            UPDATE actions SET state = 'done', sending_ms = \(at.milliseconds), remote_id = 'r'
            WHERE mirror = 'mika' AND id = \(action.id)
            """)
        return action
    }

    @Test func aWeekWithoutAnythingSaysSo() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/week/review")
            #expect(page.status == 200)
            #expect(page.body.contains("The bot said nothing in the last seven days."))
            for heading in ["odd one out", "most answered", "What it said"] {
                #expect(!page.body.contains(heading), "\(heading)")
            }
        }
    }

    /// The archive's posts 0 and 8 were written around 08:00, 2 around 17:00, 5 around 20:00.
    @Test func theWeekIsReviewed() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            try await say(0, at: "08:10", daysAgo: 3, mirror)
            try await say(2, at: "17:10", daysAgo: 2, mirror)
            let odd = try await say(8, at: "20:00", daysAgo: 1, mirror)
            // A week ago is before these seven days.
            try await say(5, at: "20:30", daysAgo: 7, mirror)
            let begin = WebStand.now - 40_000
            let best = try await hear(1, in: "t1", answered: true, at: begin, mirror)
            _ = try await hear(2, in: "t2", answered: true, at: begin + 60, mirror)
            for (number, thread) in [(3, "t1"), (4, "t1"), (5, "t2"), (6, "t3")] {
                _ = try await hear(
                    number, in: thread, answered: false, at: begin + Double(number) * 600, mirror)
            }
            let review = try await WeekReview(of: mirror, zone: try Self.zone(), now: WebStand.now)
            #expect(review.posts.map(\.text) == [0, 2, 8].map { "Post number \($0)." })
            #expect(review.days.map(\.posts) == [0, 0, 0, 1, 1, 1, 0])
            #expect(review.days.allSatisfy { ($0.usual ?? 0) > 0 })
            #expect(review.likeness.share != nil)
            #expect(review.replies == 2)
            #expect(review.favorites == 0)
            #expect(review.mostAnswered?.reply.id == best.id)
            #expect(review.mostAnswered?.answers == 2)
            #expect(review.odd?.post.id == odd.id)
            #expect(review.odd?.reason == .written(at: MinuteOfDay(hour: 8, minute: 4)))
            let page = try await stand.client.send("/m/mika/week/review")
            for text in [
                "In the last seven days: 3 posts and 2 replies.", "2 answers, as far as",
                "It was written at 08:04", "/m/mika/confirm/never?post=\(odd.id)",
                "Written on ",
            ] {
                #expect(page.body.contains(text), "\(text)")
            }
            #expect(!page.body.contains("Post number 5."))
            let question = try await stand.client.send("/m/mika/confirm/never?post=\(odd.id)")
            #expect(question.status == 200)
            #expect(question.body.contains("Post number 8."))
        }
    }

    /// Where nothing stands out, nothing is said of it.
    @Test func twoPostsHaveNoOddOne() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            try await say(0, at: "08:10", daysAgo: 3, mirror)
            try await say(8, at: "20:00", daysAgo: 1, mirror)
            let review = try await WeekReview(of: mirror, zone: try Self.zone(), now: WebStand.now)
            #expect(review.odd == nil)
            #expect(review.mostAnswered == nil)
        }
    }

    @Test func theOnlyOneInItsLanguageIsOdd() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            // Around the times at which they were written.
            try await say(0, at: "08:00", daysAgo: 3, language: "en", mirror)
            let odd = try await say(2, at: "17:00", daysAgo: 2, language: "ja", mirror)
            try await say(8, at: "08:00", daysAgo: 1, language: "en", mirror)
            let review = try await WeekReview(of: mirror, zone: try Self.zone(), now: WebStand.now)
            #expect(review.odd?.post.id == odd.id)
            #expect(review.odd?.reason == .language("ja"))
        }
    }

    // MARK: The original's date

    @Test(arguments: [
        ("2025-05-28", "Written on Wednesday, 28 May 2025, 09:00, a year ago today."),
        ("2024-05-28", "Written on Tuesday, 28 May 2024, 09:00, two years ago today."),
        ("2006-05-28", "Written on Sunday, 28 May 2006, 09:00, 20 years ago today."),
        ("2024-05-29", "Written on Wednesday, 29 May 2024, 09:00."),
        ("2026-05-28", "Written on Thursday, 28 May, 09:00."),
    ])
    func theDateOfTheOriginalStandsBesideItsCopy(_ day: String, _ sentence: String) throws {
        let words = Words(zone: .gmt, now: WebStand.now)
        let original = try #require(LocalDay(day))
        let written = try #require(LocalDayMinutes(original, in: .gmt).start)
        #expect(words.written(written + 9 * 3_600, copied: WebStand.now) == sentence)
        #expect(words.written(nil, copied: WebStand.now) == nil)
    }

    @Test func aCopyOfAnotherDayHasItsOwnAnniversary() throws {
        let words = Words(zone: .gmt, now: WebStand.now)
        let original = try #require(LocalDay("2023-05-30"))
        let written = try #require(LocalDayMinutes(original, in: .gmt).start)
        let sentence = words.written(written, copied: WebStand.now + 2 * 86_400)
        #expect(
            sentence == "Written on Tuesday, 30 May 2023, 00:00, three years before that day.")
    }

    @Test func actionsAndTodaySayWhenTheOriginalWasWritten() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            let zone = try Self.zone()
            let day = LocalTime(WebStand.now, in: zone).day
            let report = try await DayReporter(mirror: mirror, zone: zone).report(
                on: day, now: WebStand.now)
            let today = try await stand.client.send("/m/mika")
            let words = Words(zone: zone, now: WebStand.now)
            for slot in try #require(report.plan?.slots) {
                let sentence = try #require(words.written(slot.written, copied: slot.due))
                #expect(today.body.contains(sentence), "\(slot.subject)")
            }
            try await say(0, at: "08:10", daysAgo: 0, mirror)
            let actions = try await stand.client.send("/m/mika/actions")
            // 40 days before, at 08:00.
            #expect(actions.body.contains("Written on Saturday, 18 April, 08:00."))
        }
    }

    // MARK: Size

    /// Long texts of many days stay below the limit of every page.
    @Test(arguments: ["/week", "/week/review"]) func pagesStayLight(_ path: String) async throws {
        let hostile: @Sendable (Int) -> String = { "Post number \($0): \(SampleReport.hostile)" }
        try await WebStand.with(text: hostile) { stand in
            let mirror = try await stand.mirror()
            for number in 0..<7 {
                try await say(number, at: "09:00", daysAgo: number, mirror)
            }
            let page = try await stand.client.send("/m/mika" + path)
            let assets = (WebAsset.ofEveryPage + [.week]).reduce(0) { $0 + $1.size }
            expect(page.body.utf8.count + assets) { $0 <= 60_000 }
            for sign in ["<script>", "<img", "\u{202E}"] {
                let found = page.body.contains(sign)
                #expect(!found, "\(sign)")
            }
            let ids = page.body.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }
            #expect(Set(ids).count == ids.count)
        }
    }
}
