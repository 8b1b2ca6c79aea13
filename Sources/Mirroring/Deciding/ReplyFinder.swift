package import Archive
package import Conduct
package import Favorites
import Foundation
import Localization
import MeCab
package import Networks
import Outbox
import Posts
import Settings
import Storage

/// Finds the old reply that answers a mention: among the replies to the same person, the one with
/// the highest `ReplyScore`.
package struct ReplyFinder: Sendable {
    /// Replies that are prepared before other tasks may run.
    private static let portion = 50
    /// Common words that are stored with a choice.
    private static let wordsNoted = 5

    let network: any SocialNetwork
    let configuration: MirrorSettings
    /// Counts words; nil without a dictionary, and then only the kinds of text are compared.
    let words: WordCounter?
    let habits: KeptHabits

    /// A snapshot of the database's facts about old replies to some people.
    struct Facts: Sendable {
        fileprivate var replies: [AccountID: [Archive.PastReply]] = [:]
        fileprivate var unwanted: Unwanted?
        fileprivate var names = ReplyFilter.KnownNames([])
        /// The networks where the human answered others; read only if the human never answered the
        /// author.
        fileprivate var networks: Set<NetworkName> = []
        /// The human's newest replies to anybody.
        fileprivate var newest: [Archive.PastReply] = []
        /// The least score of a likely reply; nil until it was measured.
        fileprivate var threshold: Double?

        init() {}
    }

    /// A reply that was chosen.
    struct Choice: Sendable {
        let wording: Action.Wording
        let explanation: Explanation
        let source: Archive.Original
        /// The reason why the reply probably does not fit; nil if it probably does.
        let doubt: Refusal?
    }

    /// An old reply that may be sent.
    private struct Usable {
        let past: Archive.PastReply
        let wording: Action.Wording

        var post: Post { past.original.post }
    }

    /// Reads the old replies to some accounts.
    ///
    /// - Throws: The store's error.
    func read(
        about accounts: [AccountID], _ circumstances: Archive.Circumstances,
        on connection: any StorageConnection
    ) throws -> Facts {
        let mirror = configuration.mirror
        var facts = Facts()
        facts.unwanted = Unwanted(circumstances)
        facts.replies = try Archive.replies(
            to: accounts, answered: Favorites.textOfAnswered, of: mirror, on: connection)
        if !facts.replies.isEmpty {
            facts.names = .init(withoutFunctionWords: try People.names(in: mirror, on: connection))
            facts.newest = try Archive.newestReplies(
                ReplyHabits.mostReplies, answered: Favorites.textOfAnswered, of: mirror,
                on: connection)
            facts.threshold = try ReplyMeasure.kept(of: mirror, on: connection)?.threshold
        }
        if accounts.contains(where: { facts.replies[$0] == nil }) {
            facts.networks = try Archive.networksOfReplies(of: mirror, on: connection)
        }
        return facts
    }

    /// Chooses one of the human's old replies to the author of a mention.
    ///
    /// - Parameters:
    ///   - mention: The post to answer.
    ///   - author: The stored data about the author.
    ///   - facts: The old replies to all accounts of the author.
    ///   - uses: The earlier uses of old replies for the author.
    ///   - note: A line to publish below the reply if there is room; nil for none.
    ///   - now: The time from which the past is counted.
    /// - Returns: The reply and its explanation, or the reason why there is none.
    /// - Throws: `NetworkError` if the limits of the bot's server are not known.
    func reply(
        to mention: ObservedPost, by author: People.Acquaintance?, _ facts: Facts,
        uses: [PostID: ReplyUse],
        note: String? = nil, now: Date
    ) async throws -> Result<Choice, Refusal> {
        let accounts = author?.accounts ?? [mention.author.id]
        let past = accounts.flatMap { facts.replies[$0] ?? [] }
            .sorted {
                ($0.post.createdAt, $0.post.id.value) > ($1.post.createdAt, $1.post.id.value)
            }
        guard !past.isEmpty else { return .failure(refusalOfStranger(accounts, facts)) }
        let (usable, refusals) = try await usable(among: past, for: mention, facts.unwanted)
        let filter = filter(for: mention, accounts, called: author?.handles ?? [], facts)
        let scores = await scores(of: usable, among: past, for: mention, facts)
        var candidates: [ReplyCandidate] = []
        for (index, reply) in usable.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let use = uses[reply.post.id]
            candidates.append(
                ReplyCandidate(
                    id: reply.post.id, textKey: TextRules.textKey(reply.wording.text),
                    lastUsed: use?.last,
                    isInFlight: use?.isInFlight ?? false, isPlain: filter.passes(reply.post),
                    score: scores[reply.post.id]?.score ?? ReplyScore()))
        }
        let choice = ReplyChooser().choose(
            from: candidates, mirror: configuration.mirror, mention: mention.post.id, now: now)
        guard let choice, let chosen = usable.first(where: { $0.post.id == choice.id }) else {
            return .failure(ReplyChooser.refusal(ofAll: past.count, refused: refusals))
        }
        let scored = scores[choice.id] ?? ReplyScorer.Scored()
        let reply = oldReply(choice, scored)
        let sentence = StoredText.inEnglish { reply.sentence }
        var explanation = Explanation(sentence, pool: choice.poolSize)
        explanation.oldReply = reply
        let isDoubtful = scored.score.isDoubtful(below: facts.threshold)
        var wording = chosen.wording
        let rules = try await rules()
        if let note, rules.hasRoom(for: note, below: wording.text, warning: wording.warning) {
            wording.note = note
        }
        return .success(
            Choice(
                wording: wording, explanation: explanation, source: chosen.past.original,
                doubt: isDoubtful ? Refusal(.unlikelyReply, reply.doubt) : nil))
    }

    private func oldReply(_ choice: ReplyChoice, _ scored: ReplyScorer.Scored)
        -> Explanation.OldReply
    {
        var reply = Explanation.OldReply(
            replies: choice.poolSize, plain: choice.plainCount, nearest: choice.nearestCount,
            likeness: scored.score.words,
            words: words != nil ? Array(scored.common.prefix(Self.wordsNoted)) : nil,
            isByAnswered: scored.isByAnswered)
        reply.score = Explanation.OldReply.Score(
            kind: scored.score.kind, centre: scored.score.centre, total: scored.score.total,
            mention: scored.score.kinds?.mention.rawValue,
            reply: scored.score.kinds?.reply.rawValue,
            largest: scored.score.largest?.rawValue)
        return reply
    }

    // MARK: Which may be sent

    private func rules() async throws -> TextRules {
        TextRules(
            configuration, limits: try await network.limits(),
            repliesNameThePerson: network.capabilities.replyNeedsMention)
    }

    private func usable(
        among past: [Archive.PastReply], for mention: ObservedPost, _ unwanted: Unwanted?
    ) async throws -> (usable: [Usable], refusals: [Refusal]) {
        let rules = try await rules()
        var usable: [Usable] = []
        var refusals: [Refusal] = []
        for (index, reply) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let post = reply.post
            if let reason = unwanted?.reason(against: post, key: rules.neverKey(of: post)) {
                if let muted = Refusal.Reason(rawValue: reason.rawValue) {
                    refusals.append(Refusal(muted))
                }
                continue
            }
            switch rules.replyText(for: post, to: mention.author.handle) {
            case .success(let text):
                let wording = Action.Wording(
                    source: post.id, text: text, language: post.language,
                    visibility: mention.post.visibility.ofRepetition,
                    warning: rules.warning(of: post))
                usable.append(Usable(past: reply, wording: wording))
            case .failure(let refusal): refusals.append(refusal)
            }
        }
        return (usable, refusals)
    }

    /// The reason why there is no reply for a person whom the human never answered.
    ///
    /// Accounts on different networks belong to the same person only if the operator linked them.
    private func refusalOfStranger(_ accounts: [AccountID], _ facts: Facts) -> Refusal {
        guard accounts.count == 1 else { return Refusal(.noPastReply) }
        let elsewhere = facts.networks.subtracting(accounts.map(\.network))
        guard !elsewhere.isEmpty else { return Refusal(.noPastReply) }
        let names = elsewhere.map(\.displayName).sorted().joined(by: .and)
        return Refusal(
            .notLinked,
            localized(
                """
                the human answered people on \(names); if this is one of them, link the two accounts with \
                mirror-bot people link
                """))
    }

    // MARK: Which one fits

    private func filter(
        for mention: ObservedPost, _ accounts: [AccountID], called handles: [String], _ facts: Facts
    ) -> ReplyFilter {
        let identities = accounts.filter(\.network.traits.namesAreIdentities).map(\.value)
        let names = [mention.author.handle, mention.author.displayName] + identities + handles
        return ReplyFilter(answering: accounts, called: names, known: facts.names)
    }

    private func scores(
        of usable: [Usable], among past: [Archive.PastReply], for mention: ObservedPost,
        _ facts: Facts
    ) async -> [PostID: ReplyScorer.Scored] {
        let idsToScore = Set(usable.map(\.post.id))
        func counted(_ text: String) -> WordLikeness.Words { words?.words(of: text) ?? [:] }
        var replies: [ReplyScorer.Reply] = []
        for (index, reply) in past.enumerated() {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let post = reply.post
            let isScored = idsToScore.contains(post.id)
            let text = ReplyScorer.Text(
                post.text, language: post.language, words: counted(post.text))
            let answered = isScored && words != nil ? reply.answered.map(counted) : nil
            replies.append(ReplyScorer.Reply(post.id, text, answered: answered, isScored: isScored))
        }
        let mentionText = ReplyScorer.Text(
            mention.post.text, language: mention.post.language, words: counted(mention.post.text))
        let humanHabits = habits.habits(
            of: facts.newest, in: configuration.mirror, words: words)
        return await ReplyScorer(habits: humanHabits).scores(of: replies, for: mentionText)
    }
}

