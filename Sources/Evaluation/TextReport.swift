import Blocking
import Conduct
import Favorites
package import Foundation
import Import
import MeCab
import Mirroring
import Posts
package import Settings

/// The number of a person's texts that can be understood by themselves, and the rules that refuse
/// the others.
package struct TextReport: Encodable, Sendable {
    /// A sample text by which a person can judge a rule.
    package struct Sample: Encodable, Equatable, Sendable {
        package let id: String
        package let text: String
        /// The days or hours at which the text is fit; nil if it never is.
        package let when: String?
    }

    /// The effect of a rule on the texts.
    package struct Cost: Encodable, Equatable, Sendable {
        /// The rule's code.
        package let reason: String
        /// The rule's line in `fitness.tsv`; nil for all rows of the code together, and for a rule
        /// that is not in that file.
        package let line: Int?
        /// The number of texts that the rule always refuses.
        package fileprivate(set) var refuses = 0
        /// The number of texts that the rule restricts to some days or hours.
        package fileprivate(set) var restricts = 0
        /// The number of texts that the rule makes less than plain, so that others are preferred.
        package fileprivate(set) var demotes = 0
        /// The number of texts that only this rule affects.
        package fileprivate(set) var alone = 0

        /// The number of texts that the rule affects.
        package var texts: Int { refuses + restricts + demotes }

        fileprivate init(reason: String, line: Int?) {
            self.reason = reason
            self.line = line
        }
    }

    /// A measure of how well the rules agree with a person.
    package struct Agreement: Encodable, Equatable, Sendable {
        /// The number of texts that a person judged.
        package fileprivate(set) var labelled = 0
        /// The number of texts that the person finds unfit.
        package fileprivate(set) var labelledUnfit = 0
        /// The number of judged texts that the rules find unfit, always or except on some days or
        /// at some hours.
        ///
        /// With `FITNESS=plain` it includes texts that are not plain because of their words.
        package fileprivate(set) var foundByRules = 0
        /// The number of texts that both the rules and the person find unfit.
        package fileprivate(set) var foundUnfit = 0
        /// The number of texts that both find unfit, for the same reason.
        package fileprivate(set) var sameReason = 0

        /// The share of the texts found by the rules that the person finds unfit too; nil if there
        /// are none.
        package var precision: Double? {
            foundByRules > 0 ? Double(foundUnfit) / Double(foundByRules) : nil
        }
        /// The share of the texts unfit for the person that the rules find too; nil if there are
        /// none.
        package var recall: Double? {
            labelledUnfit > 0 ? Double(foundUnfit) / Double(labelledUnfit) : nil
        }

        private enum CodingKeys: CodingKey {
            case labelled, labelledUnfit, sameReason, precision, recall
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(labelled, forKey: .labelled)
            try container.encode(labelledUnfit, forKey: .labelledUnfit)
            try container.encode(sameReason, forKey: .sameReason)
            try container.encode(precision, forKey: .precision)
            try container.encode(recall, forKey: .recall)
        }
    }

    package private(set) var schema = "mirror-bot/evaluate-texts/1"
    /// The number of posts that are neither replies nor reposts.
    package private(set) var posts = 0
    /// The number of texts that are always fit.
    package private(set) var fit = 0
    /// The number of always fit texts that are plain.
    package private(set) var plain = 0
    /// The number of texts that are not always fit.
    package private(set) var unfit = 0
    /// The number of texts that are fit only on some days or at some hours.
    package private(set) var sometimes = 0
    /// The numbers of unfit texts, by the first rule against them.
    package private(set) var byReason: [String: Int] = [:]
    /// The numbers of texts that are left out regardless of their words, for example because of
    /// pictures, by rule.
    package private(set) var otherRules: [String: Int] = [:]
    /// The share of always fit texts among the texts that the other rules accept; nil if they
    /// accept none.
    package private(set) var poolShare: Double?
    /// The share of plain texts among the texts that the other rules accept; nil if they accept
    /// none.
    package private(set) var plainShare: Double?
    /// The numbers of fit texts that are not plain, by the first rule responsible.
    package private(set) var later: [String: Int] = [:]
    /// The effect of each code; the code that affects the most texts comes first.
    package private(set) var costs: [Cost] = []
    /// The effect of each row of the rules, in the order of the rows.
    package private(set) var rows: [Cost] = []
    /// The precision and the recall of ``agreement``; `nil` without labels.
    package private(set) var precision: Double?
    package private(set) var recall: Double?
    /// The agreement by language of the posts; empty without labels.
    package private(set) var languages: [String: Agreement] = [:]
    package private(set) var agreement: Agreement?
    package private(set) var samples: [String: [Sample]] = [:]
    /// The results of learning from simulated persons; `nil` if not requested.
    package fileprivate(set) var learning: TextLearning?
    /// The number of lines and posts that could not be read.
    package private(set) var problems = 0

    private enum CodingKeys: CodingKey {
        case schema, posts, fit, plain, unfit, sometimes, byReason, later, otherRules, poolShare,
            plainShare
        case precision, recall, languages, agreement, costs, rows, samples, problems, learning
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(posts, forKey: .posts)
        try container.encode(fit, forKey: .fit)
        try container.encode(plain, forKey: .plain)
        try container.encode(unfit, forKey: .unfit)
        try container.encode(sometimes, forKey: .sometimes)
        try container.encode(byReason, forKey: .byReason)
        try container.encode(later, forKey: .later)
        try container.encode(costs, forKey: .costs)
        try container.encode(rows, forKey: .rows)
        try container.encode(otherRules, forKey: .otherRules)
        // These shares are encoded as null when they are nil, so that the keys are always present.
        try container.encode(poolShare, forKey: .poolShare)
        try container.encode(plainShare, forKey: .plainShare)
        try container.encode(precision, forKey: .precision)
        try container.encode(recall, forKey: .recall)
        try container.encode(languages, forKey: .languages)
        try container.encode(agreement, forKey: .agreement)
        try container.encode(samples, forKey: .samples)
        try container.encode(problems, forKey: .problems)
        try container.encodeIfPresent(learning, forKey: .learning)
    }

    fileprivate init() {}
}

