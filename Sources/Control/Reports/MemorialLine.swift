/// The line of the bot's profile for a memorial.
enum MemorialLine {
    /// A line in one language: the text before the human's name, and the text after it.
    private struct Words {
        let start: String
        let end: String
    }

    private static let fallback = Words(
        start: "In memory of @", end: ". This bot repeats old posts.")
    private static let byLanguage = [
        "en": fallback,
        "ja": Words(start: "追悼 @", end: " このボットは過去の投稿を繰り返します。"),
        "de": Words(start: "In Erinnerung an @", end: ". Dieser Bot wiederholt alte Beiträge."),
        "fr": Words(start: "En mémoire de @", end: ". Ce bot répète d’anciens messages."),
        "es": Words(start: "En memoria de @", end: ". Este bot repite publicaciones antiguas."),
        "it": Words(start: "In memoria di @", end: ". Questo bot ripete vecchi post."),
        "pt": Words(start: "Em memória de @", end: ". Este bot repete publicações antigas."),
        "nl": Words(start: "Ter nagedachtenis aan @", end: ". Deze bot herhaalt oude berichten."),
    ]

    /// The beginnings of such lines, in all languages.
    static let starts = byLanguage.values.map(\.start)

    /// Variants of the line, of which the first that fits is used.
    ///
    /// - Parameters:
    ///   - human: The human's handle.
    ///   - contact: The operator; nil if none is named.
    ///   - language: A BCP 47 tag; English for a language without a line, and for nil.
    static func forms(human: String, contact: String?, language: String?) -> [String] {
        let code = language?.split(whereSeparator: { "-_".contains($0) }).first?.lowercased()
        let wording = code.flatMap { byLanguage[$0] } ?? fallback
        let whole = "\(wording.start)\(human)\(wording.end)"
        let short = "\(wording.start)\(human)"
        return [
            contact.map { "\(whole) (\($0))" }, whole, contact.map { "\(short) (\($0))" }, short,
        ].compactMap(\.self)
    }
}
