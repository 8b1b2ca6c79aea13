package import Foundation

/// How long a text may be on one server, and how that server counts.
package struct PublishingLimits: Equatable, Sendable {
    /// The unit in which a text is counted.
    package enum Unit: String, Codable, Sendable {
        /// Grapheme clusters, which a reader sees as one character: a flag or a letter with accents
        /// is one.
        case graphemes
        /// Unicode code points: a letter with two combining accents is three.
        case codePoints
        /// X's weights, in whole characters of the Latin script: most other scripts and an emoji
        /// count two.
        ///
        /// Source: twitter-text, configuration 3.
        case xWeight
    }

    /// The longest text, counted in `unit`.
    package var maximumCharacters: Int
    /// The count of an `http://` or `https://` link of any length; `nil` where links count like any
    /// text.
    package var charactersPerURL: Int?
    package var unit: Unit
    /// The longest text in UTF-8 bytes, where a network limits that too.
    package var maximumBytes: Int?

    package init(
        maximumCharacters: Int, charactersPerURL: Int?, unit: Unit = .graphemes,
        maximumBytes: Int? = nil
    ) {
        self.maximumCharacters = maximumCharacters
        self.charactersPerURL = charactersPerURL
        self.unit = unit
        self.maximumBytes = maximumBytes
    }
}

/// How many requests of one kind are made in a while.
package struct Pace: Equatable, Sendable {
    package var count: Int
    /// In seconds.
    package var period: TimeInterval

    package init(count: Int, period: TimeInterval) {
        self.count = count
        self.period = period
    }
}
