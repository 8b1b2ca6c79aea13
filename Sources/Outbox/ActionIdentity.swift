import Crypto
import Foundation
import Posts

/// The names an action gets from its mirror, kind and subject.
///
/// Both are digests, so that every attempt, after a crash and in another
/// process too, names the same action the same way.
enum ActionIdentity {
    /// Twelve hexadecimal digits, short enough to type.
    static func id(kind: ActionKind, subject: String) -> String {
        String(digest("action/1", kind.rawValue, subject).prefix(12))
    }

    /// The value of `Idempotency-Key`.
    static func key(mirror: String, kind: ActionKind, subject: String) -> String {
        String(digest("key/1", mirror, kind.rawValue, subject).prefix(32))
    }

    private static func digest(_ parts: String...) -> String {
        let joined = Data(parts.joined(separator: "\0").utf8)
        return SHA256.hash(data: joined).hexadecimal
    }
}
