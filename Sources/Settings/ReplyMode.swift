/// The treatment of an old reply that hardly fits the mention: sent, held for a person, or left
/// out.
package enum ReplyMode: String, CaseIterable, Sendable {
    /// Only likely replies are sent.
    case likely
    /// Every reply is sent.
    case all
    /// A reply that hardly fits waits for a person.
    case review
}
