import Posts

/// The names an action gets from its mirror, kind and subject.
///
/// Both are digests, so that every attempt, after a crash and in another
/// process too, names the same action the same way.
enum ActionIdentity {
    /// Twelve hexadecimal digits, short enough to type.
    static func id(kind: ActionKind, subject: String) -> String {
        String(StableHash.digest(of: "action/1", kind.rawValue, subject).hexadecimal.prefix(12))
    }

    /// The value of `Idempotency-Key`.
    static func key(mirror: String, kind: ActionKind, subject: String) -> String {
        String(StableHash.digest(of: "key/1", mirror, kind.rawValue, subject).hexadecimal.prefix(32))
    }
}