extension Explanation.OldReply {
    /// The reasons for the choice of the reply, as a sentence for people.
    package var sentence: String { localized("\(pool); \(reason)") }

    private var pool: String {
        guard replies > 1 else {
            return localized("the only old reply to this person that may be sent now")
        }
        return switch plain {
        case 0:
            localized(
                "of \(replies) old replies to this person, none is short without asking something or naming somebody"
            )
        case replies:
            localized(
                "all \(replies) old replies to this person are short, ask nothing and name nobody")
        case 1:
            localized(
                "of \(replies) old replies to this person, one is short, asks nothing and names nobody"
            )
        default:
            localized(
                "of \(replies) old replies to this person, \(plain) are short, ask nothing and name nobody"
            )
        }
    }

    private var reason: String {
        let isDrawn = nearest > 1
        guard let likeness = likenessInWords else {
            guard let words, words.isEmpty else {
                return isDrawn ? localized("one was drawn") : localized("nothing was compared")
            }
            return isDrawn
                ? localized("none shares a word with the mention, so one was drawn")
                : localized("it shares no word with the mention")
        }
        return isDrawn
            ? localized("\(likeness) and was drawn among \(nearest) that are as near") : likeness
    }

    /// The clause that says how the reply resembles the mention, or a usual answer to it; nil if it
    /// resembles neither.
    private var likenessInWords: String? {
        switch score?.largest.flatMap(ReplyScore.Part.init) {
        case .kind:
            if let kinds {
                return localized(
                    "\(kinds.mention), and \(kinds.reply) is a usual answer to that")
            }
        case .centre:
            return replies > 1
                ? localized("this one is most like what the human usually answers")
                : localized("it is most like what the human usually answers")
        case .words, nil: break
        }
        guard let words, !words.isEmpty else { return nil }
        let quoted = words.map { localized("'\($0)'") }.joined(by: .comma)
        return switch (replies > 1, isByAnswered) {
        case (true, true):
            localized("this one once answered a post that shares \(quoted) with the mention")
        case (true, false): localized("this one shares \(quoted) with the mention")
        case (false, true):
            localized("it once answered a post that shares \(quoted) with the mention")
        case (false, false): localized("it shares \(quoted) with the mention")
        }
    }

