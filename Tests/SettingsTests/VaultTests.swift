import Expectations
import Fixtures
import Foundation
import Mastodon
import Networks
import Posts
import Storage
import TestSupport
import Testing
import X

@testable import Mirroring
@testable import Settings

/// Logins and sessions in the database, of use to nobody but the mirror.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct VaultTests {
    private static let key = "planted-key-planted-key-planted-key"
    private static let keyed = ["SECRET_KEY": key]

    private static let logins: [StoredLogin] = [
        StoredLogin(
            credentials: .mastodon(
                server: "https://social.example",
                MastodonCredentials(
                    accessToken: Secret("planted-access"), refreshToken: Secret("planted-refresh"),
                    clientID: "planted-client", clientSecret: Secret("planted-client-secret"),
                    expiresAt: Date(milliseconds: 1_795_000_123_456)))),
        StoredLogin(
            credentials: .mastodon(
                server: "https://social.example",
                MastodonCredentials(accessToken: Secret("planted-access")))),
        StoredLogin(
            credentials: .x(
                XCredentials(
                    consumerKey: "planted-consumer",
                    consumerSecret: Secret("planted-consumer-secret"),
                    accessToken: Secret("planted-access"),
                    accessTokenSecret: Secret("planted-access-secret"))),
            apiBaseURL: "http://127.0.0.1:9"),
        StoredLogin(
            credentials: .bluesky(
                identifier: "haruka.example", appPassword: Secret("planted-app-password"))),
        StoredLogin(credentials: .bluesky(identifier: "did:plc:haruka", appPassword: nil)),
    ]

    /// The login with everything that it holds, secrets included.
    private func spelled(_ login: StoredLogin?) throws -> String? {
        guard let login else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(LoginRecord(login)), as: UTF8.self)
    }

    private func login(_ mirror: HumanMirror, _ role: AccountRole = .bot) async
        -> ConfigurationError?
    {
        do {
            _ = try await mirror.vault.login(of: role)
            return nil
        } catch {
            return error as? ConfigurationError
        }
    }

    private func store(
        _ login: StoredLogin, in mirror: HumanMirror, for role: AccountRole = .bot
    ) async -> ConfigurationError? {
        do {
            try await mirror.vault.store(login, for: role, at: BareMirror.now)
            return nil
        } catch {
            return error as? ConfigurationError
        }
    }

    private func session(_ mirror: HumanMirror, _ role: AccountRole = .bot) -> any CredentialStore {
        mirror.vault.sessions(of: role, now: { BareMirror.now })
    }

    private func sealed(_ mirror: HumanMirror) async throws -> [String: String] {
        let rows = try await mirror.storage.lenient.query("SELECT role, sealed FROM credentials")
        return Dictionary(
            uniqueKeysWithValues: try rows.map { (try $0.text("role"), try $0.text("sealed")) })
    }

    @Test func keepsTheSessionOfANewLoginAndNoOther() async throws {
        let mirror = try await BareMirror(variables: Self.keyed).open()
        try await session(mirror).save(Secret("planted-old-session"))
        let tried = TriedSession()
        try await expect(tried.load()) { $0 == nil }
        try await tried.save(Secret("planted-new-session"))
        try await expect(session(mirror).load()?.reveal(), equals: "planted-old-session")
        let login = StoredLogin(
            credentials: .bluesky(identifier: "did:plc:haruka", appPassword: nil))
        try await mirror.vault.store(
            login, session: try await tried.load(), for: .bot, at: BareMirror.now)
        try await expect(session(mirror).load()?.reveal(), equals: "planted-new-session")
        try await mirror.vault.store(login, for: .bot, at: BareMirror.now)
        try await expect(session(mirror).load()) { $0 == nil }
    }

    // MARK: Logins

    @Test(arguments: Engine.allCases) func givesBackWhatWasStored(_ engine: Engine) async throws {
        let bare = try await BareMirror(engine, variables: Self.keyed)
        let mirror = try await bare.open()
        try await expect(mirror.vault.login(of: .bot)) { $0 == nil }
        for login in Self.logins {
            try await mirror.vault.store(login, for: .bot, at: BareMirror.now)
            let found = try spelled(try await bare.open().vault.login(of: .bot))
            try expect(found, equals: spelled(login))
            try await expect(mirror.vault.login(of: .human)) { $0 == nil }
        }
        try await mirror.vault.store(Self.logins[0], for: .human, at: BareMirror.now)
        try await mirror.vault.remove(.bot)
        try await expect(mirror.vault.login(of: .bot)) { $0 == nil }
        try await expect(mirror.vault.login(of: .human)) { $0 != nil }
    }

    @Test(arguments: Engine.allCases) func showsNothingInTheDatabase(_ engine: Engine) async throws
    {
        let mirror = try await BareMirror(engine, variables: Self.keyed).open()
        for login in Self.logins {
            try await mirror.vault.store(login, for: .bot, at: BareMirror.now)
            try await session(mirror).save(Secret("planted-session"))
            let rows = try await sealed(mirror)
            #expect(rows.keys.sorted() == ["bot", "bot-session"])
            for text in rows.values {
                #expect(text.hasPrefix("1."))
                #expect(!text.contains("planted"))
                let bytes = try #require(Data(base64Encoded: String(text.dropFirst(2))))
                #expect(!String(decoding: bytes, as: UTF8.self).contains("planted"))
            }
        }
    }

    /// One purpose has one key in every process with the same secret, and no other has it.
    @Test func eachPurposeHasAKeyOfItsOwn() async throws {
        let mirror = try await BareMirror(variables: Self.keyed).open()
        let again = try await BareMirror(variables: Self.keyed).open()
        let other = try await BareMirror(variables: ["SECRET_KEY": Self.key + "x"]).open()
        let key = try #require(try mirror.vault.derivedKey(for: "one"))
        #expect(key.count == 32)
        #expect(try again.vault.derivedKey(for: "one") == key)
        #expect(try mirror.vault.derivedKey(for: "two") != key)
        #expect(try other.vault.derivedKey(for: "one") != key)
    }

    @Test func sealsTheSameDifferentlyEachTime() async throws {
        let mirror = try await BareMirror(variables: Self.keyed).open()
        var texts: Set<String> = []
        for _ in 0..<5 {
            try await mirror.vault.store(Self.logins[0], for: .bot, at: BareMirror.now)
            texts.formUnion(try await sealed(mirror).values)
        }
        #expect(texts.count == 5)
    }

    @Test func opensNoRowThatWasMoved() async throws {
        let bare = try await BareMirror(variables: Self.keyed)
        let mirror = try await bare.open()
        try await mirror.vault.store(Self.logins[0], for: .human, at: BareMirror.now)
        try await mirror.vault.store(Self.logins[1], for: .bot, at: BareMirror.now)
        try await session(mirror).save(Secret("planted-session"))
        let rows = try await sealed(mirror)
        func put(_ text: String, _ owner: String, _ role: String) async throws {
            try await mirror.storage.execute(
                "DELETE FROM credentials WHERE mirror = \(owner) AND role = \(role)")
            try await mirror.storage.execute(
                "INSERT INTO credentials (mirror, role, sealed, updated_ms) VALUES (\(owner), \(role), \(text), 0)"
            )
        }
        // The human's login as the bot's, a session as a login, a login as a session, one mirror's
        // as another's.
        try await put(rows["human"] ?? "", "test", "bot")
        await expect(login(mirror)?.setting, equals: "SECRET_KEY")
        try await put(rows["bot-session"] ?? "", "test", "bot")
        await expect(login(mirror)?.setting, equals: "SECRET_KEY")
        try await put(rows["bot"] ?? "", "test", "bot-session")
        try await expect(session(mirror).load()) { $0 == nil }
        try await put(rows["bot"] ?? "", "other", "bot")
        let other = try await bare.open(["MIRROR": "other"])
        await expect(login(other)?.setting, equals: "SECRET_KEY")
        // In its own place it opens again.
        try await put(rows["bot"] ?? "", "test", "bot")
        try await expect(mirror.vault.login(of: .bot)) { $0 != nil }
    }

    @Test func opensNothingThatWasChanged() async throws {
        let mirror = try await BareMirror(variables: Self.keyed).open()
        try await mirror.vault.store(Self.logins[0], for: .bot, at: BareMirror.now)
        let text = try #require(try await sealed(mirror)["bot"])
        var bytes = try #require(Data(base64Encoded: String(text.dropFirst(2))))
        var broken = [
            "", "1.", "1.!", "2." + text.dropFirst(2), String(text.dropLast(8)), "1." + text,
        ]
        for index in [0, 12, bytes.count / 2, bytes.count - 1] {
            bytes[index] ^= 1
            broken.append("1." + bytes.base64EncodedString())
            bytes[index] ^= 1
        }
        for text in broken {
            try await mirror.storage.lenient.execute("UPDATE credentials SET sealed = \(text)")
            let error = await login(mirror)
            #expect(error?.setting == "SECRET_KEY")
            expect(error) { $0?.isMissing == false }
        }
    }

    @Test func needsTheSameKey() async throws {
        let bare = try await BareMirror(variables: Self.keyed)
        let mirror = try await bare.open()
        try await mirror.vault.store(Self.logins[2], for: .bot, at: BareMirror.now)
        try await session(mirror).save(Secret("planted-session"))
        for key in [Self.key.uppercased(), ""] {
            // The mirror opens all the same, so that a person can log in again.
            let other = try await bare.open(["SECRET_KEY": key])
            let error = try #require(await login(other))
            #expect(error.setting == "SECRET_KEY")
            #expect(error.description.contains("mirror-bot login"))
            #expect(!error.description.contains("planted"))
            try await expect(session(other).load()) { $0 == nil }
        }
        let again = try await bare.open(["SECRET_KEY": Self.key + Self.key])
        await expect(store(Self.logins[3], in: again), equals: nil)
        try await expect(again.vault.login(of: .bot)?.network, equals: .bluesky)
    }

    @Test func takesHexadecimalDigitsForTheBytesTheySpell() throws {
        let hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        let seal = VaultSeal(secret: Secret(hex))
        let text = try seal.sealed(Secret("text"), place: "place")
        #expect(
            VaultSeal(secret: Secret(hex.uppercased())).opened(text, place: "place")?.reveal()
                == "text")
        #expect(VaultSeal(secret: Secret(hex + "0")).opened(text, place: "place") == nil)
        #expect(
            VaultSeal(secret: Secret("g" + hex.dropFirst())).opened(text, place: "place") == nil)
        #expect(seal.opened(text, place: "elsewhere") == nil)
    }

    // MARK: The key file

    @Test func keepsAKeyBesideTheEmbeddedDatabase() async throws {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        try await expect(mirror.vault.login(of: .bot)) { $0 == nil }
        #expect(!FileManager.default.fileExists(atPath: bare.keyPath))
        try await mirror.vault.store(Self.logins[3], for: .bot, at: BareMirror.now)
        let attributes = try FileManager.default.attributesOfItem(atPath: bare.keyPath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let key = try #require(try KeyFile(besideDatabase: bare.databasePath).read())
        #expect(key.reveal().utf8.count == 64)
        try expect(
            spelled(try await bare.open().vault.login(of: .bot)), equals: spelled(Self.logins[3]))
        // Its text is as good in the variable.
        let moved = try await bare.open(["SECRET_KEY": key.reveal()])
        try await expect(moved.vault.login(of: .bot)) { $0 != nil }
        // Nothing else is left behind.
        let names = try FileManager.default.contentsOfDirectory(atPath: bare.folder.path)
        expect(names) { $0.allSatisfy { $0.hasPrefix("mirror-bot.sqlite") && $0.count < 30 } }
        try FileManager.default.removeItem(atPath: bare.keyPath)
        let error = await login(try await bare.open())
        #expect(error?.setting == "SECRET_KEY")
        expect(error?.description) { $0?.contains(bare.keyPath) == true }
    }

    @Test func makesOneKeyHoweverManyBegin() async throws {
        let folder = try TemporaryDirectory()
        let file = KeyFile(besideDatabase: folder.path("mirror-bot.sqlite"))
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<16 { group.addTask { try file.readOrMake().reveal() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        try expect(
            FileManager.default.contentsOfDirectory(atPath: folder.path),
            equals: ["mirror-bot.sqlite.key"])
    }

    static let badFiles: [(String, Int, String)] = [
        ("", 0o600, "holds no key"), ("abc\n", 0o600, "holds no key"),
        (String(repeating: "g", count: 64), 0o600, "holds no key"),
        // Letters of full width, which only look like digits: 64 bytes as well.
        ("a" + String(repeating: "Ａ", count: 21), 0o600, "holds no key"),
        (String(repeating: "a", count: 64), 0o644, "can be read by others"),
        (String(repeating: "a", count: 64), 0o660, "can be read by others"),
    ]

    @Test(arguments: badFiles)
    func refusesAKeyFileThatIsNone(_ contents: String, _ mode: Int, _ problem: String) async throws
    {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        let isMade = FileManager.default.createFile(
            atPath: bare.keyPath, contents: Data(contents.utf8),
            attributes: [.posixPermissions: mode])
        try #require(isMade)
        let error = await store(Self.logins[0], in: mirror)
        #expect(error?.setting == "SECRET_KEY")
        expect(error?.description) { $0?.contains("\(bare.keyPath) \(problem)") == true }
        try await expect(sealed(mirror)) { $0.isEmpty }
    }

    // MARK: Without a place for a key

    @Test func refusesToStoreALoginOnAServerWithoutAKey() async throws {
        let mirror = try await BareMirror(.postgres).open()
        let error = try #require(await store(Self.logins[0], in: mirror))
        #expect(error.setting == "SECRET_KEY")
        #expect(error.description.contains("openssl rand -hex 32"))
        #expect(throws: error) { try mirror.vault.requireKey() }
        try await expect(sealed(mirror)) { $0.isEmpty }
        try await BareMirror().open().vault.requireKey()
        try await BareMirror(.postgres, variables: Self.keyed).open().vault.requireKey()
    }

    @Test func remembersSessionsInMemoryAndWarnsOnce() async throws {
        let bare = try await BareMirror(.postgres)
        let log = Recorder<String>()
        let mirror = try await bare.open(log: log)
        try await expect(session(mirror).load()) { $0 == nil }
        #expect(log.values.isEmpty)
        try await session(mirror).save(Secret("planted-1"))
        try await session(mirror).save(Secret("planted-2"))
        try await session(mirror, .human).save(Secret("planted-3"))
        try await expect(session(mirror).load()?.reveal(), equals: "planted-2")
        try await expect(session(mirror, .human).load()?.reveal(), equals: "planted-3")
        #expect(log.values.count == 1)
        let warning = try #require(log.values.first)
        #expect(warning.hasPrefix("warning "))
        #expect(warning.contains("SECRET_KEY"))
        #expect(!warning.contains("planted"))
        try await expect(sealed(mirror)) { $0.isEmpty }
        // Another process knows nothing of them.
        try await expect(session(try await bare.open()).load()) { $0 == nil }
    }

    // MARK: Sessions

    @Test(arguments: Engine.allCases) func keepsTheLastSession(_ engine: Engine) async throws {
        let bare = try await BareMirror(engine, variables: Self.keyed)
        let log = Recorder<String>()
        let mirror = try await bare.open(log: log)
        try await session(mirror).save(Secret("planted-1"))
        try await session(mirror).save(Secret("{\"planted\":\"2 ✓\"}"))
        let other = try await bare.open()
        try await expect(session(other).load()?.reveal(), equals: "{\"planted\":\"2 ✓\"}")
        try await expect(session(other, .human).load()) { $0 == nil }
        #expect(log.values.isEmpty)
        let rows = try await mirror.storage.lenient.query("SELECT updated_ms FROM credentials")
        try expect(rows.map { try $0.date("updated_ms") }, equals: [BareMirror.now])
    }

    @Test func endsTheSessionWithTheLogin() async throws {
        let mirror = try await BareMirror().open()
        try await session(mirror).save(Secret("planted-1"))
        try await session(mirror, .human).save(Secret("planted-2"))
        try await mirror.vault.store(Self.logins[3], for: .bot, at: BareMirror.now)
        try await expect(session(mirror).load()) { $0 == nil }
        try await expect(session(mirror, .human).load()) { $0 != nil }
        try await session(mirror).save(Secret("planted-3"))
        try await mirror.vault.remove(.bot)
        try await expect(session(mirror).load()) { $0 == nil }
    }

    /// A token that was renewed during a dry run is the only one left: it must not vanish with the
    /// rest.
    @Test(arguments: Engine.allCases) func keepsSessionsOfADryRun(_ engine: Engine) async throws {
        let bare = try await BareMirror(engine, variables: Self.keyed)
        let mirror = try await bare.open()
        let scratch = try await mirror.scratch()
        try await session(scratch).save(Secret("planted-renewed"))
        await scratch.close()
        try await expect(session(try await bare.open()).load()?.reveal(), equals: "planted-renewed")
    }
}
