import Archive
import Blocking
import Conduct
package import Foundation
package import Networks
package import Outbox
package import Posts
import Schedule
import ServiceLifecycle
import Settings
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
    /// How long a mention waits for the human's past to be read until it is looked at again, in seconds.
    private static let pastRest: TimeInterval = 300
    /// How often the thread of a mention is asked for before the mention counts as its own thread.
    private static let threadTries = 3

    /// Chooses what to say.
    let finder: ReplyFinder
    /// Who may be answered.
    let people: People
    /// Where decisions are kept, under the mirror's lease.
    let store: OutboxStore
    /// Asked for threads.
    let network: any SocialNetwork
    /// The caps.
    let configuration: MirrorSettings
    /// In which a day begins.
    let zone: TimeZone
    let bot: AccountID
    /// The accounts of human and bot, who may be told of an answer to somebody else.
    let own: Set<AccountID>
    /// When the bot began to listen, by the network's clock; nothing older is decided, unless it asks the bot to stop.
    let activated: Date
    /// How much of the human's past is known; before that nobody knows what the human answered whom.
    let past: @Sendable () async throws -> KnownPast?
    /// Told of a person from whom nothing may be learned any more.
    let onOptOut: @Sendable (AccountID, String) async throws -> Void
    private let threads: ThreadQuestions
    /// Caps and choices go by what is stored, so that one page is decided after the other.
    private let turnstile = Turnstile()

    package init(
        of mirror: HumanMirror, finder: ReplyFinder, store: OutboxStore, network: any SocialNetwork, zone: TimeZone,
        bot: AccountID, own: Set<AccountID>, activated: Date,
        onOptOut: @escaping @Sendable (AccountID, String) async throws -> Void
    ) {
        (self.finder, self.store, self.network, self.zone) = (finder, store, network, zone)
        (self.bot, self.own, self.activated, self.onOptOut) = (bot, own, activated, onOptOut)
        (people, configuration) = (mirror.people, mirror.configuration)
        past = { [table = mirror.table] in try await table.record().past }
        threads = ThreadQuestions { [clock = mirror.clock] in clock.uptime }
    }

    /// What became of one mention.
    private enum Outcome {
        case decided(Intent)
        case postponed(Postponed)
        /// It would be answered, and the network has to be asked for its thread.
        case open
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
        try await turnstile.pass { try await decideInTurn(mentions, now: now, tries: tries) }
    }

    private func decideInTurn(
        _ mentions: [ObservedPost], now: Date, tries: Int
    ) async throws -> (decided: [Action], postponed: [Postponed]) {
        // A request to stop holds however old it is: a restored mirror hears what was said since its backup.
        let heard = mentions.filter { $0.calledAt >= activated || OptOut.asksToStop(text: $0.post.text) }
            .sorted { ($0.post.createdAt, $0.address) < ($1.post.createdAt, $1.address) }
        let known = try await store.known(.reply, among: heard.map(\.post.id.value))
        // Of who was forgotten nothing is kept, not even that they spoke.
        let forgotten = try await people.forgotten(
            among: heard.filter { !known.contains($0.post.id.value) }.map(\.author.id))
        var decided: [Action] = []
        var postponed: [Postponed] = []
        var waiting = heard.filter {
            !known.contains($0.post.id.value) && !forgotten.contains($0.author.id)
        }
        // What needs no thread does not wait for those that do.
        for asksNetwork in [false, true] {
            var open: [ObservedPost] = []
            for mention in waiting {
                // The page comes again; what was decided of it is known then.
                guard !Task.isShuttingDownGracefully else { throw CancellationError() }
                switch try await outcome(of: mention, tries: tries, asksNetwork: asksNetwork, now: now) {
                case .open: open.append(mention)
                case .postponed(let item):
                    threads.postpone(mention.address, of: mention.author.id)
                    postponed.append(item)
                case .decided(let intent):
                    threads.settle(mention.address)
                    let stored = try await stored(intent, now: now)
                    if stored.isNew { decided.append(stored.action) }
                }
            }
            waiting = open
        }
        return (decided, postponed)
    }

    /// What becomes of a mention, whatever is wrong with it.
    private func outcome(
        of mention: ObservedPost, tries: Int, asksNetwork: Bool, now: Date
    ) async throws -> Outcome {
        let reply = Action.Reply(
            to: mention.target, bystanders: bystanders(of: mention),
            thread: mention.conversation ?? mention.post.id.value)
        let intent = Intent(
            .reply(reply), due: max(now, network.local(mention.calledAt)),
            expires: network.local(mention.calledAt) + rules.maximumAge.timeInterval)
        do {
            return try await decision(
                about: mention, reply, intent, tries: tries, asksNetwork: asksNetwork, now: now)
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
            let bare = Intent(
                .undecidable(mention: intent.payload.subject), due: intent.due, expires: intent.expires)
            return try await store.propose(bare.skipped(Refusal(.undecidable, "\(error)")), now: now)
        }
    }

    private func decision(
        about mention: ObservedPost, _ reply: Action.Reply, _ intent: Intent, tries: Int, asksNetwork: Bool, now: Date
    ) async throws -> Outcome {
        var facts = MentionFacts(
            post: mention.post, mentionAddedAt: mention.mentionAddedAt, author: mention.author, bot: bot,
            mentionsBot: isSummoned(by: mention))
        if let refusal = rules.refusal(of: facts, at: network.present(at: now)) {
            try await remember(refusal, of: mention, now: now)
            return .decided(intent.skipped(refusal))
        }
        let person = mention.author.id
        let accounts = try await people.linked(to: person)
        facts.isDenied = try await people.stance(of: person) == .deny
        // Those that wait for their threads count as well: nobody takes up the worker's time alone.
        facts.repliesToPersonToday =
            try await store.repliesSince(LocalMidnight.before(now, in: zone), to: accounts)
            + threads.open(of: person, besides: mention.address)
        if let refusal = rules.refusal(of: facts, at: network.present(at: now)) ?? refusalOfNetwork(mention) {
            return .decided(intent.skipped(refusal))
        }
        guard try await past() != nil else {
            return .postponed(
                Postponed(
                    address: mention.address, reason: "the human's past is not known yet", until: now + Self.pastRest))
        }
        var (answer, reply) = (intent, reply)
        if configuration.review.contains(.reply) { answer.state = .suggested }
        switch try await finder.reply(to: mention, accounts, now: now) {
        case .failure(let refusal): return .decided(intent.skipped(refusal))
        case .success(let choice): (reply.wording, answer.explanation) = choice
        }
        if answer.state == .suggested { reply.target = mention.shownTarget }
        do {
            switch try await knownThread(of: mention) {
            case .known(let thread): reply.thread = thread ?? reply.thread
            case .toBeAsked:
                guard asksNetwork else { return .open }
                guard threads.hasTime else {
                    return .postponed(
                        Postponed(address: mention.address, reason: "other threads took their time", until: nil))
                }
                reply.thread =
                    try await threads.timing { try await network.conversation(of: mention) } ?? reply.thread
            }
        } catch let error as NetworkError where !error.dropsItem && tries < Self.threadTries {
            return .postponed(
                Postponed(address: mention.address, reason: "\(error)", until: error.retryAfter))
        } catch is NetworkError {
            // A thread that cannot be had is no reason for silence: the mention is its own.
        }
        answer.payload = .reply(reply)
        facts.repliesInThread = try await store.repliesInThread(reply.thread, since: now - Self.threadMemory)
        return .decided(rules.refusal(of: facts, at: network.present(at: now)).map(answer.skipped) ?? answer)
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
        mention.post.visibility.ofRepetition
    }

    private var rules: ReplyRules {
        ReplyRules(
            perPersonPerDay: configuration.repliesPerPerson, perThread: configuration.repliesPerThread)
    }

    private func refusalOfNetwork(_ mention: ObservedPost) -> Refusal? {
        guard network.capabilities.visibilities.contains(visibility(of: mention)) else {
            return Refusal(.notOpen, "the mention is not public, and an answer would be")
        }
        if network.capabilities.repliesTellAncestors, !isAmongThemselves(mention) { return Refusal(.othersThread) }
        return mention.replyNeedsApproval ? Refusal(.closedToReplies) : nil
    }

    /// Whether, as far as is known, only the author and the mirror's own accounts wrote what stands above a mention.
    private func isAmongThemselves(_ mention: ObservedPost) -> Bool {
        mention.threadAuthors.union([mention.post.replyTo?.author].compactMap(\.self))
            .allSatisfy { $0 == mention.author.id || own.contains($0) }
    }

    /// Whether the network lets the bot answer this post.
    ///
    /// Where the post itself must name the bot, being part of a thread that did is not enough.
    private func isSummoned(by mention: ObservedPost) -> Bool {
        network.capabilities.replies == .anyone || mention.post.mentions.contains(bot)
    }

    // MARK: The conversation

    /// The conversation a mention belongs to.
    ///
    /// A mention that answers one of the bot's replies is known at once; only
    /// for answers to somebody else must the network be asked.
    private func knownThread(of mention: ObservedPost) async throws -> KnownThread {
        guard let parent = mention.replyToAddress else { return .known(mention.conversation) }
        let known = try await store.thread(ofReplyPublishedAs: parent) ?? mention.conversation
        return known.map { .known($0) } ?? .toBeAsked
    }

    private enum KnownThread {
        /// Nil for a mention that is its own thread.
        case known(String?)
        case toBeAsked
    }
}

