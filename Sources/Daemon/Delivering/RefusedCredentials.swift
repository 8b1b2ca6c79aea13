import Foundation
import Networks

/// Remembers that the bot's network no longer accepts the bot's token.
///
/// What was to be sent then is put back in line; the worker ends, for only a
/// person can mend it.
final class RefusedCredentials: @unchecked Sendable {
    // Sendable because every access to `error` holds the lock.
    private let lock = NSLock()
    private var error: NetworkError?

    func note(_ error: NetworkError) { lock.withLock { self.error = error } }

    /// Fails once a refusal was noted.
    func check() throws {
        if let error = lock.withLock({ error }) { throw error }
    }
}
