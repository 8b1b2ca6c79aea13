import Archive
import Conduct
import Favorites
import Foundation
import Mirroring
import Posts
import Settings

/// The simulated replies of the year.
extension YearRehearsal {
    /// Simulates the mirror's replies to the mentions that the human answered in the year, based on
    /// the human's earlier replies.
    ///
    /// - Parameter file: A file with the texts of mentions that the mirror has not stored.
    func replies(
        in span: Span, file: LabelledFile?, silence: Silence
    ) async throws -> ScoreReport.Part<RehearsedReplies> {
        let all = try await knownReplies(file: file)
        let untilEnd = all.filter { $0.original.post.createdAt < span.end }
        let during = untilEnd.filter { $0.original.post.createdAt >= span.start }
        guard !during.isEmpty else {
            return .missing("the archive holds no reply of \(year) to anybody")
        }
        var contests = try await ReplyContests(
            self, past: untilEnd, silence: silence, from: span.start,
            // The names of people who were answered later are not known yet at this point.
            names: try await mirror.people.names().subtracting(all.compactMap(\.name)))
        guard !contests.simulatedIndices.isEmpty else {
            return .missing(
                "the answered post is known for none of the human's \(during.count) answers of \(year); a mirror keeps "
                    + "other people's posts for some months only, and --favorites FILE adds older ones"
            )
        }
        var simulated: [RehearsedReplies.Answer] = []
        for index in contests.simulatedIndices {
            try Task.checkCancellation()
            if let answer = await contests.answer(at: index) { simulated.append(answer) }
        }
        return .measured(RehearsedReplies(answers: during.count, simulated: simulated))
    }

    /// The human's replies to others, oldest first.
    private func knownReplies(file: LabelledFile?) async throws -> [Archive.PastReply] {
        let texts = Dictionary(
            (file?.posts ?? []).map { ($0.id.value, $0.example.text) },
            uniquingKeysWith: { first, _ in first })
        let replies = try await mirror.archive.newestReplies(
            mirror.configuration.archiveLimit, answered: Favorites.textOfAnswered)
        return replies.reversed().map { reply in
            let answered =
                reply.answered ?? reply.original.post.replyTo?.post.flatMap { texts[$0.value] }
            return Archive.PastReply(original: reply.original, answered: answered)
        }
    }
}

/// The human's replies to others.
///
/// For each reply in the year, this simulates the mirror's choice among the earlier replies.
private struct ReplyContests {
    /// The human's replies to others, oldest first.
    private let replies: [ReplyEvaluation.ReplyWithWords]
    private let evaluation: ReplyEvaluation
    /// The handles that are known when the year begins.
    private let names: Set<String>
    /// For each person answered, all accounts of that person.
    private let accounts: [AccountID: [AccountID]]
    /// For each account, the indices in ``replies`` of the replies to it.
    private let indicesByAccount: [AccountID: [Int]]
    /// The indices of the replies whose texts may not be sent.
    private let unusableIndices: Set<Int>
    /// The score below which a reply is doubtful, as measured at the beginning of the year.
    private let threshold: Double?
    private let mode: ReplyMode
    /// The indices of the year's replies that are simulated.
    let simulatedIndices: [Int]
    /// For each person, the replies that the bot has sent, with the last time of each.
    private var uses: [AccountID: [PostID: Date]] = [:]
    /// The habits that were counted last, and the number of replies from which they were counted.
    private var countedHabits: (count: Int, habits: ReplyHabits)?
    /// The number of replies after which the habits are counted again, which takes long.
    private static let repliesBetweenCounts = 25

    /// - Parameters:
    ///   - past: The human's replies to others until the end of the year, oldest first.
    ///   - silence: The posts whose texts are never sent.
    ///   - start: The beginning of the year.
    ///   - names: The known handles, without the handles of the people answered.
    init(
        _ rehearsal: YearRehearsal, past: [Archive.PastReply], silence: YearRehearsal.Silence,
        from start: Date,
        names: Set<String>
    ) async throws {
        let mirror = rehearsal.mirror
        let configuration = rehearsal.mirror.configuration
        self.names = names
        let before = past.prefix { $0.original.post.createdAt < start }
        evaluation = ReplyEvaluation(
            words: mirror.wordCounter,
            known: .init(withoutFunctionWords: names.union(before.compactMap(\.name))),
            mirror: rehearsal.livedName)
        threshold = await evaluation.measure(Array(before.reversed()), now: start)?.threshold
        mode = configuration.replyMode
        let replies = past.map(evaluation.prepared)
        self.replies = replies
        let rules = TextRules(
            configuration, limits: .usual(of: configuration.botNetwork), repliesNameThePerson: false
        )
        unusableIndices = Set(
            past.indices.filter { index in
                let post = past[index].original.post
                if silence.covers(post) { return true }
                guard case .failure = rules.replyText(for: post, to: "") else { return false }
                return true
            })
        var indicesByAccount: [AccountID: [Int]] = [:]
        for (index, reply) in replies.enumerated() {
            if let person = reply.person { indicesByAccount[person, default: []].append(index) }
        }
        self.indicesByAccount = indicesByAccount
        let indicesWithMention = replies.indices.filter { index in
            replies[index].post.createdAt >= start && replies[index].mention != nil
        }
        // A mirror answers nobody who is denied.
        let stances = try await mirror.people.stances(
            of: Array(Set(indicesWithMention.compactMap { replies[$0].person })))
        let simulatedIndices = indicesWithMention.filter { index in
            replies[index].person.map { stances[$0] } != .deny
        }
        self.simulatedIndices = simulatedIndices
        var accounts: [AccountID: [AccountID]] = [:]
        for person in Set(simulatedIndices.compactMap { replies[$0].person }) {
            accounts[person] = try await mirror.people.linked(to: person)
        }
        self.accounts = accounts
    }

