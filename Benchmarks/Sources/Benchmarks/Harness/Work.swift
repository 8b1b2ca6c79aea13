/// A piece of work that is measured; one file each, listed in ``Work/all``.
struct Work: Sendable {
    /// What `--filter` looks for; the names of its lines begin with it.
    let name: String
    /// Does the work, again and again, and adds its lines to the report.
    ///
    /// Each independent measurement goes through ``Report/measure(_:_:)``, so that its failure
    /// hides no other line. Throws ``MissingTool`` when something that all lines need is not
    /// installed, anything else when its preparation failed.
    let measure: @Sendable (Bench, inout Report) async throws -> Void
}

/// One line of the table.
struct Line: Sendable {
    /// The key of its ratio in JSON, in snake case.
    let name: String
    /// What was done, in the words of the table.
    let title: String
    /// What we reached, with its unit.
    let ours: String
    /// What the baseline reached, or the limit.
    let baseline: String
    /// Ours in terms of the baseline; nil for a line that only informs.
    let ratio: Spread?
    let target: Target

    init(
        _ name: String, _ title: String, ours: String, baseline: String = "–", ratio: Spread? = nil,
        target: Target = .none
    ) {
        self.name = name
        self.title = title
        self.ours = ours
        self.baseline = baseline
        self.ratio = ratio
        self.target = target
    }

    /// A figure that must stay below a limit; its ratio is its share of the limit.
    ///
    /// - Parameters:
    ///   - name: The key in JSON.
    ///   - title: What was done.
    ///   - figures: What was measured, one value a repetition; their median counts.
    ///   - limit: What it may be at most.
    ///   - unit: Of both.
    /// - Returns: The line.
    static func limited(
        _ name: String, _ title: String, _ figures: [Double], limit: Double, unit: String
    ) -> Line {
        Line(
            name, title, ours: Figure.text(Spread(figures).median, unit),
            baseline: "limit \(Figure.text(limit, unit))",
            ratio: Spread(figures.map { $0 / limit }),
            target: .atMost(1))
    }
}

/// What a ratio has to be.
enum Target: Sendable {
    /// As much per second as this share of the baseline's, or more.
    case atLeast(Double)
    /// At most this many times the baseline's time, or the limit's figure.
    case atMost(Double)
    /// The line only informs.
    case none

    var text: String {
        switch self {
        case .atLeast(let ratio): "≥ \(Figure.ratio(ratio))"
        case .atMost(let ratio): "≤ \(Figure.ratio(ratio))"
        case .none: ""
        }
    }

    /// Nil where there is nothing to reach.
    func isReached(by ratio: Spread?) -> Bool? {
        guard let ratio = ratio?.median else { return nil }
        switch self {
        case .atLeast(let target): return ratio >= target
        case .atMost(let target): return ratio <= target
        case .none: return nil
        }
    }
}
