import Control
import Favorites
import Foundation
import Localization
import Mirroring
import Outbox

/// The composition of a favorite rate as a waterfall chart: a row for each word, whose bar begins
/// where the previous one ended.
///
/// The horizontal axis is the logarithm of the rate, with a thin line at zero and a thick one at
/// the threshold, through all rows.
struct StepBars: Sendable {
    /// A row of the table.
    struct Row: Sendable {
        let name: String
        /// The numbers of favorites and of other posts with the word, as `31 / 14`; empty if not
        /// recorded.
        let counts: String
        let bar: Markup
        /// The amount that the row adds, as `+1.22`.
        let adds: String
    }

    let rows: [Row]
    /// The natural logarithm of the rate that results from all rows.
    let sum: Double

    /// The most rows of features.
    ///
    /// If there are more features, the last row sums up the weakest.
    private static let mostRows = 12

    /// - Parameter judgement: The judgement. Without the log odds of any post, its base, only the
    ///   words are shown.
    init(_ judgement: ExplainReport.Judgement) {
        var steps = Self.strongest(of: judgement.features).map { feature in
            (
                name: Self.name(of: feature),
                counts: Self.counts(feature.favorites, feature.normals),
                adds: feature.logOdds
            )
        }
        let base = judgement.baseLogOdds
        if let base {
            steps.insert(
                (localized("any post"), Self.counts(judgement.favorites, judgement.normals), base),
                at: 0)
        }
        let logThreshold = judgement.threshold > 0 ? log(judgement.threshold) : 0
        var runningSums = [0.0]
        for step in steps {
            runningSums.append((runningSums.last ?? 0) + (step.adds.isFinite ? step.adds : 0))
        }
        let low = min(runningSums.min() ?? 0, logThreshold)
        let high = max(runningSums.max() ?? 0, logThreshold)
        // A margin on both sides keeps lines at the ends in sight.
        let start = low - (high - low) * 0.02
        let width = max((high - low) * 1.04, .leastNormalMagnitude)
        func position(_ value: Double) -> Double { (value - start) / width * 100 }
        rows = steps.enumerated().map { index, step in
            let barStart = position(runningSums[index])
            let barEnd = position(runningSums[index + 1])
            let side =
                if index == 0 && base != nil {
                    "base"
                } else if step.adds >= 0 {
                    "for"
                } else {
                    "against"
                }
            let zero = position(0)
            let threshold = position(logThreshold)
            return Row(
                name: step.name, counts: step.counts,
                bar: """
                    <svg class="meter" aria-hidden="true">\
                    <line class="tick" x1="\(zero)%" x2="\(zero)%" y1="0" y2="100%"/>\
                    <line class="limit" x1="\(threshold)%" x2="\(threshold)%" y1="0" y2="100%"/>\
                    <rect class="\(side)" x="\(min(barStart, barEnd))%" width="\(abs(barEnd - barStart))%" y="32%" height="36%"/></svg>
                    """,
                adds: Self.signed(step.adds))
        }
        sum = runningSums.last ?? 0
    }

    /// Formats a number with its sign, as `+1.22` or `−0.65`.
    static func signed(_ number: Double, digits: Int = 2) -> String {
        guard number.isFinite else { return "–" }
        let text = String(format: "%.\(digits)f", abs(number))
        return (number < 0 && text.contains { $0 != "0" && $0 != "." } ? "−" : "+") + text
    }

    /// The strongest features, ordered by group, and one feature for the sum of all others.
    private static func strongest(of features: [Explanation.Feature]) -> [Explanation.Feature] {
        let features = Explanation.Feature.grouped(features).flatMap(\.features)
        guard features.count > mostRows else { return features }
        // The strongest feature first.
        let ranked = features.indices.sorted { first, second in
            abs(features[first].logOdds) > abs(features[second].logOdds)
        }
        let strongestIndices = ranked.prefix(mostRows - 1).sorted()
        let otherFeatures = ranked.dropFirst(mostRows - 1).map { features[$0] }
        let others = Explanation.Feature(
            name: "", logOdds: otherFeatures.map(\.logOdds).reduce(0, +),
            sums: otherFeatures.map { $0.sums ?? 1 }.reduce(0, +))
        return strongestIndices.map { features[$0] } + [others]
    }

    private static func name(of feature: Explanation.Feature) -> String {
        guard let sums = feature.sums, feature.kind == .words else {
            return feature.kind == .form
                ? FeatureGroup.localizedName(ofForm: feature.name) : feature.shownName
        }
        return Words.count(sums, "other word")
    }

