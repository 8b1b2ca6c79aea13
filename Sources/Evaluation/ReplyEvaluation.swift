import Archive
import Conduct
import Favorites
import Foundation
import Mirroring
import Posts

/// Measures how often the reply that a mirror chooses is the one that the human wrote, on the last
/// fifth of the human's replies.
///
/// The replies before the last fifth are learned. For each later reply whose mention is known, all
/// earlier replies to the same person compete with the reply that the human wrote; the model does
/// not see that this reply belongs to the mention.
struct ReplyEvaluation: Sendable {
    /// The minimum number of tested replies.
    static let fewestAnswers = 10
    /// The minimum number of replies of known kinds for choosing a threshold.
    static let fewestForThreshold = 50
    /// The maximum number of replies that are tested; the newest are preferred.
    private static let maximumAnswers = 300
    /// The maximum number of replies to a person that compete; the newest are preferred.
    static let mostCandidates = 500
    /// The largest share of replies that the threshold may hold back.
    private static let largestShareHeld = 0.9

    /// The counter of words; nil without a dictionary.
    let words: WordCounter?
    let known: ReplyFilter.KnownNames
    let mirror: String

    /// One of the human's replies with its words.
    struct ReplyWithWords: Sendable {
        let past: Archive.PastReply
        let text: ReplyScorer.Text
        /// The words of the mention that the reply answered; nil if they are unknown.
        let answeredWords: WordLikeness.Words?

        var post: Post { past.original.post }
        var person: AccountID? { past.original.post.replyTo?.author }

        /// The reply as a sample of the human's habits.
        var habit: ReplyHabits.Reply {
            ReplyHabits.Reply(
                id: post.id, text: post.text, language: post.language, words: text.words,
                answered: past.answered)
        }

        /// The mention that the reply answered; nil if unknown.
        var mention: ReplyScorer.Text? {
            // The language tag of the answered post is not stored.
            past.answered.map {
                ReplyScorer.Text($0, language: post.language, words: answeredWords ?? [:])
            }
        }
    }

    /// The old replies to a person that compete for answering a mention, and the one that is
    /// chosen.
    struct Contest {
        let candidates: [ReplyCandidate]
        let choice: ReplyChoice?

        /// The candidate that was chosen; nil if there is none.
        var chosen: ReplyCandidate? {
            choice.flatMap { choice in candidates.first { $0.id == choice.id } }
        }
    }

    /// The outcome of choosing one reply.
    struct Outcome: Sendable {
        /// The score of the chosen reply.
        let score: Double
        /// Whether the chosen reply has the text that the human wrote.
        let isSame: Bool
        /// Whether the chosen reply is of the same kind as the human's; nil if a kind is unknown.
        let isOfSameKind: Bool?
        /// The probability that a random choice among the candidates has the human's text.
        let sameByChance: Double
        /// The probability that a random choice among the candidates has the kind of the human's
        /// reply.
        let sameKindByChance: Double

        /// Whether the chosen reply has the human's text, or is of the same kind as the human's
        /// reply.
        var isRight: Bool { isSame || isOfSameKind == true }
    }

    /// Returns the measure; nil if too few answered mentions are known.
    ///
    /// - Parameter replies: The human's replies to others, newest first.
    func measure(_ replies: [Archive.PastReply], now: Date) async -> ReplyMeasure? {
        let oldestFirst = replies.reversed().map(prepared)
        let indicesWithMention = oldestFirst.indices.filter { oldestFirst[$0].past.answered != nil }
        let lastFifth = indicesWithMention.dropFirst(indicesWithMention.count * 4 / 5)
        let tested = lastFifth.suffix(Self.maximumAnswers)
        guard let firstTested = tested.first, tested.count >= Self.fewestAnswers else { return nil }
        let scorer = ReplyScorer(
            habits: ReplyHabits(
                oldestFirst[..<firstTested].suffix(ReplyHabits.mostReplies).map(\.habit)))
        var earlierReplies: [AccountID: [ReplyWithWords]] = [:]
        for reply in oldestFirst[..<firstTested] {
            if let person = reply.person { earlierReplies[person, default: []].append(reply) }
        }
        var outcomes: [Outcome] = []
        let testedIndices = Set(tested)
        for index in firstTested..<oldestFirst.endIndex {
            guard let person = oldestFirst[index].person else { continue }
            let competitors = earlierReplies[person, default: []].suffix(Self.mostCandidates)
            if testedIndices.contains(index), !competitors.isEmpty,
                let outcome = await outcome(
                    of: oldestFirst[index], among: Array(competitors), by: person, scorer: scorer)
            {
                outcomes.append(outcome)
            }
            earlierReplies[person, default: []].append(oldestFirst[index])
        }
        guard outcomes.count >= Self.fewestAnswers else { return nil }
        return Self.measure(of: outcomes, now: now)
    }

