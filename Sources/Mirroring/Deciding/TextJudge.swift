import Archive
package import Conduct
package import Foundation
package import MeCab
package import Outbox
package import Posts
package import Settings

/// Judges the human's texts before a plan is made: whether they may be sent, and whether they can
/// be understood without context.
package struct TextJudge: Sendable {
    /// With fewer plain, or fit, texts than this, less fit ones may be used too, step by step.
    package static let fewestTexts = 30

    /// The rules by which a text is cleaned, or refused.
    package var rules: TextRules
    /// The human's time zone, in which days and years are counted.
    let zone: TimeZone
    /// Cuts texts into words; nil without a dictionary.
    package let tokenizer: Tokenizer?

    init(rules: TextRules, zone: TimeZone, tokenizer: Tokenizer?) {
        self.rules = rules
        self.zone = zone
        self.tokenizer = tokenizer
    }

    /// - Parameters:
    ///   - configuration: The settings that apply when texts are sent.
    ///   - zone: The human's time zone.
    ///   - tokenizer: Cuts Japanese into words; nil without a dictionary.
    package init(_ configuration: MirrorSettings, zone: TimeZone, tokenizer: Tokenizer?) {
        self.init(
            rules: TextRules(configuration, limits: .usual(of: configuration.botNetwork)),
            zone: zone,
            tokenizer: tokenizer)
    }

    /// The reason why a post is not sent whatever its text; nil if it may be sent.
    package func refusal(of post: Post) -> Refusal.Reason? { rules.preparation(of: post).unfit }

    /// This program's verdict on a text that answers nobody, without the rules that depend on
    /// `Habits`.
    ///
    /// - Parameters:
    ///   - post: The post.
    ///   - parts: The posts that follow it in a thread that is sent whole.
    /// - Returns: The verdict on the text with its parts.
    package func verdict(on post: Post, followedBy parts: [Post] = []) -> Fitness.Verdict {
        var joined = post
        joined.text = ([post] + parts).map(\.text).joined(separator: "\n")
        joined.mentions += parts.flatMap(\.mentions).filter { $0 != post.author }
        let year = LocalTime(post.createdAt, in: zone).day.components.year
        return Fitness.standard.verdict(
            on: joined, year: year, isThread: !parts.isEmpty, words: words)
    }

    private func words(of text: String) -> [Fitness.Word]? {
        guard let tokenizer else { return nil }
        var words: [Fitness.Word] = []
        do {
            try tokenizer.forEachWord(in: text) { word, wordClass in
                words.append(
                    Fitness.Word(
                        word.text, mayTellTime: [.noun, .adverb, .interjection].contains(wordClass))
                )
            }
            return words
        } catch {
            // A text that cannot be cut into words is judged as if there were no dictionary.
            return nil
        }
    }

    /// The name of the rules, except for the habits of the archive.
    func version(_ unwanted: Unwanted) -> String {
        rules.version + unwanted.version + fitnessVersion
    }

    /// The name of the rules of fitness; another one with a dictionary, because they find more
    /// without it.
    private var fitnessVersion: String {
        " fit\(Fitness.version)\(tokenizer == nil ? "" : " words")"
    }

    /// Whether a text was judged by these rules, whatever the habits were.
    ///
    /// - Parameter name: The stored name of the rules that judged it.
    func isCurrent(_ name: String, _ unwanted: Unwanted) -> Bool {
        name.hasPrefix(version(unwanted)) && habits(in: name) != nil
    }

    /// The version of the habits in the name of rules; nil if the name is of other rules of
    /// fitness.
    private func habits(in name: String) -> Substring? {
        guard let range = name.range(of: fitnessVersion, options: .backwards) else { return nil }
        let habits = name[range.upperBound...]
        return (habits.isEmpty || habits.hasPrefix(" ")) && !habits.hasPrefix(" words")
            ? habits : nil
    }

    /// Applies the rules to a post of the archive.
    ///
    /// All parts that a person or a server may change are determined again; the words, which take
    /// longer to judge than everything else, only if the rules of fitness or the habits have
    /// changed.
    ///
    /// - Parameter habits: Nil if they are not known yet.
    func preparation(
        of unprepared: Archive.Unprepared, _ unwanted: Unwanted, habits: Habits?
    ) -> Archive.Preparation {
        let post = unprepared.post
        let sequel = unprepared.sequel
        let prepared = rules.preparation(of: post, thread: sequel.parts, isChain: sequel.isChain)
        // A thread that is not sent anyway need not be judged as a whole.
        let parts = prepared.unfit == nil ? sequel.parts : []
        return Archive.Preparation(
            textKey: prepared.key,
            unfit: unwanted.reason(against: post, key: prepared.key)?.rawValue
                ?? prepared.unfit?.rawValue,
            length: prepared.length,
            fitness: isJudged(unprepared, habits)
                ? unprepared.earlier.fitness
                : fitness(
                    of: post, followedBy: parts, habits: habits,
                    followsClosely: unprepared.followsClosely))
    }

    /// Whether the stored verdict on the words of a post is still valid.
    private func isJudged(_ unprepared: Archive.Unprepared, _ habits: Habits?) -> Bool {
        let earlier = unprepared.earlier.rules
        let parts = unprepared.sequel.parts
        guard let earlierHabits = self.habits(in: earlier) else { return false }
        // Which parts of a thread are judged depends on the settings.
        guard parts.isEmpty || earlier.hasPrefix(rules.version + " ") else { return false }
        let text = ([unprepared.post] + parts).map(\.text).joined()
        guard let habits else { return earlierHabits == Habits.unknown }
        return habits.giveSameVerdict(on: text, as: earlierHabits)
    }

    private func fitness(
        of post: Post, followedBy parts: [Post], habits: Habits?, followsClosely: Bool = false
    ) -> Archive.StoredFitness {
        var verdict =
            if let habits {
                habits.complete(
                    self.verdict(on: post, followedBy: parts), on: post,
                    followedBy: parts.map(\.text))
            } else { self.verdict(on: post, followedBy: parts) }
        if followsClosely { verdict.demote(.followsClosely) }
        return Archive.StoredFitness(verdict)
    }

    /// Returns the fitness of an archived text by these rules: the stored one, unless other rules
    /// found it.
    ///
    /// - Parameter parts: The posts that follow it in a thread that is sent whole.
    func fitness(of original: Archive.Original, followedBy parts: [Post]) -> Archive.StoredFitness {
        let stored = original.judged.fitness
        guard habits(in: original.judged.rules) == nil else { return stored }
        let fitness = fitness(of: original.post, followedBy: parts, habits: nil)
        // Reasons that depend on other posts of the archive stay valid until the archive is judged
        // again.
        let isOfArchive = [Refusal.Reason.machineClient, .rareTag, .followsClosely].map(\.rawValue)
            .contains(
                stored.reason)
        return isOfArchive && stored.grade > fitness.grade ? stored : fitness
    }
}

