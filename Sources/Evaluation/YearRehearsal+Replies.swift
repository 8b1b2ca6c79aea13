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
    /// - Parameter file: A file with texts of mentions that the mirror does not know.
    func replies(
        in span: Span, _ file: LabelledFile?, _ silence: Silence
    ) async throws -> ScoreReport.Part<RehearsedReplies> {
        let all = try await knownReplies(file)
        let past = all.filter { $0.original.post.createdAt < span.end }
        let during = past.filter { $0.original.post.createdAt >= span.start }
        guard !during.isEmpty else {
            return .missing("the archive holds no reply of \(year) to anybody")
        }
        var contests = try await ReplyContests(
            self, past, silence, from: span.start,
            // The names of people who were answered later are not known yet at this point.
            names: try await mirror.people.names().subtracting(all.compactMap(\.name)))
        guard !contests.asked.isEmpty else {
            return .missing(
                "the answered post is known for none of the human's \(during.count) answers of \(year); a mirror keeps "
                    + "other people's posts for some months only, and --favorites FILE adds older ones"
            )
        }
        var looked: [RehearsedReplies.Answer] = []
        for index in contests.asked {
            try Task.checkCancellation()
            if let answer = await contests.answer(at: index) { looked.append(answer) }
        }
        return .measured(RehearsedReplies(answers: during.count, looked: looked))
    }

    /// The human's replies to others, oldest first.
    private func knownReplies(_ file: LabelledFile?) async throws -> [Archive.PastReply] {
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

/// The human's replies to others, and the choice that the mirror would have made for each from the
/// earlier ones.
private struct ReplyContests {
    /// Oldest first.
    private let replies: [ReplyEvaluation.Known]
    private let evaluation: ReplyEvaluation
    /// The handles that are known from the beginning.
    private let names: Set<String>
    /// All accounts of the people answered.
    private let accounts: [AccountID: [AccountID]]
    /// The replies to each account, as places in ``replies``.
    private let places: [AccountID: [Int]]
    /// The positions of replies that may not be sent.
    private let unusable: Set<Int>
    private let threshold: Double?
    private let mode: ReplyMode
    /// The positions of the year's replies that are simulated.
    let asked: [Int]
    /// By person, the replies that the bot has sent and when.
    private var uses: [AccountID: [PostID: Date]] = [:]
    /// The habits as last counted from the newest replies, and the number of replies at that time.
    private var habits: (count: Int, told: ReplyHabits)?
    /// The number of replies after which the habits are counted again, which takes long.
    private static let repliesBetweenCounts = 25

    /// - Parameters:
    ///   - past: The human's answers until the end of the year, oldest first.
    ///   - silence: The texts that are never sent.
    ///   - start: The beginning of the year.
    ///   - names: Handles that are known besides those of the people answered.
    init(
        _ rehearsal: YearRehearsal, _ past: [Archive.PastReply], _ silence: YearRehearsal.Silence,
        from start: Date,
        names: Set<String>
    ) async throws {
        let mirror = rehearsal.mirror
        let configuration = rehearsal.mirror.configuration
        self.names = names
        let before = past.prefix { $0.original.post.createdAt < start }
        evaluation = ReplyEvaluation(
            words: mirror.wordCounter,
            known: .init(telling: names.union(before.compactMap(\.name))),
            mirror: rehearsal.livedName)
        threshold = await evaluation.measure(Array(before.reversed()), now: start)?.threshold
        mode = configuration.replyMode
        let replies = past.map(evaluation.prepared)
        self.replies = replies
        let rules = TextRules(
            configuration, limits: .usual(of: configuration.botNetwork), repliesNameThePerson: false
        )
        unusable = Set(
            past.indices.filter { index in
                let post = past[index].original.post
                if silence.covers(post) { return true }
                guard case .failure = rules.replyText(for: post, to: "") else { return false }
                return true
            })
        var places: [AccountID: [Int]] = [:]
        for (index, reply) in replies.enumerated() {
            if let person = reply.person { places[person, default: []].append(index) }
        }
        self.places = places
        let known = replies.indices.filter { index in
            replies[index].post.createdAt >= start && replies[index].mention != nil
        }
        let stances = try await mirror.people.stances(
            of: Array(Set(known.compactMap { replies[$0].person })))
        let asked = known.filter { index in replies[index].person.map { stances[$0] } != .deny }
        self.asked = asked
        var accounts: [AccountID: [AccountID]] = [:]
        for person in Set(asked.compactMap { replies[$0].person }) {
            accounts[person] = try await mirror.people.linked(to: person)
        }
        self.accounts = accounts
    }

    /// Returns the mirror's reply in the place of one of the human's; `nil` if the mention is
    /// unknown.
    mutating func answer(at index: Int) async -> RehearsedReplies.Answer? {
        let truth = replies[index]
        guard let mention = truth.mention, let asked = truth.past.answered,
            let person = truth.person
        else {
            return nil
        }
        let habits = habits(before: index)
        let earlier = (accounts[person] ?? [person]).flatMap { places[$0] ?? [] }.sorted()
            .filter { $0 < index && !unusable.contains($0) }.suffix(ReplyEvaluation.mostCandidates)
        let known = ReplyFilter.KnownNames(
            telling: names.union(replies[..<index].compactMap(\.past.name)))
        let contest = await ReplyEvaluation(
            words: evaluation.words, known: known, mirror: evaluation.mirror
        ).contest(
            among: earlier.map { replies[$0] }, for: mention,
            truth.post.replyTo?.post ?? truth.post.id, by: person,
            ReplyScorer(habits: habits), uses: uses[person] ?? [:], now: truth.post.createdAt)
        let chosen = contest.chosen
        let isDoubtful = chosen?.score.isDoubtful(below: threshold) ?? false
        let isSent = chosen != nil && !(isDoubtful && mode != .all)
        if let chosen, isSent { uses[person, default: [:]][chosen.id] = truth.post.createdAt }
        let sent = isSent ? chosen : nil
        return RehearsedReplies.Answer(
            time: truth.post.createdAt, mention: asked, human: truth.post.text,
            bot: sent.flatMap { sent in earlier.first { replies[$0].post.id == sent.id } }.map {
                replies[$0].post.text
            },
            isSame: sent?.textKey == TextRules.textKey(truth.post.text),
            isOfKind: sent.flatMap { Self.isOfKind($0, truth, mention, habits) },
            isDoubtful: isDoubtful)
    }

    /// Returns the habits that the newest replies before one show.
    private mutating func habits(before index: Int) -> ReplyHabits {
        let count = index - index % Self.repliesBetweenCounts
        if let habits, habits.count == count { return habits.told }
        let computed = ReplyHabits(replies[..<count].suffix(ReplyHabits.longest).map(\.habit))
        habits = (count, computed)
        return computed
    }

    /// Whether a chosen reply has the kind of the true one; nil if the kinds are unknown.
    private static func isOfKind(
        _ chosen: ReplyCandidate, _ truth: ReplyEvaluation.Known, _ mention: ReplyScorer.Text,
        _ habits: ReplyHabits
    ) -> Bool? {
        let asked = habits.kind(ofMention: mention.text, language: mention.language)
        let own = habits.kinds(of: truth.post.text, language: truth.post.language, after: asked)?
            .kinds.reply
        guard let own, let kind = chosen.score.kinds?.reply else { return nil }
        return kind == own
    }
}

extension Archive.PastReply {
    /// The name of the person answered, if their identity is the name.
    fileprivate var name: String? {
        original.post.replyTo?.author.flatMap {
            $0.network.traits.namesAreIdentities ? $0.value : nil
        }
    }
}
