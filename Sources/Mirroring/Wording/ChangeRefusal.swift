/// The refusal of a change that a person asked for; nothing was changed.
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
        /// The object changed after the person saw it.
        case changed
        /// The action was sent, or may have been; an undo takes it back.
        case sent
        /// The action has ended, or was already decided.
        case over
        /// The text is excluded from being sent, or is not fit to be sent.
        case unfit
        /// A setting or the network forbids it.
        case notAllowed = "not-allowed"
        /// Nothing is learned of the human's past, so a plan cannot be made.
        case nothingLearned = "nothing-learned"
        /// Another process is changing the same object.
        case busy
        /// The limit of stored entries is reached.
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

    /// Whether the request itself was wrong, rather than the state it met.
    package var isMisuse: Bool { [.unusable, .unknown, .ambiguous, .outOfTime].contains(code) }
}
