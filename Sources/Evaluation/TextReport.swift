import Blocking
import Conduct
package import Foundation
import Import
import MeCab
package import Mirroring
import Posts

/// How many of somebody's texts stand for themselves, and by which rules the others do not.
package struct TextReport: Encodable, Sendable {
    /// One text by which a person can judge a rule.
    package struct Sample: Encodable, Equatable, Sendable {
        package let id: String
        package let text: String
        /// When it is fit after all; nil for never.
        package let when: String?
    }

    /// How well the rules agree with a person.
    package struct Agreement: Encodable, Equatable, Sendable {
        /// Texts that a person judged.
        package fileprivate(set) var labelled = 0
        package fileprivate(set) var labelledUnfit = 0
        /// Texts of these that the rules find unfit, always or outside a window.
        package fileprivate(set) var found = 0
        /// Those of them that a person finds unfit too.
        package fileprivate(set) var foundUnfit = 0
        /// Those again of which the rules name the person's reason.
        package fileprivate(set) var sameReason = 0

        /// The share of what the rules find that a person finds; nil without any.
        package var precision: Double? { found > 0 ? Double(foundUnfit) / Double(found) : nil }
        /// The share of what a person finds that the rules find; nil without any.
        package var recall: Double? { labelledUnfit > 0 ? Double(foundUnfit) / Double(labelledUnfit) : nil }

        private enum CodingKeys: CodingKey { case labelled, labelledUnfit, sameReason, precision, recall }

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
    /// Posts that answer nobody and repeat nobody.
    package private(set) var posts = 0
    /// Texts that are always fit.
    package private(set) var fit = 0
    /// All others.
    package private(set) var unfit = 0
    /// Those of them that are fit on some days or at some hours.
    package private(set) var sometimes = 0
    /// The unfit ones by the first rule that speaks against them.
    package private(set) var byReason: [String: Int] = [:]
    /// Texts that are left out whatever they say, because of pictures, for example.
    package private(set) var otherRules: [String: Int] = [:]
    /// Of the texts that the other rules let pass, the share that is always fit; nil without any.
    package private(set) var poolShare: Double?
    /// Nil without labels.
    package private(set) var precision: Double?
    package private(set) var recall: Double?
    /// The same of each language that the posts name; empty without labels.
    package private(set) var languages: [String: Agreement] = [:]
    package private(set) var agreement: Agreement?
    package private(set) var samples: [String: [Sample]] = [:]
    /// Lines and posts that could not be read.
    package private(set) var problems = 0

    private enum CodingKeys: CodingKey {
        case schema, posts, fit, unfit, sometimes, byReason, otherRules, poolShare, precision, recall, languages
        case agreement, samples, problems
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(posts, forKey: .posts)
        try container.encode(fit, forKey: .fit)
        try container.encode(unfit, forKey: .unfit)
        try container.encode(sometimes, forKey: .sometimes)
        try container.encode(byReason, forKey: .byReason)
        try container.encode(otherRules, forKey: .otherRules)
        // Null, not missing: who reads a key finds it.
        try container.encode(poolShare, forKey: .poolShare)
        try container.encode(precision, forKey: .precision)
        try container.encode(recall, forKey: .recall)
        try container.encode(languages, forKey: .languages)
        try container.encode(agreement, forKey: .agreement)
        try container.encode(samples, forKey: .samples)
        try container.encode(problems, forKey: .problems)
    }

    fileprivate init() {}
}

/// Judges the texts of a downloaded archive, without any database.
package struct TextEvaluator: Sendable {
    /// The most posts that are read; they are held in memory.
    private static let maximumPosts = 2_000_000

    private let judge: TextJudge
    private let samples: Int

    /// - Parameters:
    ///   - configuration: What the texts would be sent by.
    ///   - zone: The zone in which years begin; nil for UTC.
    ///   - samples: How many texts of each rule are shown.
    package init(_ configuration: MirrorConfiguration, zone: TimeZone?, samples: Int) {
        judge = TextJudge(
            configuration, zone: zone ?? .gmt, tokenizer: try? Tokenizer(dictionary: configuration.dictionary))
        self.samples = samples
    }

    /// Reads an archive and judges it, on a thread of its own.
    ///
    /// - Parameters:
    ///   - path: A zip, an extracted folder, JSON Lines, or `-` for standard input.
    ///   - labels: JSON Lines that say of texts whether they are fit; nil for none.
    /// - Returns: What was found.
    /// - Throws: `ImportError`.
    package func evaluate(_ path: String, labels: String?) async throws -> TextReport {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        return try await executor.run {
            var said: [String: TextLabel] = [:]
            if let labels {
                _ = try JSONLinesReader(path: labels, purpose: .texts, network: .mastodon, localHost: nil)
                    .readLabels { said[$0.id] = $0 }
            }
            let (posts, machines, problems) = try Self.posts(at: path)
            return report(on: posts, machines, said, hasLabels: labels != nil, problems: problems)
        }
    }

    private static func posts(at path: String) throws -> ([Post], MachineClients, problems: Int) {
        var machines = MachineClients()
        var posts: [PostID: Post] = [:]
        let summary = try ArchiveReader(path: path, purpose: .texts).read { item in
            guard case .post(let post) = item, !post.isRepost, post.visibility.isOpen, posts[post.id] == nil
            else { return }
            if let client = post.client { machines.count(client, post.text) }
            guard !post.isReply else { return }
            guard posts.count < maximumPosts else {
                throw ImportError(.unsupported, path: path, "it has more than \(maximumPosts) posts; evaluate a part")
            }
            posts[post.id] = post
        }
        let ordered = posts.values.sorted { ($0.createdAt, $0.id.value) < ($1.createdAt, $1.id.value) }
        return (ordered, machines, summary.problemCount)
    }

    private func report(
        on posts: [Post], _ machines: MachineClients, _ labels: [String: TextLabel], hasLabels: Bool, problems: Int
    ) -> TextReport {
        var tally = Tally(report: TextReport(problems: problems))
        for post in posts {
            let verdict = machines.contains(post.client) ? Fitness.Verdict(.machineClient) : judge.verdict(on: post)
            tally.add(post, verdict, judge.refusal(of: post))
            if let label = labels[post.id.value] { tally.compare(verdict, with: label, post.language) }
        }
        return tally.finished(hasLabels: hasLabels, samples: samples)
    }

    /// The running sums of a report.
    private struct Tally {
        var report: TextReport
        private var pool = 0
        private var passed = 0
        private var agreement = TextReport.Agreement()
        private var candidates: [String: [(order: String, sample: TextReport.Sample)]] = [:]

        init(report: TextReport) { self.report = report }

        mutating func add(_ post: Post, _ verdict: Fitness.Verdict, _ refusal: Refusal.Reason?) {
            report.count(verdict, refusal)
            if refusal == nil {
                passed += 1
                pool += verdict.reason == nil ? 1 : 0
            }
            guard let reason = verdict.reason?.rawValue else { return }
            let when = verdict.grade == .fit ? verdict.window?.description : nil
            // Shown are texts from all over the archive, and always the same ones.
            candidates[reason, default: []].append(
                (TextRules.textKey(post.id.value), .init(id: post.id.value, text: post.text, when: when)))
        }

        mutating func compare(_ verdict: Fitness.Verdict, with label: TextLabel, _ language: String?) {
            agreement.add(verdict, label)
            report.add(verdict, label, to: language ?? "unknown")
        }

        func finished(hasLabels: Bool, samples: Int) -> TextReport {
            var report = report
            report.finish(
                pool: passed > 0 ? Double(pool) / Double(passed) : nil, hasLabels ? agreement : nil,
                candidates.mapValues { $0.sorted { $0.order < $1.order }.prefix(samples).map(\.sample) })
            return report
        }
    }
}

extension TextReport {
    fileprivate init(problems: Int) { self.problems = problems }

    fileprivate mutating func count(_ verdict: Fitness.Verdict, _ refusal: Refusal.Reason?) {
        posts += 1
        if let refusal { otherRules[refusal.rawValue, default: 0] += 1 }
        guard let reason = verdict.reason else { return fit += 1 }
        unfit += 1
        sometimes += verdict.grade == .fit ? 1 : 0
        byReason[reason.rawValue, default: 0] += 1
    }

    fileprivate mutating func add(_ verdict: Fitness.Verdict, _ label: TextLabel, to language: String) {
        languages[language, default: Agreement()].add(verdict, label)
    }

    fileprivate mutating func finish(pool: Double?, _ agreement: Agreement?, _ samples: [String: [Sample]]) {
        (poolShare, self.agreement, self.samples) = (pool, agreement, samples.filter { !$0.value.isEmpty })
        (precision, recall) = (agreement?.precision, agreement?.recall)
    }
}

extension TextReport.Agreement {
    fileprivate mutating func add(_ verdict: Fitness.Verdict, _ label: TextLabel) {
        labelled += 1
        labelledUnfit += label.isFit ? 0 : 1
        guard let reason = verdict.reason else { return }
        found += 1
        guard !label.isFit else { return }
        foundUnfit += 1
        sameReason += label.reason == reason.rawValue ? 1 : 0
    }
}
