import Cryptography
package import Foundation
package import Mirroring
package import Outbox
package import Posts
import Settings
import Storage

/// The single operation that a one-time address allows on its mirror.
package struct OnceAddress: Equatable, Sendable {
    /// The operations that a button of a notice may stand for.
    package enum Deed: String, CaseIterable, Sendable {
        /// Approves a suggestion.
        case approve
        /// Dismisses a suggestion, or leaves a slot out.
        case skip
        /// Pauses the mirror until a person resumes it.
        case pause
    }

    /// Why an address does nothing.
    package enum Refusal: Error, Equatable, Sendable {
        /// The address was not made for this mirror with this key, or was changed.
        case unknown
        case expired
        /// The address was used before, successfully or not.
        case used
    }

    package let deed: Deed
    /// The id of the action; empty for the mirror itself.
    package let action: String
    /// The digest of the action, or of the pause, as it was when the address was made.
    package let seen: Seen
    package let ends: Date
}

/// The one-time addresses of a mirror.
///
/// An address is a path of the web page: the operation, the digest of the item, its end, and
/// a code over these and the mirror (HMAC-SHA256, RFC 2104) under a key that is derived from the
/// operator's. So it needs no login, cannot be changed into another address, and does nothing if
/// the item has changed. A digest of a used address is stored until the address has ended, because
/// an item that was skipped and restored has the same digest as before.
package struct OnceAddresses: Sendable {
    /// The path before the name of the mirror.
    package static let root = "/once/"
    /// How long an address is valid, in seconds: until the next notice about the same cause.
    static let validity: TimeInterval = 86_400
    /// Seconds for which a used address is kept after its end, for clocks that are set back.
    private static let keptAfterEnd: TimeInterval = 86_400
    private static let purpose = "mirror-bot once addresses 1"
    /// The longest address that is read, in bytes.
    private static let longestAddress = 200

    private let mirror: String
    private let storage: any StorageEngine
    private let key: [UInt8]
    /// The creation time of the mirror, so that a later mirror of the same name has other
    /// addresses.
    private let created: Int64

    /// - Parameters:
    ///   - mirror: The name of the mirror, which is not opened.
    ///   - installation: Its database and its key.
    ///   - mayMake: Whether the key file is made if it is missing.
    /// - Returns: Nil without a key, or without a mirror of this name.
    /// - Throws: `ConfigurationError` for an invalid key file; the store's error.
    package init?(
        of mirror: String, in installation: Installation, mayMake: Bool = false
    ) async throws {
        let rows = try await installation.storage.query(
            "SELECT created_ms FROM mirrors WHERE mirror = \(mirror)")
        let vault = installation.vault(of: mirror)
        guard let created = try rows.first?.integer("created_ms"),
            let key = try vault.derivedKey(for: Self.purpose, mayMake: mayMake)
        else { return nil }
        self.mirror = mirror
        storage = installation.storage
        self.key = key
        self.created = created
    }

    // MARK: Making

    /// Returns a path that approves or skips an action in its present state.
    func path(_ deed: OnceAddress.Deed, _ action: Action, now: Date) -> String {
        path(deed, action: action.id, seen: action.seen, now: now)
    }

    /// Returns a path that pauses the mirror.
    ///
    /// - Parameter record: The present row of the mirror.
    func path(pausing record: MirrorRecord, now: Date) -> String {
        path(.pause, action: "", seen: record.pauseSeen(at: now), now: now)
    }

    private func path(_ deed: OnceAddress.Deed, action: String, seen: Seen, now: Date) -> String {
        let ends = Int64((now + Self.validity).timeIntervalSince1970)
        let content = "\(deed.rawValue).\(action).\(seen).\(ends)"
        return "\(Self.root)\(mirror)/\(content).\(code(of: content))"
    }

    private func code(of content: String) -> String {
        let text = "mirror-bot once\n\(mirror)\n\(created)\n\(content)"
        return Base64URL.text(of: HashFunction.sha256.code(of: text.utf8, key: key))
    }

    // MARK: Reading

    /// Reads an address that may still be used; changes nothing.
    ///
    /// - Parameters:
    ///   - text: The path after the name of the mirror.
    ///   - now: The present.
    /// - Throws: ``OnceAddress/Refusal``; the store's error.
    package func address(in text: String, now: Date) async throws -> OnceAddress {
        let address = try checked(text, now: now)
        let rows = try await storage.query(
            """
            SELECT 1 AS found FROM used_addresses
            WHERE mirror = \(mirror) AND address = \(Self.digest(of: text))
            """)
        guard rows.isEmpty else { throw OnceAddress.Refusal.used }
        return address
    }

    private func checked(_ text: String, now: Date) throws(OnceAddress.Refusal) -> OnceAddress {
        guard text.utf8.count <= Self.longestAddress, let dot = text.lastIndex(of: ".") else {
            throw .unknown
        }
        let content = String(text[..<dot])
        let givenCode = text[text.index(after: dot)...]
        guard ConstantTime.areEqual(givenCode.utf8, code(of: content).utf8) else { throw .unknown }
        let parts = content.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let deed = OnceAddress.Deed(rawValue: parts[0]),
            let seen = Seen(parts[2]), let ends = Int64(parts[3])
        else { throw .unknown }
        let end = Date(timeIntervalSince1970: TimeInterval(ends))
        guard now < end else { throw .expired }
        return OnceAddress(deed: deed, action: parts[1], seen: seen, ends: end)
    }

    private static func digest(of text: String) -> String {
        StableHash.digest(of: "mirror-bot once", text).hexadecimal
    }

    // MARK: Using

    /// Carries out the operation of an address, at most once: a failed attempt uses it up too.
    ///
    /// - Parameters:
    ///   - text: The path after the name of the mirror.
    ///   - desk: The mirror.
    /// - Returns: The address, and whether the operation changed anything.
    /// - Throws: ``OnceAddress/Refusal``; `ChangeRefusal`, also if the item has changed;
    ///   `ConfigurationError` for a mirror that is elsewhere; the store's error.
    package func use(
        _ text: String, at desk: Desk
    ) async throws -> (address: OnceAddress, isNew: Bool) {
        precondition(desk.mirror.name == mirror)
        let address = try checked(text, now: desk.now)
        try await desk.mirror.table.requireHere()
        try await note(text, of: address, now: desk.now)
        return (address, try await perform(address, at: desk))
    }

    /// Stores that an address was used; fails if it was used before.
    private func note(_ text: String, of address: OnceAddress, now: Date) async throws {
        let mirror = mirror
        let isFirst = try await storage.transaction { connection in
            try connection.execute(
                """
                DELETE FROM used_addresses
                WHERE mirror = \(mirror) AND ends_ms <= \((now - Self.keptAfterEnd).milliseconds)
                """)
            let added = try connection.execute(
                """
                INSERT INTO used_addresses (mirror, address, ends_ms)
                VALUES (\(mirror), \(Self.digest(of: text)), \(address.ends.milliseconds))
                ON CONFLICT (mirror, address) DO NOTHING
                """)
            return added == 1
        }
        guard isFirst else { throw OnceAddress.Refusal.used }
    }

    private func perform(_ address: OnceAddress, at desk: Desk) async throws -> Bool {
        switch address.deed {
        case .approve:
            let wish = PersonRequest(ApproveSuggestion(id: address.action), seen: address.seen)
            return try await desk.perform(wish).isNew
        case .skip:
            guard try await isSuggestion(address.action, at: desk) else {
                let wish = PersonRequest(SkipSlot(slot: address.action), seen: address.seen)
                return try await desk.perform(wish).isNew
            }
            let wish = PersonRequest(DismissSuggestion(id: address.action), seen: address.seen)
            return try await desk.perform(wish).isNew
        case .pause:
            let wish = PersonRequest(PauseMirror(), seen: address.seen)
            // `wasPaused` is nil if the pause is new.
            return try await desk.perform(wish).wasPaused == nil
        }
    }

    /// Whether an action waits for a person, or did so before it was dismissed.
    private func isSuggestion(_ id: String, at desk: Desk) async throws -> Bool {
        guard let action = try await desk.outbox.actions(withIDs: [id])[id] else { return false }
        return action.state == .suggested || action.reason == .outbox(.dismissed)
    }
}

extension OnceAddress {
    /// The action of the address; nil if there is none (any more), and for a pause.
    ///
    /// - Throws: The store's error.
    package func action(in mirror: HumanMirror) async throws -> Action? {
        guard !action.isEmpty else { return nil }
        return try await mirror.outbox(lease: nil).actions(withIDs: [action])[action]
    }
}
