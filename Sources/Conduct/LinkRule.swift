/// What becomes of a text that has a link.
package enum LinkRule: String, CaseIterable, Sendable {
    /// It is sent as it is.
    case kept
    /// It is not sent.
    case leftOut = "left-out"
    /// It is sent without the link, if words are left.
    case removed
}
