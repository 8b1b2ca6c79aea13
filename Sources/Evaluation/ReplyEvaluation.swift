import Archive
import Conduct
import Favorites
import Foundation
import Mirroring
import Posts

/// Measures how often the chosen reply is the human's own, on the last fifth of their replies.
///
/// The replies before the last fifth are learned. For each later reply whose mention is known, all
/// earlier replies to the same person compete with the true one, whose own mention is hidden from
/// the model.
struct ReplyEvaluation: Sendable {
    /// With fewer replies there is no measure.
    static let fewestAnswers = 10
    /// With fewer replies of known kinds no threshold is computed.
    static let fewestForThreshold = 50
    /// The most replies that are tested, the newest ones.
    private static let mostAnswers = 300
    /// The most competing replies to a person, the newest ones.
    static let mostCandidates = 500
    /// The largest share of replies that the threshold may hold back.
    private static let mostHeld = 0.9

    /// Counts words; nil without a dictionary.
    let words: WordCounter?
    let known: ReplyFilter.KnownNames
    let mirror: String

    /// One of the human's replies with its words.
    struct Known: Sendable {
        let past: Archive.PastReply
        let text: ReplyScorer.Text
        let answered: WordLikeness.Words?

        var post: Post { past.original.post }
        var person: AccountID? { past.original.post.replyTo?.author }

        /// The reply as a sample of the human's habits.
        var habit: ReplyHabits.Reply {
            ReplyHabits.Reply(
                id: post.id, text: post.text, language: post.language, words: text.words,
                answered: past.answered)
        }

        /// The mention that it answered; nil if unknown.
        var mention: ReplyScorer.Text? {
            // The language tag of the answered post is not stored.
            past.answered.map {
                ReplyScorer.Text($0, language: post.language, words: answered ?? [:])
            }
        }
    }

    /// Old replies to a person that compete for answering a mention, and which one is chosen.
    struct Contest {
        let candidates: [ReplyCandidate]
        let choice: ReplyChoice?

        /// The candidate that was chosen; nil if none was.
        var chosen: ReplyCandidate? {
            choice.flatMap { choice in candidates.first { $0.id == choice.id } }
        }
    }

    /// The outcome of one answer.
    struct Outcome: Sendable {
        /// The score of the chosen reply.
        let score: Double
        let isSame: Bool
        /// Whether the chosen reply has the kind of the true one; nil if the kinds are unknown.
        let isOfKind: Bool?
        /// The expected results of a random choice among the candidates.
        let sameByChance: Double
        let sameKindByChance: Double

        var isRight: Bool { isSame || isOfKind == true }
    }

    /// Returns the measure; nil if too few answered mentions are known.
    ///
    /// - Parameter replies: The human's replies to others, newest first.
    func measure(_ replies: [Archive.PastReply], now: Date) async -> ReplyMeasure? {
        let ordered = replies.reversed().map(prepared)
        let answers = ordered.indices.filter { ordered[$0].past.answered != nil }
        let tested = answers.dropFirst(answers.count * 4 / 5).suffix(Self.mostAnswers)
        guard let first = tested.first, tested.count >= Self.fewestAnswers else { return nil }
        let scorer = ReplyScorer(
            habits: ReplyHabits(ordered[..<first].suffix(ReplyHabits.longest).map(\.habit)))
        var earlier: [AccountID: [Known]] = [:]
        for reply in ordered[..<first] {
            if let person = reply.person { earlier[person, default: []].append(reply) }
        }
        var outcomes: [Outcome] = []
        let places = Set(tested)
        for index in first..<ordered.endIndex {
            guard let person = ordered[index].person else { continue }
            let competitors = earlier[person, default: []].suffix(Self.mostCandidates)
            if places.contains(index), !competitors.isEmpty,
                let outcome = await outcome(
                    of: ordered[index], among: Array(competitors), by: person, scorer)
            {
                outcomes.append(outcome)
            }
            earlier[person, default: []].append(ordered[index])
        }
        guard outcomes.count >= Self.fewestAnswers else { return nil }
        return Self.measure(of: outcomes, now: now)
    }

    /// Counts the words of a reply and of the mention that it answered.
    func prepared(_ past: Archive.PastReply) -> Known {
        let post = past.original.post
        return Known(
            past: past,
            text: ReplyScorer.Text(
                post.text, language: post.language, words: words?.words(of: post.text) ?? [:]),
            answered: words.flatMap { words in past.answered.map(words.words(of:)) })
    }

