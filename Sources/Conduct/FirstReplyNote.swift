import Embedded
import Posts

/// The line below the first reply to a person.
///
/// It says that a bot repeats old words, whose they are, and how to end it.
///
/// It is never a part of the human's words: it is stored, measured and taken away apart from them.
package struct FirstReplyNote: Sendable {
    /// The lines by language, one with a place for a name and one without.
    private static let lines: [String: (named: String, nameless: String)] =
        EmbeddedFiles.rows(of: "Conduct/first-reply.tsv", columns: 3)
        .reduce(into: [:]) { lines, cells in lines[cells[0]] = (cells[1], cells[2]) }
    private static let fallback = "en"
    private static let place = "{human}"

    /// The languages in which there is a line.
    package static var languages: Set<String> { Set(lines.keys) }

    /// The short name of the human; nil if it is not known, or is none that can stand in a text.
    private let human: String?

    /// - Parameter handle: The human's handle, without `@`; nil if it is not known.
    package init(human handle: String?) {
        // Neither the name of a server nor a domain: networks make links of these.
        let name = handle?.split(whereSeparator: { "@.".contains($0) }).first.map(String.init)
        human = name.flatMap { name in
            let isPlain = name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.isASCIIAlphanumeric || $0 == "_" || $0 == "-"
            }
            return isPlain ? name : nil
        }
    }

    /// Returns the line in a language, or in English where there is none.
    ///
    /// - Parameter language: The language of the mention, as a BCP 47 tag.
    package func line(in language: String?) -> String {
        let code =
            language?.split(whereSeparator: { "-_".contains($0) }).first?.lowercased()
            ?? Self.fallback
        guard let line = Self.lines[code] ?? Self.lines[Self.fallback] else {
            preconditionFailure("first-reply.tsv has no row \(Self.fallback)")
        }
        guard let human else { return line.nameless }
        return line.named.replacing(Self.place, with: human)
    }
}

extension TextRules {
    /// Whether the bot's server takes a line below a text.
    ///
    /// - Parameters:
    ///   - text: The text as it may be sent.
    ///   - warning: The warning that goes with it; nil for none.
    package func hasRoom(for line: String, below text: String, warning: String?) -> Bool {
        TextLength.refusal(
            of: text.noted(line), besides: length(ofWarning: warning), limits: limits) == nil
    }
}
