import Foundation
package import Posts

/// How well a stranger who is shown days of posts could distinguish the bot's from the human's.
///
/// A classifier learns the days of some people and their bots, and is tested on other people, of
/// whom it has seen nothing. Its features of a day are the number of posts, the first and the last
/// time, the gaps, and the hours with posts. If there is only one person, it learns some stretches
/// of days and is tested on the others.
package struct BotOrHuman: Equatable, Sendable {
    /// Days of one person, and of their bot on the same dates: the minutes of each, ascending.
    package struct Days: Equatable, Sendable {
        package var human: [[MinuteOfDay]]
        package var bot: [[MinuteOfDay]]

        package init(human: [[MinuteOfDay]] = [], bot: [[MinuteOfDay]] = []) {
            self.human = human
            self.bot = bot
        }
    }

    /// With fewer days of either kind every figure is chance.
    package static let fewestDays = 30
    private static let folds = 5

    /// How many people there are.
    package let people: Int
    /// The number of days that were classified, half of them the human's.
    package let days: Int
    /// The probability that, of a day of the bot and one of the human, the bot's gets the higher
    /// score (area under the curve).
    ///
    /// The area under the receiver operating characteristic: 0.5 is guessing, 1 is certain; nil for
    /// too few days.
    package let all: Double?
    /// The same probability for days of at least two posts.
    package let several: Double?
    /// The same for these days by their shape alone, without the number of posts and the first and
    /// last minute.
    package let shape: Double?

    /// - Parameter people: The days of each.
    package init(_ people: [Days]) {
        let days = people.enumerated().flatMap { person, days in
            Self.labelled(days.human, isBot: false, people.count > 1 ? person : nil)
                + Self.labelled(days.bot, isBot: true, people.count > 1 ? person : nil)
        }
        let several = days.filter { $0.look.posts > 1 }
        self.people = people.count
        self.days = days.count
        all = Self.area(days, \.look.all)
        self.several = Self.area(several, \.look.all)
        shape = Self.area(several, \.look.shape)
    }

    private struct LabelledDay {
        let look: DayLook
        let isBot: Bool
        let fold: Int
    }

    private static func labelled(_ days: [[MinuteOfDay]], isBot: Bool, _ person: Int?)
        -> [LabelledDay]
    {
        days.enumerated().map { index, minutes in
            LabelledDay(
                look: DayLook(minutes), isBot: isBot,
                fold: person.map { $0 % folds } ?? index * folds / days.count)
        }
    }

    private static func area(_ days: [LabelledDay], _ features: (LabelledDay) -> [Double])
        -> Double?
    {
        let bots = days.count { $0.isBot }
        guard min(bots, days.count - bots) >= fewestDays else { return nil }
        let rows = ClassedRows(days.map(features))
        let labels = days.map(\.isBot)
        var scored: [(score: Double, isPositive: Bool)] = []
        for fold in 0..<folds {
            let asked = days.indices.filter { days[$0].fold == fold }
            let learned = days.indices.filter { days[$0].fold != fold }
            guard !asked.isEmpty, !learned.isEmpty else { continue }
            let stumps = BoostedStumps(rows, learned, labels)
            scored += asked.map { (stumps.score(of: $0, in: rows), labels[$0]) }
        }
        return Ranking(scored).rocAUC
    }
}

extension BotOrHuman: Encodable {
    private enum CodingKeys: String, CodingKey {
        case people, days
        case all = "auc"
        case several = "auc_several"
        case shape = "auc_shape"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(people, forKey: .people)
        try container.encode(days, forKey: .days)
        try container.encode(all, forKey: .all)
        try container.encode(several, forKey: .several)
        try container.encode(shape, forKey: .shape)
    }
}

/// The features of one day of posts.
private struct DayLook {
    let posts: Int
    /// The span, the smallest, the middle and the largest gap, the share of gaps of at most half an
    /// hour, the number of hours with a post, and how evenly the posts spread over them.
    let shape: [Double]
    private let place: [Double]

