/// A point in taking an action back, told to whoever wants to know how far it got.
package enum UndoStep: String, CaseIterable, Sendable {
    /// The request is recorded, and no byte of it has left.
    case begun
    /// The network answered, or the answer was lost; nothing of it is stored.
    case answered
    case outcomeStored = "outcome-stored"
}
