/// The HTML that snac makes of a plain text, as does whoever lets GoToSocial read Markdown.
///
/// `*word*`, `_word_`, backticks and their like become markup, smileys pictures, addresses links as they stand, and
/// lines end in `<br>`. What makes the markup is gone from the text for good.
struct RewrittenHTML {
    private(set) var html = ""

    /// What stands around a piece of markup, longer signs first, and the element that it becomes.
    private static let marks: [(sign: String, element: String)] = [
        ("**", "b"), ("*", "i"), ("__", "u"), ("_", "i"), ("~~", "s"), ("`", "code"),
    ]
    private static let smileys: [(sign: String, picture: String)] = [
        (">:-(", "😠"), (":-)", "🙂"), (":-D", "😀"), ("X-D", "😆"), (";-)", "😉"), ("B-)", "😎"), (":-(", "😞"),
        (":-*", "😘"), (":-/", "😕"), ("8-o", "😲"), (":-|", "😐"), ("<3", "💓"), (":shrug:", "🤷"), (":beer:", "🍺"),
    ]
    private static let pictures = [".png", ".jpg", ".jpeg", ".gif", ".webp"]

    private let population: SandboxPopulation

    init(_ text: String, population: SandboxPopulation) {
        self.population = population
        var isPreformatted = false
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```" {
                isPreformatted.toggle()
                lines.append(isPreformatted ? "<pre>" : "</pre>")
            } else if isPreformatted {
                lines.append(StatusHTML.escaped(String(line)))
            } else if line.hasPrefix(">") {
                lines.append("<blockquote>\(rewritten(line.dropFirst().drop { $0 == " " }))</blockquote>")
            } else if line.hasPrefix("# ") {
                lines.append("<h2>\(rewritten(line.dropFirst(2)))</h2>")
            } else {
                lines.append(rewritten(line))
            }
        }
        if isPreformatted { lines.append("</pre>") }
        html = "<p>" + lines.joined(separator: "<br>") + "</p>"
    }

    private func rewritten(_ line: Substring) -> String {
        var html = ""
        var plain = ""
        var rest = line
        while let first = rest.first {
            if let (markup, end) = markup(at: rest) {
                html += inline(plain) + markup
                plain = ""
                rest = rest[end...]
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        return html + inline(plain)
    }

    private func markup(at rest: Substring) -> (html: String, end: Substring.Index)? {
        if rest.hasPrefix("http://") || rest.hasPrefix("https://") { return link(at: rest) }
        for (sign, element) in Self.marks where rest.hasPrefix(sign) {
            let inside = rest.dropFirst(sign.count).prefix { $0 != sign.last }
            guard !inside.isEmpty, rest[inside.endIndex...].hasPrefix(sign) else { continue }
            let end = rest.index(inside.endIndex, offsetBy: sign.count)
            return ("<\(element)>\(inline(String(inside)))</\(element)>", end)
        }
        return nil
    }

    /// A link to a picture becomes an attachment, which the text no longer shows.
    private func link(at rest: Substring) -> (html: String, end: Substring.Index) {
        var link = rest.prefix { $0 != " " }
        while let last = link.last, ".,)?".contains(last) { link = link.dropLast() }
        if Self.pictures.contains(where: link.lowercased().hasSuffix) { return ("", link.endIndex) }
        let address = StatusHTML.escaped(String(link))
        return ("<a href=\"\(address)\" target=\"_blank\">\(address)</a>", link.endIndex)
    }

    /// Mentions and hashtags as Mastodon has them, and pictures for smileys.
    private func inline(_ text: String) -> String {
        var pictured = text
        for (sign, picture) in Self.smileys { pictured = pictured.replacing(sign, with: picture) }
        return String(StatusHTML(pictured, population: population).html.dropFirst("<p>".count).dropLast("</p>".count))
    }
}
