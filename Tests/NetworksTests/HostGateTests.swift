import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Mastodon
@testable import Networks

/// How the mirrors of a process share a limit that a server counts by address.
@Suite struct HostGateTests {
    private static let start = Loopback.start

    private static func instant(_ seconds: TimeInterval) -> HostGate.Instant {
        HostGate.Instant(uptime: 1_000 + seconds, date: start + seconds)
    }

    private static func gate(_ count: Int = 300) -> HostGate {
        HostGate(host: "gts.example", limit: AddressLimit(count: count, period: 300))
    }

    /// How many of so many reads a mirror may make at once.
    private static func reads(
        _ gate: HostGate, _ mirror: String, _ count: Int, at seconds: TimeInterval
    ) -> Int {
        (0..<count).count { _ in gate.admit(mirror, isUrgent: false, at: instant(seconds)) == nil }
    }

    // MARK: The limit

    @Test func oneMirrorMayReadAllButWhatIsLeftForChanges() {
        let gate = Self.gate()
        #expect(Self.reads(gate, "a", 1_000, at: 0) == 270)
        #expect(Self.reads(gate, "a", 1_000, at: 299) == 0)
        for _ in 0..<30 { #expect(gate.admit("a", isUrgent: true, at: Self.instant(299)) == nil) }
        #expect(Self.reads(gate, "a", 1_000, at: 310) == 240)
    }

    /// However the server places its periods, none of them has more requests than it allows.
    @Test func noPeriodHasMoreThanTheLimit() {
        let gate = Self.gate()
        var sent: [TimeInterval] = []
        for second in 0..<3_000 {
            let now = TimeInterval(second) + 0.37
            for mirror in ["a", "b", "c"] {
                for _ in 0..<3
                where gate.admit(mirror, isUrgent: false, at: Self.instant(now)) == nil {
                    sent.append(now)
                }
            }
        }
        for begin in stride(from: 0, to: 2_700, by: 1.0) {
            expect(sent.count { $0 >= begin && $0 < begin + 300 }, "from \(begin)") { $0 <= 270 }
        }
        // Nothing is given away either: at most a thirtieth of a period.
        expect(sent.count) { $0 >= 270 * 9 }
    }

    /// Who waits until the time that it was told is admitted then.
    @Test func theToldTimeIsWhenItIsPossible() throws {
        let gate = Self.gate()
        _ = Self.reads(gate, "a", 270, at: 0)
        let told = try #require(gate.admit("a", isUrgent: false, at: Self.instant(100)))
        #expect(told > Self.start + 300)
        #expect(told <= Self.start + 311)
        let before = told.timeIntervalSince(Self.start) - 0.01
        #expect(gate.admit("a", isUrgent: false, at: Self.instant(before)) != nil)
        #expect(gate.admit("a", isUrgent: false, at: Self.instant(before + 0.02)) == nil)
    }

    // MARK: What the server announces

    @Test func othersAtTheSameAddressCount() {
        let gate = Self.gate()
        gate.note(RateLimit(limit: 300, remaining: 60), at: Self.instant(0))
        #expect(Self.reads(gate, "a", 100, at: 0) == 30)
        // An older answer that comes late takes nothing back, and the same news is not counted
        // twice.
        gate.note(RateLimit(limit: 300, remaining: 200), at: Self.instant(1))
        gate.note(RateLimit(limit: 300, remaining: 30), at: Self.instant(1))
        #expect(Self.reads(gate, "a", 100, at: 1) == 0)
        #expect(gate.admit("a", isUrgent: true, at: Self.instant(1)) == nil)
    }

    @Test func theAnnouncedLimitReplacesTheKnownOne() {
        let gate = Self.gate()
        gate.note(RateLimit(limit: 1_000, remaining: 1_000), at: Self.instant(0))
        #expect(Self.reads(gate, "a", 2_000, at: 0) == 900)
    }

    @Test func aRefusalStopsEverybodyUntilItsTime() {
        let gate = Self.gate()
        gate.pause(until: Self.start + 40, at: Self.instant(0))
        // A shorter one does not end it.
        gate.pause(until: Self.start + 10, at: Self.instant(1))
        for isUrgent in [true, false] {
            #expect(gate.admit("a", isUrgent: isUrgent, at: Self.instant(30)) == Self.start + 40)
            #expect(gate.admit("b", isUrgent: isUrgent, at: Self.instant(39.9)) == Self.start + 40)
        }
        #expect(gate.admit("b", isUrgent: false, at: Self.instant(40)) == nil)
    }

    /// What decides is a clock that nobody sets.
    @Test func aClockThatIsSetChangesNoWait() {
        let gate = Self.gate()
        gate.pause(until: Self.start + 40, at: Self.instant(0))
        let setBack = HostGate.Instant(uptime: 1_041, date: Self.start - 86_400)
        #expect(gate.admit("a", isUrgent: false, at: setBack) == nil)
    }

    // MARK: Fairness

    /// A mirror that reads a huge archive leaves what the others need for their looks.
    @Test func aGreedyMirrorStarvesNobody() {
        let gate = Self.gate()
        let others = (1...10).map { "mirror-\($0)" }
        var refused = 0
        var greedy = 0
        for second in 0..<3_000 {
            greedy += Self.reads(gate, "greedy", 50, at: TimeInterval(second))
            for (place, mirror) in others.enumerated() where second % 60 == place * 6 {
                refused += 2 - Self.reads(gate, mirror, 2, at: TimeInterval(second))
            }
        }
        // In the first period it took what nobody else had asked for yet.
        #expect(refused <= 10 * 2 * 6)
        // What the others leave is not wasted: of 270 they need 100 in a period.
        expect(greedy) { $0 > 130 * 10 }
        var late = 0
        for second in 3_000..<4_200 {
            _ = Self.reads(gate, "greedy", 50, at: TimeInterval(second))
            for (place, mirror) in others.enumerated() where second % 60 == place * 6 {
                late += 2 - Self.reads(gate, mirror, 2, at: TimeInterval(second))
            }
        }
        #expect(late == 0)
    }

    /// More mirrors than the limit can serve each get about the same, also in operations of several
    /// requests.
    @Test func tooManyMirrorsTakeTurns() {
        let gate = Self.gate()
        let mirrors = (0..<100).map { "mirror-\($0)" }
        var next = Dictionary(uniqueKeysWithValues: mirrors.map { ($0, Self.start) })
        var done: [String: Int] = [:]
        for second in 0..<7_200 {
            let now = Self.instant(TimeInterval(second))
            for mirror in mirrors where next[mirror, default: Self.start] <= now.date {
                // An operation of three requests, which is of use only as a whole.
                var retry: Date?
                for _ in 0..<3 where retry == nil {
                    retry = gate.admit(mirror, isUrgent: false, at: now)
                }
                if retry == nil { done[mirror, default: 0] += 1 }
                // As an account's gate does, a little later than it was told, and never more often
                // than once a minute.
                next[mirror] = max((retry ?? now.date) + 3, now.date + 60)
            }
        }
        let counts = mirrors.map { done[$0] ?? 0 }.sorted()
        #expect(counts[0] >= 15, "\(counts)")
        #expect(counts[99] * 2 <= counts[0] * 3, "\(counts)")
        // There is room for 90 operations in each of 24 periods.
        let all = counts.reduce(0, +)
        #expect(all > 1_728)
    }

    /// A mirror that was refused and is gone keeps nothing from the others.
    @Test func aPlaceInTheLineIsGivenUp() {
        let gate = Self.gate()
        _ = Self.reads(gate, "a", 270, at: 0)
        for number in 0..<20 {
            #expect(gate.admit("gone-\(number)", isUrgent: false, at: Self.instant(1)) != nil)
        }
        expect(Self.reads(gate, "b", 300, at: 900)) { $0 == 270 }
    }
}

/// Which requests the gates of hosts hold back: mirrors with one client and one set of gates, at
/// servers on loopback.
@Suite(.timeLimit(.minutes(30))) struct HostGateNetworkTests {
    private final class Hands: @unchecked Sendable {
        // Sendable because every access holds the lock.
        private let lock = NSLock()
        private var seconds: TimeInterval = 0

        var passed: TimeInterval { lock.withLock { seconds } }
        var now: Date { Loopback.start + passed }

        func move(by number: TimeInterval) { lock.withLock { seconds += number } }
    }

    private let hands = Hands()
    private let gates = HostGates()
    private let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))

    private func origin(_ mirror: String) -> RequestOrigin {
        RequestOrigin(
            mirror: mirror, contact: RequestContact("@\(mirror)@host.example"), gates: gates,
            uptime: { [hands] in 5_000 + hands.passed })
    }

    private func mastodon(_ mirror: String, at server: LoopbackServer) throws -> MastodonNetwork {
        try MastodonNetwork(
            server: server.url,
            credentials: MastodonCredentials(accessToken: Secret("token-\(mirror)")), sessions: nil,
            client: client, origin: origin(mirror), now: { [hands] in hands.now })
    }

    private func bluesky(_ mirror: String, at server: LoopbackServer) throws -> BlueskyNetwork {
        try BlueskyNetwork(
            identifier: BlueskyLoopback.handle, appPassword: Secret("pass"), apiBaseURL: server.url,
            sessions: MemoryCredentials(), client: client, origin: origin(mirror),
            now: { [hands] in hands.now })
    }

    private static let mastodonInstance =
        #"{"domain":"home.example","api_versions":{"mastodon":6}}"#

    /// Refuses the home timeline of whoever has the token with 429 for 40 seconds.
    private static func server(_ instance: String, refusing token: String) throws -> LoopbackServer
    {
        try LoopbackServer { request, connection in
            var answer = Self.answer(request, instance)
            if request.path == "/api/v1/timelines/home",
                request.header("Authorization") == "Bearer \(token)"
            {
                answer = .json(
                    #"{"error":"Too many requests"}"#, status: 429, headers: [("Retry-After", "40")]
                )
            }
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
    }

    private static func answer(_ request: LoopbackServer.Request, _ instance: String) -> Answer {
        if request.path == "/api/v2/instance" { return .json(instance) }
        if request.path == "/.well-known/webfinger" {
            return .json(#"{"subject":"acct:bot@home.example"}"#)
        }
        return request.path.hasSuffix("/verify_credentials") ? Loopback.usual(request) : .json("[]")
    }

    private static func error(_ body: () async throws -> Void) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) { try await body() }
    }

    /// How many requests for home timelines a server got with a token.
    private static func homes(_ server: LoopbackServer, _ token: String) -> Int {
        server.requests.count {
            $0.path == "/api/v1/timelines/home" && $0.header("Authorization") == "Bearer \(token)"
        }
    }

    @Test func eachMirrorsRequestsNameItsContact() async throws {
        let server = try Self.server(MastodonServers.goToSocial, refusing: "none")
        let one = try mastodon("one", at: server)
        let two = try mastodon("two", at: server)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for network in [one, two, one, two, one, two] {
                group.addTask { _ = try await network.page(.home, .newest, size: nil) }
            }
            try await group.waitForAll()
        }
        let requests = server.requests.filter { $0.header("Authorization") != nil }
        for request in requests {
            let mirror = try #require(request.header("Authorization")).dropFirst(
                "Bearer token-".count)
            #expect(request.header("User-Agent") == "mirror-bot-tests (+@\(mirror)@host.example)")
        }
        expect(requests.count) { $0 >= 6 }
    }

    @Test func aServerThatCountsByAddressIsLeftAloneByAll() async throws {
        let server = try Self.server(MastodonServers.goToSocial, refusing: "token-one")
        let one = try mastodon("one", at: server)
        let two = try mastodon("two", at: server)
        // One mirror finds out what the server is, for all.
        _ = try await one.limits()
        try await expect(
            Self.error { _ = try await one.page(.home, .newest, size: nil) }.status, equals: 429)
        let held = try await Self.error { _ = try await two.page(.home, .newest, size: nil) }
        #expect(held.code == .rateLimited)
        #expect(held.status == nil)
        #expect(held.outcome == .notSent)
        #expect(held.isAboutAddressLimit)
        #expect(held.retryAfter == Loopback.start + 40)
        #expect(Self.homes(server, "token-two") == 0)
        hands.move(by: 40)
        _ = try await two.page(.home, .newest, size: nil)
        #expect(Self.homes(server, "token-two") == 1)
    }

    @Test func aServerThatCountsByAccountIsLeftAloneByOne() async throws {
        let server = try Self.server(Self.mastodonInstance, refusing: "token-one")
        let one = try mastodon("one", at: server)
        let two = try mastodon("two", at: server)
        _ = try await one.limits()
        for _ in 0..<3 {
            try await expect(
                Self.error { _ = try await one.page(.home, .newest, size: nil) }.status, equals: 429
            )
            _ = try await two.page(.home, .newest, size: nil)
        }
        #expect(Self.homes(server, "token-two") == 3)
        // The gate of the one account is elsewhere: nothing here holds its own calls back.
        #expect(Self.homes(server, "token-one") == 3)
    }

    /// Without a login Mastodon counts by address too, and that limit is one of its own.
    @Test func aRefusalWithoutAnAccountStopsOnlyCallsWithoutOne() async throws {
        let server = try LoopbackServer { request, connection in
            let isAnonymous = request.header("Authorization") == nil
            let answer = Self.answer(request, Self.mastodonInstance)
            try connection.respond(
                status: isAnonymous ? 429 : answer.status,
                headers: isAnonymous ? [("Retry-After", "40")] : [],
                body: Array(answer.body.utf8))
        }
        let one = try mastodon("one", at: server)
        let two = try mastodon("two", at: server)
        try await expect(Self.error { _ = try await one.isShownToAnybody("1") }.status, equals: 429)
        try await expect(
            Self.error { _ = try await two.isShownToAnybody("2") }.isAboutAddressLimit, equals: true
        )
        #expect(server.requests.count { $0.header("Authorization") == nil } == 1)
        _ = try await two.page(.home, .newest, size: nil)
        #expect(Self.homes(server, "token-two") == 1)
    }

    @Test func aLimitOfALoginOrAPostOnBlueskyIsOfTheAccount() async throws {
        let server = try LoopbackServer { request, connection in
            if request.method("com.atproto.server.createSession") {
                let headers = [
                    ("RateLimit-Limit", "30"), ("RateLimit-Remaining", "0"),
                    ("RateLimit-Reset", "300"),
                ]
                return try connection.respond(status: 429, headers: headers, body: Array("{}".utf8))
            }
            try connection.respond(status: 200, body: Array(#"{"posts":[]}"#.utf8))
        }
        let one = try bluesky("one", at: server)
        try await expect(
            Self.error { _ = try await one.page(.home, .newest, size: nil) }.status, equals: 429)
        let two = try bluesky("two", at: server)
        try await expect(
            Self.error { _ = try await two.page(.home, .newest, size: nil) }.status, equals: 429)
        #expect(server.requests.count { $0.method("com.atproto.server.createSession") } == 2)
    }

    @Test func aLimitOfReadingOnBlueskyIsOfAll() async throws {
        let server = try LoopbackServer { request, connection in
            let answer =
                request.method("app.bsky.feed.getTimeline")
                ? Answer.json("{}", status: 429, headers: [("RateLimit-Reset", "40")])
                : BlueskyLoopback.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let one = try bluesky("one", at: server)
        let two = try bluesky("two", at: server)
        try await expect(
            Self.error { _ = try await one.page(.home, .newest, size: nil) }.status, equals: 429)
        let held = try await Self.error { _ = try await two.page(.home, .newest, size: nil) }
        #expect(held.isAboutAddressLimit)
        #expect(server.requests.count { $0.method("app.bsky.feed.getTimeline") } == 1)
    }

    /// The limit is known before the server has to say no: 300 requests in five minutes, a tenth of
    /// them for changes.
    @Test func theLimitIsKeptWithoutARefusal() async throws {
        let server = try Self.server(MastodonServers.goToSocial, refusing: "none")
        let networks = try (0..<4).map { try mastodon("\($0)", at: server) }
        _ = try await networks[0].limits()
        var held = 0
        for _ in 0..<100 {
            for network in networks {
                do {
                    _ = try await network.page(.home, .newest, size: nil)
                } catch let error as NetworkError where error.isAboutAddressLimit {
                    held += 1
                }
            }
        }
        // The question what the server is was asked before anybody knew of a limit.
        #expect(server.requests.count == 271)
        #expect(held > 0)
        for number in 0..<4 { #expect(Self.homes(server, "token-\(number)") > 60) }
        // What a person or a plan has promised goes out all the same.
        try await networks[3].delete("1") { _ in true }
    }
}
