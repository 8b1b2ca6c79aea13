import Foundation
package import Posts

/// A measure of how well a stranger could distinguish days of posts by the bot from days by the
/// human.
///
/// A classifier learns the days of some people and their bots, and is tested on the days of other
/// people. Its features of a day are the number of posts, the first and the last
/// time, the gaps, and the hours with posts. If there is only one person, the classifier learns
/// some stretches of days and is tested on the other stretches.
package struct BotOrHuman: Equatable, Sendable {
    /// Days of one person, and of their bot on the same dates: for each day, the minutes of the
    /// posts, ascending.
    package struct Days: Equatable, Sendable {
        package var human: [[MinuteOfDay]]
        package var bot: [[MinuteOfDay]]

        package init(human: [[MinuteOfDay]] = [], bot: [[MinuteOfDay]] = []) {
            self.human = human
            self.bot = bot
        }
    }

    /// The minimum number of days of the human, and of the bot; with fewer days the measure depends
    /// on chance.
    package static let fewestDays = 30
    /// The number of parts into which the days are divided; each part is tested by a classifier
    /// that learned the other parts.
    private static let folds = 5

    /// The number of people whose days were classified.
    package let people: Int
    /// The number of days that were classified, half of them the human's.
    package let days: Int
    /// The probability that a day of the bot gets a higher score than a day of the human (area
    /// under the curve).
    ///
    /// This is the area under the receiver operating characteristic: 0.5 is guessing, 1 is certain;
    /// nil for too few days.
    package let auc: Double?
    /// The same probability for days of at least two posts.
    package let aucOfSeveral: Double?
    /// The same probability for days of at least two posts, judged by their shape alone: without
    /// the number of posts and the first and last minute.
    package let aucOfShape: Double?

    /// - Parameter people: The days of each person, and of their bot.
    package init(_ people: [Days]) {
        let days = people.enumerated().flatMap { person, days in
            // A single person has no number: their days are divided by time.
            let number = people.count > 1 ? person : nil
            return Self.labelled(days.human, isBot: false, person: number)
                + Self.labelled(days.bot, isBot: true, person: number)
        }
        let daysOfSeveral = days.filter { $0.features.posts > 1 }
        self.people = people.count
        self.days = days.count
        auc = Self.areaUnderCurve(of: days, by: \.features.all)
        aucOfSeveral = Self.areaUnderCurve(of: daysOfSeveral, by: \.features.all)
        aucOfShape = Self.areaUnderCurve(of: daysOfSeveral, by: \.features.shape)
    }

    private struct LabelledDay {
        let features: DayFeatures
        let isBot: Bool
        let fold: Int
    }

    private static func labelled(_ days: [[MinuteOfDay]], isBot: Bool, person: Int?)
        -> [LabelledDay]
    {
        days.enumerated().map { index, minutes in
            // All days of one person are in one fold. A single person's days are divided by time.
            LabelledDay(
                features: DayFeatures(minutes), isBot: isBot,
                fold: person.map { $0 % folds } ?? index * folds / days.count)
        }
    }

    private static func areaUnderCurve(
        of days: [LabelledDay], by valuesOf: (LabelledDay) -> [Double]
    )
        -> Double?
    {
        let botDays = days.count { $0.isBot }
        guard min(botDays, days.count - botDays) >= fewestDays else { return nil }
        let rows = ClassedRows(days.map(valuesOf))
        let labels = days.map(\.isBot)
        var scored: [(score: Double, isPositive: Bool)] = []
        for fold in 0..<folds {
            let testedRows = days.indices.filter { days[$0].fold == fold }
            let learnedRows = days.indices.filter { days[$0].fold != fold }
            guard !testedRows.isEmpty, !learnedRows.isEmpty else { continue }
            let stumps = BoostedStumps(rows, learning: learnedRows, labels: labels)
            scored += testedRows.map { (stumps.score(of: $0, in: rows), labels[$0]) }
        }
        return Ranking(scored).rocAUC
    }
}

extension BotOrHuman: Encodable {
    private enum CodingKeys: String, CodingKey {
        case people, days
        case auc
        case aucOfSeveral = "auc_several"
        case aucOfShape = "auc_shape"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(people, forKey: .people)
        try container.encode(days, forKey: .days)
        try container.encode(auc, forKey: .auc)
        try container.encode(aucOfSeveral, forKey: .aucOfSeveral)
        try container.encode(aucOfShape, forKey: .aucOfShape)
    }
}

/// The features of one day of posts.
private struct DayFeatures {
    let posts: Int
    /// The minutes from the first to the last post, the smallest, the middle and the largest gap,
    /// the share of gaps of at most half an hour, the number of hours with a post, and how evenly
    /// the posts spread over these hours.
    let shape: [Double]
    /// The number of posts, and the minutes of the first and the last post.
    private let countAndEnds: [Double]

    init(_ minutes: [MinuteOfDay]) {
        // Only a human has several posts in one minute, because a plan has one slot in a minute.
        // Such posts are moved to consecutive minutes, so that they do not give the human away.
        let distinctMinutes = minutes.reduce(into: [Int]()) { distinct, minute in
            let firstFree = (distinct.last ?? -1) + 1
            distinct.append(max(minute.value, firstFree))
        }
        let gaps = zip(distinctMinutes, distinctMinutes.dropFirst()).map { $1 - $0 }.sorted()
        let hours = Dictionary(distinctMinutes.map { ($0 / 60, 1.0) }, uniquingKeysWith: +).values
            .sorted()
        // The Shannon entropy of the posts' hours.
        let evenness = hours.reduce(0.0) { entropy, count in
            let share = count / Double(distinctMinutes.count)
            return entropy - share * log(share)
        }
        let first = distinctMinutes.first ?? 0
        let last = distinctMinutes.last ?? 0
        let shareOfShortGaps =
            gaps.isEmpty ? 0 : Double(gaps.count { $0 <= 30 }) / Double(gaps.count)
        posts = distinctMinutes.count
        shape = [
            Double(last - first), Double(gaps.first ?? 0),
            Double(gaps.isEmpty ? 0 : gaps[gaps.count / 2]),
            Double(gaps.last ?? 0), shareOfShortGaps, Double(hours.count), evenness,
        ]
        countAndEnds = [Double(posts), Double(first), Double(last)]
    }

