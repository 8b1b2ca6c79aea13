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
            kind: .reply, subject: subject, due: now, expires: mention.post.createdAt + rules.maximumAge.timeInterval,
            targetPost: subject, targetAuthor: mention.author.id, targetAddress: mention.address)
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

    private var rules: ReplyRules {
        ReplyRules(
            perPersonPerDay: configuration.repliesPerPerson, perThread: configuration.repliesPerThread)
    }

    /// Why the mention must not be answered, or nil.
    private func refusal(for mention: ObservedPost, thread: String, now: Date) async throws -> Refusal? {
        let midnight = LocalMidnight.before(now, in: zone)
        let recent = try await store.active(.reply, since: min(midnight, now - Self.threadMemory))
        let person = mention.author.id
        let facts = MentionFacts(
            post: mention.post, author: mention.author, bot: bot,
            isDenied: try await people.stance(of: person) == .deny,
            repliesToPersonToday: recent.count { $0.targetAuthor == person && $0.due >= midnight },
            repliesInThread: recent.count { $0.thread == thread })
        return rules.refusal(of: facts, at: now)
    }

    /// The intent with one of the human's old replies to that person, or skipped when there is none.
    private func answered(_ intent: Intent, _ mention: ObservedPost, now: Date) async throws -> Intent {
        let past = try await archive.replies(to: mention.author.id)
        let rules = TextRules(links: configuration.links, minimumAgeDays: 0, limits: limits)
        var usable: [PostID: (post: Post, text: String)] = [:]
        for post in past {
            guard case .success(let text) = rules.replyText(for: post, to: mention.author.handle) else { continue }
            usable[post.id] = (post, text)
        }
        let sent = try await store.replies(to: mention.author.id)
        let candidates = usable.values.map { entry -> ReplyCandidate in
            let uses = sent.filter { $0.sourcePost == entry.post.id }
            return ReplyCandidate(
                id: entry.post.id, textKey: TextRules.textKey(entry.text), lastUsed: uses.map(\.due).max(),
                isInFlight: uses.contains { $0.state != .done })
        }
        let choice = ReplyChooser().choose(
            from: candidates, mirror: configuration.mirror, mention: mention.post.id, now: now)
        guard let choice, let chosen = usable[choice.id] else {
            return intent.skipped(
                past.isEmpty
                    ? Refusal(.noPastReply)
                    : Refusal(.noPastReply, "none of \(past.count) earlier replies to this person may be sent now"))
        }
        var answered = intent
        answered.sourcePost = chosen.post.id
        answered.text = chosen.text
        answered.language = chosen.post.language
        answered.visibility = VisibilityRules.replyVisibility(for: mention.post.visibility)
        answered.explanation =
            Explanation("one of \(choice.poolSize) old replies to this person", pool: choice.poolSize).json
        return answered
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
