import Archive
import Blocking
import Conduct
import Favorites
package import Foundation
package import Mirroring
import Posts
import Schedule
import Settings

/// A report of how well a mirror's models predict a part of the mirror's past that they had not
/// learned.
package struct ScoreReport: Encodable, Sendable {
    /// The measured scores, or the reason why there are none.
    package enum Part<Scores: Encodable & Sendable>: Encodable, Sendable {
        case measured(Scores)
        /// The reason why there are no scores, a sentence in lower case without a full stop.
        case missing(String)

        /// Encodes the keys of the scores, or only `missing`.
        package func encode(to encoder: any Encoder) throws {
            switch self {
            case .measured(let scores): try scores.encode(to: encoder)
            case .missing(let reason): try ["missing": reason].encode(to: encoder)
            }
        }

        /// The scores; nil if there are none.
        package var scores: Scores? {
            guard case .measured(let scores) = self else { return nil }
            return scores
        }
    }

    package private(set) var schema = "mirror-bot/score/1"
    package let mirror: String
    package let scheduler: Part<ScheduleScores>
    package let classifier: Part<FavoriteScores>
    package let texts: Part<TextScores>
    package let replies: Part<ReplyScores>

    package init(
        mirror: String, scheduler: Part<ScheduleScores>, classifier: Part<FavoriteScores>,
        texts: Part<TextScores> = .missing("they were not looked at"),
        replies: Part<ReplyScores> = .missing("they were not looked at")
    ) {
        self.mirror = mirror
        self.scheduler = scheduler
        self.classifier = classifier
        self.texts = texts
        self.replies = replies
    }
}

/// Measures of the human's old replies from which the mirror can answer people.
package struct ReplyScores: Encodable, Equatable, Sendable {
    /// The number of people whom the human answered.
    package internal(set) var people = 0
    /// The number of the human's old replies to these people.
    package internal(set) var replies = 0
    /// The number of replies that are short, ask nothing and name nobody else.
    package internal(set) var plain = 0
    /// The number of people to whom at least one reply is plain.
    package internal(set) var peopleWithPlain = 0
    /// The number of replies whose mention is known.
    package internal(set) var answersKnown = 0
    /// A measure of how often the model chooses the reply that the human wrote; nil if too few
    /// answered mentions are known.
    package internal(set) var choices: ReplyMeasure?

    init() {}

    package init(
        people: Int, replies: Int, plain: Int, peopleWithPlain: Int, answersKnown: Int,
        choices: ReplyMeasure? = nil
    ) {
        self.people = people
        self.replies = replies
        self.plain = plain
        self.peopleWithPlain = peopleWithPlain
        self.answersKnown = answersKnown
        self.choices = choices
    }
}

/// The number of texts that may be posted, and the number of those that cannot be understood by
/// themselves according to the strict rules.
package struct TextScores: Encodable, Equatable, Sendable {
    /// The number of texts that may be posted with the mirror's settings.
    package let texts: Int
    /// The number of these texts that strict rules refuse, always or at some times.
    package let outOfPlace: Int
    /// The number of these texts that are plain and therefore preferred; nil if plain texts are not
    /// preferred.
    package let plain: Int?
    /// The human's number of posts per day.
    package let postsPerDay: Double

    package init(texts: Int, outOfPlace: Int, plain: Int? = nil, postsPerDay: Double) {
        self.texts = texts
        self.outOfPlace = outOfPlace
        self.plain = plain
        self.postsPerDay = postsPerDay
    }

    /// Whether there are so many plain texts that no others are used.
    package var usesPlainOnly: Bool {
        guard let plain else { return false }
        return plain >= TextJudge.fewestTexts
    }

    /// The share of days with at least one text out of place, if all texts are equally likely; nil
    /// without texts.
    package var daysOutOfPlace: Double? {
        texts > 0 ? 1 - pow(1 - Double(outOfPlace) / Double(texts), postsPerDay) : nil
    }

    private enum CodingKeys: CodingKey { case texts, outOfPlace, plain, daysOutOfPlace }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(texts, forKey: .texts)
        try container.encode(outOfPlace, forKey: .outOfPlace)
        try container.encode(plain, forKey: .plain)
        try container.encode(daysOutOfPlace, forKey: .daysOutOfPlace)
    }
}

