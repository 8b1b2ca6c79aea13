import Expectations
import Foundation
import Networks
import Posts
import Sandbox
import Testing

/// What is written arrives once, where it should, and can be found again.
@Suite struct WritingTests {
    @Test(arguments: Terrain.all(changing: .publishing)) func aPostIsPublishedAndFoundAgain(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        let start = ground.clock.now
        let text = "A mirrored post & more: https://elsewhere.example/notes/7 #walking"
        let published = try await ground.bot.publish(ground.draft(text))
        ground.clock.advance(minutes: 2)
        let own = try await ground.bot.ownPosts(since: start)
        let found = try #require(own.first { $0.post.id == published.id })
        #expect(found.post.text == text)
        #expect(found.address == published.address)
        #expect(found.replyToAddress == nil)
        try await expect(ground.bot.lookUp(published.address)?.post.id, equals: published.id)
        let deliveries = await ground.sandbox.ledger.deliveries
        #expect(deliveries.map(\.text) == [text])
        #expect(deliveries.flatMap(\.mentioned).isEmpty)
    }

    /// Where a post that is answered or given a favorite can be found at all.
    private static func findable(changing aspect: Terrain.Aspect) -> [Terrain] {
        Terrain.all(changing: aspect).filter { !$0.hidesPosts || $0.habit == "back-dated records" }
    }

    @Test(arguments: findable(changing: .answering)) func aReplyReachesThePersonAlone(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let mention = try await firstMention(on: ground)
        let published = try await ground.bot.publish(
            ground.draft(ground.answer("Thank you!", to: mention), replyTo: mention))
        let ledger = await ground.sandbox.ledger
        let delivery = try #require(ledger.deliveries.first)
        #expect(delivery.isHeard)
        #expect(delivery.mentioned.count == 1)
        #expect(ledger.summary.unsolicited == 0)
        #expect(ledger.widenedReplies.isEmpty)
        ground.clock.advance(minutes: 2)
        let own = try await ground.bot.ownPosts(since: ground.clock.now.addingTimeInterval(-600))
        let found = try #require(own.first { $0.post.id == published.id })
        #expect(found.replyToAddress == mention.address)
        #expect(found.post.replyTo?.author == mention.author.id)
    }

    @Test(arguments: Terrain.all(changing: .keys)) func aSecondAttemptChangesNothingWhereKeysCount(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.limits()
        guard ground.bot.capabilities.supportsIdempotencyKey,
            terrain.habit != "a repeated key fails"
        else { return }
        #expect(!terrain.forgetsKeys, "no server is believed that publishes again")
        let draft = ground.draft("Once is enough.")
        let first = try await ground.bot.publish(draft)
        ground.clock.advance(minutes: 3)
        let second = try await ground.bot.publish(draft)
        #expect(first.id == second.id)
        await expect(ground.sandbox.ledger.deliveries.count, equals: 1)
    }

    /// What is left of a text is enough to tell it from others.
    @Test(arguments: Terrain.all(changing: .publishing))
    func theWordsOfATextComeBackWhateverBecomesOfItsSigns(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let start = ground.clock.now
        let text = "*Never* say `never` :-)\n> at https://elsewhere.example/notes/7 no. _42_"
        let published = try await ground.bot.publish(ground.draft(text))
        ground.clock.advance(minutes: 2)
        let own = try await ground.bot.ownPosts(since: start)
        let found = try #require(own.first { $0.post.id == published.id })
        #expect((found.post.text == text) == !terrain.rewritesTexts)
        let words = found.post.text.split { !$0.isLetter && !$0.isNumber }
        #expect(words == text.split { !$0.isLetter && !$0.isNumber })
    }

    @Test(arguments: Terrain.all(changing: .losses)) func aLostAnswerIsUnknownAndThePostIsFound(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        // What comes before a first post, such as logging in, is not what is cut here.
        _ = try await ground.bot.verifyAccount()
        let start = ground.clock.now
        ground.sandbox.faults.failNext(.dropAnswer, method: "POST", path: ground.publishPath)
        let error = try await failure {
            _ = try await ground.bot.publish(ground.draft("Did it arrive?"))
        }
        #expect(error.outcome == .unknown)
        #expect(!error.isPermanent)
        ground.clock.advance(minutes: 2)
        let own = try await ground.bot.ownPosts(since: start)
        #expect(own.map(\.post.text) == ["Did it arrive?"])
    }

    @Test(arguments: Terrain.all(changing: .losses)) func aLostRequestIsUnknownAndThePostIsNotFound(
        terrain: Terrain
    )
        async throws
    {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.verifyAccount()
        let start = ground.clock.now
        ground.sandbox.faults.failNext(.dropRequest, method: "POST", path: ground.publishPath)
        let error = try await failure {
            _ = try await ground.bot.publish(ground.draft("Did it arrive?"))
        }
        #expect(error.outcome == .unknown)
        ground.clock.advance(minutes: 2)
        try await expect(ground.bot.ownPosts(since: start)) { $0.isEmpty }
        await expect(ground.sandbox.ledger.deliveries) { $0.isEmpty }
    }

    @Test(arguments: findable(changing: .favorites)) func aFavoriteIsGivenOnceOrNotAtAll(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let mention = try await firstMention(on: ground)
        let favorite = FavoriteDraft(
            address: mention.address, key: "favorite-1", createdAt: ground.clock.now)
        guard ground.bot.capabilities.canFavorite else {
            let error = try await failure { try await ground.bot.favorite(favorite) }
            #expect(error.code == .capability)
            #expect(error.outcome == .notSent)
            await expect(ground.sandbox.ledger.favorites) { $0.isEmpty }
            return
        }
        try await expect(ground.bot.isFavorited(mention.address), equals: false)
        try await ground.bot.favorite(favorite)
        ground.clock.advance(minutes: 1)
        try await expect(ground.bot.isFavorited(mention.address), equals: true)
        try await ground.bot.favorite(favorite)
        await expect(ground.sandbox.ledger.favorites.count, equals: 1)
    }