/// Judges the texts of a downloaded archive, without any database.
package struct TextEvaluator: Sendable {
    /// The maximum number of posts that are read; all of them are held in memory.
    private static let maximumPosts = 2_000_000

    private let judge: TextJudge
    private let mode: FitnessMode
    private let samples: Int
    private let persons: Int
    private let configuration: MirrorSettings

    /// - Parameters:
    ///   - configuration: The settings by which texts are sent.
    ///   - dictionary: The name or folder of MeCab's dictionary.
    ///   - zone: The zone in which years begin; nil for UTC.
    ///   - samples: The number of sample texts for each rule.
    ///   - persons: The number of simulated persons who label texts; 0 for none.
    package init(
        _ configuration: MirrorSettings, dictionary: String, zone: TimeZone?, samples: Int,
        persons: Int = 0
    ) {
        judge = TextJudge(
            // The `try?` is nil without a dictionary; texts are then judged without the rules about
            // words.
            configuration, zone: zone ?? .gmt, tokenizer: try? Tokenizer(dictionary: dictionary))
        mode = configuration.fitness
        self.samples = samples
        self.persons = persons
        self.configuration = configuration
    }

    /// Reads an archive and judges its texts, on a separate thread.
    ///
    /// - Parameters:
    ///   - path: The path of a zip, of an extracted folder or of JSON Lines, or `-` for standard
    ///     input.
    ///   - labels: The path of JSON Lines with a person's judgements of texts; nil for none.
    /// - Returns: The report.
    /// - Throws: `ImportError`.
    package func evaluate(_ path: String, labels: String?) async throws -> TextReport {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        return try await executor.run {
            var labelsByID: [String: TextLabel] = [:]
            if let labels {
                _ = try JSONLinesReader(
                    path: labels, purpose: .texts, network: .usual, localHost: nil
                )
                .readLabels { labelsByID[$0.id] = $0 }
            }
            let (posts, habits, problems) = try Self.posts(at: path)
            return report(
                on: posts, habits: habits, labels: labelsByID, hasLabels: labels != nil,
                problems: problems)
        }
    }

    private static func posts(at path: String) throws -> ([Post], Habits, problems: Int) {
        var habits = Habits()
        var posts: [PostID: Post] = [:]
        let summary = try ArchiveReader(path: path, purpose: .texts).read { item in
            guard case .post(let post) = item, !post.isRepost, post.isOpen, posts[post.id] == nil
            else { return }
            habits.include(post.text, by: post.client, at: post.createdAt, isAnswer: post.isReply)
            guard !post.isReply else { return }
            guard posts.count < maximumPosts else {
                throw ImportError(
                    .unsupported, path: path,
                    "it has more than \(maximumPosts) posts; evaluate a part")
            }
            posts[post.id] = post
        }
        let ordered = posts.values.sorted {
            ($0.createdAt, $0.id.value) < ($1.createdAt, $1.id.value)
        }
        return (ordered, habits, summary.problemCount)
    }

    private func report(
        on posts: [Post], habits: Habits, labels: [String: TextLabel], hasLabels: Bool,
        problems: Int
    ) -> TextReport {
        var tally = Tally(report: TextReport(problems: problems), mode: mode)
        var previousPostTime: Date?
        var labelledTexts: [TextLearning.Text] = []
        for post in posts {
            var verdict = habits.complete(judge.verdict(on: post), on: post)
            let interval =
                previousPostTime.map { post.createdAt.timeIntervalSince($0) } ?? .infinity
            if post.isTimeTrusted, interval > 0, interval < Post.closeTogether {
                verdict.demote(.followsClosely)
            }
            previousPostTime = post.createdAt
            tally.add(post, verdict: verdict, refusal: judge.refusal(of: post))
            guard let label = labels[post.id.value] else { continue }
            tally.compare(verdict, with: label, language: post.language)
            let example = Example(id: post.id, author: nil, text: post.text)
            labelledTexts.append(
                TextLearning.Text(
                    example: example, isOutOfPlace: !label.isFit, isPlain: verdict.isPlain))
        }
        var report = tally.finished(hasLabels: hasLabels, samples: samples)
        if persons > 0, let tokenizer = judge.tokenizer {
            let extractor = FeatureExtractor(tokenizer: tokenizer, words: TextTaste.wordSelection)
            report.learning = TextLearning(
                labelledTexts, extractor: extractor, persons: persons,
                minimum: configuration.favorites.minimumPerCategory)
        }
        return report
    }

    /// The counts for a report, while the posts are judged.
    private struct Tally {
        var report: TextReport
        private let mode: FitnessMode
        /// The number of texts that the other rules accept, and of these the always fit and the
        /// plain ones.
        private var acceptedCount = 0
        private var fitCount = 0
        private var plainCount = 0
        private var agreement = TextReport.Agreement()
        private var candidates: [String: [(order: String, sample: TextReport.Sample)]] = [:]

        init(report: TextReport, mode: FitnessMode) {
            self.report = report
            self.mode = mode
        }

        mutating func add(
            _ post: Post, verdict: Fitness.Verdict, refusal: Refusal.Reason?
        ) {
            report.addText(verdict: verdict, refusal: refusal)
            if refusal == nil {
                acceptedCount += 1
                if verdict.reason == nil { fitCount += 1 }
                if verdict.isPlain { plainCount += 1 }
            }
            guard let reason = (verdict.reason ?? verdict.demotion)?.rawValue else { return }
            let when = verdict.grade <= .fit ? verdict.window?.description : nil
            // The key is a hash. Sorted by it, the samples come from the whole archive, and are the
            // same on every run.
            candidates[reason, default: []].append(
                (
                    TextRules.textKey(post.id.value),
                    .init(id: post.id.value, text: post.text, when: when)
                ))
        }

        mutating func compare(
            _ verdict: Fitness.Verdict, with label: TextLabel, language: String?
        ) {
            let reason = verdict.reason ?? (mode == .plain ? verdict.demotionByWords : nil)
            agreement.add(reason: reason, label: label)
            report.addJudgement(reason: reason, label: label, language: language ?? "unknown")
        }

        func finished(hasLabels: Bool, samples: Int) -> TextReport {
            var report = report
            report.finish(
                pool: acceptedCount > 0 ? Double(fitCount) / Double(acceptedCount) : nil,
                plain: acceptedCount > 0 ? Double(plainCount) / Double(acceptedCount) : nil,
                agreement: hasLabels ? agreement : nil,
                samples: candidates.mapValues { samplesOfRule in
                    let ordered = samplesOfRule.sorted { $0.order < $1.order }
                    return ordered.prefix(samples).map(\.sample)
                })
            return report
        }
    }
}

