import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// Whether of who wants to be left alone nothing is kept on any network, also where a person's name
/// is not what the network calls them for good.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct LeavingAloneTests {
    /// Where a mirror keeps what it knows.
    enum Store: String, CaseIterable, Sendable {
        case sqlite, postgres, redis
    }

    /// Who wants to be left alone.
    private struct Pal {
        let id: AccountID
        let handle: String

        init(on network: NetworkName) {
            let value =
                switch network {
                case .mastodon: "pal@home.example"
                case .x: "4711000"
                default: "did:plc:palpalpalpalpalpalpalpal"
                }
            id = AccountID(network: network, value: value)
            handle =
                switch network {
                case .mastodon: value
                case .x: "PalPalmer"
                default: "pal.home.example"
                }
        }

        var network: NetworkName { id.network }

        /// What the network calls a post of theirs.
        func name(_ number: Int) -> String {
            switch network {
            case .mastodon: "https://home.example/users/pal/statuses/\(number)"
            case .x: "\(number)"
            default: "at://\(id.value)/app.bsky.feed.post/\(number)"
            }
        }
    }

    /// In every text by, to and of them, and nowhere else.
    private static let word = "quillwort"

    /// A mirror on paper, with whatever holds its counts.
    private struct Ground {
        let paper: PaperMirror
        let redis: RedisServer?
        let pal: Pal
        let parts: WorkerParts
        let passes: Passes

        init(_ store: Store = .sqlite, on network: NetworkName) async throws {
            redis = store == .redis ? try await RedisServer.start() : nil
            var variables = ["REPLIES_PER_PERSON": "100", "REPLIES_PER_THREAD": "100"]
            if let redis { variables["REDIS_URL"] = redis.url }
            paper = try await PaperMirror(
                store == .postgres ? .postgres : .sqlite, bot: network, human: network,
                variables: variables)
            pal = Pal(on: network)
            parts = try await paper.parts()
            passes = Passes(parts: parts)
            // What comes from now on is new.
            try await look()
        }

        var mirror: HumanMirror { paper.mirror }
        var network: NetworkName { pal.network }

        func account(_ name: String) -> AccountID { AccountID(network: network, value: name) }

        /// What a server calls a post: on Mastodon a number of its own.
        func address(of name: String) -> String {
            network == .mastodon ? String(name.split(separator: "/").last ?? "") : name
        }

        /// A post as a network shows it, by somebody or by them.
        func post(
            _ name: String, by author: String? = nil, called handle: String? = nil, _ text: String,
            bio: String = "",
            mentions: [AccountID] = [], conversation: String? = nil, replyTo: String? = nil
        ) -> ObservedPost {
            let id = author.map(account) ?? pal.id
            let address = address(of: name)
            var post = ObservedPost(
                post: Post(
                    id: PostID(network: network, value: name), author: id, text: text,
                    createdAt: paper.clock.now,
                    visibility: .public, mentions: mentions, address: address),
                author: Account(id: id, handle: handle ?? author ?? pal.handle, bio: bio),
                address: address,
                replyToAddress: replyTo)
            post.conversation = conversation
            return post
        }

        /// One look at everything, and what follows from it.
        func look() async throws {
            for pass in passes.inOrder { _ = try await pass.run() }
            try await paper.wait(30)
        }

        /// The rows and counts that hold one of these texts, whatever its case.
        func traces(of texts: [String]) async throws -> [String] {
            var lines = try await TableContents(of: mirror.storage).tables.flatMap { table, rows in
                rows.map { "\(table): \($0)" }
            }
            for key in try await redis?.run("--raw", "KEYS", "*").split(separator: "\n") ?? [] {
                lines.append("redis: \(key) \(try await redis?.run("HGETALL", String(key)) ?? "")")
            }
            return lines.filter { line in
                texts.contains { line.lowercased().contains($0.lowercased()) }
            }
        }

        /// Whatever tells of them.
        func traces() async throws -> [String] {
            try await traces(of: [pal.id.value, pal.handle, LeavingAloneTests.word, "/users/pal/"])
        }

        /// They, and others about them, on every feed.
        func live(_ round: Int) async throws {
            let first = 1_000 * round
            let word = LeavingAloneTests.word
            let human = paper.human
            human?.add(
                (0..<3).map { post(pal.name(first + $0), "fresh \(word) bread \($0)") }, to: .home)
            human?.add(
                (0..<3).map { post("ann-\(first)-\($0)", by: "ann", "fresh bread \($0)") },
                to: .home)
            human?.add(
                (3..<5).map { post(pal.name(first + $0), "old \(word) bread \($0)") },
                to: .favorites)
            paper.bot.add(
                [post(pal.name(first + 10), "green tea in the garden with \(word)")], to: .home)
            let bot = account("bot")
            paper.bot.add(
                [
                    post(pal.name(first + 20), "hello there, \(word)", mentions: [bot]),
                    post(
                        "ann-\(first)-m", by: "ann", "look at this", mentions: [bot, pal.id],
                        conversation: pal.name(first + 21)),
                    post(
                        "zed-\(first)-m", by: "zed", "who is this", mentions: [bot, pal.id],
                        conversation: pal.name(first + 22)),
                    // The thread of this one cannot be had now.
                    post(
                        pal.name(first + 23), "and \(word)?", mentions: [bot], replyTo: "elsewhere"),
                    // Nor can this one be read.
                    post(pal.name(first + 24), "\(word)!", mentions: [bot]),
                ], to: .mentions)
            paper.bot.with { state in
                state.threads[address(of: pal.name(first + 23))] = .unavailable
                state.unreadable.insert(address(of: pal.name(first + 24)))
            }
            try await look()
            try await look()
        }

        /// What the human said to them and of them, and to somebody else.
        func remember() async throws {
            let word = LeavingAloneTests.word
            let human = account("human")
            func own(
                _ name: String, _ text: String, to person: AccountID?, _ mentions: [AccountID] = []
            ) -> Post {
                Post(
                    id: PostID(network: network, value: name), author: human, text: text,
                    createdAt: PaperMirror.now - 200 * 86_400,
                    replyTo: person.map { ReplyTarget(author: $0) },
                    visibility: .public, mentions: mentions)
            }
            var posts = [
                own("of-pal", "at the lake with @\(pal.handle) and \(word)", to: nil, [pal.id]),
                own(
                    "both", "@ann so says @\(pal.handle) of \(word)", to: account("ann"),
                    [account("ann"), pal.id]),
            ]
            posts += (0..<5).map { number in
                own(
                    "to-pal-\(number)", "@\(pal.handle) thank you, \(word) \(number)", to: pal.id,
                    [pal.id])
            }
            posts += (0..<5).map {
                own("to-ann-\($0)", "@ann thank you number \($0)", to: account("ann"))
            }
            posts += (0..<40).map {
                own("own-\($0)", "a text of my own, the one with number \($0)", to: nil)
            }
            try await paper.archive(posts)
        }
    }

    // MARK: What was learned

    @Test(arguments: NetworkName.allCases, Store.allCases)
    func whatWasLearnedIsFoundWhateverTheirName(_ network: NetworkName, _ store: Store) async throws
    {
        let ground = try await Ground(store, on: network)
        let mirror = ground.mirror
        let pal = ground.pal
        let human = ground.paper.human
        let renamed = network == .mastodon ? pal.handle : "elsewhere.example"
        human?.add(
            [
                ground.post(pal.name(1), "fresh bread"),
                ground.post(pal.name(2), called: renamed, "more bread"),
                ground.post("ann-1", by: "ann", "fresh bread"),
            ], to: .home)
        human?.add([ground.post(pal.name(3), called: renamed, "best bread")], to: .favorites)
        try await ground.look()
        let report = try await PersonReport(
            on: pal.id, in: mirror, zone: .gmt, now: ground.paper.clock.now)
        #expect(report.learned.map(\.text).sorted() == ["best bread", "fresh bread", "more bread"])
        try await expect(mirror.forgetLearning(of: pal.id, now: ground.paper.clock.now), equals: 3)
        let status = try await mirror.favorites().status()
        #expect(status.counts == .current)
        #expect(status.seen == 1)
        #expect(status.favorites == 0)
        try await expect(ground.traces(of: [pal.id.value, pal.handle, renamed]), equals: [])
    }

    /// How somebody says so, or somebody for them.
    enum Way: String, CaseIterable, Sendable {
        case stop, noBot, deny, link, forget
    }

    @Test(arguments: NetworkName.allCases, Way.allCases)
    func nothingIsKeptOfWhatWasLearned(_ network: NetworkName, _ way: Way) async throws {
        let ground = try await Ground(on: network)
        let mirror = ground.mirror
        let pal = ground.pal
        let human = ground.paper.human
        human?.add(
            [ground.post(pal.name(1), "fresh bread"), ground.post("ann-1", by: "ann", "bread")],
            to: .home)
        try await ground.look()
        try await expect(mirror.favorites().status().seen, equals: 2)
        let elsewhere = AccountID(
            network: network == .x ? .mastodon : .x, value: "pal@other.example")
        switch way {
        case .stop:
            ground.paper.bot.add(
                [ground.post(pal.name(2), "stop", mentions: [ground.account("bot")])], to: .mentions
            )
            try await ground.look()
        case .noBot:
            human?.add([ground.post(pal.name(2), "more bread", bio: "baker, #nobot")], to: .home)
            try await ground.look()
        case .deny:
            try await mirror.people.set(.deny, for: pal.id, at: ground.paper.clock.now)
            // Whatever had been on its way then, the next post of theirs tells of it.
            human?.add([ground.post(pal.name(2), "more bread")], to: .home)
            try await ground.look()
        case .link:
            try await mirror.people.link(elsewhere, pal.id)
            try await expect(
                mirror.forgetLearning(of: elsewhere, now: ground.paper.clock.now), equals: 1)
        case .forget:
            try await expect(
                mirror.forget(pal.id, now: ground.paper.clock.now).unlearned, equals: 1)
        }
        let status = try await mirror.favorites().status()
        #expect(status.counts == .current)
        #expect(status.seen == 1)
    }

    /// Those of whom nothing but a name is known, from before an update or from a file.
    @Test func namesAreEnoughWhereThereIsNothingElse() async throws {
        let ground = try await Ground(on: .x)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        func example(_ number: Int, by name: String, _ id: AccountID? = nil) -> FavoriteEvent {
            .seen(
                Example(
                    id: PostID(network: .x, value: "\(number)"), author: name, authorID: id,
                    text: "bread"))
        }
        _ = try await mirror.favorites().learn(
            [
                example(1, by: pal.handle), example(2, by: "former"),
                example(3, by: pal.handle, ground.account("9")),
                example(4, by: pal.id.value), example(5, by: "ann"),
            ], at: now)
        try await mirror.people.recordContact(pal.id, handle: pal.handle, at: now)
        // One that another account has now is not theirs.
        try await expect(mirror.forgetLearning(of: pal.id, now: now), equals: 2)
        _ = try await mirror.favorites().learn([example(6, by: "Former", pal.id)], at: now)
        try await expect(mirror.forgetLearning(of: pal.id, now: now), equals: 2)
        try await expect(mirror.favorites().status().seen, equals: 2)
    }

    /// A file names a post by its address, or its author by a name that is known.
    @Test func aFileOfLabelledPostsTellsWhoseTheyAre() async throws {
        let ground = try await Ground(on: .bluesky)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        let lines = [
            #"{"id":"\#(pal.name(1))","author":"\#(pal.handle)","text":"fresh bread","favorite":true}"#,
            #"{"id":"one","author":"\#(pal.handle)","text":"more bread","favorite":false}"#,
            #"{"id":"two","author":"ann","text":"no bread","favorite":false}"#,
        ]
        let folder = try TemporaryDirectory()
        let path = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "likes.jsonl")
        func train() async throws -> Int {
            let trainer = ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) {
                _ in
            }
            return try await trainer.train(fromArchive: path, localHost: nil, limit: nil).learned
        }
        try await expect(train(), equals: 3)
        try await mirror.people.set(.deny, for: pal.id, handle: pal.handle, at: now)
        try await expect(mirror.forgetLearning(of: pal.id, now: now), equals: 2)
        try await expect(train(), equals: 0)
    }

    // MARK: Everything

    @Test(arguments: NetworkName.allCases, Store.allCases)
    func ofAForgottenPersonNothingIsLeftAnywhere(_ network: NetworkName, _ store: Store)
        async throws
    {
        let ground = try await Ground(store, on: network)
        let mirror = ground.mirror
        let pal = ground.pal
        let paper = ground.paper
        try await paper.teachTea(on: network)
        try await ground.remember()
        try await mirror.people.set(.allow, for: pal.id, handle: pal.handle, at: paper.clock.now)
        // Somebody who left a group that is called after them.
        let elsewhere = AccountID(network: network == .x ? .mastodon : .x, value: "quillworter")
        try await mirror.people.link(pal.id, ground.account("cat"))
        try await mirror.people.link(pal.id, ground.account("dog"))
        try await mirror.people.unlink(pal.id)
        try await mirror.people.link(elsewhere, pal.id)
        try await ground.live(1)
        // A post that names them waits, and one is out.
        let text = try #require(
            try await mirror.archive.post(PostID(network: network, value: "of-pal")))
        for (number, state) in [(1, ActionState.planned), (2, .done)] {
            let wording = Action.Wording(source: text.id, text: text.text, visibility: .unlisted)
            let slot = Slot.Name(day: LocalDay("2027-01-0\(number)") ?? .latest, number: 1)
            _ = try await mirror.outbox(lease: nil).propose(
                Intent(
                    .post(slot, wording), state: state, due: paper.clock.now + 86_400,
                    expires: .distantFuture),
                now: paper.clock.now)
        }
        let replies = try await paper.actions(.reply)
        expect(replies) {
            $0.contains { $0.target?.author == pal.id && $0.state == .done && $0.text != nil }
        }
        expect(replies) {
            $0.contains { $0.target?.author == ground.account("ann") && $0.state == .done }
        }
        expect(replies) {
            $0.contains { $0.target?.author == ground.account("zed") && $0.state == .skipped }
        }
        let favorite = try #require(
            try await paper.actions(.favorite).first { $0.target?.author == pal.id })
        #expect(favorite.state == (network == .mastodon ? .done : .suggested))
        let planted = Set(try await ground.traces().map { $0.prefix { $0 != ":" } })
        let kept: Set<Substring> = ["actions", "examples", "feed_items", "people", "posts"]
        #expect(
            planted.isSuperset(of: network == .bluesky ? kept : kept.subtracting(["feed_items"])),
            "\(planted)")
        #expect(planted.contains(store == .redis ? "redis" : "feature_counts"), "\(planted)")

        let gone = try await mirror.forget(elsewhere, now: paper.clock.now)
        #expect(gone.unlearned == 5)
        #expect(gone.posts == 7)
        #expect(gone.underWay == 0)
        try await expect(ground.traces(), equals: [])
        try await expect(mirror.favorites().status()) { $0.counts == .current }
        let subjects = Set(replies.map(\.subject))
        try await expect(
            mirror.outbox(lease: nil).known(.reply, among: Array(subjects)), equals: subjects)
        try await expect(
            mirror.outbox(lease: nil).known(.favorite, among: [favorite.subject]),
            equals: [favorite.subject])
        // What is left can be read.
        try await expect(paper.actions(.reply).count, equals: replies.count)
        try await expect(mirror.people.linked(to: ground.account("cat")).count, equals: 2)

        // They go on as before.
        let published = paper.bot.with { $0.published.count }
        try await ground.live(2)
        try await expect(ground.traces(), equals: [])
        #expect(paper.bot.with { $0.published.count } == published + 1)
    }

    // MARK: What has to end before

    /// A favorite that was given, with what the network knows of it.
    private func favorited(_ ground: Ground, _ number: Int) async throws -> Action {
        try await ground.mirror.outbox(lease: nil).confirm(
            try await beginFavorite(ground, number), remoteID: nil, remoteAddress: nil,
            now: ground.paper.clock.now)
    }

    /// A favorite that was given, and whose answer is not stored.
    private func beginFavorite(_ ground: Ground, _ number: Int) async throws -> Departed {
        let store = ground.mirror.outbox(lease: nil)
        let now = ground.paper.clock.now
        let pal = ground.pal
        let address = ground.address(of: pal.name(number))
        let target = Action.Target(post: pal.name(number), author: pal.id, address: address)
        let intent = Intent(.favorite(target), due: now, expires: now + 900)
        let claimed = try await store.claim(
            try await store.propose(intent, now: now).action, now: now)
        let sending = try await store.beginSending(
            claimed, lookUp: now + 60, deadline: .seconds(30), now: now)
        ground.paper.bot.with {
            $0.favorited.append(FavoriteDraft(address: address, key: sending.key, createdAt: now))
        }
        return sending
    }

    @Test(arguments: Store.allCases) func aSecondRequestFindsAllAccountsOfTheFirst(_ store: Store)
        async throws
    {
        let ground = try await Ground(store, on: .bluesky)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        let elsewhere = AccountID(network: .x, value: "quillworter")
        try await mirror.people.link(elsewhere, pal.id)
        let sending = try await beginFavorite(ground, 1)
        let first = try await mirror.forget(elsewhere, now: now)
        #expect(first.underWay == 1)
        #expect(first.accounts.count == 2)
        let second = try await mirror.forget(elsewhere, now: now)
        #expect(second.underWay == 1)
        #expect(second.accounts == first.accounts)
        _ = try await mirror.outbox(lease: nil).confirm(
            sending, remoteID: nil, remoteAddress: nil, now: now)
        // The worker ends what was begun.
        try await ground.passes.clean()
        try await expect(ground.traces(), equals: [])
        try await expect(mirror.people.beingForgotten(), equals: [])
        for account in [elsewhere, pal.id] {
            try await expect(mirror.people.stance(of: account), equals: .deny)
        }
        try await expect(
            mirror.outbox(lease: nil).known(.favorite, among: [pal.name(1)]), equals: [pal.name(1)])
    }

    /// Whoever was killed had just noted that they are to be forgotten.
    @Test func whatWasInterruptedGoesOn() async throws {
        let ground = try await Ground(on: .x)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        let elsewhere = AccountID(network: .bluesky, value: "did:plc:quillworter")
        try await mirror.people.link(pal.id, elsewhere)
        ground.paper.human?.add([ground.post(pal.name(1), "fresh bread")], to: .home)
        try await ground.look()
        _ = try await favorited(ground, 1)
        for account in [pal.id, elsewhere] {
            try await mirror.people.set(
                .deny, for: account, reason: People.forgottenReason, at: now)
        }
        try await ground.passes.clean()
        try await expect(ground.traces(), equals: [])
        try await expect(mirror.people.forgotten(among: [pal.id, elsewhere]).count, equals: 2)
    }

    @Test(arguments: NetworkName.allCases)
    func whatIsToBeTakenBackIsForgottenAfterwards(_ network: NetworkName) async throws {
        let ground = try await Ground(on: network)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        let store = mirror.outbox(lease: nil)
        let favorite = try await favorited(ground, 1)
        let reply = Action.Reply(
            to: Action.Target(
                post: pal.name(2), author: pal.id, address: ground.address(of: pal.name(2))),
            thread: pal.name(2),
            wording: Action.Wording(
                source: PostID(network: network, value: "own"), text: "thank you, \(Self.word)",
                visibility: .unlisted))
        let claimed = try await store.claim(
            try await store.propose(Intent(.reply(reply), due: now, expires: now + 900), now: now)
                .action, now: now)
        let sending = try await store.beginSending(
            claimed, lookUp: now + 60, deadline: .seconds(30), now: now)
        let answer = try await store.confirm(
            sending, remoteID: "r", remoteAddress: "answer", now: now)
        for action in [favorite, answer] {
            try await expect(store.askUndo(action.id, now: now), equals: .asked)
        }
        let gone = try await mirror.forget(pal.id, now: now)
        // Of an answer everything may go but what it is called.
        #expect(gone.underWay == 1)
        #expect(gone.ended == 1)
        try await ground.look()
        #expect(ground.paper.bot.with { $0.favorited.isEmpty && $0.deleted == ["answer"] })
        try await ground.passes.clean()
        try await expect(ground.traces(), equals: [])
    }

    @Test func whoIsAllowedAgainIsNotForgottenOnceMore() async throws {
        let ground = try await Ground(on: .bluesky)
        let mirror = ground.mirror
        let pal = ground.pal
        let now = ground.paper.clock.now
        _ = try await beginFavorite(ground, 1)
        try await expect(mirror.forget(pal.id, now: now).underWay, equals: 1)
        #expect(try await mirror.people.readmit(pal.id))
        try await mirror.people.set(.allow, for: pal.id, at: now)
        try await ground.passes.clean()
        try await expect(mirror.people.stance(of: pal.id), equals: .allow)
        try await expect(mirror.people.forgotten(among: [pal.id])) { $0.isEmpty }
    }
}
