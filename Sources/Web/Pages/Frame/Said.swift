import Control
import Posts

/// The result of an operation, in one sentence, with an optional undo button.
package struct Said: Sendable {
    /// A button that posts to an operation's route.
    package struct Button: Sendable {
        /// The verb on it.
        package let verb: String
        /// A path of this server.
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
    /// Returns the button that sends the way back from a change.
    ///
    /// - Parameters:
    ///   - verb: The words on the button.
    ///   - wayBack: The operation that reverts the change, as its outcome gives it.
    /// - Returns: Nil without a way back, and for an operation without a form.
    func button(_ verb: String, _ wayBack: WayBack?) -> Said.Button? {
        guard let wayBack, let form = OperationForm(wayBack.operation) else { return nil }
        let seen = wayBack.seen.map { [("seen", $0.description)] } ?? []
        return Said.Button(verb, to: base + form.path, form.fields + seen)
    }
}
