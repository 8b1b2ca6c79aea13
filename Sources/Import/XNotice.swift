import Posts

/// The sentences that X shows instead of a post that is no longer available.
///
/// An archive contains such a sentence as the text of a like: "This Post is from a suspended
/// account. {learnmore}". X writes it in the language of the account. It is recognized by the
/// placeholder of the link after it, which is the same in all languages. If X has filled in
/// the link, the text ends with the link's words, while a person's text would contain an address
/// there.
enum XNotice {
    /// The placeholder without its braces, separators and case.
    private static let placeholder = "learnmore"

    /// The words of the link, as pages show them.
    private static let linkWords = [
        "learn more", "mehr erfahren", "en savoir plus", "más información", "saiba mais",
        "scopri di più",
        "meer informatie", "dowiedz się więcej", "подробнее", "daha fazla bilgi edin", "詳細はこちら",
        "자세히 알아보기",
        "了解更多", "瞭解更多", "معرفة المزيد", "pelajari selengkapnya",
    ]

    /// The characters that end a sentence.
    private static let sentenceEnds: Set<Character> = [
        ".", "!", "?", "。", "．", "！", "？", "।", "؟", "۔", "…",
    ]

    /// Beginnings of X's English notices, which older archives contain without the link.
    private static let beginnings = ["post", "tweet"].flatMap { post in
        [
            "you're unable to view this \(post) ", "this \(post) is from a suspended account",
            "this \(post) is from an account that no longer exists",
            "this \(post) is from a private account",
            "this \(post) was deleted by the \(post) author", "this \(post) violated the x rules",
            "this \(post) violated the twitter rules", "this \(post) is unavailable",
        ]
    }

    /// The longest notice, in bytes.
    private static let maximumBytes = 1_000

    /// Whether `text` is such a sentence of X.
    ///
    /// - Parameter text: Plain text without white space around it.
    /// - Returns: True for a notice; in doubt false.
    static func isNotice(_ text: String) -> Bool {
        guard text.utf8.count <= maximumBytes else { return false }
        if holdsPlaceholder(text) { return true }
        guard !text.contains("://") else { return false }
        let folded = text.lowercased().replacing("’", with: "'")
        return endsInLink(folded) || beginnings.contains { isBeginning($0, of: folded) }
    }

    private static func holdsPlaceholder(_ text: String) -> Bool {
        text.utf8.split(separator: Byte.openBrace, omittingEmptySubsequences: false).dropFirst()
            .contains { part in
                guard let end = part.firstIndex(of: Byte.closeBrace) else { return false }
                // Only letters are compared, in either case.
                let letters = part[..<end].filter(\.isASCIIAlphanumeric).map { $0 | 0x20 }
                return letters.starts(with: placeholder.utf8)
            }
    }

    private static func endsInLink(_ text: String) -> Bool {
        let withoutEnd = text.trimmingSuffix { sentenceEnds.contains($0) || $0.isWhitespace }
        return linkWords.contains { words in
            guard withoutEnd.hasSuffix(words) else { return false }
            let sentence = withoutEnd.dropLast(words.count).trimmingSuffix(while: \.isWhitespace)
            guard let last = sentence.last else { return false }
            return sentenceEnds.contains(last)
        }
    }

    /// Whether a text has this beginning, followed only by the end of its sentence; a beginning
    /// with a space at its end may be followed by anything.
    private static func isBeginning(_ beginning: String, of text: String) -> Bool {
        guard text.hasPrefix(beginning) else { return false }
        return beginning.hasSuffix(" ")
            || text.dropFirst(beginning.count).allSatisfy(sentenceEnds.contains)
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> SubSequence {
        var trimmed = self[...]
        while let last = trimmed.last, isDropped(last) { trimmed.removeLast() }
        return trimmed
    }
}
