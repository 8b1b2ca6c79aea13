import Archive
import Blocking
import Conduct
package import Foundation
import Localization
package import Networks
package import Outbox
package import Posts
import Schedule
import ServiceLifecycle
import Settings
import Storage

/// Decides about mentions: each is answered with an old reply to the same person, or skipped.
///
/// A mention ends as one row of `actions`, so none is answered twice and each skipped one has a
/// reason. Mentions of forgotten people and from before the mirror's start have no row. Each is
/// decided on its own, the cheapest rules first: the text of the mention, then the tables, and only
/// for a mention that would be answered its thread on the network.
package struct MentionDecider: Sendable {
    /// Seconds for which the replies in a conversation are counted.
    private static let threadMemory: TimeInterval = 30 * 86_400
    /// Seconds after which a mention that needs the human's past is tried again.
    private static let pastRetryWait: TimeInterval = 300
    /// Tries to read the thread of a mention before the mention counts as its own thread.
    private static let threadTries = 3
    /// Mentions that share one read of the database.
    private static let mentionsAtOnce = 50

    /// Chooses the reply.
    let finder: ReplyFinder
    /// The store of people, which tells who may be answered.
    let people: People
    /// Stores the decisions, under the mirror's lease.
    let store: OutboxStore
    /// Reads the facts.
    let storage: any StorageEngine
    /// The network that is asked for threads.
    let network: any SocialNetwork
    /// The caps.
    let configuration: MirrorSettings
    /// The time zone that defines a day.
    let zone: TimeZone
    let bot: AccountID
    /// The accounts of human and bot, who do not count as others in a thread.
    let own: Set<AccountID>
    /// When the bot began to listen, by the network's clock; an older mention is ignored unless it
    /// asks the bot to stop.
    let activated: Date
    /// The note in the first reply to a person; `nil` if there is none.
    let note: FirstReplyNote?
    /// Called with a person from whom nothing may be learned any more.
    let onOptOut: @Sendable (AccountID, String) async throws -> Void
    private let threadQuestions: ThreadQuestions
    /// Caps and choices depend on stored rows, so pages are decided one after another.
    private let turnstile = Turnstile()

    package init(
        of mirror: HumanMirror, finder: ReplyFinder, store: OutboxStore, network: any SocialNetwork,
        zone: TimeZone,
        bot: AccountID, own: Set<AccountID>, activated: Date, human handle: String? = nil,
        onOptOut: @escaping @Sendable (AccountID, String) async throws -> Void
    ) {
        self.finder = finder
        self.store = store
        self.network = network
        self.zone = zone
        self.bot = bot
        self.own = own
        self.activated = activated
        self.onOptOut = onOptOut
        people = mirror.people
        configuration = mirror.configuration
        storage = mirror.storage
        note = mirror.configuration.notesFirstReply ? FirstReplyNote(human: handle) : nil
        threadQuestions = ThreadQuestions { [clock = mirror.clock] in clock.uptime }
    }

    /// The outcome of one mention.
    private enum Outcome {
        /// `confirmation` tells the author that their request to stop was understood.
        case decided(Intent, source: Archive.Original? = nil, confirmation: Intent? = nil)
        case postponed(Postponed)
        /// The mention would be answered, and its thread has to be read from the network first.
        case open
    }

    /// The outcomes of a page of mentions.
    private struct Outcomes {
        var decided: [Decision] = []
        var postponed: [Postponed] = []
        var open: [ObservedPost] = []

        mutating func add(_ other: Self) {
            decided += other.decided
            postponed += other.postponed
            open += other.open
        }

        mutating func postpone(
            _ item: Postponed, of mention: ObservedPost, _ threadQuestions: ThreadQuestions
        ) {
            threadQuestions.postpone(mention.address, of: mention.author.id)
            postponed.append(item)
        }
    }

    /// Stores the decisions about those mentions that have none.
    ///
    /// Reads the facts about some mentions in one transaction, and stores the decisions in another
    /// one.
    ///
    /// - Parameters:
    ///   - mentions: Posts that mention the bot, in any order.
    ///   - now: The time for the age of mentions and for the day's caps.
    ///   - tries: How often each was postponed before.
    /// - Returns: The new decisions, and the mentions to try again.
    /// - Throws: The store's error; `CancellationError` between two mentions if the worker is to
    ///   end. An error about a single mention is stored with it.
    package func decide(
        _ mentions: [ObservedPost], now: Date, tries: Int
    ) async throws -> (decided: [Decision], postponed: [Postponed]) {
        try await turnstile.pass { try await decideInTurn(mentions, now: now, tries: tries) }
    }

    private func decideInTurn(
        _ mentions: [ObservedPost], now: Date, tries: Int
    ) async throws -> (decided: [Decision], postponed: [Postponed]) {
        // A request to stop is accepted however old it is, so that a restored mirror learns of
        // those since its backup.
        let mentionsToDecide = mentions.filter {
            $0.calledAt >= activated || OptOut.asksToStop(text: $0.post.text)
        }
        .sorted { ($0.post.createdAt, $0.address) < ($1.post.createdAt, $1.address) }
        var outcomes = Outcomes()
        // Mentions that need no thread do not wait for those that do.
        for part in mentionsToDecide.portions(of: Self.mentionsAtOnce) {
            outcomes.add(try await settle(part, knownThreads: [:], now: now))
        }
        var knownThreads: [String: KnownThread] = [:]
        for mention in outcomes.open {
            // The page is read again later; the decisions that are stored by then count.
            guard !Task.isShuttingDownGracefully else { throw CancellationError() }
            switch try await askForThread(of: mention, tries: tries) {
            case .success(let thread): knownThreads[mention.address] = thread
            case .failure(let delay): outcomes.postpone(delay.item, of: mention, threadQuestions)
            }
        }
        let withThread = outcomes.open.filter { knownThreads[$0.address] != nil }
        for part in withThread.portions(of: Self.mentionsAtOnce) {
            outcomes.add(try await settle(part, knownThreads: knownThreads, now: now))
        }
        return (outcomes.decided, outcomes.postponed)
    }

    /// Decides about some mentions and stores the decisions; those that need their thread stay
    /// open.
    ///
    /// - Parameter knownThreads: The threads that the network returned, by the addresses of the
    ///   mentions.
    private func settle(
        _ mentions: [ObservedPost], knownThreads: [String: KnownThread], now: Date
    ) async throws -> Outcomes {
        do {
            return try await settleAtOnce(mentions, knownThreads: knownThreads, now: now)
        } catch let error as StorageError where error.code == .invalidValue {
            var outcomes = Outcomes()
            if let mention = mentions.first, mentions.count == 1 {
                // The text of the mention can never be stored in a database.
                outcomes.decided = try await storeUndecidable(mention, error, now: now)
                threadQuestions.settle(mention.address)
            } else {
                for mention in mentions {
                    outcomes.add(try await settle([mention], knownThreads: knownThreads, now: now))
                }
            }
            return outcomes
        }
    }

    private func settleAtOnce(
        _ mentions: [ObservedPost], knownThreads: [String: KnownThread], now: Date
    ) async throws -> Outcomes {
        let midnight = LocalMidnight.before(now, in: zone)
        var facts = try await read(
            mentions, knownThreads: knownThreads, now: now, midnight: midnight)
        var outcomes = Outcomes()
        var intents: [(intent: Intent, source: Archive.Original?)] = []
        var statements: [AccountStatement] = []
        for mention in mentions {
            if facts.earlier.decided.contains(mention.post.id.value) { continue }
            let statement = facts.accountStatements[mention.post.id.value]
            if let statement { statements.append(statement) }
            // Nothing is stored about a forgotten person, not even that they wrote.
            if facts.people[mention.author.id]?.isForgotten == true { continue }
            if let statement {
                threadQuestions.settle(mention.address)
                intents.append(
                    (intent: try await intent(of: statement, mention, now: now), source: nil))
                continue
            }
            guard !Task.isShuttingDownGracefully else { throw CancellationError() }
            switch try await outcome(
                of: mention, &facts, thread: knownThreads[mention.address], now: now)
            {
            case .open:
                // A waiting mention counts for the cap of its author, so that no more of their
                // threads are read than mentions may be answered.
                threadQuestions.postpone(mention.address, of: mention.author.id)
                outcomes.open.append(mention)
            case .postponed(let item): outcomes.postpone(item, of: mention, threadQuestions)
            case .decided(let intent, let source, let confirmation):
                threadQuestions.settle(mention.address)
                facts.earlier.add(intent, since: midnight)
                intents.append((intent: intent, source: source))
                if let confirmation { intents.append((intent: confirmation, source: nil)) }
            }
        }
        let stored = try await store.propose(
            intents.map(\.intent), now: now, also: noting(statements, now: now))
        for ((action, isNew), (_, source)) in zip(stored, intents) where isNew {
            outcomes.decided.append(Decision(of: action, asOf: facts.version, source: source))
        }
        return outcomes
    }

    /// A statement in a mention that counts because of its author's account, and that is not
    /// answered.
    private enum AccountStatement {
        /// Three words that prove the ownership of an account, and may be the consent to the
        /// mirror.
        case proof(ProofTable.Match)
        /// The human's request to stop the mirror.
        case stop
    }

    /// Returns the intent for a mention with such a statement, which is never answered.
    private func intent(of statement: AccountStatement, _ mention: ObservedPost, now: Date)
        async throws
        -> Intent
    {
        let author = mention.author
        if OptOut.isOptedOut(author) { try await onOptOut(author.id, author.handle) }
        let reason: Refusal.Reason =
            switch statement {
            case .proof: .provesAccount
            case .stop: .stopsMirror
            }
        return intent(about: mention, now: now).intent.skipped(Refusal(reason))
    }

    /// The change that stores the statements of accounts in their order, for the transaction that
    /// records the mentions; nil without statements.
    private func noting(
        _ statements: [AccountStatement], now: Date
    ) -> (@Sendable (any StorageConnection) throws -> Void)? {
        guard !statements.isEmpty else { return nil }
        return { [mirror = configuration.mirror] connection in
            for statement in statements {
                switch statement {
                case .proof(let match):
                    try ProofTable.prove(match, of: mirror, on: connection, now: now)
                case .stop: try MirrorTable.stop(mirror, on: connection, now: now)
                }
            }
        }
    }

    /// Stores a skipped mention, because its text cannot be stored whole.
    private func storeUndecidable(
        _ mention: ObservedPost, _ error: StorageError, now: Date
    ) async throws -> [Decision] {
        let refusal = Refusal(.undecidable, "\(error)")
        let intent = self.intent(about: mention, now: now).intent
        let stored: OutboxStore.Proposed
        do {
            stored = try await store.propose(intent.skipped(refusal), now: now)
        } catch let error as StorageError where error.code == .invalidValue {
            let bare = Intent(
                .undecidable(mention: intent.payload.subject), due: intent.due,
                expires: intent.expires)
            stored = try await store.propose(bare.skipped(refusal), now: now)
        }
        return stored.isNew ? [Decision(of: stored.action)] : []
    }

    // MARK: Facts

    /// A snapshot of the database's facts about some mentions.
    private struct Facts: Sendable {
        var people: [AccountID: People.Acquaintance] = [:]
        var earlier = EarlierReplies()
        var replies = ReplyFinder.Facts()
        var past: KnownPast?
        var version: Int64 = 0
        /// The account statements in the mentions, by the mentions' identities.
        var accountStatements: [String: AccountStatement] = [:]
        /// People who have asked the bot to stop since the facts were read.
        var denied: Set<AccountID> = []
        /// The number of confirmations that were decided since the facts were read.
        var confirmations = 0

        func accounts(of person: AccountID) -> [AccountID] { people[person]?.accounts ?? [person] }
    }

    /// Reads the facts in one transaction, and only the necessary ones about people who are never
    /// answered.
    private func read(
        _ mentions: [ObservedPost], knownThreads: [String: KnownThread], now: Date,
        midnight: Date
    ) async throws -> Facts {
        guard !mentions.isEmpty else { return Facts() }
        let present = network.present(at: now)
        let candidates = mentions.filter(mayProve).compactMap { mention in
            ProofTable.Candidate(
                mention.post.id, by: mention.author, mention.post.text,
                written: network.local(mention.calledAt))
        }
        let stopping = mentions.filter {
            mayProve($0) && OptOut.asksToStopMirror(text: $0.post.text)
        }
        return try await storage.read { [mirror = configuration.mirror] connection in
            var facts = Facts()
            facts.accountStatements = try ProofTable.matches(
                candidates, of: mirror, on: connection, now: now
            )
            .mapValues(AccountStatement.proof)
            facts.people = try People.acquaintances(
                with: mentions.map(\.author.id), in: mirror, on: connection)
            for mention in stopping {
                let isHuman = try facts.accounts(of: mention.author.id)
                    .contains { try MirrorTable.isHuman($0, of: mirror, on: connection) }
                if isHuman { facts.accountStatements[mention.post.id.value] = .stop }
            }
            var question = OutboxStore.Question(
                midnight: midnight, threadsSince: now - Self.threadMemory)
            question.subjects = mentions.map(\.post.id.value)
            question.accounts = facts.people.values.flatMap(\.accounts)
            question.parents = mentions.compactMap(\.replyToAddress)
            question.threads = mentions.flatMap { mention in
                [mention.post.id.value, mention.conversation, knownThreads[mention.address]?.name]
                    .compactMap(\.self)
            }
            facts.earlier = try store.earlierReplies(question, on: connection)
            let circumstances = try Archive.circumstances(of: mirror, home: zone, on: connection)
            facts.past = circumstances.past.flatMap(KnownPast.init(rawValue:))
            facts.version = circumstances.version
            let answered = mentions.filter { mention in
                !facts.earlier.decided.contains(mention.post.id.value)
                    && rules.refusal(of: mentionFacts(mention, facts, waiting: 0), at: present)
                        == nil
            }
            guard !answered.isEmpty, facts.past != nil else { return facts }
            facts.replies = try finder.read(
                about: answered.flatMap { facts.accounts(of: $0.author.id) }, circumstances,
                on: connection)
            return facts
        }
    }

    /// Whether a post was written to the bot by the account that it names as its author.
    private func mayProve(_ mention: ObservedPost) -> Bool {
        mention.author.id != bot && mention.post.author == mention.author.id
            && !mention.post.isRepost
            && isSummoned(by: mention)
    }

    /// Collects the facts about a mention and its author, who has `waiting` other pending mentions.
    private func mentionFacts(_ mention: ObservedPost, _ facts: Facts, waiting: Int) -> MentionFacts
    {
        let person = mention.author.id
        let accounts = facts.accounts(of: person)
        return MentionFacts(
            post: mention.post, mentionAddedAt: mention.mentionAddedAt, author: mention.author,
            bot: bot,
            mentionsBot: isSummoned(by: mention),
            isDenied: facts.people[person]?.stance == .deny
                || !facts.denied.isDisjoint(with: accounts),
            repliesToPersonToday: facts.earlier.repliesToday(to: accounts) + waiting)
    }

    // MARK: Decisions

    private func intent(about mention: ObservedPost, now: Date) -> (
        reply: Action.Reply, intent: Intent
    ) {
        let reply = Action.Reply(
            to: mention.target, bystanders: bystanders(of: mention),
            thread: mention.conversation ?? mention.post.id.value)
        let intent = Intent(
            .reply(reply), due: max(now, network.local(mention.calledAt)),
            expires: network.local(mention.calledAt) + rules.maximumAge.timeInterval)
        return (reply, intent)
    }

    /// Returns the outcome of a mention; a network error postpones it.
    private func outcome(
        of mention: ObservedPost, _ facts: inout Facts, thread: KnownThread?, now: Date
    ) async throws -> Outcome {
        do {
            return try await decision(about: mention, &facts, thread: thread, now: now)
        } catch let error as NetworkError {
            return .postponed(
                Postponed(address: mention.address, reason: "\(error)", until: error.retryAfter))
        }
    }

    private func decision(
        about mention: ObservedPost, _ facts: inout Facts, thread: KnownThread?, now: Date
    ) async throws -> Outcome {
        var (reply, intent) = self.intent(about: mention, now: now)
        // The mention's own statements are stored, whatever else is known.
        let statements = MentionFacts(
            post: mention.post, mentionAddedAt: mention.mentionAddedAt, author: mention.author,
            bot: bot,
            mentionsBot: isSummoned(by: mention))
        if let refusal = rules.refusal(of: statements, at: network.present(at: now)) {
            let confirmation =
                refusal.reason == .askedToStop
                ? try await self.confirmation(of: mention, facts, now: now) : nil
            if confirmation != nil { facts.confirmations += 1 }
            try await remember(refusal, of: mention, &facts, now: now)
            return .decided(intent.skipped(refusal), confirmation: confirmation)
        }
        // Mentions that wait for their threads are counted too, so that one person cannot take all
        // of the worker's time.
        var factsOfMention = mentionFacts(
            mention, facts,
            waiting: threadQuestions.open(of: mention.author.id, besides: mention.address))
        if let refusal = rules.refusal(of: factsOfMention, at: network.present(at: now))
            ?? refusalOfNetwork(mention)
        {
            return .decided(intent.skipped(refusal))
        }
        guard facts.past != nil else {
            return .postponed(
                Postponed(
                    address: mention.address, reason: "the human's past is not known yet",
                    until: now + Self.pastRetryWait))
        }
        if configuration.review.contains(.reply) { intent.state = .suggested }
        let source: Archive.Original
        switch try await finder.reply(
            to: mention, by: facts.people[mention.author.id], facts.replies,
            uses: facts.earlier.uses(for: facts.accounts(of: mention.author.id)),
            note: note(to: facts.people[mention.author.id], in: mention.post.language), now: now)
        {
        case .failure(let refusal): return .decided(intent.skipped(refusal))
        case .success(let choice):
            if let doubt = choice.doubt {
                switch configuration.replyMode {
                case .likely: return .decided(intent.skipped(doubt))
                case .review: intent.state = .suggested
                case .all: break
                }
            }
            reply.wording = choice.wording
            intent.explanation = choice.explanation
            source = choice.source
        }
        if intent.state == .suggested { reply.target = mention.shownTarget }
        switch thread ?? knownThread(of: mention, facts) {
        case .known(let thread): reply.thread = thread ?? reply.thread
        case .toBeAsked: return .open
        }
        intent.payload = .reply(reply)
        factsOfMention.repliesInThread = facts.earlier.replies(inThread: reply.thread)
        if let refusal = rules.refusal(of: factsOfMention, at: network.present(at: now)) {
            return .decided(intent.skipped(refusal))
        }
        return .decided(intent, source: source)
    }

    /// The note below a reply to a person who was never answered; nil for others.
    ///
    /// Answers sent in the meantime are checked again when the reply is sent.
    private func note(to person: People.Acquaintance?, in language: String?) -> String? {
        guard person?.wasAnswered != true else { return nil }
        return note?.line(in: language)
    }

    /// Returns the favorite that tells a person that their request to stop was understood; nil if
    /// they are not told.
    ///
    /// Only a person who mentioned the bot and was not denied before is told, once, and only if the
    /// network and the settings let the bot favorite without a person's decision. Nothing else is
    /// sent to them afterwards.
    private func confirmation(of mention: ObservedPost, _ facts: Facts, now: Date) async throws
        -> Intent?
    {
        guard configuration.confirmsStop, configuration.favoriteMode != .off,
            !configuration.review.contains(.favorite), network.capabilities.canFavorite,
            network.capabilities.automaticFavorites != .nobody, isSummoned(by: mention),
            mention.calledAt >= activated,
            !mention.favoriteNeedsApproval
        else { return nil }
        let (decided, today, _) = try await store.decisionFacts(
            .favorite, among: [mention.post.id.value], since: LocalMidnight.before(now, in: zone)
        ) { _ in }
        let favorite = FavoriteFacts(
            post: mention.post, author: mention.author, ownAccounts: own,
            isDenied: mentionFacts(mention, facts, waiting: 0).isDenied,
            isFavorited: mention.isFavorited,
            favoritesToday: today + facts.confirmations)
        let rules = FavoriteRules(perDay: configuration.favoritesPerDay)
        guard decided.isEmpty,
            rules.refusalOfConfirmation(of: favorite, at: network.present(at: now)) == nil
        else {
            return nil
        }
        var explanation = Explanation(
            "the author asked the bot to stop, and is told once that it was understood")
        explanation.confirmsStop = true
        return Intent(
            .favorite(mention.target), due: now,
            expires: network.local(mention.post.createdAt) + rules.maximumAge.timeInterval,
            explanation: explanation)
    }

    /// Stores what a mention reveals about its author, beyond this one answer.
    private func remember(
        _ refusal: Refusal, of mention: ObservedPost, _ facts: inout Facts, now: Date
    ) async throws {
        let author = mention.author
        if refusal.reason == .askedToStop {
            try await people.set(
                .deny, for: author.id, handle: author.handle, reason: refusal.code, at: now)
            facts.denied.insert(author.id)
        }
        if [.askedToStop, .optedOut].contains(refusal.reason) {
            try await onOptOut(author.id, author.handle)
        }
    }

    /// Returns the other accounts that the mention names, each once; an answer goes to the author
    /// and not to them.
    private func bystanders(of mention: ObservedPost) -> [AccountID] {
        var seen: Set<AccountID> = [mention.author.id, bot]
        return mention.post.mentions.filter { seen.insert($0).inserted }
    }

    private func visibility(of mention: ObservedPost) -> Visibility {
        mention.post.visibility.ofRepetition
    }

    private var rules: ReplyRules {
        ReplyRules(
            perPersonPerDay: configuration.repliesPerPerson,
            perThread: configuration.repliesPerThread)
    }

    private func refusalOfNetwork(_ mention: ObservedPost) -> Refusal? {
        guard network.capabilities.visibilities.contains(visibility(of: mention)) else {
            return Refusal(.notOpen, localized("the mention is not public, and an answer would be"))
        }
        if network.capabilities.repliesNotifyAncestors, !isAmongThemselves(mention) {
            return Refusal(.othersThread)
        }
        return mention.replyNeedsApproval ? Refusal(.closedToReplies) : nil
    }

    /// Whether only the author and the mirror's own accounts wrote the posts above a mention, as
    /// far as is known.
    private func isAmongThemselves(_ mention: ObservedPost) -> Bool {
        mention.threadAuthors.union([mention.post.replyTo?.author].compactMap(\.self))
            .allSatisfy { $0 == mention.author.id || own.contains($0) }
    }

    /// Whether the network's rules let the bot answer this post.
    ///
    /// Where the post itself must name the bot, a thread that names it is not enough.
    private func isSummoned(by mention: ObservedPost) -> Bool {
        network.capabilities.replies == .anyone || mention.post.mentions.contains(bot)
    }

    // MARK: The conversation

    private enum KnownThread: Sendable {
        /// Nil for a mention that begins its own thread.
        case known(String?)
        case toBeAsked

        var name: String? { if case .known(let name) = self { name } else { nil } }
    }

    /// The conversation of a mention, if it is known without the network.
    ///
    /// A mention that answers one of the bot's replies is known at once; the network is asked only
    /// about answers to others.
    private func knownThread(of mention: ObservedPost, _ facts: Facts) -> KnownThread {
        guard let parent = mention.replyToAddress else { return .known(mention.conversation) }
        let thread = facts.earlier.thread(ofReplyPublishedAs: parent) ?? mention.conversation
        return thread.map { .known($0) } ?? .toBeAsked
    }

    /// The reason why a mention waits for another try.
    private struct Delay: Error {
        let item: Postponed
    }

    /// Asks the network for the conversation of a mention, unless the time for such calls is used
    /// up.
    private func askForThread(of mention: ObservedPost, tries: Int) async throws -> Result<
        KnownThread, Delay
    > {
        func postponed(_ reason: String, until: Date? = nil) -> Result<KnownThread, Delay> {
            .failure(Delay(item: Postponed(address: mention.address, reason: reason, until: until)))
        }
        guard threadQuestions.hasTime else { return postponed("other threads took their time") }
        do {
            let thread = try await threadQuestions.timing {
                try await network.conversation(of: mention)
            }
            return .success(.known(thread))
        } catch let error as NetworkError where !error.dropsItem && tries < Self.threadTries {
            return postponed("\(error)", until: error.retryAfter)
        } catch is NetworkError {
            // A thread that cannot be read does not prevent an answer: the mention counts as its
            // own thread.
            return .success(.known(nil))
        }
    }
}

