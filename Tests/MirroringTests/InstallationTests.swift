import Expectations
import Fixtures
import Foundation
import Logging
import Mastodon
import Networks
import Posts
import Storage
import TestSupport
import Testing

@testable import Mirroring
@testable import Settings

/// What the mirrors of one process share, and what each has to itself.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct InstallationTests {
    private static let key = ["SECRET_KEY": String(repeating: "planted-", count: 8)]

    private let clock = VirtualClock(startingAt: BareMirror.now)
    private let log = Recorder<String>()

    /// A server on loopback that knows an account for each token.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request, connection in
            let token =
                request.header("Authorization")?.split(separator: " ").last.map(String.init)
                ?? "nobody"
            let answers = [
                "/api/v2/instance": #"{"domain":"127.0.0.1","api_versions":{"mastodon":6}}"#,
                "/api/v1/accounts/verify_credentials": """
                {"id":"\(token)","username":"\(token)","acct":"\(token)","display_name":"","locked":false,"bot":true,
                "created_at":"2020-01-01T00:00:00.000Z","note":"","fields":[],"url":"http://127.0.0.1/@\(token)"}
                """,
            ]
            let path = String(request.target.prefix { $0 != "?" })
            try connection.respond(
                status: answers[path] == nil ? 404 : 200,
                headers: [("Content-Type", "application/json")],
                body: Array((answers[path] ?? "{}").utf8))
        }
    }

    /// A database with the mirrors `one` and `two`, whose bots are logged in at a server.
    private func stored(_ engine: Engine = .sqlite, at url: String = "https://social.example")
        async throws
        -> BareMirror
    {
        let bare = try await BareMirror(engine, variables: Self.key)
        for name in ["one", "two"] {
            let mirror = try await bare.open(["MIRROR": name], clock: clock)
            let login = StoredLogin(
                credentials: .mastodon(
                    server: url, MastodonCredentials(accessToken: Secret("token-\(name)"))))
            try await mirror.vault.store(login, for: .bot, at: clock.now)
        }
        return bare
    }

    private func installation(
        _ bare: BareMirror, _ changes: [String: String] = [:], logsEveryName: Bool = false,
        _ wrap: @escaping (any StorageEngine) -> any StorageEngine = { $0 }
    ) async throws -> Installation {
        let closing = try #require(OpenMirrors.current)
        let installation = try await Installation.open(
            try bare.configuration(changes), logsEveryName: logsEveryName, clock: clock,
            logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) }
        ) { wrap(try await Storage.open($0)) }
        closing.add {
            await installation.close()
            withExtendedLifetime(bare) {}
        }
        return installation
    }

    // MARK: What each has to itself

    @Test func eachRequestBearsTheContactOfItsMirror() async throws {
        let server = try Self.server()
        let bare = try await stored(at: server.url)
        let installation = try await installation(bare)
        let mirrors = [
            try await installation.mirror(named: "one"),
            try await installation.mirror(named: "two"),
        ]
        var handles: [String: String] = [:]
        for mirror in mirrors {
            let account = try await mirror.requiredNetwork(of: .bot).verifyAccount()
            try await mirror.bind(human: nil, bot: account, now: clock.now)
            try await mirror.updateContact()
            handles["token-\(mirror.name)"] = account.handle
        }
        let known = server.requests.count
        // By turns, and at the same time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for mirror in mirrors + mirrors + mirrors {
                group.addTask { _ = try await mirror.requiredNetwork(of: .bot).verifyAccount() }
            }
            try await group.waitForAll()
        }
        let later = server.requests.dropFirst(known)
        expect(later.count) { $0 >= 6 }
        for request in later {
            let token = try #require(request.header("Authorization")?.split(separator: " ").last)
            let handle = try #require(handles[String(token)])
            #expect(request.header("User-Agent") == "mirror-bot/\(Version.current) (+@\(handle))")
        }
        // Whoever opens a mirror again knows the contact from the first request on.
        let again = try await installation.mirror(named: "two")
        #expect(again.contact.text == handles["token-two"].map { "@\($0)" })
        try await again.set(["OPERATOR_CONTACT": "ops@host.example"], now: clock.now)
        try await expect(again.withCurrentSettings().contact.text, equals: "ops@host.example")
        #expect(mirrors[0].contact.text == handles["token-one"].map { "@\($0)" })
    }

    /// An account in the environment belongs to the mirror that the environment names, and opens no
    /// other.
    @Test func theAccountsOfTheEnvironmentAreThoseOfOneMirror() async throws {
        let bare = try await stored()
        let installation = try await installation(
            bare,
            [
                "MIRROR": "one", "NETWORK": "bluesky", "BOT_HANDLE": "env.example",
                "BOT_APP_PASSWORD": "planted",
                "NO_REPEAT_DAYS": "77",
            ])
        let one = try await installation.mirror(named: "one")
        let two = try await installation.mirror(named: "two")
        try await expect(one.account(.bot)?.network, equals: .bluesky)
        let account = try #require(try await two.account(.bot))
        #expect(account.network == .mastodon)
        #expect(account.credentials.text(.accessToken) == "token-two")
        #expect(two.configuration.botNetwork == .mastodon)
        try await expect(two.account(.human)?.network, equals: nil)
        // What is no account is told to all.
        #expect([one, two].map(\.configuration.noRepeatDays) == [77, 77])
    }

    /// What is stored for a mirror is of that mirror, and so is everything that it opens.
    @Test(arguments: Engine.allCases) func storedSettingsAreThoseOfTheirMirror(_ engine: Engine)
        async throws
    {
        let bare = try await stored(engine)
        let installation = try await installation(bare, ["MIRROR": "one"])
        let two = try await installation.mirror(named: "two")
        try await two.set(["NO_REPEAT_DAYS": "31"], now: clock.now)
        let mirrors = [
            try await installation.mirror(named: "one"),
            try await installation.mirror(named: "two"),
        ]
        #expect(mirrors.map(\.name) == ["one", "two"])
        #expect(mirrors.map(\.configuration.noRepeatDays)[1] == 31)
        expect(mirrors[0].configuration.noRepeatDays) { $0 != 31 }
        let other = try await mirrors[0].other("two")
        #expect(other.name == "two")
        #expect(other.configuration.noRepeatDays == 31)
        #expect(other.configuration.flagWords == ["--mirror", "two"])
        try await expect(other.withCurrentSettings().name, equals: "two")
        // One that is set up and worked with through the other's process is the same in its own.
        try await other.table.pause(until: nil, reason: "rest", now: clock.now)
        try await expect(
            bare.open(["MIRROR": "two"], clock: clock).table.record().pause?.reason, equals: "rest")
        try await expect(mirrors[0].table.record().pause, equals: nil)
    }

    @Test func aMirrorThatIsNotStoredIsNotOpened() async throws {
        let installation = try await installation(try await stored())
        let error = try await #require(throws: ConfigurationError.self) {
            _ = try await installation.mirror(named: "three")
        }
        expect("\(error)") { $0.contains("three") && $0.contains("one, two") }
    }

    // MARK: What they share

    @Test(arguments: Engine.allCases) func openingAMirrorTakesOneStatement(_ engine: Engine)
        async throws
    {
        let bare = try await stored(engine)
        let counter = Recorder<CountingEngine>()
        let installation = try await installation(bare) { storage in
            let engine = CountingEngine(storage)
            counter.add(engine)
            return engine
        }
        let statements = try #require(counter.values.first)
        for name in ["one", "two", "one"] {
            let numbers = try await statements.counting {
                _ = try await installation.mirror(named: name)
            }
            #expect(numbers.all == 1, "\(numbers)")
            #expect(numbers.changes == 0)
        }
        #expect(installation.openTokenizer == nil)
    }

    /// Nothing of what is shared is there once more for each open mirror.
    @Test func anOpenMirrorIsSmall() async throws {
        let installation = try await installation(try await stored())
        try await installation.mirror(named: "one").set(["NO_REPEAT_DAYS": "31"], now: clock.now)
        var mirrors: [HumanMirror] = []
        var growths: [Int] = []
        for _ in 0..<20 {
            let before = try Self.residentBytes()
            for _ in 0..<100 { mirrors.append(try await installation.mirror(named: "one")) }
            growths.append((try Self.residentBytes() - before) / 100)
        }
        // The median: other tests of this process take memory meanwhile, and at times much of it.
        let each = growths.sorted()[growths.count / 2]
        #expect(each < 100_000)
        expect(mirrors.map(\.configuration.noRepeatDays)) { Set($0) == [31] }
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
            separator: " ")
        return try #require(Int(fields[1])) * Int(getpagesize())
    }

    @Test func closingAMirrorEndsNothingThatIsShared() async throws {
        let server = try Self.server()
        let bare = try await stored(at: server.url)
        let installation = try await installation(bare)
        let one = try await installation.mirror(named: "one")
        let two = try await installation.mirror(named: "two")
        await one.close()
        try await one.other("two").closing { _ in }
        try await one.scratch().close()
        _ = try await two.requiredNetwork(of: .bot).verifyAccount()
        _ = try await one.requiredNetwork(of: .bot).verifyAccount()
        _ = try await two.table.record()
        // A read of both goes over one connection.
        #expect(server.connectionCount == 1)
    }

    // MARK: The log

    @Test func linesNameTheirMirrorWhereThereAreSeveral() async throws {
        let bare = try await stored()
        let alone = try await installation(bare, ["MIRROR": "default"])
        let several = try await installation(bare, ["MIRROR": "default"], logsEveryName: true)
        alone.logger(of: "default").info("alone")
        alone.logger(of: "one").info("named")
        several.logger(of: "default").info("among others")
        try await several.mirror(named: "two").logger.info("opened", metadata: ["a": "b"])
        several.logger.info("of all")
        #expect(
            log.values == [
                "info alone", "info named mirror=one", "info among others mirror=default",
                "info opened a=b mirror=two",
                "info of all",
            ])
    }
}
