import Archive
import Conduct
import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import Schedule
import TestSupport
import Testing

@testable import Evaluation
@testable import Mirroring
@testable import Settings

/// A past year lived again by what was known then.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct YearRehearsalTests {
    private static let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    /// Thursday 2026-01-01.
    private static let newYear = LocalDay(ordinal: 20_454)
    private static let human = AccountID(network: .mastodon, value: "me@home.example")
    private static let friend = AccountID(network: .mastodon, value: "friend@home.example")

    private static func instant(_ day: Int, _ minute: Int) -> Date {
        // Winter in Berlin is an hour before UTC.
        Date(timeIntervalSince1970: Double((newYear.ordinal + day) * 1_440 + minute - 60) * 60)
    }

    private static func post(
        _ name: String, _ text: String, at date: Date, answering asked: String? = nil
    ) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "https://home.example/\(name)"), author: human,
            text: text,
            createdAt: date,
            replyTo: asked.map {
                ReplyTarget(author: friend, post: PostID(network: .mastodon, value: $0))
            })
    }

    /// Two posts in the evening of each day.
    private static func evenings(_ days: Range<Int>) -> [Post] {
        days.flatMap { day in
            (0..<2).map { number in
                let minute = 1_140 + (day &* 37 + number * 61 + 40_000) % 180
                return post(
                    "\(day)-\(number)",
                    "Thought \(number) of day \(day + 1_000) about rivers and hills",
                    at: instant(day, minute))
            }
        }
    }

    private static let questions = ["Thank you!", "Are you at home?", "Good morning"]
    private static let answers = ["You're welcome!", "Yes indeed", "Hello hello"]

    /// An answer to a friend on each day at nine.
    private static func replies(_ days: Range<Int>) -> [Post] {
        days.map { day in
            let kind = (day + 3_000) % 3
            let text = "\(answers[kind]) word\(["a", "b", "c", "d", "e"][(day + 5_000) % 5])"
            return post("reply-\(day)", text, at: instant(day, 540), answering: "asked-\(day)")
        }
    }

    /// Learns what was answered, and ten posts of the home timeline each day, of which those about
    /// bread are favorited.
    private static func learnTimeline(_ days: Range<Int>, _ mirror: HumanMirror) async throws {
        let favorites = try mirror.favorites()
        for day in days {
            var events: [FavoriteEvent] = [
                .seen(
                    Example(
                        id: PostID(network: .mastodon, value: "asked-\(day)"), author: "friend",
                        authorID: friend,
                        text: questions[(day + 3_000) % 3]))
            ]
            for number in 0..<10 {
                let isBread = number % 3 == 0
                let example = Example(
                    id: PostID(network: .mastodon, value: "seen-\(day)-\(number)"), author: "pal",
                    text: isBread
                        ? "fresh bread from the oven \(number)" : "rain and meetings \(number)")
                events.append(.seen(example))
                if isBread { events.append(.favorited(example)) }
            }
            _ = try await favorites.learn(events, at: instant(day, 600))
        }
    }

    private func mirror(_ posts: [Post], on engine: Engine = .sqlite) async throws -> HumanMirror {
        let mirror = try await BareMirror(engine).open()
        _ = try await mirror.archive.store(posts, timeZone: Self.zone, limit: nil)
        return mirror
    }

    /// Lives the first days of 2026.
    private func live(_ mirror: HumanMirror, days: Int, seed: UInt64? = nil) async throws
        -> RehearsedYear
    {
        try await YearRehearsal(mirror: mirror, zone: Self.zone, year: 2026, seed: seed)
            .run(now: Self.instant(days, 720))
    }

    private func bytes(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(value)
    }

    // MARK: The future

    /// What the human says later, also on the same day, changes no decision before it by a byte.
    @Test func theFutureTellsNothing() async throws {
        // On this day everything changes at noon.
        let day = 20
        let noon = Self.instant(day, 720)
        let days = 32
        let past = Self.evenings(-150..<days) + Self.replies(-150..<days)
        func decisions(_ posts: [Post], timeline: Range<Int>? = nil) async throws -> [Data] {
            let mirror = try await mirror(posts)
            try await Self.learnTimeline(timeline ?? -30..<days, mirror)
            let year = try await live(mirror, days: days)
            let replies = try #require(year.replies.scores).simulated.filter { $0.time < noon }
            let favorites = try #require(year.favorites.scores).choices
            #expect(year.days.count == days)
            #expect(replies.count == day + 1)
            #expect(year.days.prefix(day + 1).filter { !$0.bot.isEmpty }.count > 10)
            // The favorites of the days before, of which each has four.
            return [
                try bytes(year.days.prefix(day + 1).map(\.bot)), try bytes(replies),
                try bytes(Array(favorites.prefix(4 * day))),
            ]
        }
        let usual = try await decisions(past)
        let before = past.filter { $0.createdAt < noon }
        let removed = try await decisions(before)
        #expect(removed == usual)
        let changed = try await decisions(
            before
                + past.filter { $0.createdAt >= noon }.map { post in
                    var post = post
                    post.text = "Another word, #hashtag and \(post.text.count)"
                    return post
                })
        #expect(changed == usual)
        let added = try await decisions(
            past
                + (0..<300).map { number in
                    Self.post(
                        "added-\(number)", "Something about rivers and hills \(number)",
                        at: noon + Double(number) * 3_000)
                }
                + (0..<60).map { number in
                    Self.post(
                        "late-\(number)", "You're welcome!", at: noon + Double(number) * 9_000,
                        answering: "x")
                })
        #expect(added == usual)
        let timeline = try await decisions(past, timeline: -30..<day + 1)
        #expect(timeline == usual)
    }

    // MARK: The past

    /// The bot learns of each day when it is over: hours that are new are its own soon.
    @Test func theBotFollowsTheHuman() async throws {
        let posts = (0..<90).flatMap { day in
            (0..<3).map { number in
                Self.post(
                    "m\(day)-\(number)", "Morning thought \(number) of day \(day) about birds",
                    at: Self.instant(day, 420 + (day * 37 + number * 61) % 120))
            }
        }
        let year = try await live(try await mirror(Self.evenings(-60..<0) + posts), days: 90)
        func mornings(_ days: Range<Int>) -> Int {
            year.days[days].reduce(0) { $0 + $1.bot.count { $0.minute.value < 720 } }
        }
        // On New Year's morning nobody could know.
        #expect(mornings(0..<1) == 0)
        #expect(mornings(60..<90) > 30)
        #expect(year.human.posts == 270)
        #expect(year.human.daysWithPosts == 90)
        #expect(year.postsBefore == 120)
        #expect(year.judge?.weeks == 12)
        try expect(#require(year.likeness.hours)) { $0 > 0.3 }
        try expect(#require(year.ownLikeness.hours)) { $0 < 0.01 }
    }

    @Test func theSameSeedIsTheSameLife() async throws {
        let mirror = try await mirror(Self.evenings(-80..<15))
        let first = try await live(mirror, days: 15)
        let again = try await live(mirror, days: 15)
        let other = try await live(mirror, days: 15, seed: 7)
        let otherAgain = try await live(mirror, days: 15, seed: 7)
        #expect(try bytes(first) == bytes(again))
        #expect(try bytes(other) == bytes(otherAgain))
        #expect(try bytes(first.days.map(\.bot)) != bytes(other.days.map(\.bot)))
        #expect(first.seed == nil)
        #expect(other.seed == 7)
    }

    /// What the worker would have planned on the first morning is what is lived.
    @Test func theFirstDayIsThatOfAWorker() async throws {
        let posts = Self.evenings(-80..<10)
        let year = try await live(try await mirror(posts), days: 10)
        let then = try await mirror(posts.filter { $0.createdAt < Self.instant(0, 0) })
        _ = try await then.table.notePast(.whole, now: Self.instant(-1, 0))
        let maker = then.planMaker(zone: Self.zone, store: then.outbox(lease: nil))
        try await then.archive.prepare(by: maker.judge)
        let preview = try await maker.preview(Self.newYear, now: Self.instant(0, 0), watching: true)
        let planned = try #require(preview)
        let texts = planned.slots.map { slot -> String? in
            if case .post(_, let wording) = slot.payload { wording?.text } else { nil }
        }
        #expect(year.days[0].bot.map(\.text) == texts)
        #expect(
            year.days[0].bot.map(\.minute)
                == planned.slots.map { LocalTime($0.due, in: Self.zone).minute })
    }

    @Test(arguments: Engine.allCases) func theDatabaseStaysAsItIs(_ engine: Engine) async throws {
        let mirror = try await mirror(Self.evenings(-60..<10) + Self.replies(-60..<10), on: engine)
        try await Self.learnTimeline(-10..<10, mirror)
        let before = try await TableContents(of: mirror.storage)
        let year = try await live(mirror, days: 10)
        #expect(year.bot.posts > 5)
        #expect(try await TableContents(of: mirror.storage) == before)
    }

    /// A text that is never to be sent is neither said by the bot nor shown of the human's.
    @Test func whatIsNeverToBeSaidIsNot() async throws {
        let mirror = try await mirror(Self.evenings(-80..<10))
        let hidden = Self.evenings(-80..<10).filter { $0.text.hasPrefix("Thought 0") }
        let rules = mirror.textJudge(zone: Self.zone).rules
        try await mirror.archive.neverUse(
            keys: Set(hidden.map(rules.neverKey)), now: Self.instant(9, 0))
        let year = try await live(mirror, days: 10)
        let said = year.days.flatMap(\.bot).compactMap(\.text)
        #expect(!said.isEmpty)
        expect(said) { $0.allSatisfy { $0.hasPrefix("Thought 1") } }
        #expect(year.human.posts == 20)
        #expect(year.days.flatMap(\.human).count { $0.text == nil } == 10)
    }

    // MARK: Replies and favorites

    @Test func repliesAreThoseOfTheirKind() async throws {
        let mirror = try await mirror(Self.evenings(-80..<30) + Self.replies(-250..<30))
        try await Self.learnTimeline(-250..<30, mirror)
        let replies = try #require(try await live(mirror, days: 30).replies.scores)
        #expect(replies.answers == 30)
        #expect(replies.simulated.count == 30)
        #expect(replies.kindKnown == replies.answered)
        #expect(replies.answered > 10)
        // Each text is given once in seven days, so that not each mention has one of its kind left.
        expect(Double(replies.sameKind) / Double(max(1, replies.kindKnown))) { $0 > 0.5 }
        expect(replies.simulated) { $0.allSatisfy { Self.questions.contains($0.mention) } }
    }

    @Test func whoMustNotBeAnsweredIsNotShown() async throws {
        let mirror = try await mirror(Self.evenings(-80..<20) + Self.replies(-80..<20))
        try await Self.learnTimeline(-20..<20, mirror)
        _ = try await mirror.people.set(.deny, for: Self.friend, at: Self.instant(19, 0))
        guard case .missing(let reason) = try await live(mirror, days: 20).replies else {
            Issue.record("somebody who must not be answered was")
            return
        }
        #expect(
            reason.hasPrefix(
                "the answered post is known for none of the human's 20 answers of 2026; "))
    }

    @Test func favoritesAreThoseThatWereLearned() async throws {
        let mirror = try await mirror(Self.evenings(-80..<30))
        try await Self.learnTimeline(-60..<30, mirror)
        let favorites = try #require(try await live(mirror, days: 30).favorites.scores)
        #expect(favorites.learnedBefore == 60 * 11)
        #expect(favorites.scores.testing.posts == 30 * 11)
        #expect(favorites.scores.testing.favorites == 30 * 4)
        try expect(#require(favorites.scores.averagePrecision)) { $0 > 0.9 }
        expect(favorites.choices) { $0.count { $0.isHumans } == 120 }
    }

    /// A file has times of its own, and tells what was answered as well.
    @Test func aFileTellsFavoritesAndMentions() async throws {
        let mirror = try await mirror(Self.evenings(-80..<30) + Self.replies(-80..<30))
        let folder = try TemporaryDirectory()
        var lines = ""
        for day in -60..<30 {
            func line(_ id: String, _ text: String, isFavorite: Bool) -> String {
                #"{"id":"\#(id)","author":"pal","text":"\#(text)","favorite":\#(isFavorite),"#
                    + #""created_at":"\#(Self.instant(day, 600).rfc3339)"}"# + "\n"
            }
            lines += line("asked-\(day)", Self.questions[(day + 3_000) % 3], isFavorite: false)
            for number in 0..<6 {
                let isBread = number % 3 == 0
                lines += line(
                    "f-\(day)-\(number)", isBread ? "fresh bread \(number)" : "rain \(number)",
                    isFavorite: isBread)
            }
        }
        try lines.write(toFile: folder.path("home.jsonl"), atomically: false, encoding: .utf8)
        let year = try await YearRehearsal(
            mirror: mirror, zone: Self.zone, year: 2026, labels: folder.path("home.jsonl")
        ).run(now: Self.instant(30, 720))
        let favorites = try #require(year.favorites.scores)
        #expect(favorites.learnedBefore == 60 * 7)
        #expect(favorites.scores.testing.posts == 30 * 7)
        #expect(favorites.scores.testing.favorites == 60)
        #expect(year.replies.scores?.simulated.count == 30)
    }

    @Test func whatIsNotKnownSaysWhy() async throws {
        let year = try await live(try await mirror(Self.evenings(-80..<10)), days: 10)
        guard case .missing(let replies) = year.replies,
            case .missing(let favorites) = year.favorites
        else {
            Issue.record("nothing is known of either")
            return
        }
        #expect(replies == "the archive holds no reply of 2026 to anybody")
        #expect(
            favorites
                == "0 posts of a home timeline are known of 2026; at least 20 are needed; a mirror keeps them for some "
                + "months, and --favorites FILE reads others")
        #expect(year.judge == nil)
    }

    // MARK: Years that cannot be rehearsed

    @Test(arguments: [
        (
            2_027, YearProblem.Code.future,
            "2027 has no day that is over yet; name a year of the past, such as 2026"
        ),
        (
            2_024, .noArchive,
            "the archive holds no posts from before the end of 2024; mirror-bot train scheduler --from FILE reads more of "
                + "the past from a downloaded archive"
        ),
        (
            2_025, .tooEarly,
            "the archive holds 0 posts from before 2025, and a mirror learns from 20 at least; name a later year, or "
                + "mirror-bot train scheduler --from FILE reads more of the past from a downloaded archive"
        ),
    ])
    func aYearThatCannotBeSaysWhy(year: Int, code: YearProblem.Code, words: String) async throws {
        let mirror = try await mirror(Self.evenings(-60..<10))
        let problem = await #expect(throws: YearProblem.self) {
            try await YearRehearsal(mirror: mirror, zone: Self.zone, year: year).run(
                now: Self.instant(10, 720))
        }
        #expect(problem == YearProblem(code, words))
    }

    @Test func aYearWithoutPostsNamesOthers() async throws {
        let mirror = try await mirror(Self.evenings(-60 - 365 ..< -365))
        let problem = await #expect(throws: YearProblem.self) { try await live(mirror, days: 10) }
        #expect(problem?.code == .noPosts)
        expect(problem?.description) {
            $0?.hasPrefix(
                "the archive holds no posts of 2026; until then it has some of 2024; name another year, or "
            )
                == true
        }
    }

    @Test func theFirstOfJanuaryIsTooEarly() async throws {
        let mirror = try await mirror(Self.evenings(-60..<1))
        let problem = await #expect(throws: YearProblem.self) { try await live(mirror, days: 0) }
        #expect(problem?.code == .future)
        expect(problem?.description) { $0?.hasSuffix("such as 2025") == true }
    }
}
