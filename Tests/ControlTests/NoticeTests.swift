import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// What a person is told while nobody looks: once a day for each cause, and once when it is over.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct NoticeTests {
    private let clock = VirtualClock(startingAt: BareMirror.now)
    private let pulse = WorkerPulse()

    init() {
        pulse.holdsMirror = true
        pulse.works(uptime: clock.uptime)
    }

    /// The mirrors of the process: one, or none while it waits for another process.
    private var watch: Notifier.Watch { Notifier.Watch("test", pulse) }

    private func pass(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    /// A mirror that lacks nothing of what it would tell.
    private func working(_ variables: [String: String], on engine: Engine = .sqlite) async throws
        -> HumanMirror
    {
        let mirror = try await BareMirror(
            engine, variables: BareMirror.accounts.merging(variables) { $1 }
        )
        .open(clock: clock)
        try await mirror.beginWorking()
        return mirror
    }

    private func told(_ server: LoopbackServer) throws -> [Notice] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try server.requests.map { try decoder.decode(Notice.self, from: Data($0.body)) }
    }

    private static func server(status: Int = 204) throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: status) }
    }

    @discardableResult
    private func suggest(_ name: String, in mirror: HumanMirror) async throws -> Action {
        let author = AccountID(network: .mastodon, value: "stranger@pal.example")
        let intent = Intent(
            .favorite(
                Action.Target(post: "https://pal.example/\(name)", author: author, address: name)),
            state: .suggested, due: clock.now, expires: clock.now + 864_000)
        return try await mirror.outbox(lease: nil).propose(intent, now: clock.now).action
    }

    private func settle(_ mirror: HumanMirror) async throws {
        try await mirror.storage.execute(
            "UPDATE actions SET state = 'skipped' WHERE mirror = \(mirror.name)")
    }

    @Test func whatOutlivedItsOriginalIsToldToo() async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        let action = try await suggest("a", in: mirror)
        try await mirror.storage.execute(
            "UPDATE actions SET state = 'done' WHERE mirror = \(mirror.name)")
        try await mirror.outbox(lease: nil).proposeUndos(
            [action.id], reason: .sourceGone)
        await notifier.look(at: watch)
        try expect(
            told(server).map(\.text),
            equals: ["1 of the bot's posts outlived their originals: mirror-bot undo proposed."])
    }

    @Test(arguments: Engine.allCases) func eachCauseIsToldOnceADayAndOnceWhenItIsOver(
        _ engine: Engine
    ) async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url + "/hook?key=s3cr3t"], on: engine)
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        await notifier.look(at: watch)
        #expect(server.requests.isEmpty)

        try await suggest("a", in: mirror)
        await notifier.look(at: watch)
        try expect(told(server).map(\.cause), equals: [.review])
        try expect(told(server).map(\.state), equals: [.began])
        try expect(
            told(server).first?.text,
            equals: "1 action waits for your decision: mirror-bot suggestions.")
        #expect(server.requests.first?.target == "/hook?key=s3cr3t")
        try await suggest("b", in: mirror)
        try await pass(3_600)
        await notifier.look(at: watch)
        // Another process, as after a restart.
        let next = try #require(Notifier(mirror.installation, clock: clock))
        defer { next.shutdown() }
        await next.look(at: watch)
        #expect(server.requests.count == 1)

        try await pass(86_400)
        await next.look(at: watch)
        try expect(told(server).map(\.state), equals: [.began, .continues])
        try expect(told(server).last?.text) { $0?.hasPrefix("2 actions wait ") == true }
        try await settle(mirror)
        await next.look(at: watch)
        await next.look(at: watch)
        try expect(told(server).map(\.state), equals: [.began, .continues, .resolved])
        try expect(told(server).last?.since, equals: told(server).first?.since)
        // Once a day, also where it comes and goes.
        try await suggest("c", in: mirror)
        await next.look(at: watch)
        try await settle(mirror)
        await next.look(at: watch)
        #expect(server.requests.count == 3)
    }

    @Test(arguments: Engine.allCases) func ofTwoWorkersOneTells(_ engine: Engine) async throws {
        let server = try Self.server()
        let bare = try await BareMirror(
            engine, variables: BareMirror.accounts.merging(["NOTIFY_URL": server.url]) { $1 })
        let mirrors = [try await bare.open(clock: clock), try await bare.open(clock: clock)]
        try await mirrors[0].beginWorking()
        try await suggest("a", in: mirrors[0])
        let notifiers = mirrors.compactMap { Notifier($0.installation, clock: clock) }
        defer { for notifier in notifiers { notifier.shutdown() } }
        await withTaskGroup(of: Void.self) { group in
            for notifier in notifiers { group.addTask { await notifier.look(at: watch) } }
        }
        #expect(notifiers.count == 2)
        #expect(server.requests.count == 1)
        // Who waits for another worker says nothing at all.
        pulse.holdsMirror = false
        try await pass(90_000)
        await notifiers[0].look(at: watch)
        #expect(server.requests.count == 1)
    }

    @Test func whatNobodyTakesIsTriedAgainAndThenLeftForTheNextDay() async throws {
        let server = try Self.server(status: 500)
        let mirror = try await working(["NOTIFY_URL": server.url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        try await suggest("a", in: mirror)
        await notifier.look(at: watch)
        await notifier.look(at: watch)
        #expect(server.requests.count == 1)
        try await expect(mirror.notices.rows().first?.lastTold, equals: nil)
        for _ in 0..<100 {
            try await pass(600)
            await notifier.look(at: watch)
        }
        #expect((2...16).contains(server.requests.count), "\(server.requests.count)")
        let before = server.requests.count
        try await settle(mirror)
        await notifier.look(at: watch)
        #expect(server.requests.count == before, "what nobody heard is not taken back")
    }

    @Test func aMessageThatArrivesLateCounts() async throws {
        let isDown = Recorder<Bool>()
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: isDown.values.isEmpty ? 503 : 200)
        }
        let mirror = try await working(["NOTIFY_URL": server.url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        try await suggest("a", in: mirror)
        await notifier.look(at: watch)
        isDown.add(false)
        try await pass(120)
        await notifier.look(at: watch)
        try await pass(7_200)
        await notifier.look(at: watch)
        try expect(told(server).map(\.state), equals: [.began, .began])
        try await expect(mirror.notices.rows().map(\.attempts), equals: [0])
        // What nobody heard was not told.
        try await expect(mirror.notices.told(limit: 10).map(\.state), equals: [.began])
    }

    /// The history has what was delivered, the newest first, and no more than the last hundred of a
    /// mirror.
    @Test(arguments: Engine.allCases) func whatWasToldIsKept(_ engine: Engine) async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url], on: engine)
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        try await suggest("a", in: mirror)
        await notifier.look(at: watch)
        try await settle(mirror)
        try await pass(600)
        await notifier.look(at: watch)
        let told = try await mirror.notices.told(limit: 10)
        #expect(told.map(\.state) == [.resolved, .began])
        #expect(told.map(\.cause) == [.review, .review])
        #expect(told.first?.title == "something waits for you")
        try expect(self.told(server).map(\.text), equals: told.reversed().map(\.text))
        let notice = try #require(try self.told(server).first)
        for number in 1...120 {
            var later = notice
            later.at = notice.at + Double(number)
            try await mirror.notices.store(NoticeRow(.review), told: later)
        }
        let kept = try await mirror.notices.told(limit: 1_000)
        #expect(kept.count == 100)
        #expect(kept.first == told.first)
        #expect(kept.dropFirst().first?.at == notice.at + 120)
    }

    /// The database of a stranger's words, and of none that a notice repeats.
    @Test func aNoticeRepeatsNothingThatSomebodyElseWrote() async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        for role in ["bot", "human"] {
            try await mirror.storage.execute(
                """
                INSERT INTO refusals (mirror, role, error, since_ms, noted_ms)
                VALUES (\(mirror.name), \(role), 'EVIL', \(clock.now.milliseconds), \(clock.now.milliseconds))
                """)
        }
        try await suggest("EVIL", in: mirror)
        await notifier.look(at: watch)
        try expect(
            told(server).map(\.cause), equals: [.review], "a moment of refusals is not worth a word"
        )
        try await pass(1_000)
        await notifier.look(at: watch)
        try expect(told(server).map(\.cause), equals: [.review, .refused, .humanRefused])
        for request in server.requests {
            let text = String(decoding: request.body, as: UTF8.self)
            #expect(!text.contains("EVIL"))
            #expect(!text.contains("stranger"))
        }
    }

    @Test func aDatabaseThatIsAwayIsToldOfFromMemory() async throws {
        let postgres = try await PostgresServer.start()
        let url = try await postgres.makeDatabase()
        try await Storage.open(.postgres(url: url)).closing {
            _ = try await Migrations.apply(to: $0)
        }
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url, "DATABASE_URL": url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        await notifier.look(at: watch)
        await postgres.stop()
        await notifier.look(at: watch)
        #expect(server.requests.isEmpty, "much passes by itself")
        try await pass(400)
        for _ in 0..<3 { await notifier.look(at: watch) }
        try expect(told(server).map(\.cause), equals: [.database])
        try await pass(86_500)
        await notifier.look(at: watch)
        try expect(told(server).map(\.state), equals: [.began, .continues])
    }

    @Test func theEndOfAWorkerIsToldOnceHoweverOftenItBegins() async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url])
        for _ in 0..<3 {
            let herald = try #require(Herald(mirror.installation, clock: clock))
            await #expect(throws: ConfigurationError.self) {
                try await herald.accompany({ Notifier.Watch([:]) }, endsFor: mirror.name) {
                    throw ConfigurationError("TIME_ZONE", "is wrong")
                }
            }
        }
        try expect(told(server).map(\.cause), equals: [.stopped])
        try expect(told(server).first?.text) {
            $0?.contains("a setting is wrong or missing") == true
        }
        let herald = try #require(Herald(mirror.installation, clock: clock))
        try await herald.accompany(
            { [pulse] in Notifier.Watch(["test": pulse]) }, endsFor: mirror.name
        ) {}
        try expect(told(server).map(\.state), equals: [.began, .resolved])
    }

    @Test func theHeartbeatStopsWithTheWork() async throws {
        let server = try Self.server(status: 200)
        let mirror = try await working(["HEARTBEAT_URL": server.url + "/beat"])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        func look(after seconds: TimeInterval, works: Bool = true) async throws {
            try await pass(seconds)
            if works { pulse.works(uptime: clock.uptime) }
            await notifier.look(at: watch)
        }
        try await look(after: 0)
        try await look(after: 60)
        #expect(server.requests.map(\.target) == ["/beat"])
        #expect(server.requests.first?.method == "GET")
        try await look(after: 240)
        #expect(server.requests.count == 2)
        try await look(after: 700, works: false)
        #expect(server.requests.count == 2, "a worker that does nothing is not well")
        try await look(after: 60)
        #expect(server.requests.count == 3)
        try await mirror.storage.execute(
            "INSERT INTO refusals (mirror, role, error, since_ms, noted_ms) VALUES (\(mirror.name), 'bot', 'x', 0, 0)"
        )
        try await look(after: 300)
        #expect(server.requests.count == 3, "nothing is sent by whom nobody lets in")
        try await expect(mirror.notices.rows()) { $0.isEmpty }
    }

    @Test func aWrongClockIsToldOf() async throws {
        let server = try Self.server()
        let mirror = try await working(["NOTIFY_URL": server.url])
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        for lead in [-300.0, -300, 5] {
            pulse.compares(clockLead: lead)
            await notifier.look(at: watch)
            try await pass(700)
        }
        try expect(told(server).map(\.state), equals: [.began, .resolved])
        try expect(
            told(server).first?.text,
            equals: "It is 300 s off that of the network. Synchronize it with a time server.")
    }
}

