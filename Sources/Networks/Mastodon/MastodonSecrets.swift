import Foundation
import Posts

/// What no text may show, whoever wrote it: every token, code and key that was used.
final class MastodonSecrets: @unchecked Sendable {
    /// Tokens that were replaced so often ago are of no use to anybody.
    private static let maximumCount = 64

    // Sendable: every access to the variable holds the lock.
    private let lock = NSLock()
    private var known: [Secret] = []

    /// Adds what is there and not empty.
    func add(_ secrets: Secret?...) {
        let fresh = secrets.compactMap(\.self).filter { !$0.isEmpty }
        lock.withLock { known = (known + fresh).suffix(Self.maximumCount) }
    }

    /// `text` without any of the secrets.
    func redacted(from text: String) -> String {
        Secret.redacted(lock.withLock { known }, from: text)
    }
}
