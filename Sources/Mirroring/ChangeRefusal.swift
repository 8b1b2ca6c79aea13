/// Why something that a person asked for cannot be done; nothing was changed.
package struct ChangeRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of reasons, with stable names for programs.
    package enum Code: String, CaseIterable, Codable, Sendable {
        /// The input does not have the required form.
        case unusable
        /// The input names nothing that exists.
        case unknown
        /// The input names more than one thing.
        case ambiguous
        /// The day or the time has passed, or is too far away.
        case outOfTime = "out-of-time"
        /// The thing is not any more as the person saw it.
        case changed
        /// It was sent, or may have been; an undo takes it back.
        case sent
        /// It has ended, or was decided before.
        case over
        /// The text is not to be sent, or not fit to be.
        case unfit
        /// A setting or the network does not let the bot do it.
        case notAllowed = "not-allowed"
        /// Nothing is known of the human's past, so that there is nothing to plan from.
        case nothingLearned = "nothing-learned"
        /// Somebody else is changing the same.
        case busy
        /// No more of it can be kept.
        case full
    }

    package let code: Code
    /// A sentence for the person.
    package let text: SurfaceText

    package init(_ code: Code, _ description: String) {
        self.init(code, saying: SurfaceText(description))
    }

    package init(_ code: Code, saying text: SurfaceText) {
        self.code = code
        self.text = text
    }

    /// The sentence for a terminal.
    package var description: String { text.terminal }

    /// Whether what was typed is wrong, rather than what is there.
    package var isMisuse: Bool { [.unusable, .unknown, .ambiguous, .outOfTime].contains(code) }
}
