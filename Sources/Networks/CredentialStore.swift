package import Posts

/// Keeps the tokens that a network gives out while it is used, sealed and out of sight.
///
/// The text is the network's own business. It belongs to one account: whoever reads it back checks whose it is.
package protocol CredentialStore: Sendable {
    /// What was saved last; nil if there is nothing, or nothing that can be opened.
    func load() async throws -> Secret?
    /// Replaces what was saved; durable when it returns.
    func save(_ credentials: Secret) async throws
}
