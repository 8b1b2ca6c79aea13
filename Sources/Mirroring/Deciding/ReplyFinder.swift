package import Archive
package import Conduct
import Favorites
package import Foundation
import MeCab
package import Networks
package import Outbox
import Posts
import Settings

/// Finds the old reply that answers a mention: of those to the same person, the one nearest to it.
package struct ReplyFinder: Sendable {
    /// How many replies are prepared before other tasks may go on.
    private static let portion = 50
    /// How many common words are noted with a choice.
    private static let wordsNoted = 5

    let archive: Archive
    let people: People
    let store: OutboxStore
    let network: any SocialNetwork
    let configuration: MirrorSettings
    /// In which muted days are counted.
    let zone: TimeZone
    /// Counts words; nil where there is no dictionary, and then the seed chooses.
    let words: WordCounter?
    /// The texts of posts of others that the mirror knows, of those that are asked for.
    let answered: @Sendable ([PostID]) async throws -> [PostID: String]

    /// An old reply that may be sent.
    private struct Usable {
        let post: Post
        let wording: Action.Wording
    }

    /// How near a reply is to the mention.
    private struct Nearness {
        var likeness = 0.0
        var common: [String] = []
        var isByAnswered = false
    }

    /// Chooses one of the human's old replies to the author of a mention.
    ///
    /// - Parameters:
    ///   - mention: The post to answer.
    ///   - accounts: All accounts of its author.
    ///   - now: The time from which the past is counted.
    /// - Returns: What to say and why, or why nothing is to be said.
    /// - Throws: The store's error, or `NetworkError` where the limits of the bot's server are not known.
    func reply(
        to mention: ObservedPost, _ accounts: [AccountID], now: Date
    ) async throws -> Result<(Action.Wording, Explanation?), Refusal> {
        let past = try await archive.replies(to: mention.author.id)
        guard !past.isEmpty else { return .failure(try await refusalOfStranger(mention.author.id, accounts)) }
        let (usable, refusals) = try await usable(among: past, for: mention)
        let filter = try await filter(for: mention, accounts)
        let near = try await nearness(of: usable, among: past, to: mention)
        let uses = try await store.usesOfReplies(to: accounts)
        var candidates: [ReplyCandidate] = []
        for (index, reply) in usable.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let use = uses[reply.post.id]
            candidates.append(
                ReplyCandidate(
                    id: reply.post.id, textKey: TextRules.textKey(reply.wording.text), lastUsed: use?.last,
                    isInFlight: use?.isInFlight ?? false, isPlain: filter.passes(reply.post),
                    likeness: near[reply.post.id]?.likeness ?? 0))
        }
        let choice = ReplyChooser().choose(
            from: candidates, mirror: configuration.mirror, mention: mention.post.id, now: now)
        guard let choice, let chosen = usable.first(where: { $0.post.id == choice.id }) else {
            return .failure(ReplyChooser.refusal(ofAll: past.count, refused: refusals))
        }
        return .success((chosen.wording, explanation(choice, near[choice.id] ?? Nearness())))
    }

    private func explanation(_ choice: ReplyChoice, _ near: Nearness) -> Explanation {
        // Signs and small words are told only where nothing else met.
        let telling = near.common.filter { !SmallFeatures.contains($0) }
        let reply = Explanation.OldReply(
            replies: choice.poolSize, plain: choice.plain, nearest: choice.nearest, likeness: near.likeness,
            words: words != nil ? Array((telling.isEmpty ? near.common : telling).prefix(Self.wordsNoted)) : nil,
            isByAnswered: near.isByAnswered)
        var explanation = Explanation(reply.sentence, pool: choice.poolSize)
        explanation.oldReply = reply
        return explanation
    }

    // MARK: Which may be sent

    private func usable(
        among past: [Post], for mention: ObservedPost
    ) async throws -> (usable: [Usable], refusals: [Refusal]) {
        let rules = TextRules(
            configuration, limits: try await network.limits(),
            repliesNameThePerson: network.capabilities.replyNeedsMention)
        let unwanted = try await archive.unwanted(in: zone)
        var (usable, refusals): ([Usable], [Refusal]) = ([], [])
        for (index, post) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            if let reason = unwanted.reason(against: post, key: rules.neverKey(of: post)) {
                if let muted = Refusal.Reason(rawValue: reason) { refusals.append(Refusal(muted)) }
                continue
            }
            switch rules.replyText(for: post, to: mention.author.handle) {
            case .success(let text):
                let wording = Action.Wording(
                    source: post.id, text: text, language: post.language,
                    visibility: mention.post.visibility.ofRepetition, warning: rules.warning(of: post))
                usable.append(Usable(post: post, wording: wording))
            case .failure(let refusal): refusals.append(refusal)
            }
        }
        return (usable, refusals)
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

    // MARK: Which one fits

    private func filter(for mention: ObservedPost, _ accounts: [AccountID]) async throws -> ReplyFilter {
        var names = [mention.author.handle, mention.author.displayName]
        for account in accounts {
            if account.network.traits.namesAreIdentities { names.append(account.value) }
            if let handle = try await people.person(account)?.handle { names.append(handle) }
        }
        return ReplyFilter(answering: accounts, called: names, known: try await people.knownNames())
    }

    /// How near replies are to a mention, by their words or, where it is known, by what they once answered.
    ///
    /// How much a word says is told by all old replies to the person.
    private func nearness(
        of usable: [Usable], among past: [Post], to mention: ObservedPost
    ) async throws -> [PostID: Nearness] {
        guard let words else { return [:] }
        var counted: [PostID: WordLikeness.Words] = [:]
        for (index, post) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            counted[post.id] = words.words(of: post.text)
        }
        let likeness = WordLikeness(counted.values)
        let asked = likeness.vector(words.words(of: mention.post.text))
        let answered = try await answered(usable.compactMap(\.post.replyTo?.post))
        var near: [PostID: Nearness] = [:]
        for reply in usable {
            let known = reply.post.replyTo?.post.flatMap { answered[$0] }
            let compared = known.map(words.words(of:)) ?? counted[reply.post.id] ?? [:]
            let (value, common) = WordLikeness.compare(asked, likeness.vector(compared))
            if value > 0 || known != nil {
                near[reply.post.id] = Nearness(likeness: value, common: common, isByAnswered: known != nil)
            }
        }
        return near
    }
}

