import Foundation
import Logging
import Networks
package import Posts

/// The session of one role in a vault.
struct VaultSessions: CredentialStore {
    let vault: CredentialVault
    let role: AccountRole
    let clock: any WallClock

    func load() async throws -> Secret? { try await vault.session(of: role) }

    func save(_ credentials: Secret) async throws { try await vault.save(credentials, of: role, at: clock.now) }
}

/// Sessions that cannot be sealed and therefore end with the process.
final class SessionMemory: @unchecked Sendable {
    // Sendable because everything that changes is only touched under `lock`.
    private let lock = NSLock()
    private let logger: Logger
    private var sessions: [AccountRole: Secret] = [:]
    private var hasWarned = false

    init(logger: Logger) { self.logger = logger }

    func session(of role: AccountRole) -> Secret? { lock.withLock { sessions[role] } }

    func keep(_ session: Secret, of role: AccountRole) {
        let isFirst = lock.withLock {
            sessions[role] = session
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        logger.warning("Sessions end with this process, for SECRET_KEY is not set to seal them")
    }

    func forget(_ role: AccountRole) { lock.withLock { sessions[role] = nil } }
}

/// The session of a login that is only tried: nobody keeps it, and it replaces none that is kept.
package final class TriedSession: CredentialStore, @unchecked Sendable {
    // Sendable because `session` is only touched under `lock`.
    private let lock = NSLock()
    private var session: Secret?

    package init() {}

    package func load() async throws -> Secret? { lock.withLock { session } }

    package func save(_ credentials: Secret) async throws { lock.withLock { session = credentials } }
}
