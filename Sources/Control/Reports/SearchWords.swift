import Foundation

/// The words of a search: all of them must occur, in any order; ignores case, width and accents.
struct SearchWords: Sendable {
    private let words: [String]

    /// - Parameter text: The words as a person typed them; nil for none, which occur in every text.
    init(_ text: String?) {
        words = (text ?? "").split(whereSeparator: \.isWhitespace).map { Self.folded(String($0)) }
            .filter {
                !$0.isEmpty
            }
    }

    /// Whether each word occurs in one of the texts.
    func occur(in texts: [String]) -> Bool {
        guard !words.isEmpty else { return true }
        let folded = texts.map(Self.folded)
        return words.allSatisfy { word in folded.contains { $0.contains(word) } }
    }

    private static func folded(_ text: String) -> String {
        text.folding(
            options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }
}
