/// How long a text may be on one server, and how that server counts.
package struct PublishingLimits: Equatable, Sendable {
    /// What counts as one character.
    package enum Unit: String, Codable, Sendable {
        /// What a reader sees as one character: a flag or a letter with accents is one.
        case graphemes
        /// Unicode code points: a letter with two combining accents is three.
        case codePoints
    }

    /// The longest text, counted in `unit`.
    package var maximumCharacters: Int
    /// What every `http://` or `https://` link counts, whatever its length.
    package var charactersPerURL: Int
    package var unit: Unit
    /// The longest text in UTF-8 bytes, where a network limits that too.
    package var maximumBytes: Int?

    package init(
        maximumCharacters: Int, charactersPerURL: Int, unit: Unit = .graphemes, maximumBytes: Int? = nil
    ) {
        self.maximumCharacters = maximumCharacters
        self.charactersPerURL = charactersPerURL
        self.unit = unit
        self.maximumBytes = maximumBytes
    }

    /// What a Mastodon server allows unless it says otherwise.
    package static let mastodon = PublishingLimits(maximumCharacters: 500, charactersPerURL: 23)
}