    /// Returns the mirror's reply to the mention that one of the human's replies answered; `nil` if
    /// the mention is unknown.
    mutating func answer(at index: Int) async -> RehearsedReplies.Answer? {
        let trueReply = replies[index]
        guard let mention = trueReply.mention, let mentionText = trueReply.past.answered,
            let person = trueReply.person
        else {
            return nil
        }
        let habits = habits(before: index)
        let earlierIndices = (accounts[person] ?? [person]).flatMap { indicesByAccount[$0] ?? [] }
            .sorted()
            .filter { $0 < index && !unusableIndices.contains($0) }.suffix(
                ReplyEvaluation.mostCandidates)
        let knownNames = ReplyFilter.KnownNames(
            withoutFunctionWords: names.union(replies[..<index].compactMap(\.past.name)))
        let contest = await ReplyEvaluation(
            words: evaluation.words, known: knownNames, mirror: evaluation.mirror
        ).contest(
            among: earlierIndices.map { replies[$0] }, for: mention,
            withID: trueReply.post.replyTo?.post ?? trueReply.post.id, by: person,
            scorer: ReplyScorer(habits: habits), uses: uses[person] ?? [:],
            now: trueReply.post.createdAt)
        let chosen = contest.chosen
        let isDoubtful = chosen?.score.isDoubtful(below: threshold) == true
        // A doubtful reply is sent only in the mode `.all`.
        let isSent = chosen != nil && !(isDoubtful && mode != .all)
        if let chosen, isSent { uses[person, default: [:]][chosen.id] = trueReply.post.createdAt }
        let sent = isSent ? chosen : nil
        let sentIndex = sent.flatMap { sent in
            earlierIndices.first { replies[$0].post.id == sent.id }
        }
        return RehearsedReplies.Answer(
            time: trueReply.post.createdAt, mention: mentionText, human: trueReply.post.text,
            bot: sentIndex.map { replies[$0].post.text },
            isSame: sent?.textKey == TextRules.textKey(trueReply.post.text),
            isOfKind: sent.flatMap {
                Self.isOfSameKind($0, as: trueReply, to: mention, habits: habits)
            },
            isDoubtful: isDoubtful)
    }

    /// Returns the human's habits according to the newest replies before a reply.
    private mutating func habits(before index: Int) -> ReplyHabits {
        let count = index - index % Self.repliesBetweenCounts
        if let countedHabits, countedHabits.count == count { return countedHabits.habits }
        let computed = ReplyHabits(replies[..<count].suffix(ReplyHabits.mostReplies).map(\.habit))
        countedHabits = (count, computed)
        return computed
    }

    /// Whether a chosen reply is of the same kind as the human's; nil if a kind is unknown.
    private static func isOfSameKind(
        _ chosen: ReplyCandidate, as trueReply: ReplyEvaluation.ReplyWithWords,
        to mention: ReplyScorer.Text, habits: ReplyHabits
    ) -> Bool? {
        let mentionKind = habits.kind(ofMention: mention.text, language: mention.language)
        let trueKinds = habits.kinds(
            of: trueReply.post.text, language: trueReply.post.language, after: mentionKind)
        guard let trueKind = trueKinds?.kinds.reply, let chosenKind = chosen.score.kinds?.reply
        else { return nil }
        return chosenKind == trueKind
    }
}

extension Archive.PastReply {
    /// The name of the person answered; nil on a network where people's identities are not their
    /// names.
    fileprivate var name: String? {
        original.post.replyTo?.author.flatMap {
            $0.network.traits.namesAreIdentities ? $0.value : nil
        }
    }
}
