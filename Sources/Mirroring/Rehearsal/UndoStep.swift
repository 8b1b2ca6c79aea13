/// A point in taking an action back, at which an observer is called.
package enum UndoStep: String, CaseIterable, Sendable {
    /// The request is recorded, and no byte of it has been sent.
    case begun
    /// The network answered, or the answer was lost; the outcome is not stored yet.
    case answered
    case outcomeStored = "outcome-stored"
}
