import Embedded

/// The treatment of an HTML element when a post is converted to plain text.
///
/// `Resources/html.tsv` has a row for each element or class; an element without one is ``inline``.
enum HTMLDecision: String {
    /// A blank line stands around its content, but only a line break inside a list.
    case paragraph
    /// Its content begins and ends on its own line.
    case line
    /// A line break.
    case `break`
    /// A list whose items begin with `- `.
    case bullets
    /// A list whose items begin with their numbers.
    case numbers
    /// An item of a list, on its own line.
    case item
    /// Somebody's words, quoted by the author: each line begins with `> `.
    case quotation
    /// Words between the marks “ and ”.
    case speech
    /// Words that their author struck out, between `~~`.
    case struck
    /// White space in its content stays as it is.
    case preformatted
    /// A blank line stands around the table, whose rows are lines.
    case table
    /// A row of a table, on its own line.
    case row
    /// A cell of a table: a space stands before it, unless it is the first of its row.
    case cell
    /// A hashtag or a mention becomes a name; any other link its words, with the address in
    /// parentheses if they do not show it.
    case link
    /// Its content alone.
    case inline
    /// How the word before it is read: between parentheses, which are added if the post has none.
    case reading
    /// Digits and signs become those of Unicode's superscripts; other content stays as it is.
    case raised
    /// Digits and signs become those of Unicode's subscripts; other content stays as it is.
    case lowered
    /// A formula: the annotation that holds its source; without one its content.
    case formula
    /// One form of a formula.
    case annotation
    /// Its alternative text if it is an emoji; any other picture is ``media``.
    case picture
    /// Its alternative text.
    case alternative
    /// Left out with its content, and the post counts as one with media.
    case media
    /// Somebody else's post inside this one: left out, and the post counts as one that quotes.
    case others
    /// Left out with its content.
    case leftOut = "left-out"

    /// Whether the element ends a link and an omission that were never closed.
    var isBlock: Bool {
        switch self {
        case .paragraph, .line, .bullets, .numbers, .item, .quotation, .preformatted, .table, .row,
            .cell:
            true
        default: false
        }
    }

    /// The rows of the data file: the element or class, its decision, and who sends it.
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
    /// The classes that some row names.
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