/// The buttons of notices, as ntfy gets them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct NoticeButtonTests {
    private static let page = "https://mirror.example"
    private let clock = VirtualClock(startingAt: BareMirror.now)

    /// A button as ntfy reads it.
    private struct Button: Decodable, Equatable {
        let action: String
        let label: String
        let url: String
        let method: String?
        let clear: Bool

        /// What it opens.
        static func open(_ path: String) -> Button {
            Button(
                action: "view", label: "Open", url: NoticeButtonTests.page + path, method: nil,
                clear: false)
        }
    }

    private func open(
        _ server: LoopbackServer, _ variables: [String: String] = ["WEB_ADDRESS": page],
        on engine: Engine = .sqlite
    ) async throws -> HumanMirror {
        let all = BareMirror.accounts.merging(
            ["NOTIFY_URL": server.url, "NOTIFY_FORMAT": "ntfy"].merging(variables) { $1 }
        ) { $1 }
        let mirror = try await BareMirror(engine, variables: all).open(clock: clock)
        try await mirror.beginWorking()
        return mirror
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: 200) }
    }

    private func look(at mirror: HumanMirror) async throws {
        let pulse = WorkerPulse()
        pulse.holdsMirror = true
        pulse.works(uptime: clock.uptime)
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        await notifier.look(at: Notifier.Watch(mirror.name, pulse))
        notifier.shutdown()
    }

    /// The buttons of the last message; nil if it has none.
    private func buttons(_ server: LoopbackServer) throws -> [Button]? {
        try server.requests.last?.header("Actions").map {
            try JSONDecoder().decode([Button].self, from: Data($0.utf8))
        }
    }

    private func suggest(_ number: Int, in hours: Double, _ mirror: HumanMirror) async throws
        -> Action
    {
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "\(number)"),
            text: "Bread, loaf \(number)", visibility: .unlisted)
        let zone = mirror.configuration.timeZone ?? .gmt
        let slot = Slot.Name(day: LocalTime(clock.now, in: zone).day, number: number)
        let due = clock.now + hours * 3_600
        let intent = Intent(
            .post(slot, wording), state: .suggested, due: due, expires: due + 3_600)
        return try await mirror.outbox(lease: nil).propose(intent, now: clock.now).action
    }

    /// The most urgent post can be approved and skipped by the buttons; they are used once, as
    /// whoever presses them does.
    @Test(arguments: Engine.allCases) func aWaitingPostHasButtons(_ engine: Engine) async throws {
        let server = try Self.server()
        let mirror = try await open(
            server,
            [
                "WEB_ADDRESS": Self.page + "/", "SECRET_KEY": "planted-key-planted-key-planted-key",
            ], on: engine)
        _ = try await suggest(1, in: 5, mirror)
        let urgent = try await suggest(2, in: 2, mirror)
        try await look(at: mirror)
        let buttons = try #require(try buttons(server))
        #expect(buttons.map(\.label) == ["Approve", "Skip", "Open"])
        #expect(buttons.map(\.action) == ["http", "http", "view"])
        #expect(buttons.map(\.method) == ["POST", "POST", nil])
        #expect(buttons.map(\.clear) == [true, true, false])
        #expect(buttons.last == .open("/m/test/waiting"))
        let body = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
        expect(body) { $0.contains(" Approve and Skip are for the post of ") }
        expect(body) { !$0.contains("loaf") }
        // The log and the stored message have no address.
        try await expect(mirror.notices.told(limit: 1).map(\.text)) {
            $0.count == 1 && !$0[0].contains("once")
        }
        let addresses = try #require(
            try await OnceAddresses(of: mirror.name, in: mirror.installation))
        let beginning = Self.page + "/once/test/"
        for button in buttons.prefix(2) { #expect(button.url.hasPrefix(beginning)) }
        let text = String(buttons[0].url.dropFirst(beginning.count))
        let desk = Desk(mirror, zone: mirror.configuration.timeZone)
        _ = try await addresses.use(text, at: desk)
        let store = mirror.outbox(lease: nil)
        try await expect(store.actions(withIDs: [urgent.id])[urgent.id]?.state, equals: .planned)
    }

    /// Nobody approves what they were not shown.
    @Test func aWaitingFavoriteIsOnlyOpened() async throws {
        let server = try Self.server()
        let mirror = try await open(server)
        let author = AccountID(network: .mastodon, value: "stranger@pal.example")
        let target = Action.Target(post: "https://pal.example/1", author: author, address: "1")
        let intent = Intent(
            .favorite(target), state: .suggested, due: clock.now, expires: clock.now + 864_000)
        _ = try await mirror.outbox(lease: nil).propose(intent, now: clock.now)
        try await look(at: mirror)
        try expect(buttons(server), equals: [.open("/m/test/waiting")])
    }

    @Test func whatFailsCanBePaused() async throws {
        let server = try Self.server()
        let mirror = try await open(server)
        let notice = Notice(
            .unreachable, .began, mirror: mirror.name, since: clock.now, detail: nil,
            now: clock.now)
        let buttons = try #require(NoticeButtons(mirror.installation))
        let labels = await buttons.controls(of: notice)?.buttons.map(\.label)
        #expect(labels == ["Pause", "Open"])
        _ = try await Desk(mirror, zone: nil).perform(PauseMirror())
        // It pauses already.
        await expect(buttons.controls(of: notice)?.buttons.map(\.label), equals: ["Open"])
        for (cause, state) in [(NoticeCause.stopped, Notice.State.began), (.budget, .continues)] {
            let notice = Notice(
                cause, state, mirror: mirror.name, since: clock.now, detail: nil, now: clock.now)
            await expect(
                buttons.controls(of: notice)?.buttons.map(\.path), equals: ["/m/test/health"])
        }
        let over = Notice(
            .unreachable, .resolved, mirror: mirror.name, since: clock.now, detail: nil,
            now: clock.now)
        await expect(buttons.controls(of: over)) { $0 == nil }
    }

    /// Without an address of the page there are none, and the text is as it was.
    @Test func withoutAnAddressThereAreNone() async throws {
        let server = try Self.server()
        let mirror = try await open(server, [:])
        _ = try await suggest(1, in: 2, mirror)
        try await look(at: mirror)
        #expect(server.requests.count == 1)
        try expect(buttons(server), equals: nil)
        let body = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
        #expect(body == "1 action waits for your decision: mirror-bot suggestions.")
    }

    /// A database server without `SECRET_KEY` has no key to sign with.
    @Test func withoutAKeyThePageIsOnlyOpened() async throws {
        let server = try Self.server()
        let mirror = try await open(server, on: .postgres)
        _ = try await suggest(1, in: 2, mirror)
        try await look(at: mirror)
        try expect(buttons(server), equals: [.open("/m/test/waiting")])
    }
}

