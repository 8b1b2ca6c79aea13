import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Posts
import Testing

@testable import Control
@testable import Mirroring

/// When an account may be asked, and what makes it wait.
@Suite struct AccountGateTests {
    private static let start = PaperMirror.now

    private let log = Recorder<String>()
    private let refusals = Recorder<String>()
    private let waits = Recorder<(AccountWait.Scope, AccountWait?)>()
    private let clock = VirtualClock(startingAt: Self.start)

    private func gate(
        before network: PaperNetwork, _ patience: AccountGate.Patience = .minutes,
        after previous: AccountGate? = nil,
        kept: [AccountWait] = []
    ) -> AccountGate {
        AccountGate(
            network, account: "bot", patience: patience, after: previous,
            now: { [clock] in clock.now },
            logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) }, kept: kept,
            onWait: { [waits] scope, wait in waits.add((scope, wait)) }
        ) { [refusals] error in refusals.add(error.map { $0.operation.rawValue } ?? "accepted") }
    }

    /// Refuses the credentials for some calls.
    private func network(
        _ name: NetworkName = .mastodon, refusing operations: Set<NetworkError.Operation>,
        _ code: NetworkError.Code = .unauthorized
    ) -> PaperNetwork {
        let network = PaperNetwork(name)
        refuse(operations, at: network, code)
        return network
    }

    private func refuse(
        _ operations: Set<NetworkError.Operation>, at network: PaperNetwork,
        _ code: NetworkError.Code = .unauthorized
    ) {
        network.with { state in
            state.failure = { operation, _ in
                operations.contains(operation)
                    ? network.error(code, operation, outcome: .refused) : nil
            }
        }
    }

    private func error(of body: () async throws -> Void) async -> NetworkError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? NetworkError
        }
    }

    private func isGivenUp(_ gate: AccountGate) -> Bool {
        do throws(UnusableAccount) {
            try gate.check()
            return false
        } catch {
            return true
        }
    }

    /// When refused credentials are verified for the first time.
    private func retry(at now: Date) -> Date {
        RetryRule.credentials.next(after: 1, key: "bot", now: now)
    }

    private func wait(until date: Date?) async throws {
        try await clock.sleep(until: date ?? clock.now)
    }

    // MARK: Credentials

    @Test func oneRefusalMakesAPauseAndThenAVerification() async throws {
        let network = network(refusing: [.readHome])
        let gate = gate(before: network)
        let refused = try #require(await error { _ = try await gate.page(.home, .newest) })
        #expect(refused.retryAfter == retry(at: Self.start))
        #expect(refused.outcome == .notSent)
        // Nothing is asked in the pause, whatever it is for.
        let calls = network.with { $0.calls.count }
        let held = try #require(await error { _ = try await gate.page(.mentions, .newest) })
        #expect(held.retryAfter == retry(at: Self.start))
        #expect(try await !gate.isOpen())
        #expect(network.with { $0.calls.count } == calls)
        refuse([], at: network)
        try await wait(until: gate.pause(at: clock.now))
        #expect(try await gate.isOpen())
        #expect(network.with { $0.calls.last } == .verifyAccount)
        // Until what was refused is accepted the doubt stays.
        _ = try await gate.page(.mentions, .newest)
        #expect(gate.refusal != nil)
        _ = try await gate.page(.home, .newest)
        #expect(gate.refusal == nil)
        #expect(log.values.count { $0.contains("Credentials accepted again") } == 1)
        #expect(refusals.values == ["read-home", "accepted"])
    }

    @Test func givesUpAfterSixRefusalsBeforeASlotExpires() async throws {
        let network = network(refusing: [.readHome, .verifyAccount])
        let gate = gate(before: network)
        _ = await error { _ = try await gate.page(.home, .newest) }
        var waits: [TimeInterval] = []
        while !isGivenUp(gate), waits.count < 20 {
            let next = gate.pause(at: clock.now) ?? .distantFuture
            waits.append(next.timeIntervalSince(clock.now))
            try await wait(until: next)
            _ = try? await gate.isOpen()
        }
        #expect(waits.count == 5)
        for (wait, least) in zip(waits, [30.0, 60, 120, 240, 240]) {
            #expect((least...least * 1.25).contains(wait))
        }
        #expect(waits.reduce(0, +) < 900)
        // Each refusal is noted when it happens.
        #expect(refusals.values.count == 6)
    }

    /// A token that may do everything but publish is verified without an objection each time.
    @Test func aSuccessOfSomethingElseDoesNotCount() async throws {
        let network = network(refusing: [.publish])
        let gate = gate(before: network)
        let draft = Draft(text: "a", key: "k", createdAt: Self.start)
        for number in 1...6 {
            #expect(!isGivenUp(gate))
            _ = await error { _ = try await gate.publish(draft) }
            guard number < 6 else { break }
            try await wait(until: gate.pause(at: clock.now))
            _ = try await gate.page(.home, .newest)
        }
        #expect(isGivenUp(gate))
    }

    /// One thread, or one post, may be refused alone, with the words of a refused token.
    @Test func aRefusalOfOnePostIsNoneOfTheAccount() async throws {
        let network = network(refusing: [.readConversation, .readPost])
        let gate = gate(before: network)
        for number in 1...20 {
            let post = paperPost("\(number)", on: .mastodon)
            let refused = await error { _ = try await gate.lookUp(post.address) }
            #expect(refused?.code == .forbidden)
        }
        #expect(gate.refusal == nil)
        #expect(!isGivenUp(gate))
        #expect(gate.pause(at: clock.now) == nil)
        // The account is verified for that, but not each time.
        #expect(network.with { $0.calls.count { $0 == .verifyAccount } } == 1)
        #expect(refusals.values.isEmpty)
    }

    /// Where the account cannot be verified nobody knows what was refused.
    @Test(arguments: [NetworkError.Code.unavailable, .forbidden])
    func aRefusalOfOnePostTellsNothingWhileNobodyCanVerify(code: NetworkError.Code) async throws {
        let network = PaperNetwork(.mastodon)
        network.with { state in
            state.failure = { operation, _ in
                switch operation {
                case .readPost: network.error(.unauthorized, operation, outcome: .refused)
                case .verifyAccount: network.error(code, operation, outcome: .unknown)
                default: nil
                }
            }
        }
        let gate = gate(before: network)
        let refused = await error { _ = try await gate.lookUp("a") }
        #expect(refused?.code == .unavailable)
        expect(refused) { $0?.isPermanent == false }
        #expect(refused?.outcome == .refused)
        #expect(gate.refusal == nil)
    }

    @Test func aRefusalOfOnePostCountsIfTheAccountIsRefusedToo() async throws {
        let network = network(refusing: [.readPost, .verifyAccount])
        let gate = gate(before: network)
        await expect(error { _ = try await gate.lookUp("a") }?.code, equals: .unauthorized)
        #expect(gate.refusal != nil)
        #expect(gate.pause(at: clock.now) == retry(at: Self.start))
    }

    @Test func somePatienceEndsAtOnceAndSomeNever() async throws {
        let hasty = gate(before: network(refusing: [.readHome]), .none)
        let endless = gate(before: network(refusing: [.readHome, .verifyAccount]), .endless)
        _ = await error { _ = try await hasty.page(.home, .newest) }
        #expect(isGivenUp(hasty))
        _ = await error { _ = try await endless.page(.home, .newest) }
        var waits: [TimeInterval] = []
        for _ in 0..<30 {
            let next = endless.pause(at: clock.now) ?? clock.now
            waits.append(next.timeIntervalSince(clock.now))
            try await wait(until: next)
            _ = try await endless.isOpen()
        }
        #expect(!isGivenUp(endless))
        for (wait, least) in zip(waits, [30.0, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
            #expect((least...least * 1.25).contains(wait))
        }
        #expect(waits.last == waits[8])
    }

    /// The server is not there at all when it is to be asked.
    @Test func aVerificationWithoutAnAnswerSaysNothing() async throws {
        let network = network(refusing: [.readHome])
        let gate = gate(before: network)
        _ = await error { _ = try await gate.page(.home, .newest) }
        refuse([.verifyAccount], at: network, .unavailable)
        for _ in 1...20 {
            try await wait(until: gate.pause(at: clock.now))
            #expect(try await !gate.isOpen())
            #expect(gate.pause(at: clock.now) == retry(at: clock.now))
        }
        #expect(!isGivenUp(gate))
        #expect(refusals.values.count == 1)
    }

    @Test func anotherGateKnowsWhatTheFirstOneKnew() async throws {
        let network = network(refusing: [.readHome])
        let first = gate(before: network)
        _ = await error { _ = try await first.page(.home, .newest) }
        let second = gate(before: network, after: first)
        #expect(second.refusal != nil)
        #expect(second.pause(at: clock.now) == retry(at: Self.start))
    }

    // MARK: Shares and money

    private func limited(_ limit: RateLimit?, on name: NetworkName = .mastodon) -> AccountGate {
        let network = PaperNetwork(name)
        network.with { $0.rateLimit = limit }
        return gate(before: network)
    }

    /// At the very second at which a limit ends everybody comes back.
    private func isSoonAfter(_ date: Date, _ found: Date?) -> Bool {
        found.map { $0 > date + 1 && $0 < date + 5 + 0.2 * date.timeIntervalSince(Self.start) }
            ?? false
    }

    @Test func waitsForTheResetBeforeTheShareIsUsedUp() async throws {
        let enough = limited(RateLimit(limit: 300, remaining: 30, resetsAt: Self.start + 200))
        _ = try await enough.page(.home, .newest)
        #expect(enough.pause(of: .home, at: clock.now) == nil)
        let scarce = limited(RateLimit(limit: 300, remaining: 29, resetsAt: Self.start + 200))
        _ = try await scarce.page(.home, .newest)
        for feed in Feed.allCases {
            #expect(isSoonAfter(Self.start + 200, scarce.pause(of: feed, at: clock.now)))
        }
        #expect(scarce.pause(of: .home, at: Self.start + 300) == nil)
        // Publishing goes on with what is left.
        #expect(scarce.pause(at: clock.now) == nil)
        #expect(log.values.count == 1)
        expect(log.values.first) {
            $0?.hasPrefix("info Account waits for its share of requests account=bot") == true
        }
    }

    @Test(arguments: [
        RateLimit(), RateLimit(limit: 300, remaining: 0),
        RateLimit(limit: 300, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: 300, remaining: 0, resetsAt: PaperMirror.now - 1),
        RateLimit(limit: 300, remaining: .max, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: .min, remaining: 0, resetsAt: PaperMirror.now + 60),
        RateLimit(limit: 0, remaining: 0, resetsAt: PaperMirror.now + 60),
    ])
    func headersThatSayNothingSlowNothing(limit: RateLimit) async throws {
        let gate = limited(limit)
        _ = try await gate.page(.home, .newest)
        #expect(gate.pause(of: .mentions, at: clock.now) == nil)
        #expect(log.values.isEmpty)
    }

    @Test func hostileHeadersAreBelievedForAQuarterOfAnHour() async throws {
        let gate = limited(RateLimit(limit: .max, remaining: .min, resetsAt: .distantFuture))
        _ = try await gate.page(.home, .newest)
        #expect(isSoonAfter(Self.start + 900, gate.pause(of: .home, at: clock.now)))
    }

    /// Who has looked at all favorites may still look for mentions.
    @Test func whereEachFeedHasItsShareOnlyThatFeedWaits() async throws {
        let gate = limited(RateLimit(limit: 75, remaining: 0, resetsAt: Self.start + 600), on: .x)
        _ = try await gate.page(.favorites, .newest)
        #expect(gate.pause(of: .favorites, at: clock.now) != nil)
        #expect(gate.pause(of: .mentions, at: clock.now) == nil)
    }

    @Test func whoIsRefusedForAskingTooOftenComesBackALittleLater() async throws {
        let network = PaperNetwork(.mastodon)
        network.with {
            $0.failure = { operation, _ in
                network.error(
                    .rateLimited, operation, retryAfter: Self.start + 300, outcome: .refused)
            }
        }
        let gate = gate(before: network)
        await expect(error { _ = try await gate.page(.home, .newest) }?.code, equals: .rateLimited)
        #expect(isSoonAfter(Self.start + 300, gate.pause(of: .home, at: clock.now)))
        #expect(gate.pause(of: .mentions, at: clock.now) != nil)
    }

    // MARK: Waits that outlive the process

    private func limit(
        _ network: PaperNetwork, _ code: NetworkError.Code,
        of operations: Set<NetworkError.Operation>, until: Date,
        concernsAccount: Bool = false
    ) {
        network.with { state in
            state.failure = { operation, _ in
                guard operations.contains(operation) else { return nil }
                var error = network.error(code, operation, retryAfter: until, outcome: .refused)
                error.concernsAccount = concernsAccount
                return error
            }
        }
    }

    @Test func aWaitOfHoursIsStoredAndHoldsForTheNextProcess() async throws {
        let network = PaperNetwork(.mastodon)
        limit(network, .rateLimited, of: [.readMentions], until: Self.start + 20_000)
        _ = await error { _ = try await self.gate(before: network).page(.mentions, .newest) }
        let wait = try #require(waits.values.last?.1)
        #expect(wait.scope == .everything)
        #expect(wait.since == Self.start)
        #expect(isSoonAfter(Self.start + 20_000, wait.until))

        let next = gate(before: PaperNetwork(.mastodon), kept: [wait])
        clock.jump(by: (Self.start + 10_000).timeIntervalSince(clock.now))
        #expect(next.pause(of: .mentions, at: clock.now) == wait.until)
        let held = await error { _ = try await next.page(.home, .newest) }
        #expect(held?.code == .rateLimited)
        #expect(held?.outcome == .notSent)
        #expect(held?.retryAfter == wait.until)
        try await expect(next.isOpen(), equals: false)
        // It is over, and the first call that succeeds removes the row.
        clock.jump(by: (wait.until + 1).timeIntervalSince(clock.now))
        _ = try await next.page(.home, .newest)
        #expect(waits.values.last?.0 == .everything)
        #expect(waits.values.last?.1 == nil)
    }

    /// Where each kind of call has its own limit, only that one waits in the next process.
    @Test func aLimitOfOneCallHoldsThatCall() async throws {
        let network = PaperNetwork(.x)
        limit(network, .rateLimited, of: [.readMentions], until: Self.start + 5_000)
        _ = await error { _ = try await self.gate(before: network).page(.mentions, .newest) }
        let wait = try #require(waits.values.last?.1)
        #expect(wait.scope == .operation(.readMentions))
        let next = gate(before: PaperNetwork(.x), kept: [wait])
        await expect(
            error { _ = try await next.page(.mentions, .newest) }?.outcome, equals: .notSent)
        _ = try await next.page(.favorites, .newest)
        try await expect(next.isOpen(), equals: true)
    }

    @Test func aCapOfTheAccountHoldsEveryCall() async throws {
        let network = PaperNetwork(.x)
        limit(
            network, .capReached, of: [.readMentions], until: Self.start + 40_000,
            concernsAccount: true)
        _ = await error { _ = try await self.gate(before: network).page(.mentions, .newest) }
        let wait = try #require(waits.values.last?.1)
        #expect(wait.scope == .everything)
        #expect(wait.until == Self.start + 40_000)
        let next = gate(before: PaperNetwork(.x), kept: [wait])
        await expect(error { _ = try await next.page(.home, .newest) }?.code, equals: .capReached)
        try await expect(next.isOpen(), equals: false)
    }

    /// The beginning stays, so that it is known how long nothing has been heard.
    @Test func aWaitThatIsRenewedKeepsItsBeginning() async throws {
        let network = PaperNetwork(.mastodon)
        limit(network, .rateLimited, of: [.readMentions], until: Self.start + 600)
        let gate = gate(before: network)
        _ = await error { _ = try await gate.page(.mentions, .newest) }
        clock.jump(by: (Self.start + 3_000).timeIntervalSince(clock.now))
        limit(network, .rateLimited, of: [.readMentions], until: Self.start + 3_600)
        _ = await error { _ = try await gate.page(.mentions, .newest) }
        let wait = try #require(waits.values.last?.1)
        #expect(wait.since == Self.start)
        #expect(wait.noted == Self.start + 3_000)
        #expect(wait.length > 3_600)
    }

    private func poor(_ code: NetworkError.Code, until: Date?) -> (AccountGate, PaperNetwork) {
        let network = PaperNetwork(.x)
        network.with {
            $0.failure = { operation, _ in network.error(code, operation, retryAfter: until) }
        }
        return (gate(before: network), network)
    }

    @Test(arguments: [NetworkError.Code.creditsDepleted, .capReached])
    func missingMoneyPausesTheWholeAccountAndIsToldOnce(code: NetworkError.Code) async throws {
        let (gate, _) = poor(code, until: Self.start + 7_200)
        _ = await error { _ = try await gate.page(.mentions, .newest) }
        _ = await error { _ = try await gate.page(.home, .newest) }
        for feed in Feed.allCases {
            #expect(gate.pause(of: feed, at: clock.now) == Self.start + 7_200)
        }
        #expect(gate.pause(of: .home, at: Self.start + 7_200) == nil)
        #expect(log.values.count == 1)
        expect(log.values.first) { $0?.hasPrefix("warning Account pauses account=bot") == true }
    }

    @Test func whatOneFeedMayCostPausesThatFeed() async throws {
        let (gate, _) = poor(.overBudget, until: Self.start + 40_000)
        _ = await error { _ = try await gate.page(.home, .newest) }
        #expect(gate.pause(of: .home, at: clock.now) == Self.start + 40_000)
        #expect(gate.pause(of: .mentions, at: clock.now) == nil)
        // The budget is one for all feeds, and told once.
        _ = await error { _ = try await gate.page(.mentions, .newest) }
        #expect(log.values.count == 1)
        expect(log.values) { $0.allSatisfy { $0.hasPrefix("info Account pauses") } }
    }

    @Test(arguments: [(nil, 3_600.0), (PaperMirror.now - 5, 60.0)])
    func pausesEvenIfTheNetworkDoesNotSayHowLong(until: Date?, wait: TimeInterval) async throws {
        let (gate, _) = poor(.creditsDepleted, until: until)
        _ = await error { _ = try await gate.page(.home, .newest) }
        #expect(gate.pause(of: .home, at: clock.now) == Self.start + wait)
    }

    @Test(arguments: [NetworkError.Code.unavailable, .rejected, .transport])
    func otherErrorsAreFailures(code: NetworkError.Code) async throws {
        let (gate, _) = poor(code, until: Self.start + 60)
        _ = await error { _ = try await gate.page(.home, .newest) }
        #expect(gate.pause(of: .home, at: clock.now) == nil)
        #expect(log.values.isEmpty)
    }

    /// What is known of a server's limits is used while it cannot be asked.
    @Test func limitsAreRemembered() async throws {
        let network = PaperNetwork(.mastodon)
        let gate = gate(before: network)
        let limits = try await gate.limits()
        refuse([.readHome], at: network)
        _ = await error { _ = try await gate.page(.home, .newest) }
        try await expect(gate.limits(), equals: limits)
    }
}