/// Measures a mirror's models on its own past; reads its data and changes nothing.
package struct ScoreReporter: Sendable {
    /// The minimum number of posts seen on a timeline for measuring the classifier.
    static let minimumSeenPosts = 20

    let mirror: HumanMirror
    let zone: TimeZone?

    /// - Parameters:
    ///   - mirror: The mirror whose data is read.
    ///   - zone: The human's time zone; nil if it is not set.
    package init(mirror: HumanMirror, zone: TimeZone?) {
        self.mirror = mirror
        self.zone = zone
    }

    /// Measures all models on a separate thread.
    ///
    /// The schedule learns the first four fifths of the archive and is then frozen. The classifier
    /// learns the posts before the last fifth of the timeline, then goes through that fifth as the
    /// mirror did: each post is predicted before it is learned.
    ///
    /// - Parameter now: The present; today's posts are left out, because the day is not over.
    /// - Returns: The scores of each model, or the reason why there are none.
    /// - Throws: The store's error.
    package func report(now: Date) async throws -> ScoreReport {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        return ScoreReport(
            mirror: mirror.configuration.mirror,
            scheduler: try await scheduler(now: now, on: executor),
            classifier: try await classifier(on: executor), texts: try await texts(),
            replies: try await replies(now: now, on: executor))
    }

    private func replies(now: Date, on executor: ThreadExecutor) async throws
        -> ScoreReport.Part<ReplyScores>
    {
        let knownNames = try await mirror.people.knownNames()
        let replies = try await mirror.archive.newestReplies(
            mirror.configuration.archiveLimit, answered: Favorites.textOfAnswered)
        var scores = Self.counts(of: replies, knownNames: knownNames)
        guard scores.replies > 0 else { return .missing("the archive holds no reply to anybody") }
        let evaluation = ReplyEvaluation(
            words: mirror.wordCounter, known: knownNames, mirror: mirror.name)
        scores.choices = await withTaskExecutorPreference(executor) {
            await evaluation.measure(replies, now: now)
        }
        return .measured(scores)
    }

    private static func counts(
        of replies: [Archive.PastReply], knownNames: ReplyFilter.KnownNames
    )
        -> ReplyScores
    {
        var scores = ReplyScores()
        var filters: [AccountID: ReplyFilter] = [:]
        var peopleWithPlainReply: Set<AccountID> = []
        for reply in replies {
            let post = reply.original.post
            guard let person = post.replyTo?.author else { continue }
            let names = person.network.traits.namesAreIdentities ? [person.value] : []
            let filter =
                filters[person]
                ?? ReplyFilter(answering: [person], called: names, known: knownNames)
            filters[person] = filter
            scores.replies += 1
            if reply.answered != nil { scores.answersKnown += 1 }
            guard filter.passes(post) else { continue }
            scores.plain += 1
            peopleWithPlainReply.insert(person)
        }
        scores.people = filters.count
        scores.peopleWithPlain = peopleWithPlainReply.count
        return scores
    }

    private func texts() async throws -> ScoreReport.Part<TextScores> {
        guard zone != nil else { return .missing("\(try await mirror.missingTimeZone())") }
        let strict = try await mirror.unsentTexts(.strict)
        guard strict.unjudged == 0 else {
            return .missing("\(strict.unjudged) texts are not judged yet; run mirror-bot plan")
        }
        let fitCount = strict.fit + strict.sometimes.values.reduce(0, +)
        var mode = mirror.configuration.fitness
        let plainCount = mode == .plain ? strict.plain : nil
        // With too few fit texts, the mirror may use less fit ones too.
        if mode == .strict || mode == .plain, fitCount < TextJudge.fewestTexts { mode = .loose }
        let usedTexts = try await mirror.unsentTexts(mode)
        let textCount = usedTexts.fit + usedTexts.sometimes.values.reduce(0, +)
        guard textCount > 0 else { return .missing("no text may be posted by itself") }
        let times = try await mirror.archive.scheduleRows()
        // The posts per day are a mean over the days from the archive's first post to its last.
        var days = 1
        if let first = times.first, let last = times.last {
            days = last.day.days(since: first.day) + 1
        }
        return .measured(
            TextScores(
                texts: textCount, outOfPlace: textCount - (mode == .off ? strict.fit : fitCount),
                plain: plainCount,
                postsPerDay: Double(times.count) / Double(max(days, 1))))
    }

    private func scheduler(now: Date, on executor: ThreadExecutor) async throws
        -> ScoreReport.Part<ScheduleScores>
    {
        guard let zone else { return .missing("\(try await mirror.missingTimeZone())") }
        let today = LocalTime(now, in: zone).day
        let times = try await mirror.archive.scheduleRows().filter { $0.day < today }
        guard !times.isEmpty else {
            return .missing(
                "the archive holds no posts of the days before today; run mirror-bot train scheduler"
            )
        }
        let configuration = mirror.configuration
        return try await executor.run {
            let evaluation = ScheduleEvaluation(configuration: configuration.schedule, zone: zone)
            do throws(TooFewPosts) {
                return .measured(try evaluation.scores(of: times, name: configuration.mirror))
            } catch {
                return .missing("\(error), replies not counted")
            }
        }
    }

    private func classifier(on executor: ThreadExecutor) async throws
        -> ScoreReport.Part<FavoriteScores>
    {
        let configuration = mirror.configuration
        let extractor: FeatureExtractor
        do {
            extractor = try mirror.featureExtractor()
        } catch {
            return .missing("\(error)")
        }
        let table = ExampleTable(
            storage: mirror.storage, mirror: configuration.mirror, extractor: extractor)
        let posts = try await table.labelledPosts(atMost: configuration.favorites.exampleLimit)
        guard let firstTested = Self.firstTestedIndex(in: posts) else {
            let seenCount = posts.count { $0.state.isSeen }
            return .missing(
                "\(seenCount) posts of a home timeline were learned; at least \(Self.minimumSeenPosts) are needed; "
                    + "run mirror-bot train classifier, or let mirror-bot run learn them")
        }
        return try await executor.run {
            let evaluation = FavoriteEvaluation(
                extractor: extractor, configuration: configuration.favorites)
            return .measured(
                evaluation.prequential(
                    training: Array(posts[..<firstTested]), testing: Array(posts[firstTested...])
                ).scores)
        }
    }

    /// The index of the first post of the last fifth of the posts that were seen on a timeline; nil
    /// if there are too few.
    static func firstTestedIndex(in posts: [LabelledPost]) -> Int? {
        let seenIndices = posts.indices.filter { posts[$0].state.isSeen }
        guard seenIndices.count >= minimumSeenPosts else { return nil }
        return seenIndices[seenIndices.count * 4 / 5]
    }
}
