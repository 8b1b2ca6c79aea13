/// Why MeCab could not be opened or could not analyse a text.
@usableFromInline package struct MeCabError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// No folder of that name or path holds a compiled dictionary.
        package static let dictionaryNotFound = Code(description: "dictionary-not-found")
        /// There is a dictionary, but MeCab refuses to open it.
        package static let dictionaryUnreadable = Code(description: "dictionary-unreadable")
        /// The dictionary opens, but is not UTF-8 or numbers its parts of speech in another way.
        package static let wrongDictionary = Code(description: "wrong-dictionary")
        /// The text is longer than ``MeCabModel/maximumBytes``.
        package static let textTooLong = Code(description: "text-too-long")
        /// MeCab gave up on a text.
        package static let parsing = Code(description: "parsing")
    }

    package let code: Code
    /// One line for people that never holds the analysed text.
    @usableFromInline package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
