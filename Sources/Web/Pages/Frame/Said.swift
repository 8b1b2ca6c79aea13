import Control
import Posts

/// The result of an operation, in one sentence, with an optional undo button.
package struct Said: Sendable {
    /// A button that posts to an operation's route.
    package struct Button: Sendable {
        /// The text of the button, a verb.
        package let verb: String
        /// The path to which the button posts, on this server.
        package let action: String
        package let fields: [(String, String)]

        fileprivate init(_ verb: String, to action: String, _ fields: [(String, String)]) {
            self.verb = verb
            self.action = action
            self.fields = fields
        }
    }

    /// One sentence.
    package let text: String
    package let wayBack: Button?

    package init(_ text: String, wayBack: Button? = nil) {
        self.text = text
        self.wayBack = wayBack
    }
}

extension MirrorRequest {
    /// Returns the button that reverts a change.
    ///
    /// - Parameters:
    ///   - verb: The text of the button.
    ///   - wayBack: The operation that reverts the change, as the change's outcome contains it.
    /// - Returns: Nil for a change that cannot be reverted, and for an operation without a form.
    func button(_ verb: String, _ wayBack: WayBack?) -> Said.Button? {
        guard let wayBack, let form = OperationForm(wayBack.operation) else { return nil }
        let seen = wayBack.seen.map { [("seen", $0.description)] } ?? []
        return Said.Button(verb, to: base + form.path, form.fields + seen)
    }
}
