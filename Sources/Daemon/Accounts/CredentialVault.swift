package import Foundation
import Logging
package import Networks
package import Posts
import Storage

/// Logins and sessions, sealed in the database.
///
/// The key is `SECRET_KEY`, else a file beside the embedded database. On a
/// server's database without `SECRET_KEY` there is no place for a key: logins
/// are refused then, and sessions last as long as the process.
package struct CredentialVault: Sendable {
    private enum Key: Sendable {
        case secret(Secret)
        case file(KeyFile)
        case none
    }

    private let storage: any StorageEngine
    private let mirror: String
    private let key: Key
    private let memory: SessionMemory

    /// - Parameters:
    ///   - configuration: Names the mirror and the key.
    ///   - storage: Where the table is.
    ///   - logger: Warned once, when sessions can only be kept in memory.
    init(_ configuration: MirrorConfiguration, storage: any StorageEngine, logger: Logger) {
        self.storage = storage
        mirror = configuration.mirror
        memory = SessionMemory(logger: logger)
        switch (configuration.secretKey, configuration.storage) {
        case (let secret?, _): key = .secret(secret)
        case (nil, .sqlite(let path)): key = .file(KeyFile(besideDatabase: path))
        case (nil, .postgres): key = .none
        }
    }

    /// The stored login of a role; nil if there is none.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if it does not open what is stored; the store's error.
    package func login(of role: AccountRole) async throws -> StoredLogin? {
        guard let sealed = try await row(role.rawValue) else { return nil }
        guard let seal = try existingSeal() else { throw unopened(role, because: missingKey) }
        guard let text = seal.opened(sealed, place: place(role.rawValue)),
            let login = try? JSONDecoder().decode(LoginRecord.self, from: Data(text.reveal().utf8)).login
        else { throw unopened(role, because: "does not open") }
        return login
    }

    /// Replaces the login of a role, and ends the session of the one before.
    ///
    /// - Parameters:
    ///   - login: What to keep.
    ///   - session: What the network gave out while the login was tried; nil if nothing.
    ///   - role: Whose account it opens.
    ///   - now: When it was made.
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if there is no key; the store's error.
    package func store(
        _ login: StoredLogin, session: Secret? = nil, for role: AccountRole, at now: Date
    ) async throws {
        let seal = try requiredSeal()
        let text = String(decoding: try JSONEncoder().encode(LoginRecord(login)), as: UTF8.self)
        let sealed = try seal.sealed(Secret(text), place: place(role.rawValue))
        let place = place(Self.session(role))
        let sealedSession = try session.map { try seal.sealed($0, place: place) }
        memory.forget(role)
        try await storage.transaction { connection in
            try remove([Self.session(role)], on: connection)
            try write(sealed, row: role.rawValue, at: now, on: connection)
            guard let sealedSession else { return }
            try write(sealedSession, row: Self.session(role), at: now, on: connection)
        }
    }

    /// Fails where a login could not be stored, before a person goes to the trouble of one.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY`.
    package func requireKey() throws { _ = try requiredSeal() }

    /// Where the key is that opens what is stored, for people who keep a copy of it; nil if there is none yet.
    package var keyPlace: String? {
        switch key {
        case .secret: "SECRET_KEY"
        case .file(let file): FileManager.default.fileExists(atPath: file.path) ? file.path : nil
        case .none: nil
        }
    }

    /// Forgets the login and the session of a role.
    ///
    /// - Throws: The store's error.
    package func remove(_ role: AccountRole) async throws {
        memory.forget(role)
        try await storage.transaction { try remove([role.rawValue, Self.session(role)], on: $0) }
    }

    /// Where the network of a role keeps the tokens that it is given while it is used.
    ///
    /// - Parameters:
    ///   - role: Whose session it is.
    ///   - clock: Tells when a session was saved.
    /// - Returns: The place for one session.
    package func sessions(of role: AccountRole, clock: any WallClock) -> any CredentialStore {
        VaultSessions(vault: self, role: role, clock: clock)
    }

    /// The networks of the stored logins, without those that cannot be opened.
    func networks() async throws -> [AccountRole: NetworkName] {
        var networks: [AccountRole: NetworkName] = [:]
        for role in AccountRole.allCases {
            do {
                networks[role] = try await login(of: role)?.network
            } catch is ConfigurationError {
                // Whoever needs the login is told then; others, such as a new login, are not kept from their work.
            }
        }
        return networks
    }

    /// The saved session of a role; nil if there is none, or none that can be opened.
    func session(of role: AccountRole) async throws -> Secret? {
        if let session = memory.session(of: role) { return session }
        guard let sealed = try await row(Self.session(role)), let seal = try? existingSeal() else { return nil }
        return seal.opened(sealed, place: place(Self.session(role)))
    }

    /// Saves the session of a role: sealed, or without a key in memory.
    func save(_ session: Secret, of role: AccountRole, at now: Date) async throws {
        guard let seal = try seal() else { return memory.keep(session, of: role) }
        let sealed = try seal.sealed(session, place: place(Self.session(role)))
        try await storage.transaction { try write(sealed, row: Self.session(role), at: now, on: $0) }
    }

    /// The seal for what is stored already; nil if there is no key.
    private func existingSeal() throws -> VaultSeal? {
        switch key {
        case .secret(let secret): VaultSeal(secret: secret)
        case .file(let file): try file.read().map(VaultSeal.init)
        case .none: nil
        }
    }

    /// The seal for what is to be stored; nil if there is no place for a key.
    private func seal() throws -> VaultSeal? {
        if case .file(let file) = key { return VaultSeal(secret: try file.readOrMake()) }
        return try existingSeal()
    }

    private func requiredSeal() throws -> VaultSeal {
        guard let seal = try seal() else {
            throw ConfigurationError(
                "SECRET_KEY",
                "is not set, and a login is stored only when sealed with it; set it to 64 random hex digits, as "
                    + "openssl rand -hex 32 prints them")
        }
        return seal
    }

    private func unopened(_ role: AccountRole, because cause: String) -> ConfigurationError {
        ConfigurationError(
            "SECRET_KEY",
            "\(cause) the stored login of the \(role.rawValue); set the key that it was stored with, or log in again "
                + "with mirror-bot login")
    }

    /// Why there is no key, up to "the stored login".
    private var missingKey: String {
        if case .file(let file) = key { return "is not set, and \(file.path) is missing, so nothing opens" }
        return "is not set, and only it opens"
    }

    private static func session(_ role: AccountRole) -> String { "\(role.rawValue)-session" }

    /// What binds a sealed text to its row.
    private func place(_ row: String) -> String { "mirror-bot/credentials\n\(mirror)\n\(row)" }

    private func row(_ role: String) async throws -> String? {
        let rows = try await storage.query(
            "SELECT sealed FROM credentials WHERE mirror = \(mirror) AND role = \(role)")
        return try rows.first?.text("sealed")
    }

    private func write(_ sealed: String, row: String, at now: Date, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO credentials (mirror, role, sealed, updated_ms)
            VALUES (\(mirror), \(row), \(sealed), \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE SET sealed = excluded.sealed, updated_ms = excluded.updated_ms
            """)
    }

    private func remove(_ rows: [String], on connection: any StorageConnection) throws {
        try connection.execute("DELETE FROM credentials WHERE mirror = \(mirror) AND role IN \(list: rows)")
    }
}
