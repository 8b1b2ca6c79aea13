import Foundation

/// What a network remembers between calls.
final class BlueskyMemory: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var identity: (value: BlueskyIdentity, until: Date)?
    private var own: (value: BlueskyProfile, until: Date)?
    private var bios: [String: (text: String, until: Date)] = [:]

    /// The most bios that are kept.
    private static let maximumBios = 5_000

    func identity(at time: Date) -> BlueskyIdentity? {
        lock.withLock { identity.flatMap { time < $0.until ? $0.value : nil } }
    }

    /// What was known last, however long ago.
    var lastIdentity: BlueskyIdentity? { lock.withLock { identity?.value } }

    func keep(_ identity: BlueskyIdentity, until time: Date) {
        lock.withLock { self.identity = (identity, time) }
    }

    /// The account may have moved to another server.
    func forgetIdentity() {
        lock.withLock { identity = nil }
    }

    func ownProfile(at time: Date) -> BlueskyProfile? {
        lock.withLock { own.flatMap { time < $0.until ? $0.value : nil } }
    }

    func keep(ownProfile: BlueskyProfile, until time: Date) {
        lock.withLock { own = (ownProfile, time) }
    }

    /// The bios that are known, by DID.
    func bios(of dids: Set<String>, at time: Date) -> [String: String] {
        lock.withLock {
            var found: [String: String] = [:]
            for did in dids {
                if let bio = bios[did], time < bio.until { found[did] = bio.text }
            }
            return found
        }
    }

    func keep(bios new: [String: String], until time: Date) {
        lock.withLock {
            if bios.count + new.count > Self.maximumBios { bios = [:] }
            for (did, text) in new { bios[did] = (text, time) }
        }
    }
}