    /// Counts the words of a reply and of the mention that it answered.
    func prepared(_ past: Archive.PastReply) -> ReplyWithWords {
        let post = past.original.post
        return ReplyWithWords(
            past: past,
            text: ReplyScorer.Text(
                post.text, language: post.language, words: words?.words(of: post.text) ?? [:]),
            answeredWords: words.flatMap { words in past.answered.map(words.words(of:)) })
    }

    private func outcome(
        of trueReply: ReplyWithWords, among competitors: [ReplyWithWords], by person: AccountID,
        scorer: ReplyScorer
    ) async -> Outcome? {
        guard let mention = trueReply.mention else { return nil }
        let contest = await contest(
            among: competitors + [trueReply], for: mention, withID: trueReply.post.id, by: person,
            scorer: scorer,
            isKnown: { $0.post.id != trueReply.post.id })
        let candidates = contest.candidates
        guard let chosen = contest.chosen,
            let trueCandidate = candidates.first(where: { $0.id == trueReply.post.id })
        else { return nil }
        // The choice is made among the plain candidates if there are any.
        let plainCandidates = candidates.filter(\.isPlain)
        let competing = plainCandidates.isEmpty ? candidates : plainCandidates
        let trueKind = trueCandidate.score.kinds?.reply
        var isOfSameKind: Bool?
        var sameKinds = 0
        if let trueKind, let chosenKind = chosen.score.kinds?.reply {
            isOfSameKind = chosenKind == trueKind
            sameKinds = competing.count { $0.score.kinds?.reply == trueKind }
        }
        let sameTexts = competing.count { $0.textKey == trueCandidate.textKey }
        return Outcome(
            score: chosen.score.total, isSame: chosen.textKey == trueCandidate.textKey,
            isOfSameKind: isOfSameKind,
            sameByChance: Double(sameTexts) / Double(competing.count),
            sameKindByChance: Double(sameKinds) / Double(competing.count))
    }

    /// Lets old replies to a person compete for answering a mention, as a mirror does.
    ///
    /// - Parameters:
    ///   - replies: The replies, whose scores depend on one another.
    ///   - mention: The mention to answer.
    ///   - id: The id of the mention.
    ///   - person: The author of the mention.
    ///   - uses: For each reply that the bot has sent to the person, the time at which it last did
    ///     so.
    ///   - now: The time of the answer, which is after the times of `uses`.
    ///   - isKnown: Whether the model may use the mention that a reply answered.
    /// - Returns: The replies with their scores, and the choice.
    func contest(
        among replies: [ReplyWithWords], for mention: ReplyScorer.Text, withID id: PostID,
        by person: AccountID, scorer: ReplyScorer, uses: [PostID: Date] = [:],
        now: Date = .distantPast,
        isKnown: (ReplyWithWords) -> Bool = { _ in true }
    ) async -> Contest {
        let scores = await scorer.scores(
            of: replies.map { reply in
                ReplyScorer.Reply(
                    reply.post.id, reply.text, answered: isKnown(reply) ? reply.answeredWords : nil)
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
        let kindKnown = outcomes.filter { $0.isOfSameKind != nil }
        let threshold = threshold(for: kindKnown)
        let heldCount = kindKnown.count { $0.score < threshold ?? -.infinity }
        return ReplyMeasure(
            measured: now, answers: outcomes.count, same: outcomes.count { $0.isSame },
            sameByChance: outcomes.map(\.sameByChance).reduce(0, +), kindKnown: kindKnown.count,
            sameKind: kindKnown.count { $0.isOfSameKind == true },
            sameKindByChance: kindKnown.map(\.sameKindByChance).reduce(0, +), threshold: threshold,
            held: heldCount)
    }

    /// Returns the threshold that maximizes the number of right replies minus the number of wrong
    /// ones.
    ///
    /// A right reply counts 1, a wrong one -1, and one that is held back 0. Of two equally good
    /// thresholds the lower one is chosen, which holds back fewer replies.
    ///
    /// - Returns: The threshold; nil if there are too few outcomes.
    static func threshold(for outcomes: [Outcome]) -> Double? {
        guard outcomes.count >= fewestForThreshold else { return nil }
        let lowestFirst = outcomes.sorted { $0.score < $1.score }
        let maximumHeldBack = Int(Double(lowestFirst.count) * largestShareHeld)
        var gain = 0
        var best: (gain: Int, threshold: Double)?
        for index in lowestFirst.indices.reversed() {
            gain += lowestFirst[index].isRight ? 1 : -1
            // Replies of the same score are held back together.
            guard index <= maximumHeldBack,
                index == 0 || lowestFirst[index - 1].score < lowestFirst[index].score
            else { continue }
            if gain >= best?.gain ?? .min { best = (gain, lowestFirst[index].score) }
        }
        return best?.threshold
    }
}
