package import Archive
package import Conduct
import Favorites
import Foundation
import MeCab
package import Networks
import Outbox
import Posts
import Settings
import Storage

/// Finds the old reply that answers a mention: of those to the same person, the one nearest to it.
package struct ReplyFinder: Sendable {
    /// How many replies are prepared before other tasks may go on.
    private static let portion = 50
    /// How many common words are noted with a choice.
    private static let wordsNoted = 5

    let network: any SocialNetwork
    let configuration: MirrorSettings
    /// Counts words; nil where there is no dictionary, and then the seed chooses.
    let words: WordCounter?

    /// What the database tells about old replies to some people, at one moment.
    struct Facts: Sendable {
        fileprivate var replies: [AccountID: [Archive.PastReply]] = [:]
        fileprivate var unwanted: Unwanted?
        fileprivate var names = ReplyFilter.KnownNames([])
        /// Where the human answered others; read if there is nobody to whom they did.
        fileprivate var networks: Set<NetworkName> = []

        init() {}
    }

    /// A reply that was chosen.
    typealias Choice = (wording: Action.Wording, explanation: Explanation?, source: Archive.Original)

    /// An old reply that may be sent.
    private struct Usable {
        let past: Archive.PastReply
        let wording: Action.Wording

        var post: Post { past.original.post }
    }

    /// How near a reply is to the mention.
    private struct Nearness {
        var likeness = 0.0
        var common: [String] = []
        var isByAnswered = false
    }

    /// Reads what is known of old replies to some accounts.
    ///
    /// - Throws: The store's error.
    func read(
        about accounts: [AccountID], _ circumstances: Archive.Circumstances, on connection: any StorageConnection
    ) throws -> Facts {
        let mirror = configuration.mirror
        var facts = Facts()
        facts.unwanted = Unwanted(circumstances)
        facts.replies = try Archive.replies(
            to: accounts, answered: words == nil ? "NULL" : Favorites.textOfAnswered, of: mirror, on: connection)
        if !facts.replies.isEmpty { facts.names = .init(telling: try People.names(in: mirror, on: connection)) }
        if accounts.contains(where: { facts.replies[$0] == nil }) {
            facts.networks = try Archive.networksOfReplies(of: mirror, on: connection)
        }
        return facts
    }

    /// Chooses one of the human's old replies to the author of a mention.
    ///
    /// - Parameters:
    ///   - mention: The post to answer.
    ///   - author: What is known of its author.
    ///   - facts: What is known of old replies to all accounts of the author.
    ///   - uses: The earlier uses of old replies for the author.
    ///   - now: The time from which the past is counted.
    /// - Returns: What to say and why, or why nothing is to be said.
    /// - Throws: `NetworkError` where the limits of the bot's server are not known.
    func reply(
        to mention: ObservedPost, by author: People.Acquaintance?, _ facts: Facts, uses: [PostID: ReplyUse], now: Date
    ) async throws -> Result<Choice, Refusal> {
        let accounts = author?.accounts ?? [mention.author.id]
        let past = accounts.flatMap { facts.replies[$0] ?? [] }
            .sorted { ($0.post.createdAt, $0.post.id.value) > ($1.post.createdAt, $1.post.id.value) }
        guard !past.isEmpty else { return .failure(refusalOfStranger(accounts, facts)) }
        let (usable, refusals) = try await usable(among: past, for: mention, facts.unwanted)
        let filter = filter(for: mention, accounts, called: author?.handles ?? [], facts)
        let near = await nearness(of: usable, among: past, to: mention)
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
        return .success((chosen.wording, explanation(choice, near[choice.id] ?? Nearness()), chosen.past.original))
    }

    private func explanation(_ choice: ReplyChoice, _ near: Nearness) -> Explanation {
        // Small words are told only where nothing else met.
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
        among past: [Archive.PastReply], for mention: ObservedPost, _ unwanted: Unwanted?
    ) async throws -> (usable: [Usable], refusals: [Refusal]) {
        let rules = TextRules(
            configuration, limits: try await network.limits(),
            repliesNameThePerson: network.capabilities.replyNeedsMention)
        var (usable, refusals): ([Usable], [Refusal]) = ([], [])
        for (index, reply) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let post = reply.post
            if let reason = unwanted?.reason(against: post, key: rules.neverKey(of: post)) {
                if let muted = Refusal.Reason(rawValue: reason) { refusals.append(Refusal(muted)) }
                continue
            }
            switch rules.replyText(for: post, to: mention.author.handle) {
            case .success(let text):
                let wording = Action.Wording(
                    source: post.id, text: text, language: post.language,
                    visibility: mention.post.visibility.ofRepetition, warning: rules.warning(of: post))
                usable.append(Usable(past: reply, wording: wording))
            case .failure(let refusal): refusals.append(refusal)
            }
        }
        return (usable, refusals)
    }

    /// Why there is nothing to answer a person with whom the human never answered.
    ///
    /// Across networks people are the same only where the operator said so.
    private func refusalOfStranger(_ accounts: [AccountID], _ facts: Facts) -> Refusal {
        guard accounts.count == 1 else { return Refusal(.noPastReply) }
        let elsewhere = facts.networks.subtracting(accounts.map(\.network))
        guard !elsewhere.isEmpty else { return Refusal(.noPastReply) }
        let names = elsewhere.map(\.displayName).sorted().joined(separator: " and ")
        return Refusal(
            .notLinked,
            "the human answered people on \(names); if this is one of them, link the two accounts with "
                + "mirror-bot people link")
    }

    // MARK: Which one fits

    private func filter(
        for mention: ObservedPost, _ accounts: [AccountID], called handles: [String], _ facts: Facts
    ) -> ReplyFilter {
        let identities = accounts.filter(\.network.traits.namesAreIdentities).map(\.value)
        let names = [mention.author.handle, mention.author.displayName] + identities + handles
        return ReplyFilter(answering: accounts, called: names, known: facts.names)
    }

    /// How near replies are to a mention, by their words or, where it is known, by what they once answered.
    ///
    /// How much a word says is told by all old replies to the person.
    private func nearness(
        of usable: [Usable], among past: [Archive.PastReply], to mention: ObservedPost
    ) async -> [PostID: Nearness] {
        guard let words else { return [:] }
        var counted: [PostID: WordLikeness.Words] = [:]
        for (index, reply) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            counted[reply.post.id] = words.words(of: reply.post.text)
        }
        let likeness = WordLikeness(counted.values)
        let asked = likeness.vector(words.words(of: mention.post.text))
        var near: [PostID: Nearness] = [:]
        for reply in usable {
            let known = reply.past.answered
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
        ReplyFilter.KnownNames(telling: try await names())
    }
}

extension ReplyFilter.KnownNames {
    /// Those of some handles that say something.
    fileprivate init(telling names: Set<String>) {
        self.init(names.filter { !SmallFeatures.contains($0.lowercased()) })
    }
}

extension Archive.PastReply {
    fileprivate var post: Post { original.post }
}

extension HumanMirror {
    /// Finds what to answer mentions with.
    ///
    /// - Parameter network: The bot's network.
    /// - Returns: The finder; without a dictionary it compares nothing.
    package func replyFinder(on network: any SocialNetwork) -> ReplyFinder {
        ReplyFinder(
            network: network, configuration: configuration,
            words: (try? installation.tokenizer()).map(WordCounter.init))
    }
}
