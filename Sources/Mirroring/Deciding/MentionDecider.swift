package import Archive
import Conduct
package import Foundation
package import Networks
package import Outbox
package import Posts
import Schedule
import ServiceLifecycle
import Storage

/// Decides what becomes of mentions: an old reply to the same person, or silence.
///
/// Every mention ends as one row of `actions`, so none is answered twice and
/// each silence has its reason. Each is decided for itself, the cheapest rule
/// first: what the mention says, then what the tables know, and only for one
/// that would be answered what the network knows of its thread.
package struct MentionDecider: Sendable {
    /// How far back the replies of a conversation are counted, in seconds.
    private static let threadMemory: TimeInterval = 30 * 86_400
    /// How often the thread of a mention is asked for before the mention counts as its own thread.
    private static let threadTries = 3

    let archive: Archive
    let people: People
    let store: OutboxStore
    let network: any SocialNetwork
    let configuration: MirrorConfiguration
    let zone: TimeZone
    let bot: AccountID
    /// Nothing older is decided: the bot did not listen yet.
    let activated: Date
    /// Told of a person from whom nothing may be learned any more.
    let onOptOut: @Sendable (AccountID, String) async throws -> Void

    /// - Parameters:
    ///   - archive: The human's posts.
    ///   - people: Who may be answered.
    ///   - store: Where decisions are kept, under the mirror's lease.
    ///   - network: Asked for threads.
    ///   - configuration: The caps.
    ///   - zone: In which a day begins.
    ///   - bot: The bot's account.
    ///   - activated: When the bot began to listen.
    ///   - onOptOut: Told of a person from whom nothing may be learned any more.
    package init(
        archive: Archive, people: People, store: OutboxStore, network: any SocialNetwork,
        configuration: MirrorConfiguration, zone: TimeZone, bot: AccountID, activated: Date,
        onOptOut: @escaping @Sendable (AccountID, String) async throws -> Void
    ) {
        self.archive = archive
        self.people = people
        self.store = store
        self.network = network
        self.configuration = configuration
        self.zone = zone
        self.bot = bot
        self.activated = activated
        self.onOptOut = onOptOut
    }

    /// What became of one mention.
    private enum Outcome {
        case decided(Intent)
        case postponed(Postponed)
    }

    /// Stores the decisions about mentions that have none.
    ///
    /// - Parameters:
    ///   - mentions: Posts that mention the bot, in any order.
    ///   - now: Decides about their age and the day's caps.
    ///   - tries: How often they were postponed before.
    /// - Returns: The new actions, and what is to be decided at another try.
    /// - Throws: The store's error; `CancellationError` between two mentions if the worker is to end. What is wrong with
    ///   one mention stays with it.
    package func decide(
        _ mentions: [ObservedPost], now: Date, tries: Int
    ) async throws -> (decided: [Action], postponed: [Postponed]) {
        let heard = mentions.filter { $0.post.createdAt >= activated }
            .sorted { ($0.post.createdAt, $0.address) < ($1.post.createdAt, $1.address) }
        let known = try await store.known(.reply, among: heard.map(\.post.id.value))
        var decided: [Action] = []
        var postponed: [Postponed] = []
        for mention in heard where !known.contains(mention.post.id.value) {
            // The page comes again; what was decided of it is known then.
            guard !Task.isShuttingDownGracefully else { throw CancellationError() }
            switch try await outcome(of: mention, tries: tries, now: now) {
            case .postponed(let item): postponed.append(item)
            case .decided(let intent):
                let stored = try await stored(intent, now: now)
                if stored.isNew { decided.append(stored.action) }
            }
        }
        return (decided, postponed)
    }

    /// What becomes of a mention, whatever is wrong with it.
    private func outcome(of mention: ObservedPost, tries: Int, now: Date) async throws -> Outcome {
        let intent = intent(for: mention, now: now)
        do {
            return try await decision(about: mention, intent, tries: tries, now: now)
        } catch let error as StorageError where error.code == .invalidValue {
            // No database can hold what the mention says, today or tomorrow.
            return .decided(intent.skipped(Refusal(.undecidable, "\(error)")))
        } catch let error as NetworkError {
            return .postponed(Postponed(address: mention.address, reason: "\(error)", until: error.retryAfter))
        }
    }

    /// Stores a decision; of what cannot be stored whole, that it was decided against.
    private func stored(_ intent: Intent, now: Date) async throws -> (action: Action, isNew: Bool) {
        do {
            return try await store.propose(intent, now: now)
        } catch let error as StorageError where error.code == .invalidValue {
            var bare = Intent(
                kind: intent.kind, subject: intent.subject, due: intent.due, expires: intent.expires)
            bare = bare.skipped(Refusal(.undecidable, "\(error)"))
            return try await store.propose(bare, now: now)
        }
    }

    private func intent(for mention: ObservedPost, now: Date) -> Intent {
        let subject = mention.post.id.value
        return Intent(
            kind: .reply, subject: subject, due: max(now, mention.post.createdAt),
            expires: mention.post.createdAt + rules.maximumAge.timeInterval,
            targetPost: subject, targetAuthor: mention.author.id, targetAddress: mention.address,
            bystanders: bystanders(of: mention), thread: mention.conversation ?? subject)
    }

    private func decision(
        about mention: ObservedPost, _ intent: Intent, tries: Int, now: Date
    ) async throws -> Outcome {
        var facts = MentionFacts(
            post: mention.post, author: mention.author, bot: bot, mentionsBot: isSummoned(by: mention))
        if let refusal = rules.refusal(of: facts, at: now) {
            try await remember(refusal, of: mention, now: now)
            return .decided(intent.skipped(refusal))
        }
        let person = mention.author.id
        let accounts = try await people.linked(to: person)
        facts.isDenied = try await people.stance(of: person) == .deny
        facts.repliesToPersonToday = try await store.repliesSince(
            LocalMidnight.before(now, in: zone), to: accounts)
        if let refusal = rules.refusal(of: facts, at: now) ?? refusalOfNetwork(mention) {
            return .decided(intent.skipped(refusal))
        }
        let answer = try await answered(intent, mention, accounts, now: now)
        guard answer.state == .planned else { return .decided(answer) }
        return try await inThread(answer, mention, facts, tries: tries, now: now)
    }

    /// The same answer with its thread, unless the thread got enough of them.
    private func inThread(
        _ answer: Intent, _ mention: ObservedPost, _ facts: MentionFacts, tries: Int, now: Date
    ) async throws -> Outcome {
        var (answer, facts) = (answer, facts)
        do {
            answer.thread = try await thread(of: mention) ?? answer.thread
        } catch let error as NetworkError where !error.isPermanent && tries < Self.threadTries {
            return .postponed(
                Postponed(address: mention.address, reason: "\(error)", until: error.retryAfter))
        } catch is NetworkError {
            // A thread that cannot be had is no reason for silence: the mention is its own.
        }
        facts.repliesInThread = try await store.repliesInThread(
            answer.thread ?? answer.subject, since: now - Self.threadMemory)
        return .decided(rules.refusal(of: facts, at: now).map(answer.skipped) ?? answer)
    }

    /// Remembers what a mention says about its author, beyond this one answer.
    private func remember(_ refusal: Refusal, of mention: ObservedPost, now: Date) async throws {
        let author = mention.author
        if refusal.reason == .askedToStop {
            try await people.set(.deny, for: author.id, handle: author.handle, reason: refusal.code, at: now)
        }
        if [.askedToStop, .optedOut].contains(refusal.reason) { try await onOptOut(author.id, author.handle) }
    }

    /// Whom the mention names besides, each once: an answer to its author is not for them.
    private func bystanders(of mention: ObservedPost) -> [AccountID] {
        var seen: Set<AccountID> = [mention.author.id, bot]
        return mention.post.mentions.filter { seen.insert($0).inserted }
    }

    private func visibility(of mention: ObservedPost) -> Visibility {
        VisibilityRules.replyVisibility(for: mention.post.visibility)
    }

    private var rules: ReplyRules {
        ReplyRules(
            perPersonPerDay: configuration.repliesPerPerson, perThread: configuration.repliesPerThread)
    }

    private func refusalOfNetwork(_ mention: ObservedPost) -> Refusal? {
        guard network.capabilities.visibilities.contains(visibility(of: mention)) else {
            return Refusal(.notOpen, "the mention is not public, and an answer would be")
        }
        return mention.replyNeedsApproval ? Refusal(.closedToReplies) : nil
    }

    /// Whether the network lets the bot answer this post.
    ///
    /// Where the post itself must name the bot, being part of a thread that did is not enough.
    private func isSummoned(by mention: ObservedPost) -> Bool {
        network.capabilities.replies == .anyone || mention.post.mentions.contains(bot)
    }

    // MARK: The answer

    /// The intent with one of the human's old replies to that person, or skipped when there is none.
    private func answered(
        _ intent: Intent, _ mention: ObservedPost, _ accounts: [AccountID], now: Date
    ) async throws -> Intent {
        let past = try await archive.replies(to: mention.author.id)
        guard !past.isEmpty else { return intent.skipped(try await refusalOfStranger(mention.author.id, accounts)) }
        let rules = TextRules(
            configuration, limits: try await network.limits(),
            repliesNameThePerson: network.capabilities.replyNeedsMention)
        var usable: [PostID: (post: Post, text: String)] = [:]
        var refusals: [Refusal] = []
        for post in past {
            switch rules.replyText(for: post, to: mention.author.handle) {
            case .success(let text): usable[post.id] = (post, text)
            case .failure(let refusal): refusals.append(refusal)
            }
        }
        let uses = try await store.usesOfReplies(to: accounts)
        let candidates = usable.values.map { entry in
            ReplyCandidate(
                id: entry.post.id, textKey: TextRules.textKey(entry.text), lastUsed: uses[entry.post.id]?.last,
                isInFlight: uses[entry.post.id]?.isInFlight ?? false)
        }
        let choice = ReplyChooser().choose(
            from: candidates, mirror: configuration.mirror, mention: mention.post.id, now: now)
        guard let choice, let chosen = usable[choice.id] else {
            return intent.skipped(ReplyChooser.refusal(ofAll: past.count, refused: refusals))
        }
        var answered = intent
        answered.sourcePost = chosen.post.id
        answered.text = chosen.text
        answered.language = chosen.post.language
        answered.visibility = visibility(of: mention)
        answered.explanation =
            Explanation("one of \(choice.poolSize) old replies to this person", pool: choice.poolSize).json
        return answered
    }

    /// Why there is nothing to answer a person with whom the human never answered.
    ///
    /// Across networks people are the same only where the operator said so.
    private func refusalOfStranger(_ person: AccountID, _ accounts: [AccountID]) async throws -> Refusal {
        guard accounts.count == 1 else { return Refusal(.noPastReply) }
        let elsewhere = try await archive.networksOfReplies().subtracting([person.network])
        guard !elsewhere.isEmpty else { return Refusal(.noPastReply) }
        let names = elsewhere.map(\.displayName).sorted().joined(separator: " and ")
        return Refusal(
            .notLinked,
            "the human answered people on \(names); if this is one of them, link the two accounts with "
                + "mirror-bot people link")
    }

    /// The conversation a mention belongs to.
    ///
    /// A mention that answers one of the bot's replies is known at once; only
    /// for answers to somebody else must the network be asked.
    private func thread(of mention: ObservedPost) async throws -> String? {
        guard let parent = mention.replyToAddress else { return mention.conversation }
        if let known = try await store.reply(publishedAs: parent)?.thread { return known }
        return try await network.conversation(of: mention)
    }
}

extension Intent {
    /// The same intent, decided against.
    func skipped(_ refusal: Refusal) -> Intent {
        var skipped = self
        skipped.state = .skipped
        skipped.reason = refusal.code
        skipped.explanation = Explanation(refusal.message).json
        skipped.sourcePost = nil
        skipped.text = nil
        skipped.language = nil
        skipped.visibility = nil
        return skipped
    }
}

/// When the local day of an instant began, from which the caps of a day are counted.
enum LocalMidnight {
    static func before(_ now: Date, in zone: TimeZone) -> Date {
        LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start ?? now
    }
}