    /// Why the reply hardly fits, for people.
    var doubt: String {
        let best =
            replies > 1
            ? localized("the best of \(replies) old replies to this person hardly fits")
            : localized("the only old reply to this person that may be sent now hardly fits")
        guard let kinds, (score?.kind ?? 0) < 0 else { return best }
        return localized(
            "\(best): \(kinds.mention), and \(kinds.reply) is no usual answer to that")
    }

    /// The kinds of mention and reply in words; nil if they are not known.
    private var kinds: (mention: String, reply: String)? {
        guard let mention = score?.mention.flatMap(ReplyKinds.Mention.init),
            let reply = score?.reply.flatMap(ReplyKinds.Reply.init)
        else { return nil }
        return (mention.inWords, reply.inWords)
    }
}

extension ReplyKinds.Mention {
    fileprivate var inWords: String {
        switch self {
        case .thanks: localized("the mention says thanks")
        case .greeting: localized("the mention is a greeting")
        case .sorry: localized("the mention is an apology")
        case .yesNoQuestion: localized("the mention asks a yes-or-no question")
        case .whQuestion: localized("the mention asks an open question")
        case .acknowledgement: localized("the mention agrees or takes note")
        case .request: localized("the mention asks for something")
        case .statement: localized("the mention tells something")
        }
    }
}

extension ReplyKinds.Reply {
    fileprivate var inWords: String {
        switch self {
        case .welcome: localized("\"you are welcome\"")
        case .thanks: localized("thanks")
        case .greeting: localized("a greeting")
        case .yes: localized("a yes")
        case .no: localized("a no")
        case .acknowledgement: localized("agreeing or taking note")
        case .sorry: localized("an apology")
        case .other: localized("a reply of no special kind")
        }
    }
}

extension People {
    /// The known handles without those that are also function words, which occur in plain replies
    /// by chance.
    package func knownNames() async throws -> ReplyFilter.KnownNames {
        ReplyFilter.KnownNames(withoutFunctionWords: try await names())
    }
}

extension ReplyFilter.KnownNames {
    /// Keeps the handles that are not function words.
    package init(withoutFunctionWords names: Set<String>) {
        self.init(names.filter { !SmallFeatures.contains($0.lowercased()) })
    }
}

extension Archive.PastReply {
    fileprivate var post: Post { original.post }
}

extension HumanMirror {
    /// Creates the finder of old replies.
    ///
    /// - Parameter network: The bot's network.
    /// - Returns: The finder; without a dictionary it compares no words.
    package func replyFinder(on network: any SocialNetwork) -> ReplyFinder {
        ReplyFinder(
            network: network, configuration: configuration, words: wordCounter,
            habits: installation.replyHabits)
    }

    /// The counter of the words by which replies are compared; nil if there is no dictionary, and
    /// then no words are compared.
    package var wordCounter: WordCounter? { (try? installation.tokenizer()).map(WordCounter.init) }
}