/// The time that thread queries have taken, and the mentions that wait for one.
///
/// A server may answer slowly, and one person may write many mentions that need their thread. So
/// the queries of a minute share some seconds, and the others are made at a later look.
private final class ThreadQuestions: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.
    /// Seconds that queries may take in each period; the last one may exceed them.
    private static let budget: TimeInterval = 10
    private static let period: TimeInterval = 60
    /// Seconds for which a waiting mention is remembered; one that was given up in the meantime
    /// does not stay.
    private static let memory: TimeInterval = 86_400

    private let uptime: @Sendable () -> TimeInterval
    private let lock = NSLock()
    /// When the current period began; nil before the first query.
    private var periodStart: TimeInterval?
    /// Seconds that queries have taken in the current period.
    private var secondsSpent: TimeInterval = 0
    private var waiting: [String: (author: AccountID, since: TimeInterval)] = [:]

    /// - Parameter uptime: Reads the monotonic clock, in seconds.
    init(uptime: @escaping @Sendable () -> TimeInterval) { self.uptime = uptime }

    /// Whether the time for questions is not spent yet.
    var hasTime: Bool {
        let now = uptime()
        return lock.withLock {
            let isPeriodOver =
                if let periodStart { now - periodStart >= Self.period } else { true }
            if isPeriodOver {
                periodStart = now
                secondsSpent = 0
            }
            return secondsSpent < Self.budget
        }
    }

    /// Runs a query and adds the time that it takes.
    ///
    /// - Throws: The error of the query.
    func timing<Answer>(_ question: () async throws -> Answer) async throws -> Answer {
        let start = uptime()
        defer {
            let duration = uptime() - start
            lock.withLock { secondsSpent += duration }
        }
        return try await question()
    }

    /// Notes that a mention waits for its thread.
    func postpone(_ address: String, of author: AccountID) {
        let now = uptime()
        lock.withLock {
            waiting = waiting.filter { now - $0.value.since < Self.memory }
            waiting[address] = (author, now)
        }
    }

    /// Notes that a mention is decided.
    func settle(_ address: String) { lock.withLock { waiting[address] = nil } }

    /// The number of other mentions by this author that wait for their threads.
    func open(of author: AccountID, besides address: String) -> Int {
        let now = uptime()
        return lock.withLock {
            waiting.count {
                $0.key != address && $0.value.author == author && now - $0.value.since < Self.memory
            }
        }
    }
}

extension Intent {
    /// This intent as a skipped one: nothing is sent.
    fileprivate func skipped(_ refusal: Refusal) -> Intent {
        var skipped = self
        if case .reply(var reply) = payload {
            reply.wording = nil
            reply.bystanders = []
            skipped.payload = .reply(reply)
        }
        skipped.state = .skipped
        skipped.reason = .rule(refusal.reason)
        skipped.explanation = StoredText.inEnglish {
            Explanation(refusal.message)
        }
        return skipped
    }
}

/// When the local day of an instant began, from which the caps of a day are counted.
enum LocalMidnight {
    static func before(_ now: Date, in zone: TimeZone) -> Date {
        LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start ?? now
    }
}