extension TextReport {
    fileprivate init(problems: Int) { self.problems = problems }

    /// Adds a text to the counts.
    fileprivate mutating func addText(verdict: Fitness.Verdict, refusal: Refusal.Reason?) {
        posts += 1
        if let refusal { otherRules[refusal.rawValue, default: 0] += 1 }
        countEffects(of: verdict.findings)
        guard let reason = verdict.reason else {
            fit += 1
            if verdict.isPlain { plain += 1 }
            if let demotion = verdict.demotion { later[demotion.rawValue, default: 0] += 1 }
            return
        }
        unfit += 1
        if verdict.grade <= .fit { sometimes += 1 }
        byReason[reason.rawValue, default: 0] += 1
    }

    /// Counts one text for each rule with a finding against it.
    private mutating func countEffects(of findings: [Fitness.Finding]) {
        let reasons = Set(findings.map(\.reason))
        let distinctFindings = Set(findings)
        for reason in reasons {
            // Several findings with one code count as the strongest of their effects.
            let effects = Set(findings.filter { $0.reason == reason }.map(\.effect))
            let effect: Fitness.Finding.Effect =
                if effects.contains(.refuses) {
                    .refuses
                } else if effects.contains(.restricts) {
                    .restricts
                } else {
                    .demotes
                }
            costs.countText(
                effect, reason: reason.rawValue, line: nil, isAlone: reasons.count == 1)
        }
        for finding in distinctFindings {
            rows.countText(
                finding.effect, reason: finding.reason.rawValue, line: finding.line,
                isAlone: distinctFindings.count == 1)
        }
    }

