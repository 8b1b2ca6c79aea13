import Expectations
import Foundation
import HTTPTypes
import Mirroring
import NIOCore
import NIOEmbedded
import Posts
import Settings
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Web

/// Strangers who take as much of the page as they get, and people who want to use it meanwhile.
@Suite(.timeLimit(.minutes(30))) struct StrangerTests {
    private static let open = [
        "WEB_PASSWORD": WebStand.password, "PUBLIC_PAGE": "yes", "WEB_PROXIES": "127.0.0.1",
    ]

    private static func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

    private static func logIn(
        _ client: WebClient, _ password: String, from address: String
    ) async throws -> WebClient.Answer {
        try await client.send(
            "/login", form: [("password", password), ("next", "/")], headers: from(address))
    }

    // MARK: Connections

    /// Whoever opens connections and sends no request is pushed out, and at last closed.
    @Test func heldConnectionsKeepNobodyOut() async throws {
        let limits = ConnectionLimits(
            total: 60, fromElsewhere: 50, strangers: 40, perAddress: 10)
        try await WebStand.with(limits: limits) { stand in
            let port = stand.client.port
            var held: [WebConnection] = []
            for number in 1...240 {
                let connection = try await WebConnection.opened(
                    to: port, from: "127.0.1.\(number % 60 + 1)")
                try connection.send(Array("GET /healthz HTTP/1.1\r\nHost: loc".utf8))
                held.append(connection)
            }
            let newcomer = try await WebConnection.opened(to: port, from: "127.0.2.1")
            let answer = try await newcomer.apart { connection in
                try connection.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                return connection.waits(for: "200 OK") && connection.waits(for: "ok\n")
            }
            #expect(answer)
            try await #expect(stand.client.send("/m/mika").status == 200)
            #expect(stand.connections.count <= limits.strangers + 1)
            // Each returns once it is closed.
            try await stand.whileTimePasses {
                for connection in held { _ = try await connection.apart { $0.rest() } }
            }
        }
    }

    /// One address does not take the places of the others, and is told so.
    @Test func anAddressHasItsShare() async throws {
        try await WebStand.with(limits: ConnectionLimits(perAddress: 2)) { stand in
            let port = stand.client.port
            let request = Array("GET /m/mika/events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            var streams: [WebConnection] = []
            for _ in 0..<2 {
                let stream = try await WebConnection.opened(to: port, from: "127.0.1.1")
                let isOpen = try await stream.apart {
                    try $0.send(request)
                    return $0.waits(for: "retry: 5000")
                }
                #expect(isOpen)
                streams.append(stream)
            }
            let third = try await WebConnection.opened(to: port, from: "127.0.1.1")
            let refusal = try await third.apart { String(decoding: $0.rest(), as: UTF8.self) }
            #expect(refusal.hasPrefix("HTTP/1.1 429 "))
            #expect(refusal.contains("Retry-After: "))
            let other = try await WebConnection.opened(to: port, from: "127.0.1.2")
            let isOther = try await other.apart {
                try $0.send(request)
                return $0.waits(for: "retry: 5000")
            }
            #expect(isOther)
            // What was closed is free at once.
            streams[0].end()
            while stand.connections.count > 2 { await Task.yield() }
            let fourth = try await WebConnection.opened(to: port, from: "127.0.1.1")
            let isFourth = try await fourth.apart {
                try $0.send(request)
                return $0.waits(for: "retry: 5000")
            }
            #expect(isFourth)
            withExtendedLifetime((streams, other)) {}
        }
    }

    /// Connections of this machine and of listed proxies count to no address.
    @Test func aConnectionCountsToItsAddress() throws {
        let settings = try SafetyTests.settings(["WEB_PROXIES": "10.0.0.0/8,2001:db8:9::/48"])
        func share(_ peer: String) -> NetworkRange? { Caller.share(ofConnection: peer, settings) }
        for peer in [
            "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "10.1.2.3", "2001:db8:9::1",
        ] {
            #expect(share(peer) == nil, "\(peer)")
        }
        for peer in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "", "localhost"] {
            #expect(share(peer) != nil, "\(peer)")
        }
        #expect(share("192.0.2.1") != share("192.0.2.2"))
        #expect(share("2001:db8:0:1::1") == share("2001:db8:0:1:ffff::2"))
        #expect(share("2001:db8:0:1::1") != share("2001:db8:0:2::1"))
    }

    /// Whoever has shown a session is not pushed out by those who have not.
    @Test func aSessionKeepsItsPlaceAmongStrangers() async throws {
        let limits = ConnectionLimits(total: 20, fromElsewhere: 10, strangers: 3)
        try await WebStand.with(variables: Self.open, limits: limits) { stand in
            try await stand.logIn()
            let port = stand.client.port
            let cookie = try #require(stand.client.cookie("mirror-bot"))
            let page = Array(
                "GET /m/mika HTTP/1.1\r\nHost: localhost\r\nCookie: mirror-bot=\(cookie)\r\n\r\n"
                    .utf8)
            let known = try await WebConnection.opened(to: port, from: "127.0.1.1")
            let isShown = try await known.apart {
                try $0.send(page)
                return $0.waits(for: "</html>")
            }
            #expect(isShown)
            var strangers: [WebConnection] = []
            for number in 1...5 {
                let stranger = try await WebConnection.opened(to: port, from: "127.0.2.\(number)")
                let isAdmitted = try await stranger.apart {
                    try $0.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    return $0.waits(for: "ok\n")
                }
                #expect(isAdmitted)
                strangers.append(stranger)
            }
            let isShownAgain = try await known.apart {
                try $0.send(page)
                return $0.waits(for: "</html>")
            }
            #expect(isShownAgain)
            withExtendedLifetime(strangers) {}
        }
    }

    /// Connections of other machines that are all being answered leave places for this one.
    @Test func thisMachineHasPlacesOfItsOwn() async throws {
        let limits = ConnectionLimits(total: 4, fromElsewhere: 3, strangers: 3)
        try await WebStand.with(limits: limits) { stand in
            let port = stand.client.port
            func stream(from address: String) async throws -> (
                connection: WebConnection, status: String?
            ) {
                let connection = try await WebConnection.opened(to: port, from: address)
                let status = try await connection.apart {
                    try $0.send(
                        Array("GET /m/mika/events HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    return $0.text(before: "\r\n")
                }
                return (connection, status)
            }
            var streams: [WebConnection] = []
            for address in ["127.0.1.1", "127.0.1.2", "127.0.1.3"] {
                let opened = try await stream(from: address)
                #expect(opened.status == "HTTP/1.1 200 OK")
                streams.append(opened.connection)
            }
            try await #expect(stream(from: "127.0.1.4").status == "HTTP/1.1 429 Too Many Requests")
            let own = try await stream(from: "127.0.0.1")
            #expect(own.status == "HTTP/1.1 200 OK")
            try await #expect(stand.client.send("/healthz").status == 429)
            own.connection.end()
            while stand.connections.count > 3 { await Task.yield() }
            try await #expect(stand.client.send("/healthz").status == 200)
            withExtendedLifetime(streams) {}
        }
    }

    /// A body has a deadline.
    @Test func aSlowBodyEnds() async throws {
        try await WebStand.with { stand in
            let slow = try await WebConnection.opened(to: stand.client.port)
            let head =
                "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"
            try slow.send(Array(head.utf8))
            while stand.connections.readingBodies == 0 { await Task.yield() }
            let rest = try await stand.whileTimePasses {
                try await slow.apart { connection in
                    try connection.send([UInt8](repeating: UInt8(ascii: "x"), count: 10))
                    return connection.rest()
                }
            }
            #expect(rest.isEmpty)
            try await #expect(stand.client.send("/m/mika").status == 200)
        }
    }

    /// While the page's thread gets no processor, no time passes for those who wait for it.
    @Test func theServersOwnWorkIsNoSilenceOfTheClient() async throws {
        let barrier = Barrier()
        try await WebStand.with(onClock: { barrier.pass() }) { stand in
            let token = try #require(try await stand.client.send("/m/mika").field("csrf"))
            barrier.close()
            async let page = stand.client.send("/m/mika")
            async let form = stand.client.send(
                "/m/mika/pause", form: [("csrf", token), ("until", "3h")])
            while stand.connections.answering < 2 { await Task.yield() }
            stand.uptime.advance(by: .seconds(86_400))
            stand.connections.sweep()
            barrier.open()
            try await #expect(page.status == 200)
            try await #expect(form.status == 303)
        }
    }

    /// A request whose client is gone is not answered; here its password would count.
    @Test func whoClosesTheConnectionLeavesTheQueue() async throws {
        let barrier = Barrier()
        try await WebStand.with(variables: Self.open, onClock: { barrier.pass() }) { stand in
            barrier.close()
            async let page = stand.client.send("/login")
            // From here on the thread of the pages stands still.
            while barrier.waiting == 0 { await Task.yield() }
            let gone = try await WebConnection.opened(to: stand.client.port)
            let body = "password=guess&next=%2F"
            let request =
                "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nX-Forwarded-For: 192.0.2.1\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            try gone.send(Array(request.utf8))
            while stand.connections.answering < 2 { await Task.yield() }
            gone.end()
            while stand.connections.count > 1 { await Task.yield() }
            barrier.open()
            try await #expect(page.status == 200)
            for number in 1...5 {
                let answer = try await Self.logIn(stand.client, "a guess", from: "192.0.2.1")
                #expect(answer.status == (number < 5 ? 401 : 429))
            }
        }
    }

    /// The same in each state of a connection, among them a body that the server does not take.
    @Test func onlyTheClientsTurnIsCounted() {
        let limits = ConnectionLimits()
        var turn = ClientTurn(at: .zero)
        func isOverdue(_ seconds: Int) -> Bool { turn.isOverdue(limits, at: .seconds(seconds)) }
        #expect(!isOverdue(15) && isOverdue(16))
        turn.note(.headWasRead, at: .seconds(10))
        // Bytes that come do not put it off.
        for second in 11..<30 {
            turn.note(.isReading(false), at: .seconds(second))
            turn.note(.isReading(true), at: .seconds(second))
        }
        #expect(!isOverdue(40) && isOverdue(41))
        // Bytes came that are not taken.
        turn.note(.isReading(false), at: .seconds(30))
        #expect(!isOverdue(1_000))
        turn.note(.isReading(true), at: .seconds(1_000))
        #expect(!isOverdue(1_010) && isOverdue(1_011))
        // Of a client that may take its time.
        turn.note(.bodyContinued, at: .seconds(1_008))
        #expect(!isOverdue(1_038) && isOverdue(1_039))
        turn.note(.bodyEnded, at: .seconds(1_015))
        #expect(!isOverdue(9_000) && turn.isServersTurn)
        turn.note(.partIsWritten, at: .seconds(9_000))
        turn.note(.partHasLeft, at: .seconds(9_001))
        #expect(!isOverdue(19_000))
        turn.note(.answerEnded, at: .seconds(19_000))
        turn.note(.partIsWritten, at: .seconds(19_000))
        #expect(!isOverdue(19_075) && isOverdue(19_076))
        turn.note(.partHasLeft, at: .seconds(19_074))
        #expect(!isOverdue(19_075) && isOverdue(19_076))
        // The next request on the same connection.
        turn.note(.headWasRead, at: .seconds(19_075))
        turn.note(.bodyEnded, at: .seconds(19_075))
        turn.note(.partIsWritten, at: .seconds(19_080))
        #expect(!isOverdue(19_155) && isOverdue(19_156))
    }

    // MARK: Requests

    /// Log-in forms that stop after the first byte of their bodies: one more than an address may
    /// send at once.
    private func slowForms(to stand: WebStand, _ header: String = "") async throws
        -> [WebConnection]
    {
        let head =
            "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\(header)"
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nx"
        var slow: [WebConnection] = []
        for _ in 0...RequestShares.limitPerAddress {
            let connection = try await WebConnection.opened(to: stand.client.port)
            try connection.send(Array(head.utf8))
            slow.append(connection)
        }
        return slow
    }

    /// Forms that come slowly take the places of their address, and no others.
    @Test func anAddressHasItsShareOfRequests() async throws {
        try await WebStand.with(variables: Self.open) { stand in
            let member = WebClient(port: stand.client.port)
            try await #expect(
                Self.logIn(member, WebStand.password, from: "192.0.2.1").status == 303)
            let slow = try await slowForms(to: stand, "X-Forwarded-For: 192.0.2.1\r\n")
            try await withThrowingTaskGroup(of: String?.self) { group in
                for connection in slow {
                    group.addTask { try await connection.apart { $0.text(before: "\r\n") } }
                }
                // Once one is answered, all the others have their places.
                let first = try await group.next()
                #expect(first == "HTTP/1.1 429 Too Many Requests")
                let refused = try await stand.client.send("/login", headers: Self.from("192.0.2.1"))
                #expect(refused.status == 429)
                #expect(refused["Retry-After"] == "2")
                let page = try await member.send("/m/mika", headers: Self.from("192.0.2.1"))
                #expect(page.status == 200)
                for path in ["/login", "/public/mika"] {
                    let other = try await stand.client.send(path, headers: Self.from("192.0.2.2"))
                    #expect(other.status == 200)
                    try await #expect(stand.client.send(path).status == 200)
                }
                for path in ["/healthz", "/readyz", "/style.css"] {
                    let quick = try await stand.client.send(path, headers: Self.from("192.0.2.1"))
                    #expect(quick.status == 200)
                }
                let probe = try await stand.client.send(
                    "/login", headers: Self.from("192.0.2.1"), method: "OPTIONS")
                #expect(probe.status == 204)
                // Whoever goes gives the place back.
                for connection in slow { connection.end() }
            }
            var answer = try await stand.client.send("/login", headers: Self.from("192.0.2.1"))
            while answer.status == 429 {
                answer = try await stand.client.send("/login", headers: Self.from("192.0.2.1"))
            }
            #expect(answer.status == 200)
        }
    }

    /// Forms that come slowly from this machine leave places for others on it.
    @Test func thisMachineHasMorePlacesThanAnAddress() async throws {
        try await WebStand.with(variables: Self.open) { stand in
            let slow = try await slowForms(to: stand)
            while stand.connections.readingBodies < slow.count { await Task.yield() }
            try await #expect(stand.client.send("/login").status == 200)
            withExtendedLifetime(slow) {}
        }
    }

    @Test func allStrangersTogetherHaveABound() {
        let shares = RequestShares()
        let addresses = (0..<RequestShares.limitForAll).map { NetworkRange("192.0.2.\($0)") }
        for address in addresses { #expect(shares.enter(address)) }
        #expect(!shares.enter(NetworkRange("198.51.100.1")))
        // Those of this machine are counted apart.
        for _ in 0..<RequestShares.limitForAll { #expect(shares.enter(nil)) }
        #expect(!shares.enter(nil))
        shares.leave(nil)
        #expect(shares.enter(nil))
        shares.leave(addresses[0])
        #expect(shares.enter(NetworkRange("198.51.100.1")))
    }

    // MARK: Passwords

    /// Many wrong passwords from many addresses keep nobody waiting.
    @Test func aFloodOfPasswordsLetsTheRightOneThrough() async throws {
        try await WebStand.with(variables: Self.open) { stand in
            let port = stand.client.port
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let client = WebClient(port: port)
                        return try await Self.logIn(
                            client, "guess \(number)", from: "192.0.\(number / 200).\(number % 200)"
                        )
                        .status
                    }
                }
                for try await status in group { #expect([401, 429].contains(status)) }
            }
            let answer = try await Self.logIn(stand.client, WebStand.password, from: "198.51.100.1")
            #expect(answer.status == 303)
        }
    }

    @Test func allWrongPasswordsTogetherHaveABound() async throws {
        let gate = try await LoginGate(password: Secret(WebStand.password))
        let now = WebStand.now
        let known = NetworkRange("198.51.100.1")
        #expect(await gate.attempt(WebStand.password, from: known, now: now) == .right)
        for number in 0..<LoginGate.wrongLimitForAll {
            let outcome = await gate.attempt(
                "guess", from: NetworkRange("10.\(number / 250).\(number % 250).1"), now: now + 1)
            #expect(outcome == .wrong(left: 4))
        }
        let stranger = NetworkRange("203.0.113.1")
        #expect(
            await gate.attempt(WebStand.password, from: stranger, now: now + 2)
                == .tooMany(seconds: 59))
        // Whoever was let in before, and this machine, are not kept out.
        #expect(await gate.attempt(WebStand.password, from: known, now: now + 2) == .right)
        #expect(await gate.attempt(WebStand.password, from: nil, now: now + 2) == .right)
        #expect(await gate.attempt(WebStand.password, from: stranger, now: now + 61) == .right)
    }

    /// Many addresses are no way to be forgotten, or to make others share a count.
    @Test func manyAddressesShareNoCount() async throws {
        let gate = try await LoginGate(password: Secret(WebStand.password))
        var now = WebStand.now
        func address(_ number: Int) -> NetworkRange? {
            NetworkRange("10.\(number / 62_500).\(number / 250 % 250).\(number % 250)")
        }
        for number in 0..<LoginGate.maximumAddresses + 10 {
            if number % LoginGate.wrongLimitForAll == 0 { now += LoginGate.pause }
            #expect(await gate.attempt("guess", from: address(number), now: now) == .wrong(left: 4))
        }
        // The older half was forgotten, and nothing of the newer one.
        for number in [LoginGate.maximumAddresses - 5, LoginGate.maximumAddresses + 9] {
            #expect(await gate.attempt("guess", from: address(number), now: now) == .wrong(left: 3))
        }
    }

    /// The address of a listed proxy's client counts, and what the client wrote itself does not.
    @Test func theAddressIsThatOfTheClient() async throws {
        try await WebStand.with(variables: Self.open) { stand in
            for number in 1...5 {
                let written = "203.0.113.\(number), 2001:db8:0:1::\(number)"
                let answer = try await Self.logIn(stand.client, "a guess", from: written)
                #expect(answer.status == (number < 5 ? 401 : 429))
            }
            // The rest of its /64 shares the count, the next one does not.
            try await #expect(
                Self.logIn(stand.client, "a guess", from: "2001:db8:0:1:ffff::1").status == 429)
            try await #expect(
                Self.logIn(stand.client, "a guess", from: "2001:db8:0:2::1").status == 401)
            try await #expect(
                Self.logIn(stand.client, "a guess", from: "203.0.113.1").status == 401)
            #expect(stand.log.all.contains("2001:db8:0:1::1"))
        }
        let unlisted = Self.open.filter { $0.key != "WEB_PROXIES" }
        try await WebStand.with(variables: unlisted) { stand in
            for number in 1...5 {
                let answer = try await Self.logIn(
                    stand.client, "a guess", from: "203.0.113.\(number)")
                #expect(answer.status == (number < 5 ? 401 : 429))
            }
        }
    }

    // MARK: Streams

    @Test func aSessionHasItsShareOfStreams() async throws {
        try await WebStand.with { stand in
            let port = stand.client.port
            func stream(_ session: WebSession) async throws -> (
                connection: WebConnection, status: String
            ) {
                let connection = try await WebConnection.opened(to: port)
                let request =
                    "GET /m/mika/events HTTP/1.1\r\nHost: localhost\r\nCookie: mirror-bot=\(session.id)\r\n\r\n"
                let status = try await connection.apart {
                    try $0.send(Array(request.utf8))
                    let line = $0.text(before: "\r\n") ?? ""
                    return String(line.dropFirst("HTTP/1.1 ".count).prefix(3))
                }
                return (connection, status)
            }
            let greedy = WebSession.new()
            let other = WebSession.new()
            var streams: [WebConnection] = []
            for _ in 0..<EventHub.mostOfSession {
                let opened = try await stream(greedy)
                #expect(opened.status == "200")
                streams.append(opened.connection)
            }
            let cookie = ["Cookie": "mirror-bot=\(greedy.id)"]
            let answer = try await stand.client.send("/m/mika/events", headers: cookie)
            #expect(answer.status == 429)
            #expect(answer["Retry-After"] == "30")
            try await #expect(stand.client.send("/m/mika", headers: cookie).status == 200)
            let one = try await stream(other)
            #expect(one.status == "200")
            // A closed one gives its place back without an event.
            streams.removeLast().end()
            var again = try await stream(greedy)
            while again.status == "429" { again = try await stream(greedy) }
            #expect(again.status == "200")
            withExtendedLifetime((streams, one)) {}
        }
    }

    /// Its place is free at once, also before anything was written to it.
    @Test func aStreamEndsWithItsConnection() async throws {
        try await WebStand.with { stand in
            let hub = EventHub(
                stand.installation.storage, clock: stand.clock, interval: .seconds(600))
            let owner = StreamOwner(session: "1", share: nil)
            let connections = [NIOAsyncTestingChannel(), NIOAsyncTestingChannel()]
            for connection in connections {
                _ = try await hub.response(of: "mika", since: nil, owner: owner, on: connection)
            }
            await #expect(hub.count == 2)
            try await connections[0].close()
            while await hub.count > 1 { await Task.yield() }
            await #expect(hub.count == 1)
            try await connections[1].close()
            while await hub.count > 0 { await Task.yield() }
        }
    }

    /// Many sessions of one address have a bound, those of all other machines, and all together.
    @Test func streamsHaveTheirBounds() async throws {
        try await WebStand.with { stand in
            let hub = EventHub(
                stand.installation.storage, clock: stand.clock, interval: .seconds(600))
            func owner(_ number: Int, _ address: String?) -> StreamOwner {
                StreamOwner(session: "\(number)", share: address.flatMap { NetworkRange($0) })
            }
            func refusal(_ address: String?) async -> Int? {
                do {
                    try await hub.requireRoom(for: owner(-1, address))
                    return nil
                } catch {
                    return (error as? WebProblem)?.status.code
                }
            }
            for number in 0..<EventHub.mostOfAddress {
                await #expect(refusal("192.0.2.1") == nil)
                _ = await hub.open("mika", owner: owner(number, "192.0.2.1"))
            }
            await #expect(refusal("192.0.2.1") == 429)
            for number in EventHub.mostOfAddress..<EventHub.mostFromElsewhere {
                let address = "198.51.\(number / 250).\(number % 250)"
                await #expect(refusal(address) == nil)
                _ = await hub.open("mika", owner: owner(number, address))
            }
            await #expect(refusal("203.0.113.1") == 503)
            for number in EventHub.mostFromElsewhere..<EventHub.mostStreams {
                await #expect(refusal(nil) == nil)
                _ = await hub.open("mika", owner: owner(number, nil))
            }
            await #expect(refusal(nil) == 503)
        }
    }

    // MARK: Proofs

    @Test func aVisitorHasItsShareOfProofs() async throws {
        try await WebStand.with(variables: Self.open) { stand in
            try await stand.mirror().storage.execute(
                """
                UPDATE mirrors SET human_account = 'mastodon:mika@social.example',
                    bot_account = 'mastodon:mika_mirror@bots.example',
                    bot_handle = 'mika_mirror@bots.example'
                """)
            func ask(
                _ client: WebClient, for account: String, from address: String
            ) async throws -> Int {
                let headers = Self.from(address)
                let token = try #require(
                    try await client.send("/public/mika", headers: headers).field("csrf"))
                return try await client.send(
                    "/public/mika/proof", form: [("csrf", token), ("account", account)],
                    headers: headers
                ).status
            }
            // One that keeps its cookie.
            let visitor = WebClient(port: stand.client.port)
            let token = try #require(try await visitor.send("/public/mika").field("csrf"))
            for number in 0...5 {
                let answer = try await visitor.send(
                    "/public/mika/proof",
                    form: [("csrf", token), ("account", "@v\(number)@home.example")])
                #expect(answer.status == (number < 5 ? 303 : 429))
            }
            // One that is a new visitor each time.
            for number in 0...ProofShares.limitPerAddress {
                let client = WebClient(port: stand.client.port)
                let status = try await ask(
                    client, for: "@n\(number)@home.example", from: "192.0.2.1")
                #expect(status == (number < ProofShares.limitPerAddress ? 303 : 429))
            }
            // One that wants to keep somebody from proving an account.
            for number in 0..<5 {
                let client = WebClient(port: stand.client.port)
                let status = try await ask(client, for: "@pal@home.example", from: "192.0.2.2")
                #expect(status == (number < ProofShares.limitPerAccount ? 303 : 429))
            }
            let pal = WebClient(port: stand.client.port)
            try await #expect(ask(pal, for: "@pal@home.example", from: "192.0.2.3") == 303)
        }
    }

    @Test func aShareOfProofsIsFreeAgain() {
        let shares = ProofShares()
        let address = NetworkRange("192.0.2.1")
        func ask(_ subject: String, _ seconds: TimeInterval) -> Bool {
            shares.enter(address, for: subject, lasts: 600, now: WebStand.now + seconds)
        }
        for number in 0..<ProofShares.limitPerAddress { #expect(ask("\(number)", 0)) }
        #expect(!ask("more", 599))
        #expect(ask("more", 600))
        for number in 0..<ProofShares.maximumAddresses {
            _ = shares.enter(
                NetworkRange("10.\(number / 250).\(number % 250).1"), for: "a", lasts: 600,
                now: WebStand.now + 600)
        }
        #expect(
            !shares.enter(
                NetworkRange("203.0.113.1"), for: "a", lasts: 600, now: WebStand.now + 700))
        #expect(
            shares.enter(
                NetworkRange("203.0.113.1"), for: "a", lasts: 600, now: WebStand.now + 1_200))
    }

    // MARK: Stage

    /// Keeps whoever passes it while it is closed.
    private final class Barrier: Sendable {
        private let condition = NSCondition()
        private let isClosed = Mutex(false)
        private let stopped = Mutex(0)

        /// How many it keeps.
        var waiting: Int { stopped.withLock { $0 } }

        func close() { isClosed.withLock { $0 = true } }

        func open() {
            condition.lock()
            isClosed.withLock { $0 = false }
            condition.broadcast()
            condition.unlock()
        }

        func pass() {
            condition.lock()
            stopped.withLock { $0 += 1 }
            while isClosed.withLock({ $0 }) { condition.wait() }
            stopped.withLock { $0 -= 1 }
            condition.unlock()
        }
    }
}
