import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// Whether nothing but a mention by the account itself proves it, and no proof is answered.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ProofTests {
    /// A mirror on paper, whose human has answered two people before.
    private struct Ground {
        let paper: PaperMirror
        let parts: WorkerParts
        let passes: Passes
        let network: NetworkName
        let pal: Account
        let other: Account

        init(_ engine: Engine = .sqlite, on network: NetworkName = .mastodon) async throws {
            self.network = network
            let variables = ["REPLIES_PER_PERSON": "100", "X_ACKNOWLEDGE_POLICY": "yes"]
            paper = try await PaperMirror(
                engine, bot: network, human: network, variables: variables)
            pal = Self.account(network, "pal")
            other = Self.account(network, "other")
            parts = try await paper.parts()
            passes = Passes(parts: parts)
            try await paper.archive(
                [pal, other].flatMap { person in
                    (0..<5).map {
                        pastReply(
                            "to-\(person.id.value)-\($0)", to: person.id, "thank you number \($0)")
                    }
                })
            try await look()
        }

        private static func account(_ network: NetworkName, _ name: String) -> Account {
            switch network {
            case .mastodon:
                let id = "\(name)@home.example"
                return Account(id: AccountID(network: network, value: id), handle: id)
            case .x:
                let number = name == "pal" ? "4711000" : "4711001"
                return Account(
                    id: AccountID(network: network, value: number),
                    handle: "\(name.capitalized)Palmer")
            default:
                let did = "did:plc:\(name)\(String(repeating: "a", count: 24 - name.count))"
                return Account(
                    id: AccountID(network: network, value: did), handle: "\(name).home.example")
            }
        }

        var mirror: HumanMirror { paper.mirror }
        var proofs: ProofTable { mirror.proofs }

        func ask(_ typed: String, by visitor: String = "visitor", of table: ProofTable? = nil)
            async throws
        {
            let account = try ProvedAccount(typed, on: network, localHost: "bots.example")
            let digest = StableHash.digest(of: "nonce", visitor, typed, "\(paper.clock.now)")
            try await (table ?? proofs).ask(
                for: account, by: visitor, nonce: Array(digest.prefix(ProofTable.nonceSize)),
                now: paper.clock.now)
        }

        /// The words that a visitor is shown.
        func words(_ visitor: String = "visitor") async throws -> String {
            guard case .open(let words, _) = try await progress(visitor) else {
                throw TestSupportError("no words are shown")
            }
            return "\(words)"
        }

        func progress(_ visitor: String = "visitor") async throws -> ProofTable.Proof.Progress? {
            try await proofs.latest(of: visitor, now: paper.clock.now)?.progress
        }

        /// Has somebody mention the bot now, or at a time.
        @discardableResult
        func say(
            _ text: String, by author: Account, _ number: Int = 1, at date: Date? = nil,
            visibility: Visibility = .public
        ) -> String {
            let bot = AccountID(network: network, value: "bot")
            let name =
                switch network {
                case .mastodon: "https://home.example/users/\(author.handle)/statuses/\(number)"
                case .x: "\(900 + number)"
                default: "at://\(author.id.value)/app.bsky.feed.post/\(number)"
                }
            let post = Post(
                id: PostID(network: network, value: name), author: author.id, text: "@bot \(text)",
                createdAt: date ?? paper.clock.now, visibility: visibility, mentions: [bot],
                address: "at-\(name)")
            paper.bot.add(
                [ObservedPost(post: post, author: author, address: "at-\(name)")], to: .mentions)
            return name
        }

        /// One look at everything, and what follows from it.
        func look() async throws {
            for pass in passes.inOrder { _ = try await pass.run() }
            try await paper.wait(30)
            for pass in passes.inOrder { _ = try await pass.run() }
        }

        func decided(_ mention: String) async throws -> Action? {
            try await parts.store.action(.reply, subject: mention)
        }

        var replies: Int { paper.bot.with { $0.published.filter { $0.replyTo != nil }.count } }

        func rows() async throws -> Int {
            try await mirror.storage.query("SELECT COUNT(*) AS number FROM proofs").first?.int(
                "number") ?? 0
        }
    }

    // MARK: What proves

    @Test(arguments: NetworkName.allCases, Engine.allCases)
    func aMentionWithTheWordsProvesItsAccount(_ network: NetworkName, _ engine: Engine) async throws
    {
        let ground = try await Ground(engine, on: network)
        // What people type differs from what identifies an account, and so does its case.
        try await ground.ask("@\(ground.pal.handle.uppercased())")
        try await expect(ground.progress("another visitor"), equals: nil)
        let words = try await ground.words()
        try await ground.paper.wait(60)
        let visibility: Visibility = network == .mastodon ? .direct : .public
        let mention = ground.say(words, by: ground.pal, visibility: visibility)
        try await ground.look()
        try await expect(ground.progress(), equals: .proven(ground.pal.id))
        try await expect(ground.progress("another visitor"), equals: nil)
        let decided = try #require(try await ground.decided(mention))
        #expect(decided.state == .skipped)
        #expect(decided.reason == "proves-account")
        #expect(decided.reportedReason?.text.contains("whose account") == true)
        #expect(ground.replies == 0)
        // A mention of the same account that says something else is answered as ever.
        ground.say("good morning", by: ground.pal, 2)
        try await ground.look()
        #expect(ground.replies == 1)
    }

    @Test(arguments: NetworkName.allCases) func whoIsLeftAloneCanProveToo(_ network: NetworkName)
        async throws
    {
        let ground = try await Ground(on: network)
        let mirror = ground.mirror
        let pal = ground.pal
        ground.say("stop", by: pal)
        try await ground.look()
        try await expect(mirror.people.stance(of: pal.id), equals: .deny)
        try await ground.ask(pal.handle)
        let mention = ground.say(try await ground.words(), by: pal, 2)
        try await ground.look()
        try await expect(ground.progress(), equals: .proven(pal.id))
        try await expect(ground.decided(mention)?.reason, equals: "proves-account")
        let person = try #require(try await mirror.people.person(pal.id))
        #expect(person.stance == .deny)
        #expect(person.reason == "asked-to-stop")
        #expect(ground.replies == 0)
    }

    /// Of who was forgotten nothing is recorded but the proof that they ask for.
    @Test(arguments: NetworkName.allCases) func whoWasForgottenCanProveToo(_ network: NetworkName)
        async throws
    {
        let ground = try await Ground(on: network)
        let pal = ground.pal
        _ = try await ground.mirror.forget(pal.id, now: ground.paper.clock.now)
        try await ground.ask(pal.handle)
        let mention = ground.say(try await ground.words(), by: pal)
        try await ground.look()
        try await expect(ground.progress(), equals: .proven(pal.id))
        try await expect(ground.decided(mention), equals: nil)
        let report = try await PersonReport(
            on: pal.id, in: ground.mirror, zone: .gmt, now: ground.paper.clock.now)
        #expect(report.accounts.map(\.isForgotten) == [true])
        #expect(report.deeds.isEmpty)
        try await ground.paper.wait(ProofTable.proofLasts + 60)
        try await ground.passes.clean()
        let traces = try await TableContents(of: ground.mirror.storage).tables.values.flatMap(
            \.self
        ).filter {
            $0.lowercased().contains(pal.id.value)
                || $0.lowercased().contains(pal.handle.lowercased())
        }
        #expect(traces == [])
    }

    /// What was said in time counts when it is read late, as after a pause.
    @Test func aMentionThatIsReadLateProves() async throws {
        let ground = try await Ground()
        try await ground.ask(ground.pal.handle)
        let words = try await ground.words()
        let said = ground.paper.clock.now + 500
        try await ground.paper.wait(3_000)
        try await expect(ground.progress(), equals: .over)
        ground.say(words, by: ground.pal, at: said)
        try await ground.look()
        try await expect(ground.progress(), equals: .proven(ground.pal.id))
    }

    // MARK: What does not

    @Test(arguments: NetworkName.allCases) func aStrangerWithTheWordsProvesNothing(
        _ network: NetworkName
    ) async throws {
        let ground = try await Ground(on: network)
        try await ground.ask(ground.pal.handle)
        let words = try await ground.words()
        let mention = ground.say(words, by: ground.other)
        try await ground.look()
        try await expect(ground.words(), equals: words)
        // It is a mention as any other.
        try await expect(ground.decided(mention)?.reason, equals: nil)
        #expect(ground.replies == 1)
        // A post that repeats theirs is not theirs.
        let bot = AccountID(network: network, value: "bot")
        var post = Post(
            id: PostID(network: network, value: "repeated"), author: ground.other.id,
            text: "@bot \(words)",
            createdAt: ground.paper.clock.now, visibility: .public, mentions: [bot],
            address: "repeated")
        ground.paper.bot.add(
            [ObservedPost(post: post, author: ground.pal, address: "repeated")], to: .mentions)
        post.id = PostID(network: network, value: "again")
        post.author = ground.pal.id
        post.isRepost = true
        ground.paper.bot.add(
            [ObservedPost(post: post, author: ground.pal, address: "again")], to: .mentions)
        try await ground.look()
        try await expect(ground.words(), equals: words)
    }

    @Test func expiredWordsProveNothing() async throws {
        let ground = try await Ground()
        try await ground.ask(ground.pal.handle)
        let words = try await ground.words()
        try await ground.paper.wait(720)
        let mention = ground.say(words, by: ground.pal)
        try await ground.look()
        try await expect(ground.progress(), equals: .over)
        try await expect(ground.decided(mention)?.reason, equals: nil)
        #expect(ground.replies == 1)
        try await ground.paper.wait(ProofTable.proofLasts)
        try await expect(ground.progress(), equals: nil)
    }

    /// Words that were said before open nothing for somebody else, who may read them.
    @Test func wordsAreGoodOnceAndForOneVisitor() async throws {
        let ground = try await Ground()
        let pal = ground.pal
        try await ground.ask(pal.handle)
        let words = try await ground.words()
        ground.say(words, by: pal)
        try await ground.look()
        try await ground.ask(pal.handle, by: "thief")
        try await expect(ground.words("thief")) { $0 != words }
        let again = ground.say(words, by: pal, 2)
        try await ground.look()
        try await expect(ground.progress("thief")) { if case .open = $0 { true } else { false } }
        try await expect(ground.decided(again)?.reason, equals: nil)
        // Nor does the proof last for ever.
        try await ground.paper.wait(ProofTable.proofLasts + 60)
        try await expect(ground.progress(), equals: nil)
    }

    @Test func theProofIsStoredWithTheMentionOrNotAtAll() async throws {
        let ground = try await Ground()
        try await ground.ask(ground.pal.handle)
        let mention = ground.say(try await ground.words(), by: ground.pal)
        // Another worker takes the mirror.
        _ = try await ground.paper.takeLease()
        await #expect(throws: OutboxError.self) { try await ground.look() }
        try await expect(ground.progress()) { if case .open = $0 { true } else { false } }
        try await expect(ground.decided(mention), equals: nil)
        let passes = Passes(parts: try await ground.paper.parts())
        for pass in passes.inOrder { _ = try await pass.run() }
        try await expect(ground.progress(), equals: .proven(ground.pal.id))
        try await expect(ground.decided(mention)?.reason, equals: "proves-account")
    }

    @Test(arguments: Engine.allCases) func mirrorsDoNotShareProofs(_ engine: Engine) async throws {
        let ground = try await Ground(engine)
        let second = ProofTable(storage: ground.mirror.storage, mirror: "second")
        await #expect(throws: ChangeRefusal.self) {
            try await ground.ask(ground.pal.handle, of: second)
        }
        try await ground.mirror.storage.execute(
            "INSERT INTO mirrors (mirror, created_ms) VALUES ('second', 1)")
        try await ground.ask(ground.pal.handle)
        try await ground.ask(ground.pal.handle, of: second)
        let now = ground.paper.clock.now
        let other = try #require(try await second.latest(of: "visitor", now: now))
        guard case .open(let words, _) = other.progress else { throw TestSupportError("not open") }
        try await expect(ground.words()) { $0 != "\(words)" }
        ground.say("\(words)", by: ground.pal)
        try await ground.look()
        try await expect(ground.progress()) { if case .open = $0 { true } else { false } }
        try await expect(second.latest(of: "visitor", now: now)) { $0 == other }
        // Who cannot be told apart by what is stored.
        let visitors = try await ground.mirror.storage.query("SELECT DISTINCT visitor FROM proofs")
        #expect(visitors.count == 2)
    }

    /// A mirror that has moved away, or is being removed, takes no more.
    @Test func aMirrorThatIsGoneTakesNone() async throws {
        let ground = try await Ground()
        for change: SQL in ["move_state = 'left'", "move_state = NULL, pause_code = 'removing'"] {
            try await ground.mirror.storage.execute(
                "UPDATE mirrors SET \(change) WHERE mirror = 'test'")
            let refusal = try await #require(throws: ChangeRefusal.self) {
                try await ground.ask("pal@home.example")
            }
            #expect(refusal.code == .unknown)
        }
        try await expect(ground.rows(), equals: 0)
    }

    // MARK: Bounds

    @Test(arguments: Engine.allCases) func proofsAreBounded(_ engine: Engine) async throws {
        let ground = try await Ground(engine)
        // The same again is the same.
        for _ in 0..<10 { try await ground.ask("pal@home.example", by: "0") }
        try await expect(ground.rows(), equals: 1)
        for visitor in 1..<ProofTable.mostOfAccount {
            try await ground.ask("pal@home.example", by: "\(visitor)")
        }
        let full = try await #require(throws: ChangeRefusal.self) {
            try await ground.ask("PAL@Home.Example", by: "one more")
        }
        #expect(full.code == .full)
        // One visitor cannot use up those of all.
        let few = ProofTable.mostOfVisitor
        for number in 0..<few { try await ground.ask("p\(number)@home.example", by: "visitor") }
        await #expect(throws: ChangeRefusal.self) {
            try await ground.ask("other@home.example", by: "visitor")
        }
        // Other accounts are free until there are too many of them all.
        for number in few..<ProofTable.mostOfMirror - ProofTable.mostOfAccount {
            try await ground.ask("p\(number)@home.example", by: "visitor \(number)")
        }
        await #expect(throws: ChangeRefusal.self) {
            try await ground.ask("last@home.example", by: "9")
        }
        try await expect(ground.rows(), equals: ProofTable.mostOfMirror)
        try await ground.paper.wait(ProofTable.wordsLast + 1)
        try await ground.ask("pal@home.example", by: "5")
        try await expect(ground.rows(), equals: ProofTable.mostOfMirror + 1)
        // What is over is removed with the tidying of each hour, and where no worker runs with the
        // next question.
        try await ground.paper.wait(ProofTable.proofLasts)
        try await ground.ask("last@home.example", by: "9")
        try await expect(ground.rows(), equals: 2)
        try await ground.paper.wait(ProofTable.wordsLast + ProofTable.proofLasts + 1)
        try await ground.passes.clean()
        try await expect(ground.rows(), equals: 0)
    }

    @Test func provenOnesAreTidiedAfterAnHour() async throws {
        let ground = try await Ground()
        try await ground.ask(ground.pal.handle)
        ground.say(try await ground.words(), by: ground.pal)
        try await ground.look()
        try await ground.paper.wait(3_000)
        try await ground.passes.clean()
        try await expect(ground.progress(), equals: .proven(ground.pal.id))
        try await ground.paper.wait(700)
        try await ground.passes.clean()
        try await expect(ground.rows(), equals: 0)
    }

    @Test(arguments: NetworkName.allCases) func forgettingAPersonRemovesTheirProofs(
        _ network: NetworkName
    ) async throws {
        let ground = try await Ground(on: network)
        try await ground.ask(ground.pal.handle)
        ground.say(try await ground.words(), by: ground.pal)
        try await ground.look()
        try await ground.ask(ground.pal.handle, by: "second")
        try await ground.ask(ground.other.handle, by: "third")
        _ = try await ground.mirror.forget(ground.pal.id, now: ground.paper.clock.now)
        try await expect(ground.rows(), equals: 1)
        try await expect(ground.progress(), equals: nil)
        try await expect(ground.progress("third")) { if case .open = $0 { true } else { false } }
    }

    /// Who reads the database can neither say the words nor be the visitor.
    @Test func theDatabaseTellsNoSecret() async throws {
        let ground = try await Ground()
        try await ground.ask(ground.pal.handle, by: "a-secret-of-a-cookie")
        let words = try await ground.words("a-secret-of-a-cookie")
        let lines = try await TableContents(of: ground.mirror.storage).tables["proofs"] ?? []
        #expect(lines.count == 1)
        for secret in [words, "a-secret-of-a-cookie"] { #expect(!lines.joined().contains(secret)) }
        // The page can be loaded again, also by another process.
        let again = try await ProofTable(storage: ground.mirror.storage, mirror: "test")
            .latest(of: "a-secret-of-a-cookie", now: ground.paper.clock.now)
        guard case .open(let shown, _) = again?.progress else { throw TestSupportError("not open") }
        #expect("\(shown)" == words)
    }

    // MARK: What is typed

    @Test(
        arguments: [
            (NetworkName.mastodon, "@Ann@Social.Example", "ann@social.example"),
            (.mastodon, "ann", "ann@bots.example"),
            (.mastodon, "@ann", "ann@bots.example"),
            (.mastodon, "https://social.example/@Ann", "ann@social.example"),
            (.mastodon, "acct:ann@social.example", "ann@social.example"),
            (.mastodon, "ann@bücher.example", "ann@xn--bcher-kva.example"), (.x, "@Ann_B", "ann_b"),
            (.x, "x:12345678901234567", "12345678901234567"),
            (.bluesky, "@Ann.Bsky.Social", "ann.bsky.social"),
            (.bluesky, "did:plc:abcdefghijklmnopqrstuvwx", "did:plc:abcdefghijklmnopqrstuvwx"),
        ])
    func accountsAreReadAsPeopleTypeThem(_ network: NetworkName, _ text: String, _ name: String)
        throws
    {
        try expect(ProvedAccount(text, on: network, localHost: "bots.example").name, equals: name)
    }

    @Test(
        arguments: [
            "", "@", "*@social.example", "a b@c.example", "ann@", "@@ann@c.example", "x:12345",
            "did:plc:abc",
            "ann@so cial.example", "'; DROP TABLE proofs; --@a.example", "<script>@a.example",
            "a\u{0}b@c.example",
            "ann\u{202E}@c.example", "%@a.example",
            String(repeating: "a", count: 5_000) + "@a.example",
            "ann@a..example",
        ])
    func hostileAccountsAreRefused(_ text: String) {
        #expect(throws: ChangeRefusal.self) {
            try ProvedAccount(text, on: .mastodon, localHost: "bots.example")
        }
        for network in [NetworkName.x, .bluesky] where !["x:12345", "did:plc:abc"].contains(text) {
            #expect(throws: ChangeRefusal.self) {
                try ProvedAccount(text, on: network, localHost: nil)
            }
        }
    }
}