extension Archive.StoredFitness {
    fileprivate init(_ verdict: Fitness.Verdict) {
        self.init(
            grade: verdict.grade.rawValue, window: verdict.window?.description ?? "",
            reason: (verdict.reason ?? verdict.demotion)?.rawValue)
    }
}

extension HumanMirror {
    /// Creates the judge of the human's texts with this mirror's settings.
    ///
    /// - Parameters:
    ///   - zone: The human's time zone.
    ///   - limits: The limits of the bot's server; nil for the usual ones of its network.
    /// - Returns: The judge.
    package func textJudge(zone: TimeZone, limits: PublishingLimits? = nil) -> TextJudge {
        TextJudge(
            rules: TextRules(configuration, limits: limits ?? .usual(of: configuration.botNetwork)),
            zone: zone,
            // Without a dictionary, nil: texts are judged without their words.
            tokenizer: try? installation.tokenizer())
    }

    /// Creates the maker of plans for this mirror.
    ///
    /// - Parameters:
    ///   - zone: The human's time zone.
    ///   - store: Stores the plans.
    ///   - limits: The limits of the bot's server; nil for the usual ones of its network.
    /// - Returns: The maker.
    package func planMaker(zone: TimeZone, store: OutboxStore, limits: PublishingLimits? = nil)
        -> PlanMaker
    {
        PlanMaker(
            archive: archive, store: store, configuration: configuration,
            judge: textJudge(zone: zone, limits: limits), taste: textTaste(),
            past: { [table] in try await table.record().past })
    }
}

extension TextRules {
    /// Returns the key of a post's text in the list of texts that are never sent.
    package func neverKey(of post: Post) -> String {
        post.isReply ? Self.textKey(post.text) : preparation(of: post).key
    }
}
