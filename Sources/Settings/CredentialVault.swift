import Cryptography
package import Foundation
import Localization
package import Logging
package import Networks
package import Posts
package import Storage

/// Logins and sessions, sealed in the database.
///
/// The key is `SECRET_KEY`, or else a file beside the embedded database. With a database server and
/// without `SECRET_KEY` there is no key: then logins are refused, and sessions end with the
/// process.
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
    ///   - mirror: The mirror of the logins.
    ///   - process: The settings that contain the key, or else the database beside its file.
    ///   - storage: The database.
    ///   - logger: Gets one warning if sessions can only be kept in memory.
    package init(
        of mirror: String, _ process: ProcessSettings, storage: any StorageEngine, logger: Logger
    ) {
        self.storage = storage
        self.mirror = mirror
        memory = SessionMemory(logger: logger)
        switch (process.secretKey, process.storage) {
        case (let secret?, _): key = .secret(secret)
        case (nil, .sqlite(let path)): key = .file(KeyFile(besideDatabase: path))
        case (nil, .postgres): key = .none
        }
    }

    private init(
        of mirror: String, key: Key, storage: any StorageEngine, memory: SessionMemory
    ) {
        self.mirror = mirror
        self.key = key
        self.storage = storage
        self.memory = memory
    }

    /// Returns the vault with its key in memory, for opening or sealing many logins without reading
    /// the file each time.
    ///
    /// - Throws: ``ConfigurationError`` for an invalid key file.
    package func keyed() throws -> CredentialVault {
        guard case .file(let file) = key, let secret = try file.read() else { return self }
        return CredentialVault(
            of: mirror, key: .secret(secret), storage: storage, memory: memory)
    }

    /// Returns the vault of another mirror of the same database, with the same key; its sessions
    /// are not kept in memory.
    package func of(_ mirror: String) -> CredentialVault {
        CredentialVault(
            of: mirror, key: key, storage: storage, memory: SessionMemory(logger: memory.logger))
    }

    /// The stored login of a role; nil if there is none.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if it does not open the login; the store's
    ///   error.
    package func login(of role: AccountRole) async throws -> StoredLogin? {
        try await sealedText(inRow: role.rawValue).map { try opened($0, of: role) }
    }

    /// The sealed logins of all roles, read with one statement.
    ///
    /// - Throws: The store's error.
    package func sealedLogins() async throws -> [AccountRole: String] {
        let rows = try await storage.query(
            "SELECT role, sealed FROM credentials WHERE mirror = \(mirror)")
        return try rows.reduce(into: [:]) { logins, row in
            if let role = AccountRole(rawValue: try row.text("role")) {
                logins[role] = try row.text("sealed")
            }
        }
    }

    /// Opens the sealed text of a stored login.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if it does not open it.
    package func opened(_ sealed: String, of role: AccountRole) throws -> StoredLogin {
        guard let seal = try existingSeal() else { throw noKeyError(role) }
        // A sealed text of another format cannot be opened either.
        guard let text = seal.opened(sealed, place: place(role.rawValue)),
            let login = try? JSONDecoder().decode(LoginRecord.self, from: Data(text.reveal().utf8))
                .login
        else {
            throw ConfigurationError(
                Setting.secretKey.name,
                localized(
                    "does not open the stored login of \(role.words); set the key that it was stored with, or log in again with mirror-bot login"
                ))
        }
        return login
    }

    /// Replaces the login of a role, and the session of the previous login.
    ///
    /// - Parameters:
    ///   - login: The login to store.
    ///   - session: The session that the network created while the login was tested; nil for none.
    ///   - role: The role of its account.
    ///   - now: The present.
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if there is no key; the store's error.
    package func store(
        _ login: StoredLogin, session: Secret? = nil, for role: AccountRole, at now: Date
    ) async throws {
        let seal = try requiredSeal()
        let sealed = try sealed(login, of: role)
        let place = place(Self.sessionRow(of: role))
        let sealedSession = try session.map { try seal.sealed($0, place: place) }
        memory.forget(role)
        try await storage.transaction { connection in
            try remove([Self.sessionRow(of: role)], on: connection)
            try write(sealed, row: role.rawValue, at: now, on: connection)
            try MirrorVersion.raise(mirror, on: connection)
            guard let sealedSession else { return }
            try write(sealedSession, row: Self.sessionRow(of: role), at: now, on: connection)
        }
    }

    /// Returns a login in the sealed form that ``opened(_:of:)`` reads, for a caller that stores it
    /// with other rows.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY` if there is no key.
    package func sealed(_ login: StoredLogin, of role: AccountRole) throws -> String {
        let text = String(decoding: try JSONEncoder().encode(LoginRecord(login)), as: UTF8.self)
        return try requiredSeal().sealed(Secret(text), place: place(role.rawValue))
    }

    /// Fails if a login could not be stored, to be called before a person makes one.
    ///
    /// - Throws: ``ConfigurationError`` for `SECRET_KEY`.
    package func requireKey() throws { _ = try requiredSeal() }

    /// A key of 32 bytes for one purpose, derived from the key of the logins.
    ///
    /// Processes with the same key of the logins derive the same key for a purpose.
    ///
    /// - Parameters:
    ///   - purpose: The unique name of the use of the derived key, with a version.
    ///   - mayMake: Whether the key file is made if it is missing.
    /// - Returns: Nil if there is no key.
    /// - Throws: ``ConfigurationError`` for an invalid key file.
    package func derivedKey(for purpose: String, mayMake: Bool = false) throws -> [UInt8]? {
        if case .file(let file) = key, mayMake { return try file.readOrMake().derivedKey(purpose) }
        return switch key {
        case .secret(let secret): secret.derivedKey(purpose)
        case .file(let file): try file.read()?.derivedKey(purpose)
        case .none: nil
        }
    }

    /// The place of the key that opens the stored logins, for people who keep a copy of it; nil if
    /// there is no key yet.
    package var keyPlace: String? {
        switch key {
        case .secret: Setting.secretKey.name
        case .file(let file): FileManager.default.fileExists(atPath: file.path) ? file.path : nil
        case .none: nil
        }
    }

    /// The place where the key is expected: `SECRET_KEY`, or the file beside the embedded database.
    package var expectedKeyPlace: String {
        if case .file(let file) = key { file.path } else { Setting.secretKey.name }
    }

    /// The roles whose stored logins the present key does not open.
    ///
    /// - Throws: The store's error.
    package func unopenableRoles() async throws -> [AccountRole] {
        try await sealedLogins().compactMap { role, sealed in
            do {
                _ = try opened(sealed, of: role)
                return nil
            } catch is ConfigurationError {
                return role
            }
        }.sorted { $0.rawValue < $1.rawValue }
    }

    /// Removes the login and the session of a role.
    ///
    /// - Returns: False if there was no login.
    /// - Throws: The store's error.
    @discardableResult
    package func remove(_ role: AccountRole) async throws -> Bool {
        memory.forget(role)
        let isStored = try await sealedText(inRow: role.rawValue) != nil
        try await storage.transaction { connection in
            try remove([role.rawValue, Self.sessionRow(of: role)], on: connection)
            try MirrorVersion.raise(mirror, on: connection)
        }
        return isStored
    }

    /// The store for the tokens that the network of a role creates during use.
    ///
    /// - Parameters:
    ///   - role: The role of the session.
    ///   - now: Returns the time of day, recorded with a session.
    /// - Returns: The store of one session.
    package func sessions(of role: AccountRole, now: @escaping @Sendable () -> Date)
        -> any CredentialStore
    {
        VaultSessions(vault: self, role: role, now: now)
    }

    /// The networks of sealed logins, without those that cannot be opened.
    package func networks(of sealed: [AccountRole: String]) throws -> [AccountRole: NetworkName] {
        var networks: [AccountRole: NetworkName] = [:]
        for (role, login) in sealed {
            do {
                networks[role] = try opened(login, of: role).network
            } catch is ConfigurationError {
                // The error is reported when the login is needed; other operations, such as a new
                // login, are not blocked.
            }
        }
        return networks
    }

    /// The saved session of a role; nil if there is none, or if it cannot be opened.
    package func session(of role: AccountRole) async throws -> Secret? {
        if let session = memory.session(of: role) { return session }
        guard let sealed = try await sealedText(inRow: Self.sessionRow(of: role)),
            let seal = try? existingSeal()
        else { return nil }
        return seal.opened(sealed, place: place(Self.sessionRow(of: role)))
    }

    /// Saves the session of a role: sealed, or in memory without a key.
    func save(_ session: Secret, of role: AccountRole, at now: Date) async throws {
        guard let seal = try seal() else { return memory.keep(session, of: role) }
        let sealed = try seal.sealed(session, place: place(Self.sessionRow(of: role)))
        try await storage.transaction {
            try write(sealed, row: Self.sessionRow(of: role), at: now, on: $0)
        }
    }

    /// The seal with the existing key; nil if there is none.
    private func existingSeal() throws -> VaultSeal? {
        switch key {
        case .secret(let secret): VaultSeal(secret: secret)
        case .file(let file): try file.read().map(VaultSeal.init)
        case .none: nil
        }
    }

    /// The seal with a key, which is created if necessary; nil if there is no place for one.
    private func seal() throws -> VaultSeal? {
        if case .file(let file) = key { return VaultSeal(secret: try file.readOrMake()) }
        return try existingSeal()
    }

    private func requiredSeal() throws -> VaultSeal {
        guard let seal = try seal() else {
            throw ConfigurationError(
                Setting.secretKey.name,
                localized(
                    "is not set, and a login is stored only when sealed with it; set it to 64 random hex digits, as openssl rand -hex 32 prints them"
                ))
        }
        return seal
    }

    /// The error for a stored login that nothing opens, because there is no key.
    private func noKeyError(_ role: AccountRole) -> ConfigurationError {
        let problem =
            if case .file(let file) = key {
                localized(
                    "is not set, and \(file.path) is missing, so nothing opens the stored login of \(role.words); set the key that it was stored with, or log in again with mirror-bot login"
                )
            } else {
                localized(
                    "is not set, and only it opens the stored login of \(role.words); set the key that it was stored with, or log in again with mirror-bot login"
                )
            }
        return ConfigurationError(Setting.secretKey.name, problem)
    }

    /// The value of the column `role` in the row with a role's session.
    ///
    /// The row with the role's login has the role's name there.
    package static func sessionRow(of role: AccountRole) -> String { "\(role.rawValue)-session" }

    /// Returns the context that binds a sealed text to its row.
    private func place(_ row: String) -> String { "mirror-bot/credentials\n\(mirror)\n\(row)" }

    /// Returns the sealed text in the row with `role` in its column `role`; nil if there is no row.
    private func sealedText(inRow role: String) async throws -> String? {
        let rows = try await storage.query(
            "SELECT sealed FROM credentials WHERE mirror = \(mirror) AND role = \(role)")
        return try rows.first?.text("sealed")
    }

    private func write(
        _ sealed: String, row: String, at now: Date, on connection: any StorageConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO credentials (mirror, role, sealed, updated_ms)
            VALUES (\(mirror), \(row), \(sealed), \(now.milliseconds))
            ON CONFLICT (mirror, role) DO UPDATE SET sealed = excluded.sealed, updated_ms = excluded.updated_ms
            """)
    }

    private func remove(_ rows: [String], on connection: any StorageConnection) throws {
        try connection.execute(
            "DELETE FROM credentials WHERE mirror = \(mirror) AND role IN \(list: rows)")
    }
}

/// The key file beside an embedded database.
///
/// It is created once, atomically, and readable for its owner only. Two processes that start at the
/// same time use the same key.
struct KeyFile: Sendable {
    let path: String

    init(besideDatabase database: String) { path = database + ".key" }

    /// The key in the file; nil if there is no file.
    ///
    /// - Throws: ``ConfigurationError`` if the file belongs to others, can be read or written by
    ///   them, or contains no valid key.
    func read() throws -> Secret? {
        let data: Data?
        do throws(FileTrust.Problem) {
            data = try FileTrust.contents(of: path, atMost: 1_024, refusing: .readByOthers)
        } catch {
            throw failure(error.text(following: path))
        }
        guard let data else { return nil }
        let key = String(decoding: data, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines)
        guard key.utf8.count == 64, key.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw failure(
                localized(
                    "holds no key, which would be 64 hex digits; put the right one there, or remove the file and log in again"
                )
            )
        }
        return Secret(key)
    }

    /// The key in the file, which is created if it does not exist.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be read or created, or is not valid.
    func readOrMake() throws -> Secret {
        if let key = try read() { return key }
        let key = SealingKey.randomBytes(32).hexadecimal
        let draft = path + "." + UUID().uuidString
        defer { unlink(draft) }
        try make(draft, holding: key + "\n")
        // A link never replaces a file: the slower process uses the faster one's key.
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw failure(localized("cannot be made: \(FileFault(errno, at: path))"))
        }
        guard let storedKey = try read() else { throw failure(localized("vanished")) }
        return storedKey
    }

    private func make(_ draft: String, holding text: String) throws {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw failure(localized("cannot be made: \(FileFault(errno, at: path))"))
        }
        defer { close(descriptor) }
        do throws(FileFault) {
            try FileFault.write(Array(text.utf8), to: descriptor, at: path)
        } catch {
            throw failure(localized("cannot be written: \(error)"))
        }
    }

    private func failure(_ problem: String) -> ConfigurationError {
        ConfigurationError(
            Setting.secretKey.name, localized("is not set, and the key file \(path) \(problem)"))
    }
}

/// Seals texts so that they can be opened only with the same key, and only in the same place.
///
/// ChaCha20-Poly1305 with a random nonce (RFC 8439). The key is derived from the operator's key
/// with HKDF-SHA256 (RFC 5869), so that the typed text itself is not used as a key.
struct VaultSeal: Sendable {
    /// The version prefix of sealed texts.
    private static let version = "1."
    private static let purpose = "mirror-bot credentials 1"

    private let key: SealingKey

    /// - Parameter secret: The operator's key.
    init(secret: Secret) {
        key = SealingKey(from: secret.keyMaterial, purpose: Self.purpose.utf8)
    }

    /// Encrypts `secret`.
    ///
    /// - Parameters:
    ///   - secret: The text to seal.
    ///   - place: The place where the text will be stored; it can be opened only with the same
    ///     place.
    /// - Returns: ASCII characters.
    /// - Throws: `SealingKey.Unavailable`.
    func sealed(_ secret: Secret, place: String) throws -> String {
        let sealed = try key.sealed(secret.reveal().utf8, context: place.utf8)
        return Self.version + Data(sealed).base64EncodedString()
    }

    /// Returns the secret in a sealed text; `nil` if the key or the place differs, or if it was
    /// changed.
    func opened(_ text: String, place: String) -> Secret? {
        guard text.hasPrefix(Self.version),
            let data = Data(base64Encoded: String(text.dropFirst(Self.version.count))),
            let plain = key.opened(data, context: place.utf8)
        else { return nil }
        return String(validating: plain, as: UTF8.self).map(Secret.init)
    }
}

extension Secret {
    /// The bytes of an operator's key: 64 hexadecimal digits are decoded to 32 bytes; any other
    /// text is used as it is.
    fileprivate var keyMaterial: [UInt8] {
        let text = reveal()
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard text.utf8.count == 64, digits.count == 64 else { return Array(text.utf8) }
        // Two digits make one byte.
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    fileprivate func derivedKey(_ purpose: String) -> [UInt8] {
        KeyDerivation.key(from: keyMaterial, purpose: purpose.utf8, count: 32)
    }
}

/// The session of one role in a vault.
struct VaultSessions: CredentialStore {
    let vault: CredentialVault
    let role: AccountRole
    let now: @Sendable () -> Date

    func load() async throws -> Secret? { try await vault.session(of: role) }

    func save(_ credentials: Secret) async throws {
        try await vault.save(credentials, of: role, at: now())
    }
}

/// Sessions that cannot be sealed and therefore end with the process.
final class SessionMemory: @unchecked Sendable {
    // Sendable because all mutable state is only touched under `lock`.
    private let lock = NSLock()
    let logger: Logger
    private var sessions: [AccountRole: Secret] = [:]
    private var hasWarned = false

    init(logger: Logger) { self.logger = logger }

    func session(of role: AccountRole) -> Secret? { lock.withLock { sessions[role] } }

    func keep(_ session: Secret, of role: AccountRole) {
        let mustWarn = lock.withLock {
            sessions[role] = session
            defer { hasWarned = true }
            return !hasWarned
        }
        guard mustWarn else { return }
        logger.warning(
            "Sessions end with this process, for \(Setting.secretKey.name) is not set to seal them")
    }

    func forget(_ role: AccountRole) { lock.withLock { sessions[role] = nil } }
}

/// A store for the session of a login that is being tested: it keeps the session in memory only.
package final class TriedSession: CredentialStore, @unchecked Sendable {
    // Sendable because `session` is only touched under `lock`.
    private let lock = NSLock()
    private var session: Secret?

    package init() {}

    package func load() async throws -> Secret? { lock.withLock { session } }

    package func save(_ credentials: Secret) async throws {
        lock.withLock { session = credentials }
    }
}

/// The login of one account that `mirror-bot login` stores.
///
/// It is not `Codable`, so that its secrets can only be written sealed, by a ``CredentialVault``.
package struct StoredLogin: Sendable {
    package var credentials: AccountCredentials
    /// The address for requests at the time of the login; nil for the network's own.
    package var apiBaseURL: String?

    package init(credentials: AccountCredentials, apiBaseURL: String? = nil) {
        self.credentials = credentials
        self.apiBaseURL = apiBaseURL
    }

    /// Creates a login from the credentials and the API address of an account.
    package init(_ account: AccountConfiguration) {
        self.init(credentials: account.credentials, apiBaseURL: account.apiBaseURL)
    }

    /// The account of the login.
    package func account(_ role: AccountRole) -> AccountConfiguration {
        AccountConfiguration(
            role: role, credentials: credentials, apiBaseURL: apiBaseURL, origin: .login)
    }

    package var network: NetworkName { credentials.network }

    /// Whether this login and another one have the same secrets.
    package func hasSameSecrets(as other: StoredLogin) -> Bool {
        let secretFields = network.descriptor.fields.map(\.field).filter {
            $0.isSecret && $0.setting != nil
        }
        return network == other.network
            && secretFields.allSatisfy {
                credentials[$0]?.reveal() == other.credentials[$0]?.reveal()
            }
    }

    /// Whether this login and another one have the same values, including secret fields.
    package func isSame(as other: StoredLogin) -> Bool {
        network == other.network && apiBaseURL == other.apiBaseURL
            && credentials.expiresAt?.milliseconds == other.credentials.expiresAt?.milliseconds
            && network.descriptor.fields.allSatisfy {
                credentials[$0.field]?.reveal() == other.credentials[$0.field]?.reveal()
            }
    }
}

/// The plain form of a sealed login: an object with the network, its fields by name, and in
/// `expires` the end of the access token in milliseconds since 1970.
struct LoginRecord: Codable {
    private struct Key: CodingKey {
        static let network = Key("network")
        static let apiBaseURL = Key("apiBaseURL")
        static let expires = Key("expires")

        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }

        init?(stringValue: String) { self.init(stringValue) }

        init?(intValue: Int) { nil }
    }

    private let stored: StoredLogin

    init(_ login: StoredLogin) { stored = login }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        let network = try object.decode(NetworkName.self, forKey: .network)
        var values: [AccountField: Secret] = [:]
        for field in network.descriptor.fields.map(\.field) {
            values[field] = try object.decodeIfPresent(String.self, forKey: Key(field.name)).map(
                Secret.init)
        }
        let expires = try object.decodeIfPresent(Int64.self, forKey: .expires)
        stored = StoredLogin(
            credentials: AccountCredentials(
                network: network, values, expiresAt: expires.map { Date(milliseconds: $0) }),
            apiBaseURL: try object.decodeIfPresent(String.self, forKey: .apiBaseURL))
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        let credentials = stored.credentials
        try object.encode(stored.network, forKey: .network)
        try object.encodeIfPresent(stored.apiBaseURL, forKey: .apiBaseURL)
        for field in stored.network.descriptor.fields.map(\.field) {
            try object.encodeIfPresent(credentials[field]?.reveal(), forKey: Key(field.name))
        }
        try object.encodeIfPresent(credentials.expiresAt?.milliseconds, forKey: .expires)
    }

    /// The login; nil if a field that its network requires is missing.
    var login: StoredLogin? { stored.credentials.isComplete ? stored : nil }
}
