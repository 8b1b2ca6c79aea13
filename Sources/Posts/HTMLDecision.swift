import Embedded

/// The treatment of an HTML element when a post is converted to plain text.
///
/// `Resources/html.tsv` has a row for each element or class; an element without one is ``inline``.
enum HTMLDecision: String {
    /// A block surrounded by blank lines, or inside a list by line breaks.
    case paragraph
    /// A block whose content begins and ends on its own line.
    case line
    /// A line break.
    case `break`
    /// A list whose items begin with `- `.
    case bullets
    /// A list whose items begin with their numbers.
    case numbers
    /// An item of a list, on its own line.
    case item
    /// A quotation by the author: each line begins with `> `.
    case quotation
    /// Words between the marks “ and ”.
    case speech
    /// Words that the author struck out, between `~~`.
    case struck
    /// An element in whose content white space is preserved.
    case preformatted
    /// A table, surrounded by blank lines, with a line for each row.
    case table
    /// A row of a table, on its own line.
    case row
    /// A cell of a table, preceded by a space unless it is the first of its row.
    case cell
    /// A link: a hashtag or a mention becomes its name; any other link becomes its words, with the
    /// address in parentheses if the words do not show it.
    case link
    /// An element that becomes its content alone.
    case inline
    /// The pronunciation of the preceding word (ruby): in parentheses, which are added if the post
    /// has none.
    case reading
    /// Superscript: digits and signs become Unicode superscripts; other content is unchanged.
    case raised
    /// Subscript: digits and signs become Unicode subscripts; other content is unchanged.
    case lowered
    /// A formula: the annotation with its source, or else its content.
    case formula
    /// An alternative notation inside a formula, such as its source in TeX.
    case annotation
    /// The alternative text of an emoji; any other picture is treated as ``media``.
    case picture
    /// An element that becomes its alternative text.
    case alternative
    /// An element that is left out with its content; the post then counts as one with media.
    case media
    /// Another person's post inside this one: it is left out, and the post counts as one that
    /// quotes.
    case others
    /// An element that is left out with its content.
    case leftOut = "left-out"

    /// Whether the element ends links and omissions that were never closed.
    var isBlock: Bool {
        switch self {
        case .paragraph, .line, .bullets, .numbers, .item, .quotation, .preformatted, .table, .row,
            .cell:
            true
        default: false
        }
    }

    /// The rows of the data file: the element or class, its decision, and the programs that send
    /// it.
    static let rows: [(name: String, decision: HTMLDecision, senders: String)] = EmbeddedFiles.rows(
        of: "Posts/html.tsv", columns: 3
    ).map { fields in
        guard let decision = HTMLDecision(rawValue: fields[1]) else {
            // The decisions are part of the program.
            preconditionFailure("html.tsv has no decision \(fields[1])")
        }
        return (fields[0], decision, fields[2])
    }

    private static let decisions = Dictionary(rows.map { ($0.name, $0.decision) }) { first, _ in
        first
    }
    /// The classes that have a row.
    private static let classes = Set(
        rows.compactMap { row in
            row.name.firstIndex(of: ".").map { String(row.name[$0...].dropFirst()) }
        })

    /// The decision about an element of this name without a class.
    static func about(_ name: String) -> HTMLDecision { decisions[name] ?? .inline }

    /// The decision about an element.
    static func about(_ tag: HTMLTag) -> HTMLDecision {
        if let list = tag.attributes["class"] {
            for name in list.utf8.split(whereSeparator: \.isHTMLSpace) {
                let name = String(Substring(name))
                guard classes.contains(name) else { continue }
                if let decision = decisions["\(tag.name).\(name)"] ?? decisions[".\(name)"] {
                    return decision
                }
            }
        }
        return about(tag.name)
    }
}