/// How much time questions for threads take, and who waits for them.
///
/// A server may keep each question waiting, and somebody may write many mentions that need one. So the questions of a
/// minute share some seconds; what is beyond is asked for at another look.
private final class ThreadQuestions: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.
    /// How long questions may take in each period, in seconds; the last one may take longer.
    private static let (budget, period): (TimeInterval, TimeInterval) = (10, 60)
    /// How long a mention may be answered, in seconds: one that was given up meanwhile does not wait for ever.
    private static let memory: TimeInterval = 86_400

    private let uptime: @Sendable () -> TimeInterval
    private let lock = NSLock()
    private var began: TimeInterval?
    private var spent: TimeInterval = 0
    private var waiting: [String: (author: AccountID, since: TimeInterval)] = [:]

    /// - Parameter uptime: Reads a clock that nobody sets, in seconds.
    init(uptime: @escaping @Sendable () -> TimeInterval) { self.uptime = uptime }

    /// Whether the time for questions is not spent yet.
    var hasTime: Bool {
        let now = uptime()
        return lock.withLock {
            if began.map({ now - $0 >= Self.period }) ?? true { (began, spent) = (now, 0) }
            return spent < Self.budget
        }
    }

    /// Asks, and counts the time that it takes.
    ///
    /// - Throws: What the question throws.
    func timing<Answer>(_ question: () async throws -> Answer) async throws -> Answer {
        let start = uptime()
        defer {
            let taken = uptime() - start
            lock.withLock { spent += taken }
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

    /// How many other mentions of somebody wait for their threads.
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
    /// The same intent, decided against: nothing is said.
    fileprivate func skipped(_ refusal: Refusal) -> Intent {
        var skipped = self
        if case .reply(var reply) = payload {
            (reply.wording, reply.bystanders) = (nil, [])
            skipped.payload = .reply(reply)
        }
        (skipped.state, skipped.reason, skipped.explanation) = (.skipped, refusal.code, Explanation(refusal.message))
        return skipped
    }
}

/// When the local day of an instant began, from which the caps of a day are counted.
enum LocalMidnight {
    static func before(_ now: Date, in zone: TimeZone) -> Date {
        LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start ?? now
    }
}
