/// A point in the delivery of an action, told to whoever wants to know how far it got.
package enum DeliveryStep: String, CaseIterable, Sendable {
    /// A worker has taken the action.
    case claimed
    /// It was checked once more and has its final text.
    case prepared
    /// The row is committed as `sending`; no byte has left.
    case sendingStored = "sending-stored"
    /// The network answered, or the answer was lost; nothing of it is stored.
    case answered
    case outcomeStored = "outcome-stored"
    /// The network was asked what became of an action; nothing of the answer is stored.
    case lookedUp = "looked-up"
    /// A second request with the same key is recorded; no byte of it has left.
    case resendStored = "resend-stored"
}
