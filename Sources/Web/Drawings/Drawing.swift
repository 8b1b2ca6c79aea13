import Foundation

/// A drawing on a page: SVG made on the server, with a title and one sentence that states its
/// finding.
///
/// A table or a list beside it has the same numbers. It has no styles of its own, only classes of
/// `style.css`.
struct Drawing: Sendable {
    /// How the width of the drawing is determined.
    enum Size: Sendable {
        /// The drawing is as wide as the page and has a height in pixels; its horizontal
        /// coordinates are percentages.
        case stretched(height: Int)
        /// The drawing is scaled as a whole; the box is `minX minY width height`.
        case scaled(box: String)
    }

    /// A prefix for the ids of its elements, unique on the page.
    let name: String
    let title: String
    /// The finding that the drawing shows, in one or a few sentences.
    let finding: String
    let size: Size
    let body: [Markup]

    /// The drawing as an element of a page.
    var element: Markup {
        let shape: Markup =
            switch size {
            case .stretched(let height): "class=\"draw\" height=\"\(height)\""
            case .scaled(let box): "class=\"clock\" viewBox=\"\(box)\" fill=\"none\""
            }
        return """
            <svg \(shape) role="img" aria-labelledby="\(name)-t \(name)-d"><title id="\(name)-t">\(title)</title>\
            <desc id="\(name)-d">\(finding)</desc>\(body)</svg>
            """
    }

    /// A small bar in a table's cell, beside its number.
    ///
    /// - Parameters:
    ///   - share: The filled share of the whole width, 0 to 1.
    ///   - side: The class: `for`, `against` or `base`.
    static func meter(_ share: Double, side: String) -> Markup {
        let width = max(0, min(1, share.isFinite ? share : 0)) * 100
        return """
            <svg class="meter" aria-hidden="true"><rect class="\(side)" x="0" y="1" height="10" width="\(width)%"/></svg>
            """
    }

    /// A colored square, for a legend.
    static func key(_ side: String) -> Markup {
        """
        <svg aria-hidden="true" viewBox="0 0 16 16"><rect class="\(side)" x="2" y="2" width="12" height="12"/></svg>
        """
    }

    /// Formats a coordinate with at most one decimal, as short as possible.
    static func short(_ number: Double) -> String {
        let tenths = (number * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }
}
