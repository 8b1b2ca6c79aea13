/// What can go wrong with the outbox itself; failures of the store pass through unchanged.
package struct OutboxError: Error, CustomStringConvertible, Sendable {
    /// What went wrong.
    package enum Code: String, Sendable {
        /// Another worker holds the mirror's lease; nothing was changed.
        case leaseLost = "lease-lost"
        /// The action is no longer in the state the change starts from.
        case stateChanged = "state-changed"
    }

    package let code: Code
    package let description: String

    static let leaseLost = OutboxError(
        code: .leaseLost, description: "could not change an action: another worker holds this mirror now")

    static func stateChanged(_ id: String, to state: ActionState) -> OutboxError {
        OutboxError(
            code: .stateChanged,
            description: "could not set action \(id) to \(state.rawValue): it was changed meanwhile")
    }
}