    private func outcome(
        of truth: Known, among competitors: [Known], by person: AccountID, _ scorer: ReplyScorer
    ) async -> Outcome? {
        guard let mention = truth.mention else { return nil }
        let contest = await contest(
            among: competitors + [truth], for: mention, truth.post.id, by: person, scorer,
            isKnown: { $0.post.id != truth.post.id })
        let candidates = contest.candidates
        guard let chosen = contest.chosen,
            let own = candidates.first(where: { $0.id == truth.post.id })
        else { return nil }
        let plain = candidates.filter(\.isPlain)
        let competing = plain.isEmpty ? candidates : plain
        let kind = own.score.kinds?.reply
        var isOfKind: Bool?
        var sameKind = 0
        if let kind, let chosenKind = chosen.score.kinds?.reply {
            isOfKind = chosenKind == kind
            sameKind = competing.count { $0.score.kinds?.reply == kind }
        }
        let same = competing.count { $0.textKey == own.textKey }
        return Outcome(
            score: chosen.score.total, isSame: chosen.textKey == own.textKey, isOfKind: isOfKind,
            sameByChance: Double(same) / Double(competing.count),
            sameKindByChance: Double(sameKind) / Double(competing.count))
    }

    /// Lets old replies to a person compete for answering a mention, as a mirror does.
    ///
    /// - Parameters:
    ///   - replies: The replies, whose scores depend on one another.
    ///   - mention: The mention to answer.
    ///   - id: The id of the mention.
    ///   - person: The author of the mention.
    ///   - uses: When the bot last sent one of the replies to the person.
    ///   - now: The time from which the uses are counted.
    ///   - isKnown: Whether the mention that a reply once answered is known.
    /// - Returns: The replies with their scores, and the choice.
    func contest(
        among replies: [Known], for mention: ReplyScorer.Text, _ id: PostID, by person: AccountID,
        _ scorer: ReplyScorer, uses: [PostID: Date] = [:], now: Date = .distantPast,
        isKnown: (Known) -> Bool = { _ in true }
    ) async -> Contest {
        let scores = await scorer.scores(
            of: replies.map { reply in
                ReplyScorer.Reply(
                    reply.post.id, reply.text, answered: isKnown(reply) ? reply.answered : nil)
            }, for: mention)
        let names = person.network.traits.namesAreIdentities ? [person.value] : []
        let filter = ReplyFilter(answering: [person], called: names, known: known)
        let candidates = replies.map { reply in
            ReplyCandidate(
                id: reply.post.id, textKey: TextRules.textKey(reply.post.text),
                lastUsed: uses[reply.post.id],
                isPlain: filter.passes(reply.post),
                score: scores[reply.post.id]?.score ?? ReplyScore())
        }
        let choice = ReplyChooser().choose(from: candidates, mirror: mirror, mention: id, now: now)
        return Contest(candidates: candidates, choice: choice)
    }

    private static func measure(of outcomes: [Outcome], now: Date) -> ReplyMeasure {
        let kindKnown = outcomes.filter { $0.isOfKind != nil }
        let threshold = threshold(kindKnown)
        let held = kindKnown.count { $0.score < threshold ?? -.infinity }
        return ReplyMeasure(
            measured: now, answers: outcomes.count, same: outcomes.count { $0.isSame },
            sameByChance: outcomes.map(\.sameByChance).reduce(0, +), kindKnown: kindKnown.count,
            sameKind: kindKnown.count { $0.isOfKind == true },
            sameKindByChance: kindKnown.map(\.sameKindByChance).reduce(0, +), threshold: threshold,
            held: held)
    }

    /// Returns the threshold that maximizes the number of right replies minus that of wrong ones.
    ///
    /// A right reply counts 1, a wrong one -1, none 0. A tie is won by the lowest threshold, which
    /// holds back the fewest.
    ///
    /// - Returns: The threshold; nil with too few outcomes.
    static func threshold(_ outcomes: [Outcome]) -> Double? {
        guard outcomes.count >= fewestForThreshold else { return nil }
        let ordered = outcomes.sorted { $0.score < $1.score }
        let most = Int(Double(ordered.count) * mostHeld)
        var gain = 0
        var best: (gain: Int, threshold: Double)?
        for index in ordered.indices.reversed() {
            gain += ordered[index].isRight ? 1 : -1
            // Replies of the same score are held back together.
            guard index <= most, index == 0 || ordered[index - 1].score < ordered[index].score
            else { continue }
            if gain >= best?.gain ?? .min { best = (gain, ordered[index].score) }
        }
        return best?.threshold
    }
}
