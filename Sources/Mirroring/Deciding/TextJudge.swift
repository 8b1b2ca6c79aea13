import Archive
package import Conduct
package import Foundation
package import MeCab
package import Outbox
package import Posts
package import Settings

/// Finds out, before there is a plan, what the human's texts are good for: whether they may be sent, and whether they stand
/// for themselves.
package struct TextJudge: Sendable {
    /// With fewer texts than these that are plain, or fit, what is less so does too, step by step.
    package static let fewest = 30

    /// What may be sent, and in what form.
    package var rules: TextRules
    /// The human's, in which days and years are counted.
    let zone: TimeZone
    /// Cuts Japanese into words; nil where there is no dictionary.
    let tokenizer: Tokenizer?

    init(rules: TextRules, zone: TimeZone, tokenizer: Tokenizer?) {
        (self.rules, self.zone, self.tokenizer) = (rules, zone, tokenizer)
    }

    /// - Parameters:
    ///   - configuration: What the texts would be sent by.
    ///   - zone: The human's time zone.
    ///   - tokenizer: Cuts Japanese into words; nil where there is no dictionary.
    package init(_ configuration: MirrorSettings, zone: TimeZone, tokenizer: Tokenizer?) {
        self.init(
            rules: TextRules(configuration, limits: .usual(of: configuration.botNetwork)), zone: zone,
            tokenizer: tokenizer)
    }

    /// Why a post is not sent whatever it says; nil if it may be.
    package func refusal(of post: Post) -> Refusal.Reason? { rules.preparation(of: post).unfit }

    /// The rules of this program on a text that answers nobody, but for what `Habits` tell.
    ///
    /// - Parameters:
    ///   - post: The post.
    ///   - parts: What follows it in a thread that is sent whole.
    /// - Returns: The verdict on all of it.
    package func verdict(on post: Post, followedBy parts: [Post] = []) -> Fitness.Verdict {
        var whole = post
        whole.text = ([post] + parts).map(\.text).joined(separator: "\n")
        whole.mentions += parts.flatMap(\.mentions).filter { $0 != post.author }
        let year = LocalTime(post.createdAt, in: zone).day.components.year
        return Fitness.standard.verdict(on: whole, year: year, isThread: !parts.isEmpty, words: words)
    }

    private func words(of text: String) -> [Fitness.Word]? {
        guard let tokenizer else { return nil }
        var words: [Fitness.Word] = []
        do {
            try tokenizer.forEachWord(in: text) { word, wordClass in
                words.append(Fitness.Word(word.text, mayTellTime: [.noun, .adverb, .interjection].contains(wordClass)))
            }
            return words
        } catch {
            // A text that cannot be cut is judged as where there is no dictionary.
            return nil
        }
    }

    /// Names the rules.
    fileprivate func version(_ unwanted: Unwanted) -> String { rules.version + unwanted.version + ofFitness }

    /// Names those of fitness; without a dictionary they find more.
    private var ofFitness: String { " fit\(Fitness.version)\(tokenizer == nil ? "" : " words")" }

    fileprivate func preparation(
        of post: Post, _ sequel: Archive.Sequel, _ unwanted: Unwanted, _ habits: Habits,
        after earlier: Archive.EarlierVerdict
    ) -> Archive.Preparation {
        let prepared = rules.preparation(of: post, thread: sequel.parts, isChain: sequel.isChain)
        // Nearly always only what is unwanted, or a habit, has changed, and judging takes longer than all else.
        let known = earlier.rules.range(of: ofFitness, options: .backwards).map { earlier.rules[$0.upperBound...] }
        let isJudged =
            earlier.rules.hasPrefix(rules.version + " ")
            && known.map { habits.sayTheSame(of: ([post] + sequel.parts).map(\.text).joined(), as: $0) } ?? false
        // What is not sent anyway need not be judged as a whole.
        let parts = prepared.unfit == nil ? sequel.parts : []
        return Archive.Preparation(
            textKey: prepared.key,
            unfit: unwanted.reason(against: post, key: prepared.key) ?? prepared.unfit?.rawValue,
            length: prepared.length, fitness: isJudged ? earlier.fitness : fitness(of: post, parts, habits))
    }

    private func fitness(of post: Post, _ parts: [Post], _ habits: Habits) -> Archive.StoredFitness {
        let verdict = habits.complete(
            verdict(on: post, followedBy: parts), on: post, followedBy: parts.map(\.text))
        return Archive.StoredFitness(
            grade: verdict.grade.rawValue, window: verdict.window?.description ?? "",
            reason: (verdict.reason ?? verdict.demotion)?.rawValue)
    }
}

extension Archive {
    /// Prepares what no rules or other ones have prepared, some hundred posts at a time.
    ///
    /// - Throws: ``ArchiveError``, the store's error, or `CancellationError`; what was prepared until then stays.
    package func prepare(by judge: TextJudge) async throws {
        let unwanted = try await unwanted(in: judge.zone)
        let version = judge.version(unwanted)
        guard try await !isPrepared(by: version) else { return }
        let habits = try await habits()
        while try await prepareSome(
            version: version + habits.version, lastUse: OutboxStore.lastUse, uses: OutboxStore.useCount,
            { judge.preparation(of: $0, $1, unwanted, habits, after: $2) })
        {
            try Task.checkCancellation()
        }
    }

    private func habits() async throws -> Habits {
        let counts = HabitCounts()
        try await forEachHabit { counts.add($0, $1, $2) }
        return counts.habits
    }

    private final class HabitCounts: @unchecked Sendable {
        // Sendable because every access to `counted` holds the lock.
        private let lock = NSLock()
        private var counted = Habits()

        var habits: Habits { lock.withLock { counted } }

        func add(_ text: String, _ client: String?, _ time: Date) {
            lock.withLock { counted.count(text, by: client, at: time) }
        }
    }
}

extension HumanMirror {
    /// Judges the human's texts by this mirror's settings.
    ///
    /// - Parameters:
    ///   - zone: The human's time zone.
    ///   - limits: What the bot's server takes; nil for what is usual on its network.
    /// - Returns: The judge.
    package func textJudge(zone: TimeZone, limits: PublishingLimits? = nil) -> TextJudge {
        TextJudge(
            rules: TextRules(configuration, limits: limits ?? .usual(of: configuration.botNetwork)), zone: zone,
            tokenizer: try? installation.tokenizer())
    }

    /// Makes plans for this mirror.
    ///
    /// - Parameters:
    ///   - zone: The human's time zone.
    ///   - store: Where plans are kept.
    ///   - limits: What the bot's server takes; nil for what is usual on its network.
    /// - Returns: The maker.
    package func planMaker(zone: TimeZone, store: OutboxStore, limits: PublishingLimits? = nil) -> PlanMaker {
        PlanMaker(
            archive: archive, store: store, configuration: configuration,
            judge: textJudge(zone: zone, limits: limits), past: { [table] in try await table.record().past })
    }
}

extension TextRules {
    /// What tells the text of a post that is never to be sent.
    package func neverKey(of post: Post) -> String {
        post.isReply ? Self.textKey(post.text) : preparation(of: post).key
    }
}