    /// All features: ``shape``, the number of posts, and the minutes of the first and the last
    /// post.
    var all: [Double] { shape + countAndEnds }
}

/// A table in which each number is replaced by the class of its size (quantile binning).
///
/// A column has at most 32 classes, with about the same number of rows in each class.
struct ClassedRows {
    /// The maximum number of classes of a column.
    static let maximumClasses = 32

    /// For each column, the class of each row.
    let columns: [[UInt8]]

    init(_ rows: [[Double]]) {
        columns = (rows.first ?? []).indices.map { column in
            let values = rows.map { $0[column] }
            let sorted = values.sorted()
            // The lower bound of each class but the lowest.
            var lowerBounds: [Double] = []
            for part in 1..<Self.maximumClasses {
                let bound = sorted[part * sorted.count / Self.maximumClasses]
                if bound > lowerBounds.last ?? sorted[0] { lowerBounds.append(bound) }
            }
            return values.map { value in UInt8(lowerBounds.prefix { $0 <= value }.count) }
        }
    }
}

/// A classifier that adds the scores of many small decisions, each of which corrects the errors of
/// those before it.
///
/// This is gradient boosting of the log loss (Friedman 2001) with trees of one split each; it is
/// deterministic.
struct BoostedStumps {
    private static let maximumStumps = 60
    /// The share of the best score that a stump adds.
    private static let learningRate = 0.2
    /// The strength of the L2 regularization, which keeps the effect of few rows small.
    private static let ridge = 1.0

    /// A decision by one column: rows with lower classes get one score, all others another.
    private struct Stump {
        var column = 0
        /// The highest class of the lower rows.
        var highestLowerClass = UInt8(0)
        var lowerScore = 0.0
        var upperScore = 0.0
        /// The amount by which the stump reduces the loss.
        var gain = 0.0

        func score(ofClass number: UInt8) -> Double {
            number <= highestLowerClass ? lowerScore : upperScore
        }
    }

    private var stumps: [Stump] = []

    /// Learns from some of the rows.
    ///
    /// - Parameters:
    ///   - rows: All rows.
    ///   - learnedRows: The indices of the rows to learn from.
    ///   - labels: For each row, whether it is positive.
    init(_ rows: ClassedRows, learning learnedRows: [Int], labels: [Bool]) {
        let columns = rows.columns.map { column in learnedRows.map { row in column[row] } }
        let targets = learnedRows.map { row in labels[row] ? 1.0 : 0 }
        var scores = Array(repeating: 0.0, count: learnedRows.count)
        for _ in 0..<Self.maximumStumps {
            let chances = scores.map { 1 / (1 + exp(-$0)) }
            var best = Stump()
            for column in columns.indices {
                let stump = Self.stump(
                    ofColumn: column, classes: columns[column], targets: targets, chances: chances)
                if stump.gain > best.gain { best = stump }
            }
            guard best.gain > 0 else { return }
            for index in scores.indices {
                scores[index] += best.score(ofClass: columns[best.column][index])
            }
            stumps.append(best)
        }
    }

    /// The log odds that a row is positive.
    func score(of row: Int, in rows: ClassedRows) -> Double {
        stumps.reduce(0) { $0 + $1.score(ofClass: rows.columns[$1.column][row]) }
    }

    /// The stump of one column that reduces the loss most.
    private static func stump(
        ofColumn column: Int, classes: [UInt8], targets: [Double], chances: [Double]
    ) -> Stump {
        var gradients = Array(repeating: 0.0, count: ClassedRows.maximumClasses)
        var curvatures = gradients
        for (index, classNumber) in classes.enumerated() {
            let chance = chances[index]
            gradients[Int(classNumber)] += targets[index] - chance
            curvatures[Int(classNumber)] += chance * (1 - chance)
        }
        let wholeGradient = gradients.reduce(0, +)
        let wholeCurvature = curvatures.reduce(0, +)
        // The best score of some rows, by a Newton step, is gradient / (curvature + ridge). It
        // reduces the loss in proportion to gradient² / (curvature + ridge).
        let gainUnsplit = wholeGradient * wholeGradient / (wholeCurvature + ridge)
        var best = Stump()
        var lowerGradient = 0.0
        var lowerCurvature = 0.0
        for highestLowerClass in 0..<ClassedRows.maximumClasses - 1 {
            lowerGradient += gradients[highestLowerClass]
            lowerCurvature += curvatures[highestLowerClass]
            let upperGradient = wholeGradient - lowerGradient
            let lowerWeight = lowerCurvature + ridge
            let upperWeight = wholeCurvature - lowerCurvature + ridge
            let gain =
                lowerGradient * lowerGradient / lowerWeight
                + upperGradient * upperGradient / upperWeight - gainUnsplit
            guard gain > best.gain else { continue }
            best = Stump(
                column: column, highestLowerClass: UInt8(highestLowerClass),
                lowerScore: learningRate * lowerGradient / lowerWeight,
                upperScore: learningRate * upperGradient / upperWeight, gain: gain)
        }
        return best
    }
}
