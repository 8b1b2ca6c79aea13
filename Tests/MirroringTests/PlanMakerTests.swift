import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Schedule
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// Plans made day by day, without a network.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct PlanMakerTests {
    private static let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    /// Monday 2026-03-02.
    private static let firstDay = LocalDay(ordinal: 20_514)

    /// An archive and a plan maker for it.
    private struct Desk {
        let mirror: HumanMirror
        let maker: PlanMaker

        var outbox: OutboxStore { mirror.outbox(lease: nil) }

        /// Makes the plans of some days at their midnights and returns the stored slots.
        func slots(ofDays days: Int) async throws -> [Action] {
            var slots: [Action] = []
            for number in 0..<days {
                let day = PlanMakerTests.firstDay.advanced(by: number)
                let midnight = try #require(LocalDayMinutes(day, in: PlanMakerTests.zone).start)
                _ = try await maker.make(day, now: midnight, watching: false)
                slots += try await outbox.slots(of: day)
            }
            return slots
        }
    }

    /// A desk over `texts` posts, the newest of the day before the first planned one, and so many
    /// on each day.
    private func desk(
        texts: Int, perDay: Int = 2, variables: [String: String] = [:],
        text: (Int) -> String = { "Thought number \($0) about rivers" }
    ) async throws -> Desk {
        let folder = try TemporaryDirectory()
        let settings = ["MIRROR_BOT_HOME": folder.path, "MIRROR": "desk"].merging(variables) { $1 }
        let mirror = try await HumanMirror.open(try MirrorFixture.configuration(settings))
        OpenMirrors.current?.add {
            await mirror.close()
            // The folder goes with the last reference, and not before what is in it.
            withExtendedLifetime(folder) {}
        }
        _ = try await mirror.table.notePast(.whole, now: Date(timeIntervalSince1970: 0))
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let posts = (0..<texts).map { number in
            let day = Self.firstDay.advanced(by: -1 - number / perDay)
            // At all hours but the night's.
            let minute = 7 * 60 + (number * 397) % (16 * 60)
            return Post(
                id: PostID(network: .mastodon, value: "https://sandbox.example/\(number)"),
                author: human,
                text: text(number),
                createdAt: Date(timeIntervalSince1970: Double(day.ordinal * 1_440 + minute) * 60))
        }
        _ = try await mirror.archive.store(
            posts, timeZone: Self.zone, limit: 10_000)
        let maker = mirror.planMaker(
            zone: Self.zone, store: mirror.outbox(lease: nil), limits: .mastodon)
        try await mirror.archive.prepare(by: maker.judge)
        return Desk(mirror: mirror, maker: maker)
    }

    /// The shortest time between two uses of one text, in days; nil if none was used twice.
    private func shortestReturn(_ slots: [Action]) -> Double? {
        var last: [String: Date] = [:]
        var shortest: Double?
        for slot in slots.sorted(by: { $0.due < $1.due }) {
            guard let text = slot.text else { continue }
            let key = TextRules.textKey(text)
            if let before = last[key] {
                shortest = min(shortest ?? .infinity, slot.due.timeIntervalSince(before) / 86_400)
            }
            last[key] = slot.due
        }
        return shortest
    }

    @Test func previewsAreWhatTheDaysBecome() async throws {
        // An old archive with busy and silent weeks: each day begins in the state that the bot's
        // days before it left.
        let desk = try await desk(texts: 500, perDay: 4)
        let silent = (0..<500).filter { $0 / 28 % 2 == 1 }.map {
            PostID(network: .mastodon, value: "https://sandbox.example/\($0)")
        }
        try await desk.mirror.archive.forget(silent)
        let now = try #require(LocalDayMinutes(Self.firstDay, in: Self.zone).start)
        var previewed: [[Date]] = []
        for number in 0..<12 {
            let preview = try await desk.maker.preview(
                Self.firstDay.advanced(by: number), now: now, watching: false)
            previewed.append(try #require(preview).slots.map(\.due))
        }
        let made = try await desk.slots(ofDays: 12)
        #expect(previewed.flatMap(\.self) == made.map(\.due))
        #expect(Set(previewed.map(\.count)).count > 1)
        let plan = try #require(try await desk.outbox.plan(for: Self.firstDay))
        #expect(plan.model == DayPlanner.modelVersion)
        // What the bot lived through counts: after other days the last one would be another.
        let last = Self.firstDay.advanced(by: 11)
        let counts = try await desk.outbox.slotCounts(of: Self.firstDay..<last)
        let lived = previewed.dropLast().reduce(0) { $0 + $1.count }
        #expect(counts.count == 11)
        #expect(counts.values.reduce(0, +) == lived)
    }

    @Test(
        arguments: [[:], ["REVIEW": "posts"], ["MAX_USES": "1"], ["MIN_AGE_DAYS": "3000"]]
            as [[String: String]])
    func theFirstPostIsThatOfThePreview(_ variables: [String: String]) async throws {
        let desk = try await desk(texts: 40, perDay: 4, variables: variables)
        _ = try await desk.slots(ofDays: 3)
        let start = Self.firstDay.advanced(by: 2)
        let midnight = try #require(LocalDayMinutes(start, in: Self.zone).start)
        var found = 0
        for number in 0..<12 {
            let day = start.advanced(by: number / 3)
            let now = midnight + Double(number) * 7_000
            let preview = try await desk.maker.preview(day, now: now, watching: false)
            let actions = try #require(preview).slots.map {
                Action($0, of: desk.mirror.configuration.mirror, at: $0.due)
            }
            let first = try await desk.maker.firstPost(of: day, now: now, watching: false)
            #expect(first == actions.first { $0.comes(after: now) })
            found += first == nil ? 0 : 1
        }
        #expect(variables["REVIEW"] == nil ? found > 0 : found == 0)
    }

    @Test func everySlotSaysWhichDayItTakesAfter() async throws {
        let desk = try await desk(texts: 300, perDay: 3)
        let slots = try await desk.slots(ofDays: 5)
        let times = try await desk.mirror.archive.scheduleRows()
        for (_, slots) in Dictionary(grouping: slots, by: { LocalTime($0.due, in: Self.zone).day })
        {
            let pattern = try #require(slots[0].explanation?.pattern)
            expect(slots) { $0.allSatisfy { $0.explanation?.pattern == pattern } }
            let posts = times.count { $0.day == pattern.day }
            #expect(pattern.posts == posts)
            #expect(slots.count == posts)
        }
        // Another text leaves the minute as it was drawn.
        let slot = try #require(slots.first)
        let replaced = try #require(try await desk.maker.replacement(for: slot, now: slot.due))
        #expect(replaced.wording?.source != slot.wording?.source)
        #expect(replaced.explanation?.pattern == slot.explanation?.pattern)
        #expect(replaced.explanation?.pattern != nil)
    }

    @Test(
        arguments: [
            (150, [:]), (300, ["OLD_BOT": "yes"]),
        ]
            as [(Int, [String: String])])
    func minutesThatWereDrawnOneByOneTakeAfterNoDay(texts: Int, variables: [String: String])
        async throws
    {
        let slots = try await desk(texts: texts, perDay: 3, variables: variables).slots(ofDays: 3)
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { $0.explanation != nil && $0.explanation?.pattern == nil } }
    }

    @Test func aPlanThatIsStoredStaysAsItIs() async throws {
        let desk = try await desk(texts: 300, perDay: 3)
        let stored = try await desk.slots(ofDays: 2)
        let other = try MirrorFixture.configuration(
            ["MIRROR_BOT_HOME": "/nowhere", "MIRROR": "desk", "OLD_BOT": "yes"]
        ).mirror
        let maker = PlanMaker(
            archive: desk.mirror.archive, store: desk.outbox, configuration: other,
            judge: TextJudge(other, zone: Self.zone, tokenizer: nil), past: { .whole })
        for number in 0..<2 {
            let day = Self.firstDay.advanced(by: number)
            let midnight = try #require(LocalDayMinutes(day, in: Self.zone).start)
            let again = try await maker.make(day, now: midnight, watching: false)
            #expect(again == nil)
            let slots = try await desk.outbox.slots(of: day)
            #expect(
                slots.map(\.due)
                    == stored.filter { LocalTime($0.due, in: Self.zone).day == day }.map(\.due))
        }
    }

    @Test func repeatsNoTextInSixtyDays() async throws {
        let slots = try await desk(texts: 260).slots(ofDays: 60)
        #expect(slots.count > 60)
        expect(slots) { $0.allSatisfy { $0.state == .planned && $0.text != nil } }
        #expect(shortestReturn(slots) == nil)
        #expect(slots.map(\.due) == slots.map(\.due).sorted())
    }

    @Test func repeatsNoTextWithinTheDaysThatAreSet() async throws {
        let slots = try await desk(texts: 70, variables: ["NO_REPEAT_DAYS": "14"]).slots(ofDays: 60)
        let shortest = try #require(shortestReturn(slots))
        #expect(shortest >= 14)
    }

    @Test func bringsATextBackAfterAWeekRatherThanFallSilent() async throws {
        let slots = try await desk(texts: 8, perDay: 1).slots(ofDays: 30)
        let shortest = try #require(shortestReturn(slots))
        #expect(shortest > 7)
        #expect(shortest < 30)
        let returned = slots.filter {
            $0.explanation?.summary.contains("least recently used") == true
        }
        #expect(!returned.isEmpty)
    }

    @Test func skipsASlotForWhichNothingIsLeft() async throws {
        let slots = try await desk(texts: 40, perDay: 20) {
            "The same thought, again and again \($0 % 3)"
        }.slots(
            ofDays: 1)
        let skipped = slots.filter { $0.text == nil }
        #expect(slots.count { $0.text != nil } == 3)
        #expect(!skipped.isEmpty)
        expect(skipped) {
            $0.allSatisfy { $0.state == .skipped && $0.reason == "no-text" && $0.wording == nil }
        }
    }

    @Test func usesYoungPostsOnlyWhenThereAreNoOthers() async throws {
        let mixed = try await desk(texts: 120)
        let now = try #require(LocalDayMinutes(Self.firstDay, in: Self.zone).start)
        for slot in try await mixed.slots(ofDays: 5) {
            let id = try #require(slot.wording).source
            let source = try #require(try await mixed.mirror.archive.post(id))
            #expect(now.timeIntervalSince(source.createdAt) >= 25 * 86_400)
        }
        let young = try await desk(texts: 40).slots(ofDays: 3)
        #expect(!young.isEmpty)
        expect(young) { $0.allSatisfy { $0.text != nil } }
        let reasons = young.compactMap { $0.explanation?.summary }
        expect(reasons) { $0.allSatisfy { $0.contains("younger than wished") } }
        let strict = try await desk(texts: 40, variables: ["MIN_AGE_DAYS": "0"]).slots(ofDays: 3)
        expect(strict) {
            !$0.contains { $0.explanation?.summary.contains("younger than wished") == true }
        }
    }

    @Test func storesADayOnceWhoeverMakesIt() async throws {
        let desk = try await desk(texts: 100)
        let midnight = try #require(LocalDayMinutes(Self.firstDay, in: Self.zone).start)
        let first = try await desk.maker.make(Self.firstDay, now: midnight, watching: false)
        let slots = try await desk.outbox.slots(of: Self.firstDay)
        #expect(first?.slots.map(\.payload) == slots.map(\.payload))
        let again = try await desk.maker.make(Self.firstDay, now: midnight + 3_600, watching: false)
        #expect(again == nil)
        try await expect(desk.outbox.slots(of: Self.firstDay), equals: slots)
    }

    @Test func choosesAnotherTextThanTheDaysOwn() async throws {
        let desk = try await desk(texts: 120, perDay: 6, variables: ["MIN_AGE_DAYS": "0"])
        let slots = try await desk.slots(ofDays: 1)
        let slot = try #require(slots.first)
        let replaced = try #require(try await desk.maker.replacement(for: slot, now: slot.due))
        #expect(replaced.subject == slot.subject)
        #expect(replaced.due == slot.due)
        #expect(replaced.wording != nil)
        #expect(replaced.wording?.source != slot.wording?.source)
        #expect(!slots.compactMap(\.text).contains(try #require(replaced.text)))
        // The same question has the same answer.
        try await expect(desk.maker.replacement(for: slot, now: slot.due), equals: replaced)
        try await desk.mirror.archive.clear()
        let nothing = try await desk.maker.replacement(for: slot, now: slot.due)
        #expect(nothing == nil)
    }

    /// What plans were made of once: every text, looked at.
    private func candidates(_ desk: Desk, _ uses: [PostID: Date]) async throws -> [TextCandidate] {
        let rules = TextRules(desk.mirror.configuration, limits: .mastodon)
        var used: [String: Date] = [:]
        let texts = try await desk.mirror.archive.standalonePosts().compactMap {
            post -> (post: Post, key: String)? in
            guard case .success(let text) = rules.text(for: post) else { return nil }
            let key = TextRules.textKey(text)
            if let date = uses[post.id] { used[key] = max(used[key] ?? date, date) }
            return (post, key)
        }
        return texts.map { post, key in
            TextCandidate(
                id: post.id, minute: LocalTime(post.createdAt, in: Self.zone).minute, textKey: key,
                lastUsed: used[key], createdAt: post.createdAt)
        }
    }

    /// The candidates of the 90 days around a text, if they are old enough.
    private static func ofEra(of text: Date, _ candidates: [TextCandidate], before end: Date)
        -> [TextCandidate]
    {
        candidates.filter { candidate in
            guard let date = candidate.createdAt else { return false }
            return abs(date.timeIntervalSince(text)) <= 45 * 86_400 && date <= end
        }
    }

    @Test(arguments: [(300, 180, 30), (8, 180, 30), (40, 180, 0), (200, 14, 30), (60, 0, 300)])
    func choosesAsOneWhoLooksAtEveryText(texts: Int, noRepeat: Int, minimumAge: Int) async throws {
        let variables = [
            "NO_REPEAT_DAYS": "\(noRepeat)", "MIN_AGE_DAYS": "\(minimumAge)", "FITNESS": "strict",
        ]
        // Some read as others do, and some may not be sent.
        let desk = try await desk(texts: texts, variables: variables) { number in
            number % 11 == 3
                ? "RT @someone: their words" : "Thought \(number % (texts * 4 / 5)) about rivers"
        }
        let chooser = TextChooser(noRepeatDays: noRepeat, minimumAgeDays: minimumAge)
        var uses: [PostID: Date] = [:]
        var compared = 0
        var before: Date?
        var ofEra = 0
        // What may still leave after midnight is not said again on the next day.
        var waiting: [Intent] = []
        for number in 0..<20 {
            let day = Self.firstDay.advanced(by: number)
            let midnight = try #require(LocalDayMinutes(day, in: Self.zone).start)
            let planned = try #require(
                try await desk.maker.make(day, now: midnight, watching: false))
            let candidates = try await candidates(desk, uses)
            var taken = Set(
                waiting.filter { $0.expires >= midnight }.compactMap(\.payload.wording?.text).map(
                    TextRules.textKey))
            waiting = planned.slots
            for slot in planned.slots {
                let minute = LocalTime(slot.due, in: Self.zone).minute
                var generator = SplitMix64(
                    seed: PlanSeed.text(mirror: "desk", day: day, minute: minute))
                let era = before.map {
                    Self.ofEra(of: $0, candidates, before: midnight - Double(minimumAge) * 86_400)
                }
                var choice: TextChoice?
                if let era, generator.nextUniform() < 0.8 {
                    choice = chooser.choose(
                        fromEra: era, at: minute, now: midnight, excluding: taken,
                        generator: &generator)
                    ofEra += choice == nil ? 0 : 1
                }
                choice =
                    choice
                    ?? chooser.choose(
                        from: candidates, at: minute, now: midnight, excluding: taken,
                        generator: &generator)
                if let id = choice?.id { before = candidates.first { $0.id == id }?.createdAt }
                #expect(slot.payload.wording?.source == choice?.id, "\(slot.payload.subject)")
                if let choice {
                    #expect(slot.explanation?.summary == choice.explanation.description)
                    taken.insert(choice.textKey)
                    uses[choice.id] = max(uses[choice.id] ?? slot.due, slot.due)
                    compared += 1
                }
            }
        }
        #expect(compared > 5)
        #expect((ofEra > 0) == (texts >= 40 && minimumAge < 300))
    }

    /// Of an archive with two eras four of five texts are of the era of the text before, and the
    /// others of either.
    @Test func textsStayInOneEra() async throws {
        let desk = try await desk(texts: 1_200, perDay: 20)
        // The older half is made two years older.
        try await desk.mirror.storage.lenient.execute(
            """
            UPDATE posts SET created_ms = created_ms - \(Int64(730 * 86_400_000)) WHERE created_ms <
                \(Date(timeIntervalSince1970: Double(Self.firstDay.ordinal - 31) * 86_400))
            """)
        let middle = Date(timeIntervalSince1970: Double(Self.firstDay.ordinal - 365) * 86_400)
        var slots: [Action] = []
        for number in 0..<30 {
            let day = Self.firstDay.advanced(by: 60 + number)
            let midnight = try #require(LocalDayMinutes(day, in: Self.zone).start)
            _ = try await desk.maker.make(day, now: midnight, watching: false)
            slots += try await desk.outbox.slots(of: day)
        }
        slots.sort { $0.due < $1.due }
        let sources = try slots.map { try #require($0.wording?.source) }
        let dates = try await desk.mirror.archive.dates(of: sources)
        let isOld = try sources.map { try #require(dates[$0]) < middle }
        let same = zip(isOld, isOld.dropFirst()).count { $0 == $1 }
        #expect(isOld.count > 150)
        // .9 is expected; both eras are as large, so without the rule it is half.
        let share = Double(same) / Double(isOld.count - 1)
        expect(share) { (0.82...0.97).contains($0) }
        #expect(isOld.contains(true) && isOld.contains(false))
        let words = slots.compactMap(\.explanation?.summary)
        expect(Double(words.count { $0.hasSuffix("of the text before") }) / Double(words.count)) {
            (0.7...0.9).contains($0)
        }
    }

    /// Three of four texts are plain; the first plan that takes another comes about when the
    /// forecast says.
    @Test func theForecastTellsWhenThePlainTextsAreUsedUp() async throws {
        let desk = try await desk(texts: 120, variables: ["MIN_AGE_DAYS": "0"]) { number in
            number % 4 == 3
                ? "But thought number \(number) is no river"
                : "Thought number \(number) about rivers"
        }
        let now = try #require(LocalDayMinutes(Self.firstDay, in: Self.zone).start)
        let found = try await desk.mirror.textForecast(
            plain: 90, others: 30, isFollowed: false, zone: Self.zone, now: now)
        let forecast = try #require(found)
        #expect(forecast.free == 90)
        #expect(forecast.perDay == 2)
        #expect(forecast.until == Self.firstDay.advanced(by: 31))
        #expect(
            forecast.then
                == "then the 30 others that stand for themselves are posted too, "
                + "until plain ones were not used for 180 days"
        )
        let slots = try await desk.slots(ofDays: 50)
        let first = try #require(
            slots.first { $0.explanation?.summary.hasPrefix("plain, ") == false })
        let day = LocalTime(first.due, in: Self.zone).day
        expect(day.ordinal - Self.firstDay.ordinal) { (21...41).contains($0) }
        // Afterwards it says that they are used up, and counts what the bot posts.
        let later = try #require(
            LocalDayMinutes(Self.firstDay.advanced(by: 50), in: Self.zone).start)
        let after = try await desk.mirror.textForecast(
            plain: 90, others: 30, isFollowed: false, zone: Self.zone, now: later)
        #expect(after?.until == Self.firstDay.advanced(by: 50))
        expect(after?.free ?? .max) { $0 < 30 }
        // With few posts a day they last.
        let slow = try await self.desk(
            texts: 120, perDay: 1, variables: ["MIN_AGE_DAYS": "0", "NO_REPEAT_DAYS": "60"])
        let lasting = try await slow.mirror.textForecast(
            plain: 120, others: 0, isFollowed: false, zone: Self.zone, now: now)
        #expect(lasting == TextForecast(free: 120, perDay: 1))
        let strict = try await self.desk(texts: 120, variables: ["FITNESS": "strict"])
        try await expect(
            strict.mirror.textForecast(
                plain: 120, others: 0, isFollowed: false, zone: Self.zone, now: now), equals: nil)
    }

    /// So many posts that texts are drawn rather than listed, two thirds of them the same one.
    @Test func drawsEveryTextOfAWideWindowAsOften() async throws {
        let desk = try await desk(texts: 0)
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let start = Double(Self.firstDay.ordinal - 900) * 86_400
        let posts = (0..<2_100).map { (number: Int) -> Post in
            let offset = Double(number % 800 * 86_400 + number % 20 * 60)
            return Post(
                id: PostID(network: .mastodon, value: "p\(number)"), author: human,
                text: number < 700 ? "Thought \(number) on tea" : "Good morning, world",
                createdAt: Date(timeIntervalSince1970: start + offset))
        }
        _ = try await desk.mirror.archive.store(
            posts, timeZone: .gmt, limit: nil)
        let now = try #require(LocalDayMinutes(Self.firstDay, in: Self.zone).start)
        let minute = MinuteOfDay(hour: 0, minute: 5)
        try await desk.mirror.archive.prepare(by: desk.maker.judge)
        // A tenth is used by a plan behind all of these days, so that no text is the one before.
        let later = now + 2_000 * 86_400
        try await desk.mirror.storage.lenient.execute(
            "UPDATE posts SET last_used_ms = \(later) WHERE post_id LIKE 'p%7' AND text LIKE 'Thought%'"
        )
        let pool = try await TextPool(maker: desk.maker, planned: [], now: now)
        var counts = Array(repeating: 0.0, count: 63)
        var greetings = 0
        let draws = 1_262
        for number in 0..<draws {
            var pool = pool
            let day = Self.firstDay.advanced(by: number)
            let wording = try await pool.next(at: minute, of: day).wording
            let id = try #require(wording.flatMap { Int($0.source.value.dropFirst()) })
            guard id < 700 else {
                greetings += 1
                continue
            }
            #expect(id % 10 != 7)
            counts[(id / 10 * 9 + (id % 10 > 7 ? id % 10 - 1 : id % 10)) / 10] += 1
        }
        let expected = Double(draws) * 10 / 631
        let chiSquare = counts.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
        // 62 degrees of freedom, odds of one in a million; of the greeting two are expected.
        #expect(chiSquare < 131)
        #expect(greetings < 14)
    }

    @Test func keepsQuietAndWithinTheMostPerDay() async throws {
        let variables = ["QUIET_HOURS": "00:00-18:00,21:00-24:00", "MAX_PER_DAY": "3"]
        let slots = try await desk(texts: 600, perDay: 12, variables: variables).slots(ofDays: 6)
        let minutes = slots.map { LocalTime($0.due, in: Self.zone).minute.value }
        #expect(slots.count > 6)
        expect(minutes) { $0.allSatisfy { (18 * 60..<21 * 60).contains($0) } }
        let perDay = Dictionary(grouping: slots) { LocalTime($0.due, in: Self.zone).day }
        expect(perDay.values) { $0.allSatisfy { $0.count <= 3 } }
    }

    @Test func leavesOutLinksWhenTheyAreSwitchedOff() async throws {
        let text = { (number: Int) in
            number % 2 == 0
                ? "Read slowly how tea grows: https://example.org/\(number)"
                : "Thought \(number) on tea"
        }
        let off = try await desk(texts: 150, variables: ["LINKS": "off"], text: text).slots(
            ofDays: 10)
        let on = try await desk(texts: 150, variables: ["FITNESS": "strict"], text: text).slots(
            ofDays: 10)
        #expect(!off.isEmpty)
        expect(off) { !$0.contains { $0.text?.contains("https://") == true } }
        expect(on) { $0.contains { $0.text?.contains("https://") == true } }
    }

    @Test func leavesOutWhatIsOlderThanTheDaysThatAreSet() async throws {
        func ages(_ variables: [String: String]) async throws -> [Double] {
            let desk = try await desk(texts: 400, variables: variables)
            var ages: [Double] = []
            for slot in try await desk.slots(ofDays: 6) {
                let id = try #require(slot.wording).source
                let source = try #require(try await desk.mirror.archive.post(id))
                ages.append(slot.due.timeIntervalSince(source.createdAt) / 86_400)
            }
            return ages
        }
        try await expect(ages([:])) { $0.contains { $0 > 70 } }
        let young = try await ages(["MAX_AGE_DAYS": "60"])
        #expect(!young.isEmpty)
        expect(young) { $0.allSatisfy { (29...61).contains($0) } }
        // Nothing is young enough and old enough: what is too young does, and what is too old
        // never.
        let younger = try await ages(["MAX_AGE_DAYS": "10"])
        #expect(!younger.isEmpty)
        expect(younger) { $0.allSatisfy { $0 <= 11 } }
    }

    @Test func aTextComesNoMoreOftenThanIsSet() async throws {
        let desk = try await desk(
            texts: 12, perDay: 2,
            variables: ["MAX_USES": "2", "NO_REPEAT_DAYS": "0", "MIN_AGE_DAYS": "0"])
        let slots = try await desk.slots(ofDays: 30)
        let texts = slots.compactMap(\.text)
        #expect(texts.count == 24)
        #expect(Set(texts).count == 12)
        // No text comes again before all have come.
        #expect(Set(texts.prefix(12)).count == 12)
        expect(slots) { $0.contains { $0.reason == "no-text" } }
        // Also when nobody remembers the actions any more.
        let uses = try await desk.mirror.archive.uses()
        #expect(uses.count == 12)
        expect(uses.values) { $0.allSatisfy { $0 == 2 } }
        try await desk.mirror.storage.lenient.execute(
            "UPDATE actions SET state = 'done' WHERE state = 'planned'")
        let later = try #require(slots.last).due + 1_000 * 86_400
        try await desk.mirror.storage.lenient.execute("UPDATE posts SET rules = ''")
        try await desk.outbox.clean(before: later)
        try await expect(desk.outbox.recent(100)) { $0.isEmpty }
        let day = Self.firstDay.advanced(by: 40)
        let midnight = try #require(LocalDayMinutes(day, in: Self.zone).start)
        let planned = try #require(
            try await desk.maker.preview(day, now: midnight, watching: false))
        expect(planned.slots) { $0.allSatisfy { $0.payload.wording == nil } }
        try await expect(desk.mirror.archive.uses(), equals: uses)
    }

    @Test func aMirrorThatOnlyAnswersHasNoSlots() async throws {
        let desk = try await desk(texts: 200, perDay: 5, variables: ["MAX_PER_DAY": "0"])
        try await expect(desk.slots(ofDays: 5)) { $0.isEmpty }
        let reporter = PlanReporter(mirror: desk.mirror, zone: Self.zone)
        let report = try await reporter.report(on: Self.firstDay, now: .now)
        expect(report) { $0?.isStored == true }
        expect(report?.slots) { $0?.isEmpty == true }
        expect(report?.note) { $0?.contains("MAX_PER_DAY is 0") == true }
    }

    @Test(arguments: ["2026-03-29", "2026-10-25"]) func staysInsideADayWhoseClockChanges(
        _ text: String
    ) async throws {
        let day = try #require(LocalDay(text))
        let desk = try await desk(texts: 800, perDay: 16)
        let start = try #require(LocalDayMinutes(day, in: Self.zone).start)
        let planned = try #require(try await desk.maker.make(day, now: start, watching: false))
        #expect(planned.slots.count > 3)
        for slot in planned.slots {
            let time = LocalTime(slot.due, in: Self.zone)
            #expect(time.day == day)
        }
    }

    // MARK: Texts that stand for themselves

    private static let times = ["Monday", "June"]

    /// Every third text is of its day, and every third names a weekday or a month in which it is
    /// fit.
    private static func mixed(_ number: Int) -> String {
        switch number % 3 {
        case 0: "Today I counted \(number) boats"
        case 1: "\(times[number / 3 % 2]) smells of \(number) boats"
        default: "Thought number \(number) about boats"
        }
    }

    private func unfitness(of post: Post, at date: Date, _ desk: Desk) async throws -> ReasonCode? {
        let archive = desk.mirror.archive
        return try await desk.maker.unfitness(
            of: try #require(try await archive.original(post.id)), archive.unwanted(in: Self.zone),
            at: date)
    }

    @Test func onlyWhatStandsForItselfThenIsPlanned() async throws {
        let desk = try await desk(texts: 600, text: Self.mixed)
        let slots = try await desk.slots(ofDays: 29)
        let texts = slots.compactMap(\.text)
        #expect(texts.count > 20)
        expect(texts) { $0.contains { $0.hasPrefix("Monday") } }
        for slot in slots where slot.text?.hasPrefix("Monday") == true {
            #expect(LocalTime(slot.due, in: Self.zone).day.weekday == 1)
        }
        // The days are in March.
        expect(texts) { $0.allSatisfy { !$0.hasPrefix("Today") && !$0.hasPrefix("June") } }
        let (today, monday) = try await (
            desk.mirror.archive.post(
                PostID(network: .mastodon, value: "https://sandbox.example/0")),
            desk.mirror.archive.post(PostID(network: .mastodon, value: "https://sandbox.example/1"))
        )
        let spring = Date(timeIntervalSince1970: Double(Self.firstDay.ordinal) * 86_400)
        let dated = try #require(today)
        let weekly = try #require(monday)
        #expect(weekly.text.hasPrefix("Monday"))
        // Of what a plan may choose for want of others only the days count when it leaves.
        try await expect(unfitness(of: dated, at: spring, desk), equals: nil)
        try await expect(unfitness(of: weekly, at: spring, desk), equals: nil)
        try await expect(unfitness(of: weekly, at: spring + 86_400, desk), equals: "greeting-time")
    }

    @Test(arguments: [("loose", true), ("off", true), ("strict", false)])
    func whoWantsMoreTextsGetsThem(mode: String, isWilling: Bool) async throws {
        let desk = try await desk(texts: 600, variables: ["FITNESS": mode], text: Self.mixed)
        let texts = try await desk.slots(ofDays: 20).compactMap(\.text)
        #expect(texts.contains { $0.hasPrefix("Today") } == isWilling)
        #expect(texts.contains { $0.hasPrefix("June") } == (mode == "off"))
    }

    /// A person who mutes one text after the other has none of the others judged again.
    @Test func whatIsUnwantedIsFoundOutWithoutJudgingAgain() async throws {
        let desk = try await desk(texts: 30)
        let archive = desk.mirror.archive
        try await archive.prepare(by: desk.maker.judge)
        let planted = PostID(network: .mastodon, value: "https://sandbox.example/3")
        let muted = PostID(network: .mastodon, value: "https://sandbox.example/4")
        try await desk.mirror.storage.lenient.execute(
            "UPDATE posts SET grade = 2 WHERE post_id = \(planted.value)")
        let key = desk.maker.judge.rules.neverKey(of: try #require(try await archive.post(muted)))
        _ = try await desk.mirror.storage.transaction {
            try archive.neverUse(key, of: muted, now: .now, on: $0)
        }
        try await archive.prepare(by: desk.maker.judge)
        let unsent = try await archive.unsent(Archive.TextFilter(longest: 500))
        #expect(unsent.unfit[Archive.never] == 1)
        try await expect(archive.fitness(of: planted)?.grade, equals: 2)
        // Other settings change what may be sent, and not how the words are judged.
        var judge = desk.maker.judge
        judge.rules.links = .leftOut
        try await archive.prepare(by: judge)
        try await expect(archive.fitness(of: planted)?.grade, equals: 2)
        // Other rules look at all of them.
        try await desk.mirror.storage.lenient.execute(
            "UPDATE posts SET rules = REPLACE(rules, \(" fit\(Fitness.version)"), ' fit1')")
        try await archive.prepare(by: judge)
        try await expect(archive.fitness(of: planted)?.grade, equals: Fitness.Grade.plain.rawValue)
    }

    // MARK: Plain texts first

    /// Every second text is plain; the others have a link or speak of public affairs.
    private static func plainOrNot(_ number: Int) -> String {
        switch number % 4 {
        case 0: "The parliament of boat \(number)"
        case 1: "All about boat \(number): https://example.org/\(number)"
        default: "Thought number \(number) about boats"
        }
    }

    @Test func plainTextsComeFirst() async throws {
        let slots = try await desk(texts: 400, text: Self.plainOrNot).slots(ofDays: 20)
        #expect(slots.count > 20)
        expect(slots) { $0.allSatisfy { $0.text?.hasPrefix("Thought") == true } }
        for slot in slots {
            let words = try #require(slot.explanation?.summary)
            #expect(words.hasPrefix("plain, one of "), "\(words)")
        }
    }

    /// Where all that stand for themselves are plain, nothing is given up for want of plain ones.
    @Test func nothingIsSaidOfOthersWhereThereAreNone() async throws {
        let slots = try await desk(texts: 20, variables: ["MIN_AGE_DAYS": "0"]).slots(ofDays: 5)
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { $0.explanation?.summary.hasPrefix("plain, ") == true } }
        expect(slots) { $0.allSatisfy { $0.explanation?.summary.contains("fewer than") == false } }
    }

    /// With `strict` all that stand for themselves are equal, as before there were plain ones.
    @Test func whoIsStrictTakesAllThatAreFit() async throws {
        let slots = try await desk(
            texts: 400, variables: ["FITNESS": "strict"], text: Self.plainOrNot
        ).slots(
            ofDays: 20)
        expect(slots) { $0.contains { $0.text?.hasPrefix("The parliament") == true } }
        expect(slots) { $0.allSatisfy { $0.explanation?.summary.contains("plain") == false } }
    }

    /// 40 plain texts: eleven are used, and 29 are too few.
    @Test func whereFewerThanThirtyPlainTextsAreLeftOthersHelpOut() async throws {
        let desk = try await desk(texts: 160, variables: ["MIN_AGE_DAYS": "0"]) { number in
            switch number % 4 {
            case 0: "Thought number \(number) about boats"
            case 1: "All about boat \(number): https://example.org/\(number)"
            default: "The parliament of boat \(number)"
            }
        }
        let slots = try await desk.slots(ofDays: 20)
        let plain = slots.prefix { $0.explanation?.summary.hasPrefix("plain, ") == true }
        #expect(plain.count == 11)
        expect(plain) { $0.allSatisfy { $0.text?.hasPrefix("Thought") == true } }
        let rest = slots.dropFirst(plain.count)
        #expect(!rest.isEmpty)
        expect(rest) {
            $0.allSatisfy {
                $0.explanation?.summary.contains("fewer than 30 plain ones left") == true
            }
        }
        expect(rest) { $0.contains { $0.text?.hasPrefix("Thought") != true } }
        #expect(Set(slots.compactMap(\.text)).count == slots.count)
    }

    /// Whether a hashtag is of an occasion is told by the whole archive, and told again once it is
    /// not.
    @Test func hashtagsOfAnOccasionAreNeverUsedUntilTheyAreUsual() async throws {
        let desk = try await desk(texts: 200) { number in
            number < 40 ? "Boat \(number) at #harborfest" : "Thought number \(number) about #boats"
        }
        let archive = desk.mirror.archive
        try await archive.prepare(by: desk.maker.judge)
        let rare = PostID(network: .mastodon, value: "https://sandbox.example/0")
        let usual = PostID(network: .mastodon, value: "https://sandbox.example/150")
        // Two posts a day: 20 days with the one, 80 with the other.
        try await expect(archive.fitness(of: rare)?.reason, equals: "rare-tag")
        try await expect(archive.fitness(of: usual)?.reason, equals: "rare-tag")
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let older = (0..<6).map { number in
            Post(
                id: PostID(network: .mastodon, value: "https://sandbox.example/old/\(number)"),
                author: human,
                text: "An older thought \(number) about #Boats",
                createdAt: Date(
                    timeIntervalSince1970: Double(
                        (Self.firstDay.ordinal - 200 - number * 40) * 86_400)))
        }
        _ = try await archive.store(older, timeZone: Self.zone, limit: 10_000)
        try await archive.prepare(by: desk.maker.judge)
        try await expect(archive.fitness(of: rare)?.reason, equals: "rare-tag")
        try await expect(archive.fitness(of: usual)?.reason, equals: "with-tag")
    }

    /// With 20 that stand for themselves the others help out, and the plan says so; what hurts
    /// never does.
    @Test func tooFewTextsAreHelpedOutStepByStep() async throws {
        func texts(_ other: String) async throws -> [Action] {
            let desk = try await desk(texts: 80) { number in
                number % 4 == 0 ? "Thought number \(number) about boats" : "\(other) \(number)"
            }
            return try await desk.slots(ofDays: 10)
        }
        for (other, words) in [
            ("Today I counted boats:", "name a day"), ("Thanks, everyone", "speak to somebody"),
        ] {
            let slots = try await texts(other)
            expect(slots) { $0.contains { $0.text?.hasPrefix(other) == true } }
            expect(slots) { $0.allSatisfy { $0.explanation?.summary.contains(words) == true } }
        }
        let hurtful = try await texts("Rest in peace, friend")
        expect(hurtful) { $0.allSatisfy { $0.text?.hasPrefix("Rest") != true } }
    }

    /// A text whose hour was lost comes when there is no other.
    @Test func lostTimesAreNoTimes() async throws {
        let desk = try await desk(texts: 60, variables: ["MIN_AGE_DAYS": "0"])
        let lost = (0..<40).map { number in
            Post(
                id: PostID(network: .mastodon, value: "https://sandbox.example/lost/\(number)"),
                author: AccountID(network: .mastodon, value: "haruka@sandbox.example"),
                text: "An older thought \(number)",
                createdAt: Date(
                    timeIntervalSince1970: Double((Self.firstDay.ordinal - 3_000 - number) * 86_400)
                ),
                isTimeTrusted: false)
        }
        _ = try await desk.mirror.archive.store(lost, timeZone: Self.zone, limit: 10_000)
        let slots = try await desk.slots(ofDays: 60)
        let first = try #require(slots.firstIndex { $0.text?.hasPrefix("An older") == true })
        // Each text whose time is known is used once before.
        #expect(first == 60)
        expect(slots[first].explanation?.summary) { $0?.contains("time of day was lost") == true }
        expect(slots[..<first]) {
            $0.allSatisfy { $0.explanation?.summary.contains("lost") != true }
        }
    }
}