    init(_ minutes: [MinuteOfDay]) {
        // A plan has no two slots in one minute, so posts in one minute, which only a human has,
        // are spread apart.
        let values = minutes.reduce(into: [Int]()) { $0.append(max($1.value, ($0.last ?? -1) + 1)) }
        let gaps = zip(values, values.dropFirst()).map { $1 - $0 }.sorted()
        let hours = Dictionary(values.map { ($0 / 60, 1.0) }, uniquingKeysWith: +).values.sorted()
        let entropy = hours.reduce(0) {
            $0 - $1 / Double(values.count) * log($1 / Double(values.count))
        }
        let first = values.first ?? 0
        let last = values.last ?? 0
        let close = gaps.isEmpty ? 0 : Double(gaps.count { $0 <= 30 }) / Double(gaps.count)
        posts = values.count
        shape = [
            Double(last - first), Double(gaps.first ?? 0),
            Double(gaps.isEmpty ? 0 : gaps[gaps.count / 2]),
            Double(gaps.last ?? 0), close, Double(hours.count), entropy,
        ]
        place = [Double(posts), Double(first), Double(last)]
    }

    /// All features: ``shape``, the number of posts, and the times of the first and the last.
    var all: [Double] { shape + place }
}

/// Rows of numbers, each replaced by its class: at most 32 classes for each column, with about as
/// many rows each.
struct ClassedRows {
    static let most = 32

    /// The class of each row, by column.
    let columns: [[UInt8]]

    init(_ rows: [[Double]]) {
        columns = (rows.first ?? []).indices.map { column in
            let values = rows.map { $0[column] }
            let sorted = values.sorted()
            // The lower bound of each class but the lowest.
            var cuts: [Double] = []
            for part in 1..<Self.most {
                let cut = sorted[part * sorted.count / Self.most]
                if cut > cuts.last ?? sorted[0] { cuts.append(cut) }
            }
            return values.map { value in UInt8(cuts.prefix { $0 <= value }.count) }
        }
    }
}

/// A sum of many small decisions, each of which corrects the errors of those before it.
///
/// Gradient boosting of the log loss (Friedman 2001) with trees of one split each; it is
/// deterministic.
struct BoostedStumps {
    private static let rounds = 60
    private static let rate = 0.2
    /// Regularization: keeps the effect of few rows small.
    private static let ridge = 1.0

    private struct Stump {
        var column = 0
        var cut = UInt8(0)
        var below = 0.0
        var above = 0.0
        var gain = 0.0
    }

    private var stumps: [Stump] = []

    /// - Parameters:
    ///   - rows: All rows.
    ///   - learned: The rows to learn from.
    ///   - labels: For each row, whether it is positive.
    init(_ rows: ClassedRows, _ learned: [Int], _ labels: [Bool]) {
        let columns = rows.columns.map { column in learned.map { column[$0] } }
        let targets = learned.map { labels[$0] ? 1.0 : 0 }
        var scores = Array(repeating: 0.0, count: learned.count)
        for _ in 0..<Self.rounds {
            let chances = scores.map { 1 / (1 + exp(-$0)) }
            var best = Stump()
            for column in columns.indices {
                let stump = Self.stump(column, columns[column], targets, chances)
                if stump.gain > best.gain { best = stump }
            }
            guard best.gain > 0 else { return }
            for index in scores.indices {
                scores[index] += columns[best.column][index] <= best.cut ? best.below : best.above
            }
            stumps.append(best)
        }
    }

    /// The log odds that a row is positive.
    func score(of row: Int, in rows: ClassedRows) -> Double {
        stumps.reduce(0) { $0 + (rows.columns[$1.column][row] <= $1.cut ? $1.below : $1.above) }
    }

    /// The best split of one column.
    private static func stump(
        _ column: Int, _ classes: [UInt8], _ targets: [Double], _ chances: [Double]
    ) -> Stump {
        var slopes = Array(repeating: 0.0, count: ClassedRows.most)
        var bends = slopes
        for (index, place) in classes.enumerated() {
            let chance = chances[index]
            slopes[Int(place)] += targets[index] - chance
            bends[Int(place)] += chance * (1 - chance)
        }
        let whole = (slope: slopes.reduce(0, +), bend: bends.reduce(0, +))
        let gainOfNone = whole.slope * whole.slope / (whole.bend + ridge)
        var best = Stump()
        var slope = 0.0
        var bend = 0.0
        for cut in 0..<ClassedRows.most - 1 {
            slope += slopes[cut]
            bend += bends[cut]
            let rest = whole.slope - slope
            let restBend = whole.bend - bend + ridge
            let gain = slope * slope / (bend + ridge) + rest * rest / restBend - gainOfNone
            guard gain > best.gain else { continue }
            best = Stump(
                column: column, cut: UInt8(cut), below: rate * slope / (bend + ridge),
                above: rate * rest / restBend,
                gain: gain)
        }
        return best
    }
}