/// The ways on which a notice leaves, whatever is at their end.
@Suite(.timeLimit(.minutes(30))) struct NoticeSenderTests {
    private static let notice = Notice.test(of: "test", now: BareMirror.now)

    /// Longer than a test may take.
    private static let forever: Duration = .seconds(36_000)

    private func send(_ variables: [String: String], limit: Duration = forever) async throws
        -> [NoticeReceipt]
    {
        let configuration = try MirrorFixture.configuration(
            variables.merging(["MIRROR_BOT_HOME": "/nowhere"]) { $1 })
        let sender = NoticeSender(configuration.process.notices)
        defer { sender.shutdown() }
        return await sender.send(Self.notice, limit: limit)
    }

    @Test func ntfyGetsATextWithHeaders() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let url = server.url.replacing("http://", with: "http://tk_s3cr3t@") + "/topic"
        let receipts = try await send(["NOTIFY_URL": url, "NOTIFY_FORMAT": "ntfy"])
        #expect(receipts == [NoticeReceipt(way: "NOTIFY_URL (127.0.0.1)")])
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/topic")
        #expect(request.header("Authorization") == "Bearer tk_s3cr3t")
        #expect(request.header("Title") == "test: a test")
        #expect(request.header("Priority") == "2")
        #expect(String(decoding: request.body, as: UTF8.self).hasPrefix("Nothing happened"))
    }

    @Test func aNameAndAPasswordBecomeAHeader() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let url = server.url.replacing("http://", with: "http://me:p%40ss@")
        try await expect(send(["NOTIFY_URL": url])) { $0.allSatisfy { $0.problem == nil } }
        let value = try #require(server.requests.first?.header("Authorization"))
        #expect(value == "Basic " + Data("me:p@ss".utf8).base64EncodedString())
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let elsewhere = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let server = try LoopbackServer { [url = elsewhere.url] _, connection in
            try connection.respond(status: 307, headers: [("Location", url + "/x")])
        }
        let receipts = try await send(["NOTIFY_URL": server.url])
        #expect(
            receipts.first?.problem
                == "the server sends it elsewhere (status 307), which is not followed")
        #expect(elsewhere.requests.isEmpty)
    }

    @Test func aServerThatNeverEndsDoesNoHarm() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n".utf8)
        let noise = [UInt8](repeating: 0x41, count: 65_536)
        let talker = try LoopbackServer(steps: [.awaitRequest, .send(head), .flood(noise)])
        try await expect(
            send(["NOTIFY_URL": talker.url]).map(\.problem), equals: [nil], "it took the notice")
        for steps in [
            [LoopbackServer.Step.awaitRequest, .hang],
            [.awaitRequest, .drip(head, every: .milliseconds(20))],
        ] {
            let server = try LoopbackServer(steps: steps)
            let start = ContinuousClock.now
            let receipts = try await send(["NOTIFY_URL": server.url], limit: .milliseconds(400))
            #expect(receipts.map(\.problem) == ["Timeout was reached"])
            // Its own limit counts, and not the half minute of every request.
            #expect(start.duration(to: .now) < .seconds(25))
        }
        for steps in [[LoopbackServer.Step.awaitRequest, .reset], [.close]] {
            let server = try LoopbackServer(steps: steps)
            let problem = try await send(["NOTIFY_URL": server.url]).first?.problem
            #expect(problem != nil)
            #expect(problem != "Timeout was reached")
        }
    }

    /// In a process of its own, whose environment is nobody else's.
    @Test func aProgramGetsTheNoticeAndNoSecret() async {
        await #expect(processExitsWith: .success) {
            setenv("PLANTED_TOKEN", "s3cr3t", 1)
            try await NoticeSenderTests().expectTheNoticeAndNoSecret()
        }
    }

    private func expectTheNoticeAndNoSecret() async throws {
        let folder = try TemporaryDirectory()
        let script =
            "cat > \(folder.path("in")); env > \(folder.path("env")); ls /proc/self/fd > \(folder.path("fds"))"
        let receipts = try await send(["NOTIFY_COMMAND": "/bin/sh -c \"\(script)\""])
        #expect(receipts == [NoticeReceipt(way: "NOTIFY_COMMAND (/bin/sh)")])
        func text(_ name: String) -> String {
            String(
                decoding: FileManager.default.contents(atPath: folder.path(name)) ?? Data(),
                as: UTF8.self)
        }
        #expect(text("in").hasPrefix("{"))
        #expect(text("in").hasSuffix("}\n"))
        #expect(text("in").contains("notice/1"))
        #expect(text("env").contains("PATH="))
        #expect(!text("env").contains("s3cr3t"))
        // Its streams, the folder that ls reads, and nothing of ours.
        #expect(text("fds").split(separator: "\n").count <= 4, "\(text("fds"))")
    }

    @Test func aProgramThatFailsOrHangsIsToldOf() async throws {
        func problem(_ command: String, limit: Duration = Self.forever) async throws -> String? {
            try await send(["NOTIFY_COMMAND": command], limit: limit).first?.problem
        }
        try await expect(problem("/bin/sh -c 'echo no; exit 3'"), equals: "ended with 3: no")
        try await expect(problem("/nowhere/tell")) { $0?.contains("No such file") == true }
        try await expect(problem("/bin/sh -c 'kill -9 $$'"), equals: "ended by signal 9")
        try await expect(problem("/bin/true"), equals: nil)
        let long = try await problem("/bin/sh -c 'yes x; exit 4' tell", limit: .milliseconds(300))
        expect(long) { $0?.hasPrefix("took longer") == true }
        // No shell reads the words: nothing is expanded, and nothing is run after a semicolon.
        try await expect(problem("/bin/echo $HOME; exit 3"), equals: nil)
        // Had it been waited for, it would have ended well.
        try await expect(problem("sleep 100", limit: .milliseconds(300))) {
            $0?.hasPrefix("took longer") == true
        }
    }

    @Test func everyWayIsTriedAndOneIsEnough() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 401) }
        let receipts = try await send(["NOTIFY_URL": server.url, "NOTIFY_COMMAND": "/bin/true"])
        #expect(receipts.map(\.problem) == ["the server answers with status 401", nil])
    }

    @Test(arguments: [
        "http://192.168.1.20/x", "http://nas.lan:8080/x", "http://ntfy/x", "https://ntfy.sh/x",
    ])
    func whatIsNearMayBePlain(url: String) throws {
        let configuration = try MirrorFixture.configuration([
            "MIRROR_BOT_HOME": "/nowhere", "NOTIFY_URL": url,
        ])
        #expect(configuration.process.notices.address != nil)
    }

    @Test func theSchemeOfNtfyDecides() throws {
        let basics = ["MIRROR_BOT_HOME": "/nowhere", "NOTIFY_URL": "ntfy://ntfy.sh/topic"]
        try expect(MirrorFixture.configuration(basics).process.notices.format, equals: .ntfy)
        let error = #expect(throws: ConfigurationError.self) {
            try MirrorFixture.configuration(basics.merging(["NOTIFY_FORMAT": "json"]) { $1 })
        }
        #expect(error?.setting == "NOTIFY_FORMAT")
    }
}
