package import Posts

/// An account's handle, checked before it is put into a text.
///
/// Handles come from the network and may be hostile: a space or a second `@` would let the owner of
/// the handle write a part of the bot's post.
package struct Handle: Hashable, Sendable, CustomStringConvertible {
    /// The handle without the leading `@`: `user`, `user@host` or `user.host`.
    package let text: String

    package var description: String { "@\(text)" }

    /// Nil unless `text`, without the leading `@`, has the form of the network's handles.
    package init?(_ text: String, on network: NetworkName = .usual) {
        guard network.traits.isHandle(text) else { return nil }
        self.text = text
    }
}
