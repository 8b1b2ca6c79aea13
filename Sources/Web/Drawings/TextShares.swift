import Control

/// A bar with the shares of the archived texts by fitness.
struct TextShares: Sendable {
    let texts: StatusReport.TextState

    private static let gap = 0.3

    /// The three parts with their class, number and words.
    var parts: [(side: String, number: Int, words: String)] {
        [
            ("t1", texts.fit, "fit at any time"), ("t2", texts.sometimes, "at some times only"),
            ("t3", texts.unfit, "left out"),
        ]
    }

    var drawing: Drawing {
        let textCount = Double(max(1, texts.fit + texts.sometimes + texts.unfit))
        let nonemptyParts = parts.filter { $0.number > 0 }
        let widthOfBars = 100 - Self.gap * Double(nonemptyParts.count)
        var bars = [Markup]()
        var x = 0.0
        for part in nonemptyParts {
            let width = widthOfBars * Double(part.number) / textCount
            bars.append(
                "<rect class=\"\(part.side)\" x=\"\(x)%\" y=\"0\" width=\"\(width)%\" height=\"28\"/>"
            )
            x += width + Self.gap
        }
        return Drawing(
            name: "texts", title: "What the texts are good for", finding: finding,
            size: .stretched(height: 28),
            body: bars)
    }

    private var finding: String {
        let counts = parts.map { "\(Words.number($0.number)) \($0.words)" }.joined(separator: ", ")
        return texts.unjudged > 0
            ? "\(counts), \(Words.number(texts.unjudged)) not looked at yet." : counts + "."
    }
}