    fileprivate mutating func addJudgement(
        reason: Refusal.Reason?, label: TextLabel, language: String
    ) {
        languages[language, default: Agreement()].add(reason: reason, label: label)
    }

    fileprivate mutating func finish(
        pool: Double?, plain: Double?, agreement: Agreement?, samples: [String: [Sample]]
    ) {
        poolShare = pool
        plainShare = plain
        self.agreement = agreement
        self.samples = samples.filter { !$0.value.isEmpty }
        precision = agreement?.precision
        recall = agreement?.recall
        // The most texts first, and equal numbers in the order of the reasons.
        costs.sort { first, second in
            first.texts == second.texts
                ? first.reason < second.reason : first.texts > second.texts
        }
        rows.sort { ($0.line ?? 0, $0.reason) < ($1.line ?? 0, $1.reason) }
    }
}

extension TextReport.Agreement {
    /// Adds a text that a person judged; `reason` is the rule that refuses it, or nil.
    fileprivate mutating func add(reason: Refusal.Reason?, label: TextLabel) {
        labelled += 1
        if !label.isFit { labelledUnfit += 1 }
        guard let reason else { return }
        foundByRules += 1
        guard !label.isFit else { return }
        foundUnfit += 1
        if label.reason == reason.rawValue { sameReason += 1 }
    }
}

extension [TextReport.Cost] {
    /// Counts one text that a rule affects.
    fileprivate mutating func countText(
        _ effect: Fitness.Finding.Effect, reason: String, line: Int?, isAlone: Bool
    ) {
        let index = firstIndex { $0.line == line && $0.reason == reason } ?? count
        if index == count { append(TextReport.Cost(reason: reason, line: line)) }
        switch effect {
        case .refuses: self[index].refuses += 1
        case .restricts: self[index].restricts += 1
        case .demotes: self[index].demotes += 1
        }
        if isAlone { self[index].alone += 1 }
    }
}
