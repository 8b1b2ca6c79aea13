import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct TownTests {
    /// Seven in the morning in Tokyo.
    private static let origin = TownPlan.midnight(ofDay: 20_782) + 7 * 3_600

    private static func plan(
        _ mirrors: Int, hosts: Int = 7, pace: TownPlan.Pace = .lively, seed: UInt64 = 3
    ) -> TownPlan {
        TownPlan(seed: seed, mirrors: mirrors, hosts: hosts, origin: origin, pace: pace)
    }

    /// The servers of a town without their sockets.
    private struct Servers {
        let plan: TownPlan
        let shards: [TownShard]

        init(_ plan: TownPlan) {
            self.plan = plan
            shards = Town.shards(of: plan)
        }

        func send(
            _ method: String = "GET", _ target: String, as person: TownPerson, host: Int? = nil,
            token: String? = nil,
            body: [String: String] = [:], key: String? = nil, at date: Date
        ) throws -> Reply {
            var headers = [
                (name: "user-agent", value: "tests/1"),
                (name: "content-type", value: "application/json"),
                (name: "authorization", value: "Bearer " + (token ?? plan.token(of: person))),
            ]
            if let key { headers.append((name: "idempotency-key", value: key)) }
            let request = WireRequest(
                method: method, target: target, headers: headers,
                body: body.isEmpty ? [] : Array(try JSONEncoder().encode(body)))
            let answer = Town.answer(
                request, host: host ?? plan.host(of: person.household), plan: plan, shards: shards,
                at: date)
            return Reply(
                status: answer.status, headers: Dictionary(answer.headers) { first, _ in first },
                body: answer.body)
        }

        func ledger(at date: Date) -> TownLedger {
            shards.reduce(into: TownLedger()) { $0.merge($1.ledger(at: date)) }
        }

        /// Reads the mentions of a bot as a worker does, newest first.
        func mentions(of household: Int, at date: Date) throws -> [(id: String, author: String)] {
            let reply = try send(
                "GET", "/api/v1/notifications?types%5B%5D=mention&limit=80",
                as: TownPerson(household, .bot), at: date)
            return reply.list.compactMap { item in
                guard let status = item["status"] as? [String: Any],
                    let id = status["id"] as? String,
                    let author = (item["account"] as? [String: Any])?["username"] as? String
                else { return nil }
                return (id, author)
            }
        }

        func publish(
            _ text: String, as household: Int, answering parent: String? = nil, key: String? = nil,
            at date: Date
        ) throws -> Reply {
            var body = ["status": text]
            body["in_reply_to_id"] = parent
            return try send(
                "POST", "/api/v1/statuses", as: TownPerson(household, .bot), body: body, key: key,
                at: date)
        }
    }

    @Test func answersForTenThousandPeopleOnAHundredHosts() throws {
        let servers = Servers(Self.plan(10_000, hosts: 100))
        for household in [0, 99, 4_321, 9_999] {
            for part in [TownPart.human, .bot] {
                let person = TownPerson(household, part)
                let own = try servers.send(
                    "GET", "/api/v1/accounts/verify_credentials", as: person, at: Self.origin)
                #expect(own.status == 200)
                #expect(own.object["username"] as? String == person.userName)
                #expect(own.object["bot"] as? Bool == (part == .bot))
                let domain = servers.plan.domain(of: household)
                #expect((own.object["uri"] as? String)?.contains(domain) == true)
                let instance = try servers.send(
                    "GET", "/api/v2/instance", as: person, at: Self.origin)
                #expect(instance.object["domain"] as? String == domain)
                let home = try servers.send(
                    "GET", "/api/v1/timelines/home?limit=40", as: person, at: Self.origin)
                #expect(home.list.isEmpty == false)
            }
        }
        #expect(servers.ledger(at: Self.origin).incidents.isEmpty)
    }

    @Test func knowsATokenOnlyOnItsOwnServer() throws {
        let servers = Servers(Self.plan(20))
        let person = TownPerson(3, .human)
        func status(host: Int? = nil, token: String? = nil) throws -> Int {
            try servers.send(
                "GET", "/api/v1/timelines/home", as: person, host: host, token: token,
                at: Self.origin
            ).status
        }
        #expect(try status() == 200)
        #expect(try status(host: 4) == 401)
        #expect(try status(token: "h00003-0") == 401)
        #expect(try status(token: "h99999-0") == 401)
        #expect(try status(token: "") == 401)
    }

    /// The time of a request must not grow with the number of people.
    @Test func looksAtOneHouseholdForARequest() throws {
        let small = Servers(Self.plan(16, hosts: 1))
        let large = Servers(Self.plan(10_000, hosts: 1))
        func time(_ servers: Servers) throws -> Double {
            let bot = TownPerson(servers.plan.mirrors - 1, .bot)
            let newest = try #require(
                try servers.mentions(of: bot.household, at: Self.origin + 86_000).first)
            return try (0..<5).map { _ in
                var start = timespec()
                var end = timespec()
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
                for _ in 0..<20 {
                    _ = try servers.send(
                        "GET", "/api/v1/notifications?min_id=\(newest.id)", as: bot,
                        at: Self.origin + 86_000)
                }
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
                return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
            }.min() ?? 0
        }
        // 625 times as many people: a walk over them would show at once.
        #expect(try time(large) < 20 * time(small))
    }

    @Test func livesTheSameLifeWithTheSameSeed() {
        let plan = Self.plan(50)
        let other = Self.plan(50, seed: 4)
        var counts = (mentions: 0, posts: 0)
        for household in 0..<50 {
            for day in 20_782..<20_802 {
                let events = plan.events(of: household, onDay: day)
                #expect(events == Self.plan(50).events(of: household, onDay: day))
                #expect(events.map(\.milliseconds) == events.map(\.milliseconds).sorted())
                for event in events {
                    switch event.action {
                    case .mention(let author): counts.mentions += author == .stranger ? 0 : 1
                    case .post: counts.posts += 1
                    case .favorite: break
                    }
                }
            }
        }
        #expect(plan.events(of: 1, onDay: 20_782) != other.events(of: 1, onDay: 20_782))
        #expect(plan.events(of: 1, onDay: 20_782) != plan.events(of: 2, onDay: 20_782))
        // A thousand days of somebody: three mentions and six to seven posts on each.
        #expect((2_800...3_200).contains(counts.mentions))
        #expect((6_000...7_000).contains(counts.posts))
        #expect(plan.pastLines(of: 0) == Self.plan(50).pastLines(of: 0))
        // Both live on the first of seven hosts, so that names and ids differ in their household
        // alone.
        let renamed = plan.pastLines(of: 0).replacing(/([hbfgix]|[0-9]{13})00000/) {
            "\($0.1)00007"
        }
        #expect(renamed == plan.pastLines(of: 7))
    }

    @Test func isStillWherePeopleDoNothing() throws {
        let servers = Servers(Self.plan(5, pace: .still))
        let date = Self.origin + 3 * 86_400
        #expect(try servers.mentions(of: 2, at: date).isEmpty)
        let person = TownPerson(2, .human)
        let own = try servers.send(
            "GET", "/api/v1/accounts/\(person.accountID)/statuses?limit=40", as: person, at: date)
        #expect(own.ids.count == 40)
        let newest = try #require(own.ids.first)
        let newer = try servers.send(
            "GET", "/api/v1/accounts/\(person.accountID)/statuses?min_id=\(newest)", as: person,
            at: date)
        #expect(newer.list.isEmpty)
        let older = try #require(own.ids.last)
        let rest = try servers.send(
            "GET", "/api/v1/accounts/\(person.accountID)/statuses?limit=40&max_id=\(older)",
            as: person, at: date)
        // Two posts on each of 20 days, and ten answers to each of three friends.
        #expect(rest.ids.count == 30)
    }

    @Test func keepsABoundedPast() {
        var household = TownHousehold(1, plan: Self.plan(3))
        var ledger = TownLedger()
        household.advance(to: Self.origin + 400 * 86_400, plan: Self.plan(3), ledger: &ledger)
        #expect(household.posts.count <= TownHousehold.postsAtMost + 100)
        #expect(household.posts.map(\.id) == household.posts.map(\.id).sorted())
    }

    /// Reads mentions from the first morning on, and gives the first of a friend in a household
    /// that has one.
    private func mention(
        in servers: Servers, by isWanted: (String) -> Bool = { !$0.hasPrefix("x") }
    ) throws -> (household: Int, id: String, author: String) {
        for household in 0..<servers.plan.mirrors {
            _ = try servers.mentions(of: household, at: Self.origin)
        }
        for household in 0..<servers.plan.mirrors {
            let found = try servers.mentions(of: household, at: Self.origin + 86_400).last {
                isWanted($0.author)
            }
            if let found { return (household, found.id, found.author) }
        }
        throw LoopbackConnection.Failure(description: "nobody was mentioned")
    }

    @Test func findsNothingWrongWithACourteousBot() throws {
        let servers = Servers(Self.plan(30))
        let found = try mention(in: servers)
        let date = Self.origin + 86_400
        let expected = servers.ledger(at: date).unanswered(before: date)
        #expect(expected.contains { String($0.id) == found.id })
        let reply = try servers.publish(
            "@\(found.author) indeed", as: found.household, answering: found.id, key: "k1", at: date
        )
        #expect(reply.status == 200)
        #expect(reply.object["in_reply_to_id"] as? String == found.id)
        // The same key again makes nothing.
        let again = try servers.publish(
            "@\(found.author) indeed", as: found.household, answering: found.id, key: "k1",
            at: date + 60)
        #expect(again.object["id"] as? String == reply.object["id"] as? String)
        #expect(
            try servers.publish("good morning", as: found.household, key: "k2", at: date + 61)
                .status == 200)
        let ledger = servers.ledger(at: date + 100)
        #expect(ledger.incidents.isEmpty)
        #expect(ledger.deliveries.count == 2)
        #expect(ledger.mentions.first { String($0.id) == found.id }?.answered == date)
        #expect(ledger.unanswered(before: date).count == expected.count - 1)
    }

    @Test func expectsNoAnswerToWhatWasSaidBeforeTheBotListened() throws {
        let servers = Servers(Self.plan(30))
        let date = Self.origin + 86_400
        for household in 0..<30 { _ = try servers.mentions(of: household, at: date) }
        let ledger = servers.ledger(at: date)
        #expect(ledger.mentions.isEmpty == false)
        #expect(ledger.unanswered(before: date).isEmpty)
    }

    @Test func notesWhatIsDoneTwice() throws {
        let servers = Servers(Self.plan(30))
        let found = try mention(in: servers)
        let date = Self.origin + 86_400
        for words in ["indeed", "really"] {
            _ = try servers.publish(
                "@\(found.author) \(words)", as: found.household, answering: found.id, at: date)
        }
        for key in ["a", "b"] {
            _ = try servers.publish("good morning", as: found.household, key: key, at: date + 5)
        }
        let friends = try servers.send(
            "GET", "/api/v1/timelines/home", as: TownPerson(found.household, .bot), at: date + 6)
        let post = try #require(
            friends.list.first {
                ($0["account"] as? [String: Any])?["username"] as? String == found.author
            })
        let id = try #require(post["id"] as? String)
        let fresh = Date(milliseconds: try #require(Int64(id)) / 100_000) + 60
        for _ in 0..<2 {
            _ = try servers.send(
                "POST", "/api/v1/statuses/\(id)/favourite", as: TownPerson(found.household, .bot),
                at: fresh)
        }
        let ledger = servers.ledger(at: date + 10)
        #expect(ledger.count(.duplicate) == 3, "\(ledger.incidents)")
        #expect(ledger.count(.stranger) == 0, "\(ledger.incidents)")
    }

    @Test func notesWhoIsToldWithoutHavingAsked() throws {
        let servers = Servers(Self.plan(60))
        let found = try mention(in: servers) { $0.hasPrefix("x") }
        let date = Self.origin + 86_400
        _ = try servers.publish(
            "@\(found.author) hello", as: found.household, answering: found.id, at: date)
        let friend = TownPerson(found.household, .firstFriend).userName
        _ = try servers.publish("hello @\(friend)", as: found.household, at: date + 1)
        #expect(servers.ledger(at: date + 2).count(.stranger) == 2)
        let home = try servers.send(
            "GET", "/api/v1/timelines/home", as: TownPerson(found.household, .bot), at: date + 3)
        let human = TownPerson(found.household, .human).userName
        let own = try #require(
            home.list.first { ($0["account"] as? [String: Any])?["username"] as? String == human }?[
                "id"] as? String)
        _ = try servers.send(
            "POST", "/api/v1/statuses/\(own)/favourite", as: TownPerson(found.household, .bot),
            at: date + 4)
        expectStrangers(servers.ledger(at: date + 5), atLeast: 3)
    }

    private func expectStrangers(_ ledger: TownLedger, atLeast count: Int) {
        #expect(ledger.count(.stranger) >= count, "\(ledger.incidents)")
    }

    @Test func refusesMoreRequestsThanAServerAllows() throws {
        var plan = Self.plan(3)
        plan.requestsPerFiveMinutes = 5
        let servers = Servers(plan)
        let person = TownPerson(1, .bot)
        let codes = try (0..<7).map { _ in
            try servers.send("GET", "/api/v1/timelines/home", as: person, at: Self.origin).status
        }
        #expect(codes == [200, 200, 200, 200, 200, 429, 429])
        #expect(servers.ledger(at: Self.origin).count(.refusal) == 2)
        let later = try servers.send(
            "GET", "/api/v1/timelines/home", as: person, at: Self.origin + 300)
        #expect(later.status == 200)
        #expect(later.headers["x-ratelimit-remaining"] == "4")
    }

    @Test func countsWhoseMentionsWereRead() throws {
        let servers = Servers(Self.plan(40))
        func figures() -> (polled: Int, gap: TimeInterval) {
            let all = servers.shards.map(\.currentFigures)
            return (all.reduce(0) { $0 + $1.polled }, all.map(\.longestPollGap).max() ?? 0)
        }
        for shard in servers.shards { shard.resetFigures(at: Self.origin) }
        for household in 0..<30 { _ = try servers.mentions(of: household, at: Self.origin + 10) }
        #expect(figures().polled == 30)
        for household in 0..<30 { _ = try servers.mentions(of: household, at: Self.origin + 75) }
        #expect(figures().polled == 30)
        #expect(figures().gap == 65)
        for shard in servers.shards { shard.resetFigures(at: Self.origin + 100) }
        _ = try servers.mentions(of: 3, at: Self.origin + 500)
        #expect(figures().polled == 1)
        #expect(figures().gap == 0)
    }

    /// One server process, one port, and an address for every host.
    @Test func listensOnTheAddressOfEveryHost() async throws {
        let town = try await Town.start(plan: Self.plan(12, hosts: 3), now: { Self.origin })
        town.record(atMost: 100)
        for household in 0..<3 {
            let person = TownPerson(household, .bot)
            let address = town.plan.address(ofHost: household)
            #expect(town.url(of: household) == "http://\(address):\(town.port)")
            let token = town.plan.token(of: person)
            let port = town.port
            let replies = try await SandboxFixture.onThread {
                let connection = try LoopbackConnection(port: port, address: address)
                var replies: [Reply] = []
                for target in [
                    "/api/v1/accounts/verify_credentials", "/api/v1/timelines/home?limit=5",
                ] {
                    try connection.send(
                        SandboxFixture.bytes(
                            "GET", target, port: port,
                            headers: ["User-Agent": "tests/1", "Authorization": "Bearer \(token)"],
                            body: nil))
                    if let reply = try connection.receive() { replies.append(reply) }
                }
                return replies
            }
            #expect(replies.map(\.status) == [200, 200])
            #expect(replies.first?.object["username"] as? String == person.userName)
        }
        #expect(town.figures.requests == 6)
        let recorded = town.takeRecorded()
        #expect(recorded.count == 6)
        #expect(Set(recorded.map(\.host)) == [0, 1, 2])
        await town.stop()
    }
}
