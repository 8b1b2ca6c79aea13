import Archive
import Conduct
import Foundation
import Networks
import Outbox
import Posts

/// Decides what becomes of a mention: an old reply to the same person, or silence.
///
/// Every mention ends as one row of `actions`, so none is answered twice and
/// each silence has its reason.
struct MentionDecider: Sendable {
    /// How far back the replies of a conversation are counted, in seconds.
    private static let threadMemory: TimeInterval = 30 * 86_400

    let archive: Archive
    let people: People
    let store: OutboxStore
    let network: any SocialNetwork
    let configuration: MirrorConfiguration
    let zone: TimeZone
    let limits: PublishingLimits
    let bot: AccountID

    /// Stores the decision about one mention, unless it has one.
    ///
    /// - Parameters:
    ///   - mention: A post that mentions the bot.
    ///   - now: Decides about its age and the day's caps.
    /// - Returns: The stored action and whether it is new.
    /// - Throws: The store's error, or the network's where the conversation must be asked for.
    func decide(_ mention: ObservedPost, now: Date) async throws -> (action: Action, isNew: Bool) {
        let subject = mention.post.id.value
        if let known = try await store.action(.reply, subject: subject) { return (known, false) }
        var intent = Intent(
            kind: .reply, subject: subject, due: max(now, mention.post.createdAt),
            expires: mention.post.createdAt + rules.maximumAge.timeInterval,
            targetPost: subject, targetAuthor: mention.author.id, targetAddress: mention.address,
            bystanders: bystanders(of: mention))
        intent.thread = try await thread(of: mention) ?? subject
        if let refusal = try await refusal(for: mention, thread: intent.thread ?? subject, now: now) {
            if refusal.reason == .askedToStop {
                try await people.set(
                    .deny, for: mention.author.id, handle: mention.author.handle, reason: refusal.code, at: now)
            }
            return try await store.propose(intent.skipped(refusal), now: now)
        }
        return try await store.propose(try await answered(intent, mention, now: now), now: now)
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

    /// Why the mention must not be answered, or nil.
    private func refusal(for mention: ObservedPost, thread: String, now: Date) async throws -> Refusal? {
        let midnight = LocalMidnight.before(now, in: zone)
        let recent = try await store.active(.reply, since: min(midnight, now - Self.threadMemory))
        let person = mention.author.id
        let accounts = try await people.linked(to: person)
        let facts = MentionFacts(
            post: mention.post, author: mention.author, bot: bot, mentionsBot: isSummoned(by: mention),
            isDenied: try await people.stance(of: person) == .deny,
            repliesToPersonToday: recent.count { reply in
                reply.due >= midnight && accounts.contains { $0 == reply.targetAuthor }
            },
            repliesInThread: recent.count { $0.thread == thread })
        if let refusal = rules.refusal(of: facts, at: now) { return refusal }
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

    /// The intent with one of the human's old replies to that person, or skipped when there is none.
    private func answered(_ intent: Intent, _ mention: ObservedPost, now: Date) async throws -> Intent {
        let past = try await archive.replies(to: mention.author.id)
        let rules = TextRules(
            configuration, limits: limits, repliesNameThePerson: network.capabilities.replyNeedsMention)
        var usable: [PostID: (post: Post, text: String)] = [:]
        for post in past {
            guard case .success(let text) = rules.replyText(for: post, to: mention.author.handle) else { continue }
            usable[post.id] = (post, text)
        }
        var sent: [Action] = []
        for account in try await people.linked(to: mention.author.id) {
            sent += try await store.replies(to: account)
        }
        let candidates = usable.values.map { entry -> ReplyCandidate in
            let uses = sent.filter { $0.sourcePost == entry.post.id }
            return ReplyCandidate(
                id: entry.post.id, textKey: TextRules.textKey(entry.text), lastUsed: uses.map(\.due).max(),
                isInFlight: uses.contains { $0.state != .done })
        }
        let choice = ReplyChooser().choose(
            from: candidates, mirror: configuration.mirror, mention: mention.post.id, now: now)
        guard let choice, let chosen = usable[choice.id] else {
            guard past.isEmpty else {
                return intent.skipped(
                    Refusal(.noPastReply, "none of \(past.count) earlier replies to this person may be sent now"))
            }
            return intent.skipped(try await refusalOfStranger(mention.author.id))
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
    private func refusalOfStranger(_ person: AccountID) async throws -> Refusal {
        let elsewhere = try await archive.networksOfReplies().subtracting([person.network])
        guard !elsewhere.isEmpty, try await people.linked(to: person).count == 1 else { return Refusal(.noPastReply) }
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
        return skipped
    }
}