    private static func counts(_ favorites: Int64?, _ normals: Int64?) -> String {
        guard let favorites, let normals else { return "" }
        return "\(Words.number(Int(favorites))) / \(Words.number(Int(normals)))"
    }
}

/// The calibration of the classifier as a reliability diagram: a dot for each tenth of predicted
/// probability, at the observed share of favorites.
struct CalibrationPlot: Sendable {
    private static let leftEdge = 40.0
    private static let rightEdge = 320.0
    private static let topEdge = 20.0
    private static let bottomEdge = 300.0
    /// The radius of the largest dot.
    private static let largestRadius = 12.0
    /// The radius of the smallest dot.
    private static let smallestRadius = 2.0

    let measure: ClassifierMeasure

    /// The probability above which the bot favorites: r / (r + 1) for a threshold of r to one.
    var limit: Double { measure.threshold / (measure.threshold + 1) }

    var drawing: Drawing {
        Drawing(
            name: "cal", title: localized("Does it know how sure it is?"), finding: finding,
            size: .scaled(box: "0 0 336 340"),
            body: grid + lines + dots + [
                "<text x=\"180\" y=\"336\" text-anchor=\"middle\">\(localized("chance that was told, %"))</text>",
                "<text x=\"44\" y=\"14\">\(localized("favorites among them, %"))</text>",
            ])
    }

    private var finding: String {
        let bins = measure.calibration
        guard let first = bins.first, let last = bins.last else {
            return localized("No post was judged.")
        }
        var mentionedBins = [first]
        if bins.count > 2 { mentionedBins.append(bins[bins.count / 2]) }
        if bins.count > 1 { mentionedBins.append(last) }
        let shares = mentionedBins.map { bin in
            (predicted: Words.percent(bin.predicted), observed: Words.percent(bin.observed))
        }
        switch shares.count {
        case 1:
            return localized(
                "Of posts that got a chance of \(shares[0].predicted), \(shares[0].observed) were favorites. The table has all."
            )
        case 2:
            return localized(
                """
                Of posts that got a chance of \(shares[0].predicted), \(shares[0].observed) were favorites; \
                of those that got \(shares[1].predicted), \(shares[1].observed). The table has all.
                """)
        default:
            return localized(
                """
                Of posts that got a chance of \(shares[0].predicted), \(shares[0].observed) were favorites; \
                of those that got \(shares[1].predicted), \(shares[1].observed); \
                of those that got \(shares[2].predicted), \(shares[2].observed). The table has all.
                """)
        }
    }

    private static func x(_ share: Double) -> Double {
        leftEdge + (rightEdge - leftEdge) * max(0, min(1, share))
    }
    private static func y(_ share: Double) -> Double {
        bottomEdge - (bottomEdge - topEdge) * max(0, min(1, share))
    }

    private var grid: [Markup] {
        stride(from: 0, through: 100, by: 25).map { number in
            let x = Self.x(Double(number) / 100)
            let y = Self.y(Double(number) / 100)
            return """
                <line class="tick" x1="\(Self.leftEdge)" x2="\(Self.rightEdge)" y1="\(y)" y2="\(y)"/>\
                <text x="34" y="\(y + 4)" text-anchor="end">\(number)</text>\
                <text x="\(x)" y="318" text-anchor="middle">\(number)</text>
                """
        }
    }

    private var lines: [Markup] {
        let x = Self.x(limit)
        return [
            "<line class=\"fine\" x1=\"\(Self.leftEdge)\" y1=\"\(Self.bottomEdge)\" x2=\"\(Self.rightEdge)\" y2=\"\(Self.topEdge)\"/>",
            "<line class=\"limit\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(Self.topEdge)\" y2=\"\(Self.bottomEdge)\"/>",
        ]
    }

    /// A dot for each bin; its area is proportional to the number of its posts.
    private var dots: [Markup] {
        let mostPosts = Double(max(1, measure.calibration.map(\.posts).max() ?? 1))
        return measure.calibration.map { bin in
            let radius = max(
                Self.smallestRadius,
                Self.largestRadius * (Double(bin.posts) / mostPosts).squareRoot())
            return """
                <circle class="b" cx="\(Drawing.short(Self.x(bin.predicted)))" cy="\(Drawing.short(Self.y(bin.observed)))" \
                r="\(Drawing.short(radius))"/>
                """
        }
    }
}