extension Explanation.OldReply {
    /// How the reply was chosen, for people.
    var sentence: String { "\(pool); \(reason)" }

    private var pool: String {
        guard replies > 1 else { return "the only old reply to this person that may be sent now" }
        return switch plain {
        case 0: "of \(replies) old replies to this person, none is short without asking something or naming somebody"
        case replies: "all \(replies) old replies to this person are short, ask nothing and name nobody"
        case 1: "of \(replies) old replies to this person, one is short, asks nothing and names nobody"
        default: "of \(replies) old replies to this person, \(plain) are short, ask nothing and name nobody"
        }
    }

    private var reason: String {
        let isDrawn = nearest > 1
        guard let words else { return isDrawn ? "one was drawn" : "nothing was compared" }
        guard !words.isEmpty else {
            return isDrawn
                ? "none shares a word with the mention, so one was drawn" : "it shares no word with the mention"
        }
        let subject = replies > 1 ? "this one" : "it"
        let quoted = words.map { "'\($0)'" }.joined(separator: ", ")
        let shared =
            "\(subject) \(isByAnswered ? "once answered a post that shares" : "shares") \(quoted) with the mention"
        return isDrawn ? "\(shared) and was drawn among \(nearest) that are as near" : shared
    }
}

extension People {
    /// The handles that are no words of a plain reply: those that are small words besides say nothing.
    package func knownNames() async throws -> ReplyFilter.KnownNames {
        ReplyFilter.KnownNames(try await names().filter { !SmallFeatures.contains($0.lowercased()) })
    }
}

extension HumanMirror {
    /// Finds what to answer mentions with.
    ///
    /// - Parameters:
    ///   - network: The bot's network.
    ///   - zone: The human's time zone.
    ///   - store: Where decisions are kept.
    /// - Returns: The finder; without a dictionary it compares nothing.
    package func replyFinder(on network: any SocialNetwork, zone: TimeZone, store: OutboxStore) -> ReplyFinder {
        ReplyFinder(
            archive: archive, people: people, store: store, network: network, configuration: configuration, zone: zone,
            words: (try? installation.tokenizer()).map(WordCounter.init),
            answered: { [storage, name] in try await Favorites.texts(of: $0, learnedBy: name, in: storage) })
    }
}
