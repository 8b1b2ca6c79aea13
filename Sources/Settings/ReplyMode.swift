/// Whether an old reply that hardly fits the mention is sent, waits for a person, or is left out.
package enum ReplyMode: String, CaseIterable, Sendable {
    /// Only likely replies are sent.
    case likely
    /// Every reply is sent.
    case all
    /// It waits for a person.
    case review
}