    @Test(arguments: findable(changing: .favorites)) func aFavoriteIsTakenBackOnce(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        let mention = try await firstMention(on: ground)
        let favorite = FavoriteDraft(
            address: mention.address, key: "favorite-1", createdAt: ground.clock.now)
        guard ground.bot.capabilities.canFavorite else {
            // Nothing was given there, and the network does not let software ask.
            await #expect(throws: NetworkError.self) { try await ground.bot.unfavorite(favorite) }
            return
        }
        try await ground.bot.favorite(favorite)
        ground.clock.advance(minutes: 1)
        try await expect(ground.bot.unfavorite(favorite), equals: .removed)
        ground.clock.advance(minutes: 1)
        try await expect(ground.bot.isFavorited(mention.address), equals: false)
        _ = try await ground.bot.unfavorite(favorite)
        let removals = await ground.sandbox.ledger.removals
        #expect(removals.map(\.kind) == [.favorite])
    }

    @Test(arguments: Terrain.documented) func anotherTextTakesThePlaceOfTheFirst(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        _ = try await ground.bot.limits()
        let published = try await ground.bot.publish(ground.draft("A misteak.", key: "first"))
        let draft = ground.draft("A mistake.", key: "second")
        guard ground.bot.capabilities.canEdit else {
            let error = try await failure { try await ground.bot.edit(published.address, draft) }
            #expect(error.code == .capability)
            #expect(error.outcome == .notSent)
            return
        }
        for _ in 1...2 { try await ground.bot.edit(published.address, draft) }
        ground.clock.advance(minutes: 1)
        let own = try await ground.bot.ownPosts(since: Ground.origin)
        #expect(own.map(\.post.text) == ["A mistake."])
        #expect(own.map(\.post.visibility) == [draft.visibility])
        await expect(ground.sandbox.ledger.edits.map(\.text), equals: ["A mistake.", "A mistake."])
        try await ground.bot.delete(published.address)
        let error = try await failure { try await ground.bot.edit(published.address, draft) }
        #expect(error.code == .notFound)
        #expect(error.isPermanent)
    }

    @Test(arguments: Terrain.all(changing: .removal)) func whatIsDeletedIsGone(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        let published = try await ground.bot.publish(ground.draft("Gone tomorrow."))
        ground.clock.advance(minutes: 1)
        try await expect(ground.bot.delete(published.address), equals: .removed)
        // GoToSocial deletes some milliseconds after its answer.
        ground.clock.advance(minutes: 1)
        let second: Removal = terrain.repeatsDeletions ? .removed : .gone
        try await expect(ground.bot.delete(published.address), equals: second)
        await expect(ground.sandbox.ledger.removals.map(\.kind), equals: [.post])
        if terrain.namesNoErrors {
            // A refusal without a name may mean anything; nothing is taken for gone because of it.
            let error = try await failure { _ = try await ground.bot.lookUp(published.address) }
            #expect(error.code == .rejected)
        } else {
            // Whatever the refusal looks like: the server knows the account.
            try await expect(ground.bot.lookUp(published.address), equals: nil)
        }
        try await expect(ground.bot.ownPosts(since: Ground.origin)) { $0.isEmpty }
    }

    @Test(arguments: Terrain.documented) func theLongestTextPassesAndALongerOneIsRefused(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let limit = try await ground.bot.limits().maximumCharacters
        _ = try await ground.bot.publish(
            ground.draft(String(repeating: "a", count: limit), key: "longest"))
        let error = try await failure {
            _ = try await ground.bot.publish(
                ground.draft(String(repeating: "b", count: limit + 1), key: "longer"))
        }
        #expect(error.isPermanent)
        #expect(error.outcome != .unknown)
        await expect(ground.sandbox.ledger.deliveries.count, equals: 1)
    }

    @Test(arguments: Terrain.all(changing: .money).filter { $0.network == .x })
    func theBookCountsNoLessThanXBills(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        _ = try await ground.human.verifyAccount()
        _ = try await ground.everything(.ownPosts, of: ground.human)
        _ = try await firstMention(on: ground)
        _ = try await ground.bot.publish(ground.draft("This costs something."))
        let spent = ground.books.values.reduce(0) { $0 + $1.spent.microdollars }
        let billed = await ground.sandbox.ledger.spentMicrodollars
        #expect(spent >= billed)
        #expect(billed > 0)
        // Both accounts belong to one app, which pays once a day for what both read; so a little
        // more is counted.
        #expect(spent <= billed + billed / 5 + 50_000)
    }

    /// The first mention that may be answered, half a day into the run.
    private func firstMention(on ground: Ground) async throws -> ObservedPost {
        ground.clock.advance(minutes: 14 * 60)
        let friends = ground.sandbox.world.population.indices(of: .friend)
            .map {
                SandboxIdentity.account(
                    ground.sandbox.world.population.people[$0].handle, on: ground.network)
            }
        let mentions = try await ground.everything(.mentions, of: ground.bot).items
        return try #require(
            mentions.last {
                friends.contains($0.author.id) && $0.post.createdAt > Ground.origin
                    && !$0.post.isRepost
            })
    }
}

/// The error that a call ends with.
func failure(_ call: () async throws -> Void) async throws -> NetworkError {
    do {
        try await call()
    } catch let error as NetworkError {
        return error
    }
    throw NoFailure()
}

/// A call succeeded that should have failed.
struct NoFailure: Error {}
