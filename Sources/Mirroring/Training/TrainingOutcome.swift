import Archive
package import Favorites
import Localization
import Settings

/// The report of a training about the items that it read.
package struct TrainingReading: Codable, Equatable, Sendable {
    /// Posts that were left out on purpose.
    package struct LeftOut: Codable, Equatable, Sendable {
        package let reason: String
        package let count: Int
    }

    /// Posts that were read.
    package let read: Int
    /// The read posts that were new.
    package let learned: Int
    /// The read posts that were known.
    package let known: Int
    /// The number of picture files that were kept.
    package let pictures: Int
    /// The posts that were left out on purpose, by reason.
    package let leftOut: [LeftOut]
    /// Posts that could not be read.
    package let problemCount: Int
    /// The first of these problems, a sentence each.
    package let problems: [String]
    /// The data that could not be read, and how to get them: a sentence each.
    package let missing: [String]
    /// The cost of reading the past, for each requested feed; empty where reading is free.
    package let prices: [TrainingPrice]
    /// The owner of the archive that was read, and the files read from it: a sentence each; empty
    /// for a network.
    package let archive: [String]

    init(_ summary: TrainingSummary) {
        read = summary.read
        learned = summary.learned
        known = summary.known
        pictures = summary.pictures
        problemCount = summary.problemCount
        problems = summary.problems
        missing = summary.missing
        prices = summary.prices
        archive = summary.archive
        leftOut = summary.leftOut.sorted { $0.key < $1.key }.filter { $0.value > 0 }
            .map { LeftOut(reason: LocalizedText(key: $0.key).description, count: $0.value) }
    }
}

/// The result of archiving the human's posts.
package struct SchedulerTraining: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/train-scheduler/1"
    package let mirror: String
    package let reading: TrainingReading
    /// Posts in the archive now.
    package let archived: Int
    /// The mirror's time zone; nil if no person set it and there are too few posts to guess it.
    package let timeZone: String?
    /// The source of a zone that no person set; nil if a person set it.
    package let timeZoneSource: TimeZoneSource?
}

/// The result of learning which posts the human favorites.
package struct ClassifierTraining: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/train-classifier/1"
    package let mirror: String
    package let reading: TrainingReading
    /// Favorites that are learned now.
    package let favorites: Int64
    /// Other posts that are learned now.
    package let normals: Int64
    /// Learned posts without a word; nil while the counts are not current.
    package let wordless: Int64?
    /// The reason why nothing is favorited yet, and where more can be learned; nil once enough was
    /// learned.
    package let waiting: String?
    /// The reason why the counts cannot be read; nil if they can.
    package let countsProblem: String?
}

/// A training that has to wait for something, such as a login.
package struct TrainingWaits: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/train-waits/1"
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// The amounts of learned data that were removed from a mirror.
package struct TrainingCleared: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/train-clear/1"
    package let mirror: String
    /// Archived posts that were removed.
    package let posts: Int
    /// Learned posts of others that were removed.
    package let examples: Int64
}

extension HumanMirror {
    /// The outcome of the scheduler's training, and how much the mirror knows now.
    ///
    /// - Throws: The store's error.
    package func outcome(ofScheduler summary: TrainingSummary) async throws -> SchedulerTraining {
        let record = try await table.record()
        return SchedulerTraining(
            mirror: name, reading: TrainingReading(summary), archived: try await archive.count(),
            timeZone: record.timeZone, timeZoneSource: record.timeZoneSource)
    }

    /// The outcome of the classifier's training, and how much the mirror knows now.
    ///
    /// - Throws: The store's error.
    package func outcome(
        ofClassifier summary: TrainingSummary, _ favorites: Favorites
    ) async throws -> ClassifierTraining {
        let status = try await favorites.status()
        let step =
            status.normals < configuration.favorites.minimumPerCategory
            ? localized(
                "normals are learned from a home timeline, here or while mirror-bot run works")
            : localized(
                "favorites are learned from the human's account, an X archive or mastodon-archive")
        let problem: String? =
            if case .unavailable(let error) = status.counts { "\(error)" } else { nil }
        return ClassifierTraining(
            mirror: name, reading: TrainingReading(summary), favorites: status.favorites,
            normals: status.normals,
            wordless: status.wordless, waiting: status.waiting.map { localized("\($0); \(step)") },
            countsProblem: problem)
    }
}
