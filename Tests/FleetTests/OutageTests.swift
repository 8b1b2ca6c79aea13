import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Servers and the way to them, broken in every manner, on every network.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct OutageTests {
    /// A way to fail, and whether the server has acted.
    struct Trouble: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: SandboxFault
        let acts: Bool
        /// How many questions it hits.
        let count: Int

        static let all = [
            Trouble("reset before acting", .resetRequest, acts: false),
            Trouble("reset after acting", .resetAnswer, acts: true),
            Trouble("half an answer", .truncateAnswer, acts: true),
            Trouble("an answer without end", .endlessAnswer, acts: true),
            Trouble("a page instead of an answer", .html(status: 200), acts: false),
            Trouble("nothing instead of an answer", answer(200), acts: false),
            Trouble("a server out of order", .html(status: 503), acts: false),
            Trouble("429 without headers", answer(429), acts: false),
            Trouble(
                "429 with headers of nonsense",
                answer(
                    429,
                    [
                        "Retry-After": "99999999999999999999", "X-RateLimit-Reset": "-1",
                        "RateLimit-Reset": "9e99",
                        "x-rate-limit-reset": "18446744073709551616",
                        "X-RateLimit-Remaining": "-9223372036854775809",
                        "RateLimit-Remaining": "NaN", "x-rate-limit-remaining": "\u{7F}",
                        "Date": "yesterday",
                    ]), acts: false),
            Trouble("a redirect to itself", answer(307, ["Location": "/"]), acts: false, count: 4),
        ]

        private init(_ name: String, _ fault: SandboxFault, acts: Bool, count: Int = 12) {
            testDescription = name
            self.fault = fault
            self.acts = acts
            self.count = count
        }

        private static func answer(_ status: Int, _ headers: [String: String] = [:]) -> SandboxFault
        {
            .answer(status: status, contentType: "application/json", body: "", headers: headers)
        }
    }

    private static func publishing(_ network: NetworkName) -> String {
        switch network {
        case .mastodon: "/api/v1/statuses"
        case .x: "/2/tweets"
        default: "/xrpc/com.atproto.repo."
        }
    }

    private func fixture(on network: NetworkName) async throws -> MirrorFixture {
        let fixture = try await MirrorFixture.start(
            from: 6.5, human: network, bot: network, variables: ["FAVORITES_PER_DAY": "100"])
        // The first pass labels the account and stores the plan.
        #expect(try await fixture.worker().runOnce())
        return fixture
    }

    /// Nothing twice, and everything that was due has an end with a reason.
    private func expectOrder(_ fixture: MirrorFixture, on network: NetworkName) async throws
        -> [Action]
    {
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.duplicates.isEmpty)
        #expect(ledger.summary.duplicateSends == 0)
        #expect(ledger.summary.unsolicited == 0)
        let actions = try await fixture.actions()
        let settled = actions.filter {
            $0.due < fixture.clock.now - 3_600 && $0.state != .suggested
        }
        #expect(!settled.isEmpty)
        for action in settled {
            #expect([.done, .skipped, .failed, .expired].contains(action.state), "\(action)")
            #expect(action.state == .done || action.reason != nil, "\(action)")
        }
        return settled
    }

    /// First the answers to questions are broken, whatever is asked, and then those to posts and
    /// replies.
    @Test(arguments: NetworkName.allCases, Trouble.all)
    func sendsNothingTwiceAndLosesNothing(network: NetworkName, trouble: Trouble) async throws {
        let fixture = try await fixture(on: network)
        let faults = fixture.sandbox.faults
        let writing = Self.publishing(network)
        try await fixture.live(
            until: 14,
            events: [
                (8, { faults.failNext(trouble.fault, count: trouble.count, method: "GET") }),
                (9, { faults.failNext(trouble.fault, count: 3, method: "POST", path: writing) }),
            ])
        #expect(faults.applied == trouble.count + 3)
        let posts = try await expectOrder(fixture, on: network).filter { $0.kind == .post }
        // What the server did is found, on X too; what it did not is sent, where that can be done
        // twice.
        let sent = Set(await fixture.sandbox.ledger.deliveries.map(\.text))
        for post in posts {
            #expect((post.state == .done) == sent.contains(post.text ?? ""), "\(post)")
        }
        if trouble.acts { expect(posts) { $0.allSatisfy { $0.state == .done } } }
        expect(posts) { $0.contains { $0.state == .done && $0.due > Sample.hour(9) } }
    }

    @Test(arguments: NetworkName.allCases) func survivesAnHourWithoutItsServer(network: NetworkName)
        async throws
    {
        let fixture = try await fixture(on: network)
        try await fixture.live(
            until: 13.75,
            events: [
                (9, { await fixture.sandbox.close() }),
                (10, { try await fixture.sandbox.reopen() }),
            ])
        expect(fixture.log.values) { $0.contains { $0.hasPrefix("warning Pass failed") } }
        let settled = try await expectOrder(fixture, on: network)
        // Nothing that was refused a connection counts as sent, and what expired meanwhile is not
        // made up for.
        for slot in settled where slot.kind == .post {
            let isHit = (Sample.hour(8.75)..<Sample.hour(10)).contains(slot.due)
            #expect(slot.state == .done || isHit && slot.state == .expired, "\(slot)")
        }
        let late = settled.filter { $0.kind == .post && $0.due < Sample.hour(10) }
            .compactMap(\.sending).filter { $0 >= Sample.hour(10) }.sorted()
        #expect(late.count <= 3)
        expect(zip(late, late.dropFirst())) { $0.allSatisfy { $1.timeIntervalSince($0) >= 60 } }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies == summary.expectedReplies)
    }

    @Test(arguments: NetworkName.allCases) func survivesAnHourOfErrors(network: NetworkName)
        async throws
    {
        let fixture = try await fixture(on: network)
        try await fixture.live(
            until: 13.75,
            events: [
                (9, { fixture.sandbox.faults.failNext(.html(status: 502), count: .max) }),
                (10, { fixture.sandbox.faults.clearPlanned() }),
            ])
        let settled = try await expectOrder(fixture, on: network)
        expect(settled) {
            $0.contains { $0.kind == .post && $0.state == .done && $0.due > Sample.hour(10) }
        }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.replies == summary.expectedReplies)
    }

    /// Half a minute long in real time: that is how long a request may take; the whole answer would
    /// take a quarter of an hour.
    @Test(arguments: NetworkName.allCases) func doesNotWaitForAnAnswerThatDrips(
        network: NetworkName
    ) async throws {
        let fixture = try await fixture(on: network)
        fixture.sandbox.faults.failNext(
            .drip(bytesPerSecond: 1), method: "POST", path: Self.publishing(network))
        try await fixture.live(until: 12)
        #expect(fixture.sandbox.faults.applied == 1)
        let settled = try await expectOrder(fixture, on: network).filter { $0.kind == .post }
        expect(settled) { $0.allSatisfy { $0.state == .done && $0.attempts == 1 } }
    }

    /// Too long for a name: no resolver is asked, whose answer this machine decides.
    private static let nowhere = "https://\(String(repeating: "x", count: 64)).invalid"

    /// The human is elsewhere, where no name leads or nobody can be trusted.
    @Test(arguments: [nowhere, "https://127.0.0.1:"])
    func goesOnWithoutAWayToTheHuman(address: String) async throws {
        var address = address
        var server = TLSPageServer?.none
        if address.hasSuffix(":") {
            let certificate = try await SelfSignedCertificate()
            let started = try await TLSPageServer(certificate)
            address = address + "\(started.port)"
            server = started
        }
        let fixture = try await MirrorFixture.start(from: 8)
        #expect(try await fixture.worker().runOnce())
        let mirror = try await fixture.reopened(changing: ["HUMAN_API_BASE_URL": address])
        try await fixture.worker(on: mirror).run(until: Sample.hour(12.5))
        let code = server == nil ? "resolve" : "certificate"
        expect(fixture.log.values) {
            $0.contains { $0.contains("going on with the known one") && $0.contains(code) }
        }
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.duplicateSends + summary.unsolicited + summary.errors == 0)
    }
}
