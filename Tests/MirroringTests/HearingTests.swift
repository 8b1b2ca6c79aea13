import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Whether every mention gets a row, or a reason that `status` names, whatever the network does.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct HearingTests {
    private static let friend = AccountID(network: .mastodon, value: "friend")

    /// A mirror that knows a friend, and has begun to listen.
    private func paper(_ network: NetworkName = .mastodon) async throws -> PaperMirror {
        let paper = try await PaperMirror(bot: network, variables: ["REPLIES_PER_PERSON": "100"])
        let person = AccountID(network: network, value: "friend")
        try await paper.archive(
            (0..<9).map { pastReply("r\($0)", to: person, "thank you number \($0)") })
        return paper
    }

    private func mention(
        _ id: String, after seconds: TimeInterval = 1, _ text: String = "hello there",
        replyTo: String? = nil
    ) -> ObservedPost {
        paperPost(id, on: .mastodon, text, at: PaperMirror.now + seconds, replyTo: replyTo)
    }

    /// A mirror that heard one mention, and then for hours nothing of so many more.
    private func afterAnOutage(missing count: Int) async throws -> (PaperMirror, WorkerParts) {
        let paper = try await paper()
        let parts = try await paper.parts()
        paper.bot.add([mention("first")], to: .mentions)
        try await paper.wait(5)
        try await hear(parts)
        paper.bot.add(
            (1...count).map { mention("m\($0)", after: 7_200 + Double($0)) }, to: .mentions)
        try await paper.wait(8_000)
        return (paper, parts)
    }

    private func hear(_ parts: WorkerParts) async throws {
        _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
    }

    private func subjects(_ paper: PaperMirror) async throws -> Set<String> {
        Set(try await paper.actions(.reply).map(\.subject))
    }

    private func health(_ paper: PaperMirror, _ feed: String = FeedName.botMentions) async throws
        -> FeedHealth
    {
        try #require(
            try await paper.mirror.feeds.health(now: paper.clock.now).first { $0.feed == feed })
    }

    // MARK: Changes

    /// A post is a mention from the moment in which a change makes it name the bot.
    @Test func aMentionThatAChangeAddsIsAnsweredHoweverOldThePostIs() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        try await hear(parts)
        let written = PaperMirror.now - 5 * 86_400
        func post(_ id: String, added: Date?) -> ObservedPost {
            var post = paperPost(id, on: .mastodon, "hello there", at: written)
            post.editedAt = PaperMirror.now + 60
            post.mentionAddedAt = added
            return post
        }
        paper.bot.add(
            [
                post("added", added: PaperMirror.now + 60),
                post("before", added: PaperMirror.now - 3_600),
                post("old", added: nil),
            ], to: .mentions)
        try await paper.wait(120)
        try await hear(parts)
        // What named the bot before the mirror began is nothing to answer.
        try await expect(subjects(paper), equals: ["added"])
        let replies = try await paper.actions(.reply)
        #expect(replies.map(\.state) == [.done])
        // It is heard once, however often the network tells of it.
        paper.bot.add([post("added", added: PaperMirror.now + 90)], to: .mentions)
        try await paper.wait(120)
        try await hear(parts)
        #expect(paper.bot.with { $0.published.count } == 1)
    }

    @Test func aMentionThatAChangeAddedLongAgoIsTooOld() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        try await hear(parts)
        try await paper.wait(3 * 86_400)
        var post = paperPost("late", on: .mastodon, "hello there", at: PaperMirror.now - 86_400)
        post.editedAt = PaperMirror.now + 60
        post.mentionAddedAt = PaperMirror.now + 60
        paper.bot.add([post], to: .mentions)
        try await hear(parts)
        try await expect(paper.actions(.reply).map(\.reason), equals: ["too-old"])
    }

    // MARK: What is thrown away

    @Test func whatWentWrongIsForgottenInItsTimeUnlessItIsStillOpen() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let feeds = paper.mirror.feeds
        let now = paper.clock.now
        for (name, state) in [
            ("lost", FeedItem.State.givenUp), ("#broken", .unreadable), ("open", .waiting),
        ] {
            try await feeds.note(
                FeedItem(
                    name: name, state: state, reason: "-", version: "1", next: now + 900 * 86_400,
                    noted: now),
                of: FeedName.botMentions)
        }
        try await feeds.note(
            FeedState.Unreached(from: now - 60, to: now, reason: "-"), of: FeedName.botMentions)
        try await paper.wait(5)
        try await hear(parts)
        try await Passes(parts: parts).clean()
        try await expect(health(paper).unreadable, equals: 1)
        try await paper.wait(401 * 86_400)
        // What a feed shows that was not read for so long may be all of it.
        try await Passes(parts: parts).clean()
        try await expect(health(paper).givenUp, equals: 1)
        for _ in 0..<2 {
            try await hear(parts)
            try await paper.wait(60)
        }
        let late = paper.clock.now - 5 * 86_400
        try await feeds.note(
            FeedState.Unreached(from: late - 60, to: late, reason: "-"), of: FeedName.botMentions)
        try await Passes(parts: parts).clean()
        let health = try await health(paper)
        #expect(health.givenUp == 0)
        #expect(health.unreadable == 0)
        #expect(health.waiting == 1)
        #expect(health.unreached.map(\.to) == [late])
    }

    /// Two stretches with the same end are one, as long as the longer one.
    @Test func aLongerStretchTakesThePlaceOfAShorterOne() async throws {
        let paper = try await paper()
        let feeds = paper.mirror.feeds
        let now = paper.clock.now
        for length in [60.0, 3_600, 600] {
            try await feeds.note(
                FeedState.Unreached(from: now - length, to: now, reason: "-"),
                of: FeedName.botMentions)
        }
        try await expect(health(paper).unreached.map(\.from), equals: [now - 3_600])
    }

    /// Whoever is a year ahead would decide once more what was decided today.
    @Test func aClockThatIsAheadForgetsNothing() async throws {
        let paper = try await PaperMirror(bot: .mastodon, variables: ["HISTORY_DAYS": "30"])
        let parts = try await paper.parts()
        paper.bot.add([mention("skipped")], to: .mentions)
        try await paper.wait(5)
        try await hear(parts)
        try await expect(paper.actions(.reply).map(\.state), equals: [.skipped])
        try await paper.wait(365 * 86_400)
        paper.bot.with { $0.clockLead = 365 * 86_400 }
        try await Passes(parts: parts).clean()
        try await expect(paper.actions(.reply).count, equals: 1)
        // A clock that is behind throws nothing away before its time either.
        paper.bot.with { $0.clockLead = -900 * 86_400 }
        try await Passes(parts: parts).clean()
        try await expect(paper.actions(.reply)) { $0.isEmpty }
    }

    // MARK: One mention and the others

    @Test(arguments: [
        NetworkError.Code.forbidden, .unauthorized, .tooLarge, .notFound, .malformedResponse,
    ])
    func aThreadThatCannotBeHadHoldsUpNobody(code: NetworkError.Code) async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        paper.bot.add(
            [
                mention("before"), mention("deep", after: 2, replyTo: "elsewhere"),
                mention("behind", after: 3),
            ],
            to: .mentions)
        paper.bot.with { $0.threads["address-deep"] = code }
        try await paper.wait(10)
        for _ in 0..<30 {
            try await hear(parts)
            try await paper.wait(600)
        }
        let replies = try await paper.actions(.reply)
        #expect(Set(replies.map(\.subject)) == ["before", "deep", "behind"])
        // Without an answer the mention is a thread of its own, and is answered.
        expect(replies) { $0.allSatisfy { $0.state == .done } }
        #expect(parts.bot.refusal == nil)
        try await expect(health(paper).waiting, equals: 0)
        try await expect(health(paper).error, equals: nil)
    }

    /// A refusal of the credentials may pass, and says nothing about the mention that was asked for
    /// then.
    @Test(arguments: [NetworkError.Code.unauthorized, .unavailable])
    func aMentionIsNotGivenUpForARefusalThatPasses(verification: NetworkError.Code) async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("deep", replyTo: "elsewhere")], to: .mentions)
        bot.with { $0.threads["address-deep"] = .unavailable }
        try await paper.wait(10)
        try await hear(parts)
        try await expect(health(paper).waiting, equals: 1)
        bot.with { state in
            state.threads = [:]
            state.failure = { operation, _ in
                switch operation {
                case .readPost: bot.error(.unauthorized, operation, outcome: .refused)
                case .verifyAccount: bot.error(verification, operation, outcome: .refused)
                default: nil
                }
            }
        }
        try await paper.wait(3_600)
        try? await hear(parts)
        try await expect(health(paper).givenUp, equals: 0)
        bot.with { $0.failure = { _, _ in nil } }
        for _ in 0..<12 {
            try await paper.wait(3_600)
            try await hear(parts)
        }
        try await expect(paper.actions(.reply).map(\.subject), equals: ["deep"])
        try await expect(health(paper).waiting, equals: 0)
    }

    @Test func aThreadThatCannotBeHadNowIsAskedForAgain() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        paper.bot.add(
            [mention("deep", replyTo: "elsewhere"), mention("behind", after: 2)], to: .mentions)
        paper.bot.with { $0.threads["address-deep"] = .unavailable }
        try await paper.wait(10)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["behind"])
        try await expect(health(paper).waiting, equals: 1)
        // The position has moved on all the same.
        let looks = paper.bot.looks.count
        paper.bot.with { $0.threads = [:] }
        try await paper.wait(3_600)
        try await hear(parts)
        #expect(paper.bot.looks.dropFirst(looks).map(\.position) == [.newer(than: "2")])
        try await expect(subjects(paper), equals: ["behind", "deep"])
        try await expect(health(paper).waiting, equals: 0)
    }

    @Test func whatIsRefusedAnywayAsksNobodyForItsThread() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        paper.bot.add(
            [
                paperPost(
                    "s", by: "stranger", on: .mastodon, at: PaperMirror.now + 1,
                    replyTo: "elsewhere"),
                paperPost(
                    "b", on: .mastodon, at: PaperMirror.now + 2, replyTo: "elsewhere", isBot: true),
                mention("stop", after: 3, "stop", replyTo: "elsewhere"),
            ], to: .mentions)
        try await paper.wait(10)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["s", "b", "stop"])
        #expect(paper.bot.with { !$0.calls.contains(.readConversation) })
    }

    @Test func aFeedThatCannotBeReadHoldsUpNoFavorite() async throws {
        let paper = try await paper()
        try await paper.teachTea(on: .mastodon)
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add(
            [paperPost("tea", on: .mastodon, "green tea in my garden", at: PaperMirror.now + 1)],
            to: .home)
        bot.with {
            $0.failure = { operation, _ in
                operation == .readMentions ? bot.error(.unavailable, operation) : nil
            }
        }
        try await paper.wait(10)
        await #expect(throws: NetworkError.self) { try await hear(parts) }
        _ = try await Passes(parts: parts).botHome(try #require(parts.feeds.botHome))
        try await expect(paper.actions(.favorite).map(\.subject), equals: ["tea"])
        let health = try await health(paper)
        expect(health.error) { $0?.contains("could not read the mentions") == true }
        #expect(health.lastSuccess == nil)
        try await expect(self.health(paper, FeedName.botHome).error, equals: nil)
    }

    // MARK: Large and broken items

    @Test func pagesThatAreTooLargeAreReadInSmallerOnes() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        try await hear(parts)
        paper.bot.with { $0.largestAnswer = 2_500 }
        let long = String(repeating: "long ", count: 200)
        paper.bot.add((1...12).map { mention("m\($0)", after: Double($0), long) }, to: .mentions)
        try await paper.wait(60)
        try await hear(parts)
        try await expect(subjects(paper).count, equals: 12)
    }

    @Test func anItemThatIsTooLargeAloneIsNamedAndPassed() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        try await hear(parts)
        paper.bot.with { $0.largestAnswer = 2_500 }
        let huge = String(repeating: "huge ", count: 900)
        paper.bot.add(
            [mention("a"), mention("huge", after: 2, huge), mention("b", after: 3)], to: .mentions)
        try await paper.wait(60)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["a", "b"])
        try await expect(health(paper).unreadable, equals: 1)
        let items = try await paper.mirror.feeds.items(of: FeedName.botMentions, limit: 10)
        #expect(items.map(\.name) == ["address-huge"])
        #expect(items.map(\.reason) == ["too large"])
    }

    @Test func whatCannotBeReadIsTriedOnceMoreByAnotherProgram() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        paper.bot.with { $0.unreadable = ["address-odd", "address-odder"] }
        paper.bot.add(
            [mention("odd"), mention("plain", after: 2), mention("odder", after: 3)], to: .mentions)
        try await paper.wait(60)
        for _ in 0..<3 { try await hear(parts) }
        try await expect(subjects(paper), equals: ["plain"])
        #expect(paper.bot.with { $0.lookedUp.filter { $0.hasPrefix("address-odd") } }.isEmpty)
        try await expect(health(paper).unreadable, equals: 2)
        // An update that understands one of them.
        paper.bot.with { $0.unreadable = ["address-odder"] }
        let gate = parts.bot
        let reader = FeedReader(
            gate: gate, feed: .mentions, name: FeedName.botMentions, table: paper.mirror.feeds,
            clock: paper.clock,
            terms: FeedTerms(since: parts.activated, version: "2"))
        for _ in 0..<3 {
            _ = try await reader.look { items, tries in
                try await parts.mentionDecider.decide(items, now: paper.clock.now, tries: tries)
                    .postponed
            }
        }
        try await expect(subjects(paper), equals: ["plain", "odd"])
        #expect(paper.bot.with { $0.lookedUp.count { $0 == "address-odd" } } == 1)
    }

    // MARK: Gaps

    private func burst(_ count: Int, from first: Int = 1) -> [ObservedPost] {
        (first..<first + count).map { mention("m\($0)", after: Double($0)) }
    }

    /// A training starts over while a look is under way: what it forgot stays forgotten, or it
    /// would take the position for its own and read nothing.
    @Test func aLookThatWasOvertakenStoresNothing() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let reader = try #require(parts.feeds.mentions)
        try await hear(parts)
        paper.bot.with { $0.pageSize = 5 }
        paper.bot.add(burst(20), to: .mentions)
        try await paper.wait(60)
        let feeds = paper.mirror.feeds
        let pages = Recorder<Int>()
        _ = try await reader.look { items, _ in
            if pages.values.isEmpty { try await feeds.reset([FeedName.botMentions]) }
            pages.add(items.count)
            return []
        }
        #expect(pages.values == [5])
        try await expect(feeds.progress(of: FeedName.botMentions).position, equals: nil)
        try await hear(parts)
        try await expect(subjects(paper).count, equals: 20)
    }

    /// The network was away when listening began, and for longer than a page of mentions.
    @Test func aFirstStartReadsBackToItsBeginning() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("old", after: -60)], to: .mentions)
        bot.with { $0.failure = { operation, _ in bot.error(.unavailable, operation) } }
        await #expect(throws: NetworkError.self) { try await hear(parts) }
        bot.add(burst(100), to: .mentions)
        try await paper.wait(600)
        bot.with { $0.failure = { _, _ in nil } }
        try await hear(parts)
        try await expect(subjects(paper), equals: Set((1...100).map { "m\($0)" }))
        try await expect(health(paper).lagSeconds, equals: 0)
    }

    /// A look that is cut short in a gap is gone on with, by another worker too.
    @Test func aGapIsReadOnAfterACrash() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("old", after: -60)] + burst(100), to: .mentions)
        try await paper.wait(600)
        let looks = bot.looks.count
        bot.with {
            $0.failure = { operation, _ in
                bot.looks.count >= looks + 3 && operation == .readMentions
                    ? bot.error(.unavailable, operation) : nil
            }
        }
        // What is new was read; the page of the gap is asked for again with the next look.
        try await hear(parts)
        try await expect(subjects(paper).count, equals: 60)
        try await expect(health(paper).lastSuccess, equals: nil)
        bot.add(burst(5, from: 101), to: .mentions)
        bot.with { $0.failure = { _, _ in nil } }
        try await hear(try await paper.parts())
        try await expect(subjects(paper), equals: Set((1...105).map { "m\($0)" }))
    }

    @Test func aLostPositionReadsBackToTheLastKnownItem() async throws {
        let (paper, parts) = try await afterAnOutage(missing: 120)
        let bot = paper.bot
        // The server does not know the cursor any more.
        bot.with {
            $0.failure = { operation, position in
                if case .newer("1") = position { return bot.error(.rejected, operation) }
                return nil
            }
        }
        try await hear(parts)
        try await expect(subjects(paper), equals: Set(["first"] + (1...120).map { "m\($0)" }))
    }

    /// X shows the newest 800 mentions, and says nothing of those behind them.
    @Test(arguments: [false, true])
    func whatTheNetworkDoesNotShowIsSaidWithItsTimes(isPositionLost: Bool) async throws {
        let paper = try await paper()
        let bot = paper.bot
        bot.with { $0.capabilities.depths[.mentions] = 50 }
        let parts = try await paper.parts()
        bot.add([mention("first")], to: .mentions)
        try await paper.wait(5)
        try await hear(parts)
        bot.add((1...49).map { mention("m\($0)", after: 7_200 + Double($0)) }, to: .mentions)
        try await paper.wait(8_000)
        try await hear(parts)
        // All that is shown was known, or new.
        try await expect(subjects(paper).count, equals: 50)
        try await expect(health(paper).unreached.count, equals: 1)
        bot.add((1...70).map { mention("n\($0)", after: 86_400 + Double($0)) }, to: .mentions)
        try await paper.wait(86_400)
        // Each worker but the last is gone after a page.
        for number in 0..<6 {
            let last = number < 5 ? bot.looks.count + 1 : .max
            bot.with {
                $0.failure = { operation, position in
                    if isPositionLost, position == .newer(than: "50") {
                        return bot.error(.rejected, operation)
                    }
                    return bot.looks.count > last && operation == .readMentions
                        ? bot.error(.unavailable, operation) : nil
                }
            }
            try? await hear(try await paper.parts())
            try await paper.wait(600)
        }
        try await expect(
            subjects(paper).filter { $0.hasPrefix("n") }, equals: Set((21...70).map { "n\($0)" }))
        let unreached = try #require(try await health(paper).unreached.first)
        #expect(unreached.from <= PaperMirror.now + 86_401)
        #expect(unreached.to >= PaperMirror.now + 86_421)
    }

    /// Below pages that repeat nothing can be asked for.
    @Test func whatLiesBelowACircleIsSaidWithItsTimes() async throws {
        let (paper, parts) = try await afterAnOutage(missing: 100)
        let bot = paper.bot
        bot.with {
            $0.failure = { operation, position in
                position == .newer(than: "1") ? bot.error(.rejected, operation) : nil
            }
            $0.repeated = ["61": "81"]
        }
        try await hear(parts)
        try await expect(subjects(paper).count, equals: 41)
        let unreached = try #require(try await health(paper).unreached.first)
        #expect(unreached.to == PaperMirror.now + 7_261)
        #expect(unreached.from <= PaperMirror.now + 1)
    }

    @Test func whatCannotBeReachedIsSaidWithItsTimes() async throws {
        let (paper, parts) = try await afterAnOutage(missing: 100)
        let bot = paper.bot
        bot.with {
            $0.failure = { operation, position in
                switch position {
                case .newer("1"), .older("61"): bot.error(.rejected, operation)
                default: nil
                }
            }
        }
        try await hear(parts)
        try await expect(subjects(paper).count, equals: 41)
        // A refusal may pass; it is believed after a while.
        try await expect(health(paper).unreached) { $0.isEmpty }
        try await expect(health(paper).error) { $0 != nil }
        try await paper.wait(1_300)
        try await hear(parts)
        let unreached = try #require(try await health(paper).unreached.first)
        // Below the last page that was read, down to what was known before.
        #expect(unreached.to == PaperMirror.now + 7_261)
        #expect(unreached.from <= PaperMirror.now + 1)
        let report = try await StatusReporter(mirror: paper.mirror).report(now: paper.clock.now)
        expect(report.idle) { $0.contains { $0.contains("cannot be read any more") } }
    }

    @Test(arguments: [NetworkError.Code.rejected, .notFound, .forbidden])
    func aPageThatIsRefusedForAWhileIsAskedForAgain(code: NetworkError.Code) async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("old", after: -60)] + burst(100), to: .mentions)
        try await paper.wait(600)
        bot.with {
            $0.failure = { operation, position in
                position == .older("41") ? bot.error(code, operation, outcome: .refused) : nil
            }
        }
        for _ in 0..<5 {
            try await hear(parts)
            try await paper.wait(60)
        }
        try await expect(subjects(paper).count, equals: 60)
        bot.with { $0.failure = { _, _ in nil } }
        try await hear(parts)
        try await expect(subjects(paper), equals: Set((1...100).map { "m\($0)" }))
        try await expect(health(paper).unreached) { $0.isEmpty }
    }

    /// Nothing but the one item is passed over, and what came before and comes after it is heard.
    @Test(arguments: [NetworkError.Code.unavailable, .malformedResponse])
    func aPageThatBreaksTheServerIsReadAroundItsItem(code: NetworkError.Code) async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        try await hear(parts)
        paper.bot.with { $0.breaking["address-bad"] = code }
        paper.bot.add(
            [mention("a"), mention("bad", after: 60), mention("b", after: 120)], to: .mentions)
        for _ in 0..<90 {
            try await paper.wait(60)
            _ = try? await hear(parts)
        }
        try await expect(subjects(paper), equals: ["a", "b"])
        let passed = try await health(paper)
        #expect(passed.error == nil)
        #expect(passed.unreached.map(\.to) == [PaperMirror.now + 120])
        paper.bot.add([mention("c", after: 5_460)], to: .mentions)
        try await paper.wait(120)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["a", "b", "c"])
    }

    /// A cursor that the server does not take any more costs nothing: the gap is read from the
    /// newest item again.
    @Test func aCursorThatIsGoneEndsNoGap() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("old", after: -60)] + burst(100), to: .mentions)
        try await paper.wait(600)
        let refusals = Refusals(2)
        bot.with {
            $0.failure = { operation, position in
                position == .older("81") && refusals.takeOne()
                    ? bot.error(.rejected, operation, outcome: .refused) : nil
            }
        }
        for _ in 0..<3 {
            try await hear(parts)
            try await paper.wait(60)
        }
        try await expect(subjects(paper), equals: Set((1...100).map { "m\($0)" }))
        try await expect(health(paper).unreached) { $0.isEmpty }
    }

    @Test func anOutageIsNoBrokenPage() async throws {
        let (paper, parts) = try await afterAnOutage(missing: 3)
        paper.bot.fail(.readMentions)
        for _ in 0..<90 {
            try await paper.wait(60)
            _ = try? await hear(parts)
        }
        try await expect(health(paper).error) { $0 != nil }
        paper.bot.add([mention("last", after: 8_200)], to: .mentions)
        paper.bot.fail(nil)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["first", "m1", "m2", "m3", "last"])
        try await expect(health(paper).unreached) { $0.isEmpty }
    }

    // MARK: What the network does not tell of

    @Test func aDailySweepFindsWhatTheNetworkDidNotNotifyOf() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let bot = paper.bot
        bot.add([mention("told")], to: .mentions)
        try await paper.wait(10)
        try await hear(parts)
        let sent = try #require(try await paper.actions(.reply).first?.remoteAddress)
        try await paper.wait(80_000)
        // One never became a notification, and one was put below others that were read.
        bot.with { state in
            state.replies[sent] = [self.mention("untold", after: 79_000, replyTo: "published-1")]
            state.feeds[.mentions]?.insert(self.mention("late", after: 79_500), at: 0)
        }
        try await hear(parts)
        try await expect(subjects(paper), equals: ["told"])
        try await paper.wait(8_000)
        try await hear(parts)
        try await expect(subjects(paper), equals: ["told", "untold", "late"])
        let calls = bot.with { $0.calls.count }
        try await paper.wait(60)
        try await hear(parts)
        #expect(bot.with { $0.calls.count } < calls + 5)
    }

    /// A mirror that has answered two mentions.
    private func answered() async throws -> PaperMirror {
        let paper = try await paper()
        _ = try await paper.parts()
        paper.bot.add([mention("one"), mention("two", after: 2)], to: .mentions)
        try await paper.wait(10)
        try await hear(try await paper.parts())
        return paper
    }

    /// Worker after worker cannot look below the bot's posts, and then one can; or none ever can,
    /// and that ends, too.
    @Test(arguments: [false, true])
    func whatIsBelowTheBotsPostsIsLookedForUntilItIsKnown(isForGood: Bool) async throws {
        let paper = try await answered()
        let bot = paper.bot
        let sent = try await paper.actions(.reply).compactMap(\.remoteAddress)
        try #require(sent.count == 2)
        try await paper.wait(86_500)
        bot.with { state in
            for (number, address) in sent.enumerated() {
                state.replies[address] = [
                    self.mention(
                        "untold\(number)", after: 86_000 + Double(number),
                        replyTo: "published-\(number + 1)")
                ]
            }
            state.failure = { operation, _ in
                operation == .readConversation ? bot.error(.forbidden, operation) : nil
            }
        }
        for _ in 0..<2 {
            try await hear(try await paper.parts())
            try await paper.wait(60)
        }
        try await expect(subjects(paper).count, equals: 2)
        // They hold up nothing, and are tried again.
        try await expect(
            paper.mirror.feeds.progress(of: FeedName.botMentions).ownPostsToLookBelow, equals: nil)
        try await expect(health(paper).waiting, equals: 2)
        if !isForGood { bot.with { $0.failure = { _, _ in nil } } }
        for _ in 0..<(isForGood ? 8 : 1) {
            try await paper.wait(4 * 3_600)
            try await hear(try await paper.parts())
        }
        if isForGood {
            let health = try await health(paper)
            #expect(health.waiting == 0)
            #expect(health.givenUp == 2)
        } else {
            try await expect(subjects(paper), equals: ["one", "two", "untold0", "untold1"])
            try await expect(health(paper).waiting, equals: 0)
        }
    }

    /// A look that takes longer than a day must not keep the next one from what was said meanwhile.
    @Test func whatCameBelowAPostThatWasLookedAtIsFoundTheNextDay() async throws {
        let paper = try await answered()
        let bot = paper.bot
        let sent = try await paper.actions(.reply)
        let address = try #require(sent.first?.remoteAddress)
        let last = try #require(sent.last)
        try await paper.mirror.storage.lenient.execute(
            """
            UPDATE feeds SET below_ms = \(last.due.milliseconds), below_action = \(last.id),
                below_end_ms = \(paper.clock.now.milliseconds) WHERE feed = 'bot-mentions'
            """)
        bot.with {
            $0.replies[address] = [self.mention("late", after: 9_000, replyTo: "published-1")]
        }
        try await paper.wait(86_500)
        for _ in 0..<2 { try await hear(try await paper.parts()) }
        try await expect(subjects(paper), equals: ["one", "two", "late"])
    }

    @Test func aSweepMayEndWithTheLastPageOfALook() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let old = (1...5).map { mention("old\($0)", after: -100_000 + Double($0)) }
        let number = FeedReader.usualPages - 1
        paper.bot.add(
            old + (1...number).map { mention("m\($0)", after: Double($0)) }, to: .mentions)
        try await paper.wait(100)
        try await hear(parts)
        paper.bot.with { $0.pageSize = 1 }
        try await paper.wait(86_500)
        try await hear(parts)
        try await expect(parts.feeds.mentions?.lastSweep(), equals: paper.clock.now)
    }

    /// Put among what is older than a day, by its time, after the sweep of that day; and more than
    /// one look reads.
    @Test func aSweepReachesBackBehindTheLastOne() async throws {
        let paper = try await paper()
        let bot = paper.bot
        bot.add((0..<60).map { mention("m\($0)", after: 5_000 + Double($0)) }, to: .mentions)
        try await paper.wait(10)
        try await hear(try await paper.parts())
        try await paper.wait(1_100)
        try await hear(try await paper.parts())
        try await paper.wait(86_500)
        try await hear(try await paper.parts())
        bot.with { state in
            state.pageSize = 1
            state.feeds[.mentions]?.insert(self.mention("late", after: 5_000.5), at: 1)
        }
        try await paper.wait(86_500)
        // A refusal on the way may pass.
        bot.with {
            $0.failure = { operation, position in
                position == .older("30") ? bot.error(.forbidden, operation) : nil
            }
        }
        for _ in 0..<3 {
            try await hear(try await paper.parts())
            try await paper.wait(60)
        }
        try await expect(subjects(paper)) { !$0.contains("late") }
        bot.with { $0.failure = { _, _ in nil } }
        for _ in 0..<3 {
            try await hear(try await paper.parts())
            try await paper.wait(60)
        }
        try await expect(subjects(paper)) { $0.contains("late") }
    }

    /// A page that is refused for good ends the sweep, by worker after worker, and what is below is
    /// named.
    @Test func aSweepThatIsRefusedNamesWhatItDidNotReach() async throws {
        let paper = try await paper()
        let bot = paper.bot
        bot.add((0..<60).map { mention("m\($0)", after: 5_000 + Double($0)) }, to: .mentions)
        try await paper.wait(6_000)
        try await hear(try await paper.parts())
        bot.with { state in
            state.pageSize = 1
            state.failure = { operation, position in
                position == .older("30") ? bot.error(.forbidden, operation) : nil
            }
        }
        try await paper.wait(86_500)
        for _ in 0..<3 {
            try await hear(try await paper.parts())
            try await expect(paper.mirror.feeds.progress(of: FeedName.botMentions).sweep) {
                $0 != nil
            }
            try await paper.wait(500)
        }
        try await hear(try await paper.parts())
        let progress = try await paper.mirror.feeds.progress(of: FeedName.botMentions)
        #expect(progress.sweep == nil)
        #expect(progress.swept == paper.clock.now)
        let unreached = try #require(try await health(paper).unreached.first)
        #expect(unreached.to == mention("m30", after: 5_030).post.createdAt)
    }

    /// A clock that was set back after a sweep began must not leave it lying.
    @Test func aSweepThatWasBegunIsEnded() async throws {
        let paper = try await paper()
        paper.bot.add((0..<120).map { mention("m\($0)", after: 5_000 + Double($0)) }, to: .mentions)
        try await paper.wait(6_000)
        try await hear(try await paper.parts())
        paper.bot.with { $0.pageSize = 1 }
        try await paper.wait(86_500)
        try await hear(try await paper.parts())
        let reader = try #require(try await paper.parts().feeds.mentions)
        #expect(try await reader.isSweeping())
        try await paper.mirror.storage.lenient.execute(
            "UPDATE feeds SET swept_ms = \(paper.clock.now.milliseconds)")
        for _ in 0..<3 { try await hear(try await paper.parts()) }
        let ended = try #require(try await paper.parts().feeds.mentions)
        #expect(try await !ended.isSweeping())
    }

    @Test(arguments: [
        Stretch(cursor: "a b", remaining: 5), Stretch(cursor: "c", floor: Date(milliseconds: 5)),
        Stretch(
            cursor: "c", remaining: 0, floor: Date(milliseconds: -5), top: Date(milliseconds: 9)),
        Stretch(cursor: "c", refused: Date(milliseconds: 1)),
        Stretch(
            cursor: "", floor: Date(milliseconds: 5), top: Date(milliseconds: 6),
            refused: Date(milliseconds: 1)),
    ])
    func aStretchIsReadAsItWasStored(_ stretch: Stretch) async throws {
        let table = try await paper().mirror.feeds
        let name = FeedName.botMentions
        let start = FeedProgress()
        let below = PublishedStretch(
            place: OutboxStore.PublishedPlace(due: Date(milliseconds: -9), id: "a"),
            end: Date(milliseconds: 9))
        for part in [\FeedProgress.gap, \.past, \.sweep] {
            var progress = start
            progress.position = "5"
            progress.ownPostsToLookBelow = below
            progress[keyPath: part] = stretch
            try await expect(table.advance(name, from: start, to: progress), equals: true)
            try await expect(table.progress(of: name), equals: progress)
            // From another place nobody moves it.
            try await expect(table.advance(name, from: start, to: start), equals: false)
            var other = progress
            other.position = "6"
            try await expect(table.advance(name, from: other, to: start), equals: false)
            try await expect(table.progress(of: name), equals: progress)
            try await table.reset([name])
            try await expect(table.progress(of: name), equals: start)
        }
    }
}

/// How many refusals are left.
private final class Refusals: @unchecked Sendable {
    // Sendable because every access to `left` holds the lock.
    private let lock = NSLock()
    private var left: Int

    init(_ count: Int) { left = count }

    func takeOne() -> Bool {
        lock.withLock {
            left -= 1
            return left >= 0
        }
    }
}
