package import Foundation

/// The limits of texts on a server, and the units in which it counts.
package struct PublishingLimits: Equatable, Sendable {
    /// The unit in which a text is counted.
    package enum Unit: String, Codable, Sendable {
        /// Grapheme clusters: the characters that a reader sees. A flag or a letter with accents
        /// counts as one.
        case graphemes
        /// Unicode code points: a letter with two combining accents is three.
        case codePoints
        /// X's weights, in units of a Latin character: characters of most other scripts and emoji
        /// count two.
        ///
        /// Source: twitter-text, configuration 3.
        case xWeight
    }

    /// The longest text, counted in `unit`.
    package var maximumCharacters: Int
    /// The count of an `http://` or `https://` link of any length; `nil` if links count like other
    /// text.
    package var charactersPerURL: Int?
    package var unit: Unit
    /// The longest text in UTF-8 bytes, if a network limits that too.
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

/// A limit of requests of one kind within a period.
package struct Pace: Equatable, Sendable {
    package var count: Int
    /// The length of the period, in seconds.
    package var period: TimeInterval

    package init(count: Int, period: TimeInterval) {
        self.count = count
        self.period = period
    }
}
