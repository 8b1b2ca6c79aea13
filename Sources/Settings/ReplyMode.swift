/// The treatment of an old reply that hardly fits the mention: sent, held for a person, or left
/// out.
package enum ReplyMode: String, CaseIterable, Sendable {
    /// Only likely replies are sent.
    case likely
    /// Every reply is sent.
    case all
    /// It waits for a person.
    case review
}
