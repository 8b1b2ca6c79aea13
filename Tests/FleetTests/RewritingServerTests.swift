import Conduct
import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Outbox
@testable import Settings

/// Lost answers on servers that make other texts of what they get, leave posts out of their lists,
/// and publish again what is sent again.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct RewritingServerTests {
    /// Each is rewritten, or would be somewhere, in another manner.
    private static let texts = [
        "*Never* again without an umbrella", "I said _never_ and I meant it",
        "`make test` took an hour",
        "What a morning :-)", "What an evening :-(", "Tea first ;-) and then the world",
        "**Bold** words for a Monday",
        "a line\nand *another* one\n\nand a last", "> somebody once said\nsomething like this",
        "# Title of a day\nwith a sentence", "~~yesterday~~ tomorrow I shall run",
        "I <3 trains :beer:",
        "Look at https://elsewhere.example/notes/7_a_b and *smile*",
        "https://elsewhere.example/cat.png a cat of 2026",
        "snake_case_names are _fine_", "2*3*4 is 24", "東京の*朝*は寒い :-D",
        "@nobody said __underlined__ words",
        "plain words only", "```\nlet x = 1\n```\nthat was code", "100% of _all_ #cats & *dogs*",
    ]

    /// A bot on a server that fails on purpose, with no worker but its delivery.
    private struct Place: Sendable {
        let sandbox: Sandbox
        let clock: VirtualClock
        let store: OutboxStore
        let delivery: Delivery
        let network: any SocialNetwork

        init(_ habits: MastodonHabits) async throws {
            let closing = try #require(OpenMirrors.current)
            let clock = VirtualClock(startingAt: Sample.hour(8))
            let sandbox = try await Sandbox.start(
                world: await Sample.world(), rateLimits: .unlimited
            ) {
                clock.steadyNow
            }
            closing.add { await sandbox.stop() }
            sandbox.faults.mastodon = habits
            let mirror = try await BareMirror(variables: sandbox.settings(of: .bot, on: .mastodon))
                .open(clock: clock)
            try await mirror.storage.agree(to: "test")
            if habits.software == .wordpress {
                // Somebody has measured that it keeps the visibility of posts, so that it is not
                // refused.
                let account = try await mirror.requiredNetwork(of: .bot).verifyAccount()
                try await mirror.bind(human: nil, bot: account, now: clock.now)
                try await mirror.probes.note(
                    [.keepsVisibility: true], of: account.id, now: clock.now)
            }
            let network = try await mirror.requiredNetwork(of: .bot)
            let leases = LeaseTable(storage: mirror.storage, mirror: "test")
            let lease = try #require(
                try await leases.take(owner: "test", after: try await leases.record(), now: 0))
            store = mirror.outbox(lease: lease)
            delivery = Delivery(store: store, deliverer: NetworkDeliverer(network: network))
            self.sandbox = sandbox
            self.clock = clock
            self.network = network
        }

        func wait(_ seconds: TimeInterval) async throws {
            try await clock.sleep(until: clock.now + seconds)
        }

        /// Sends a text as a slot of its own; the fault, if any, meets the request that publishes
        /// it.
        func send(_ text: String, as number: Int, _ fault: SandboxFault? = nil) async throws
            -> Action
        {
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "source-\(number)"), text: text,
                language: "en",
                visibility: .unlisted)
            let slot = Intent(
                .post(Slot.Name(day: Sample.day, number: number), wording), due: clock.now,
                expires: clock.now + 86_400)
            return try await send(slot, fault)
        }

        /// Answers a post that somebody has written.
        func answer(_ visibility: Visibility, _ fault: SandboxFault) async throws -> Action {
            let speaker = try #require(sandbox.world.configuration.friends.first)
            let said = try #require(
                await sandbox.say([SandboxUtterance(speaker, "good morning")]).first)
            // Friendica tells of it with the next run of its worker.
            try await wait(60)
            let post = try #require(
                try await network.page(.mentions, .newest).items.first {
                    $0.post.id.value == said.identity
                })
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "source-1"),
                text: "@\(speaker) good evening",
                language: "en", visibility: visibility)
            let target = Action.Target(
                post: post.post.id.value, author: post.author.id, address: post.address)
            let reply = Intent(
                .reply(Action.Reply(to: target, thread: post.post.id.value, wording: wording)),
                due: clock.now,
                expires: clock.now + 86_400)
            return try await send(reply, fault)
        }

        /// Favorites a post that somebody has written.
        func favorite(_ fault: SandboxFault) async throws -> Action {
            let speaker = try #require(sandbox.world.configuration.friends.first)
            let said = try #require(
                await sandbox.say([SandboxUtterance(speaker, "good morning")]).first)
            let post = try #require(
                try await network.page(.mentions, .newest).items.first {
                    $0.post.id.value == said.identity
                })
            let target = Action.Target(
                post: post.post.id.value, author: post.author.id, address: post.address)
            return try await send(
                Intent(.favorite(target), due: clock.now, expires: clock.now + 86_400), fault)
        }

        private func send(_ intent: Intent, _ fault: SandboxFault?) async throws -> Action {
            let action = try await store.propose(intent, now: clock.now).action
            if let fault {
                sandbox.faults.failNext(fault, method: "POST", path: "/api/v1/statuses")
            }
            return try await delivery.deliver(action, now: { [clock] in clock.now }) { .ready($0) }
        }

        /// Lets time pass until nothing is undecided any more, and returns every action in its
        /// order.
        func settled() async throws -> [Action] {
            for _ in 0..<8 {
                try await wait(240)
                _ = try await delivery.reconcile(now: { [clock] in clock.now })
            }
            let actions = try await store.recent(1_000)
            return actions.sorted {
                ($0.subject.count, $0.subject) < ($1.subject.count, $1.subject)
            }
        }
    }

    /// GoToSocial whose people write Markdown.
    private static var markdown: MastodonHabits {
        var habits = MastodonHabits.gotosocial
        habits.rewritesTexts = true
        return habits
    }

    private static let servers = [MastodonHabits.snac, markdown]

    /// A server that denies the post for a moment says nothing about the favorite.
    @Test(arguments: [MastodonHabits.mastodon, .takahe])
    func aFavoriteIsNotDoneBecauseItsPostWasDenied(habits: MastodonHabits) async throws {
        let place = try await Place(habits)
        let sent = try await place.favorite(.dropRequest)
        #expect(sent.state == .sending)
        place.sandbox.faults.failNext(
            .error(status: 404, message: "Not now"), method: "GET", path: "/api/v1/statuses",
            needsLogin: true)
        let ended = try #require(try await place.settled().first)
        #expect(ended.state == .failed && ended.isUnconfirmed)
        #expect(place.sandbox.faults.applied == 2)
    }

    @Test(arguments: servers) func noLostAnswerPublishesATextTwice(server: MastodonHabits)
        async throws
    {
        let place = try await Place(server)
        for (number, text) in Self.texts.enumerated() {
            let sent = try await place.send(text, as: number + 1, .dropAnswer)
            #expect(sent.state == .sending)
            try await place.wait(20)
        }
        let actions = try await place.settled()
        let ledger = await place.sandbox.ledger
        let texts = Self.texts.map { CustomEmoji.removed(from: $0, except: Set(server.emoji)) }
        #expect(ledger.deliveries.map(\.text) == texts, "each once, and in order")
        #expect(ledger.duplicates.isEmpty)
        for (action, delivery) in zip(actions, ledger.deliveries) {
            #expect(action.state == .done, "\(action.text ?? "")")
            #expect(action.remoteID == delivery.identity, "\(action.text ?? "")")
        }
    }

    @Test(arguments: servers) func aTextThatNeverArrivedIsSentAgain(server: MastodonHabits)
        async throws
    {
        let place = try await Place(server)
        for (number, text) in Self.texts.prefix(6).enumerated() {
            _ = try await place.send(
                text, as: number + 1, number.isMultiple(of: 2) ? .dropRequest : nil)
            _ = try await place.settled()
        }
        let actions = try await place.settled()
        expect(actions) { $0.allSatisfy { $0.state == .done } }
        expect(
            Set(await place.sandbox.ledger.deliveries.map(\.text)),
            equals: Set(Self.texts.prefix(6)))
        await expect(place.sandbox.ledger.duplicates) { $0.isEmpty }
    }

    /// The second text never arrived, and the server's page shows the first one as it would show
    /// the second.
    @Test(arguments: servers) func ofTwoTextsThatLookTheSameNoneIsSentAgain(server: MastodonHabits)
        async throws
    {
        let place = try await Place(server)
        _ = try await place.send("Good *morning* :-)", as: 1, .dropAnswer)
        _ = try await place.send("_Good morning_", as: 2, .dropRequest)
        let actions = try await place.settled()
        await expect(place.sandbox.ledger.deliveries.map(\.text), equals: ["Good *morning* :-)"])
        for action in actions {
            #expect(action.state == .failed)
            #expect(action.reason == .outbox(.unconfirmed))
            expect(action.explanation?.outcome) { $0?.contains("reads the same") == true }
        }
    }

    @Test(arguments: servers) func ofTwoThatLookTheSameAndBothArrivedBothAreFound(
        server: MastodonHabits
    ) async throws {
        let place = try await Place(server)
        _ = try await place.send("Good *morning* :-)", as: 1, .dropAnswer)
        _ = try await place.send("_Good morning_", as: 2, .dropAnswer)
        let actions = try await place.settled()
        #expect(actions.map(\.state) == [.done, .done])
        #expect(Set(actions.map(\.remoteID)).count == 2)
        await expect(place.sandbox.ledger.deliveries.count, equals: 2)
    }

    @Test(arguments: servers) func picturesAloneAreNeverSentAgain(server: MastodonHabits)
        async throws
    {
        let place = try await Place(server)
        _ = try await place.send(":-) <3 :-)", as: 1, .dropAnswer)
        _ = try await place.send("🌧🌧🌧", as: 2, .dropRequest)
        let actions = try await place.settled()
        await expect(place.sandbox.ledger.deliveries.count, equals: 1)
        expect(actions) {
            $0.allSatisfy { $0.state == .failed && $0.reason == .outbox(.unconfirmed) }
        }
    }

    /// Whatever a server may make of a text: what nobody here can account for may be it.
    @Test(arguments: servers) func nothingIsSentAgainBesideAPostThatNobodyKnows(
        server: MastodonHabits
    ) async throws {
        let place = try await Place(server)
        _ = try await place.send("Once upon a time", as: 1, .dropAnswer)
        try await place.store.storage.transaction { connection in
            try connection.execute("UPDATE actions SET text = 'Eens was er' WHERE mirror = 'test'")
        }
        let actions = try await place.settled()
        await expect(place.sandbox.ledger.deliveries.count, equals: 1)
        #expect(actions.map(\.reason) == [.outbox(.unconfirmed)])
        expect(actions[0].explanation?.outcome) { $0?.contains("rewritten") == true }
    }

    /// Mastodon keeps keys: what was not found may be sent again whatever else there is.
    @Test func whereTheServerKeepsKeysTheKeyDecides() async throws {
        let place = try await Place(.mastodon)
        _ = try await place.send("Good morning", as: 1)
        _ = try await place.send("good morning!", as: 2, .dropRequest)
        _ = try await place.send("🌧🌧🌧", as: 3, .dropRequest)
        let actions = try await place.settled()
        #expect(actions.map(\.state) == [.done, .done, .done])
        await expect(place.sandbox.ledger.deliveries.count, equals: 3)
    }

    // MARK: Lists that hold less than there is

    /// The list of these servers lacks what is for few; what stands below the answered post does
    /// not.
    @Test(arguments: [MastodonHabits.takahe, .snac], [Visibility.unlisted, .private, .direct])
    func anAnswerThatTheListLacksIsFoundBelowWhatItAnswers(
        server: MastodonHabits, visibility: Visibility
    ) async throws {
        let place = try await Place(server)
        _ = try await place.answer(visibility, .dropAnswer)
        let actions = try await place.settled()
        let sent = await place.sandbox.ledger.deliveries
        #expect(sent.count == 1)
        #expect(actions.map(\.state) == [.done])
        #expect(actions.map(\.remoteID) == sent.map(\.identity))
        // Nor does it count as deleted.
        let address = try #require(actions.first?.remoteAddress)
        try await expect(place.network.lookUp(address)?.address, equals: address)
    }

    /// Absence there tells nothing, so that such an answer is never sent again; an unlisted one is.
    @Test(arguments: [MastodonHabits.takahe, .snac], [Visibility.unlisted, .private, .direct])
    func anAnswerThatTheListWouldLackIsNotSentAgain(server: MastodonHabits, visibility: Visibility)
        async throws
    {
        let place = try await Place(server)
        _ = try await place.answer(visibility, .dropRequest)
        let actions = try await place.settled()
        let isListed = visibility == .unlisted
        await expect(place.sandbox.ledger.deliveries.count, equals: isListed ? 1 : 0)
        #expect(actions.map(\.state) == [isListed ? .done : .failed])
        guard !isListed else { return }
        #expect(actions.map(\.reason) == [.outbox(.unconfirmed)])
        expect(actions[0].explanation?.outcome) { $0?.contains("leaves out") == true }
    }

    /// Where the list holds all, its word counts.
    @Test(arguments: [MastodonHabits.gotosocial, .friendica], [Visibility.private, .direct])
    func anAnswerThatTheListWouldHoldIsSentAgain(server: MastodonHabits, visibility: Visibility)
        async throws
    {
        let place = try await Place(server)
        _ = try await place.answer(visibility, .dropRequest)
        expect(try await place.settled().map(\.state), equals: [.done])
        await expect(place.sandbox.ledger.deliveries.count, equals: 1)
    }

    // MARK: What these servers tell of posts

    /// snac gives the people of a post without the account that asks.
    @Test func whoIsNamedInTheTextAloneIsNamed() async throws {
        let place = try await Place(.snac)
        let own = try await place.network.verifyAccount().id
        let speaker = try #require(place.sandbox.world.configuration.friends.first)
        _ = await place.sandbox.say([SandboxUtterance(speaker, "good morning")])
        let mention = try #require(try await place.network.page(.mentions, .newest).items.first)
        #expect(mention.post.mentions == [own])
    }

    /// WordPress lists by date and cuts by id, and imported posts have dates of long ago.
    @Test func aPostOfAnImportedBlogIsNotGone() async throws {
        var server = MastodonHabits.wordpress
        server.importedPhrase = "umbrella"
        let place = try await Place(server)
        for (number, text) in ["one", "two", "three", "four", "five", "six"].enumerated() {
            _ = try await place.send("\(text) words for a Monday", as: number + 1)
        }
        let imported = try await place.send("Never again without an umbrella", as: 7)
        let address = try #require(imported.remoteAddress)
        try await expect(place.network.lookUp(address)?.address, equals: address)
        try await expect(place.network.delete(address), equals: .removed)
        try await expect(place.network.lookUp(address)?.address, equals: nil)
    }

    /// WordPress refuses a hidden post with 401 and shows a public one; GoToSocial refuses every
    /// post so.
    @Test(
        arguments: [(.wordpress, false), (.gotosocial, nil), (.mastodon, true)]
            as [(MastodonHabits, Bool?)])
    func aRefusalIsComparedWithThatOfAPublicPost(server: MastodonHabits, isShown: Bool?)
        async throws
    {
        let place = try await Place(server)
        let post = try await place.send("good morning", as: 1)
        let address = try #require(post.remoteAddress)
        try await expect(place.network.isShownToAnybody(address), equals: isShown)
    }
}
