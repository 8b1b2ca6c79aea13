import Control
import Localization

/// A bar with the shares of the archived texts by fitness.
struct TextShares: Sendable {
    let texts: StatusReport.TextState

    /// The gap between two parts, in per cent of the width.
    private static let gap = 0.3

    /// The three parts, each with its class, its number of texts, and its label.
    var parts: [(side: String, number: Int, words: String)] {
        [
            ("t1", texts.fit, localized("fit at any time")),
            ("t2", texts.sometimes, localized("at some times only")),
            ("t3", texts.unfit, localized("left out")),
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
            name: "texts", title: localized("What the texts are good for"), finding: finding,
            size: .stretched(height: 28),
            body: bars)
    }

    private var finding: String {
        let fit = Words.number(texts.fit)
        let sometimes = Words.number(texts.sometimes)
        let unfit = Words.number(texts.unfit)
        guard texts.unjudged > 0 else {
            return localized(
                "\(fit) fit at any time, \(sometimes) at some times only, \(unfit) left out.")
        }
        let unjudged = Words.number(texts.unjudged)
        return localized(
            """
            \(fit) fit at any time, \(sometimes) at some times only, \(unfit) left out, \
            \(unjudged) not looked at yet.
            """)
    }
}
