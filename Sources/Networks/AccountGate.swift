package import Foundation
package import Logging
package import Posts
import ServiceLifecycle

/// The one way to an account: whether it may be asked now, and for how long not.
///
/// Five things make it wait.
///
/// - The network refuses the credentials. That may be a mistake of the server, or of what stands
///   before it, so a refusal only makes a pause. After it the credentials are verified, and after
///   every further refusal again, with growing waits, until the gate's patience ends. A success of
///   what was refused ends the doubt. A refusal that is about one post alone says nothing of the
///   credentials if the account is verified.
/// - The answer to a change was lost with its connection. Nothing else is changed until the network
///   has answered a question.
/// - The network wants no more requests for a while (429), whichever call it answers so. Then none
///   is made, but on X, which counts each kind of call for itself.
/// - The network's share of requests is used up, or nearly: then feeds wait, and what is left is
///   for publishing.
/// - What a call costs is not there.
///
/// Questions end with a graceful shutdown; what changes something at the network is finished.
package final class AccountGate: SocialNetwork, @unchecked Sendable {
    // Sendable because every access to `state` holds the lock.

    /// How often the credentials may be refused before they are given up.
    package enum Patience: Sendable {
        /// Not even once: somebody waits for the answer.
        case none
        /// For some minutes, in which a slot does not expire yet.
        case minutes
        /// Without end: there is enough to do without the account.
        case endless

        fileprivate var rule: RetryRule {
            switch self {
            case .none: .awaitedCredentials
            case .minutes: .credentials
            case .endless: .spareCredentials
            }
        }
    }

    /// Whether the credentials are still taken, after a refusal.
    private struct Doubt {
        /// The operations that must succeed for the doubt to end.
        var operations: Set<NetworkError.Operation>
        var error: NetworkError
        var refusals: Int
        var pause: Pause
        /// The network took the credentials after the pause, but nobody knows yet whether for what
        /// it refused.
        var isVerified = false
        var isVerifying = false
    }

    /// That the network may be out of reach: the answer to a change was lost with its connection.
    private struct Silence {
        let error: NetworkError
        /// How often it was asked since, in vain.
        var questions = 0
        var pause: Pause?
    }

    /// A wait, and the error for calls that it holds back.
    private struct Hold {
        var wait: AccountWait
        let error: NetworkError
        /// The last state of the wait that was stored.
        var written: AccountWait

        /// When the calls may be made again; `nil` if they may be now.
        func end(at now: Date) -> Date? {
            wait.holdsCalls ? Pause(begun: wait.noted, until: wait.until).end(at: now) : nil
        }
    }

    private struct State {
        var doubt: Doubt?
        var silence: Silence?
        /// The calls that the network puts off.
        var waits: [AccountWait.Scope: Hold] = [:]
        var accountPause: Pause?
        var feedPauses: [Feed: Pause] = [:]
        /// Until when each lack of money was told.
        var announced: [NetworkError.Code: Date] = [:]
        /// When the network last took the credentials.
        var verified: Date?
        var limits: PublishingLimits?
    }

    /// Whether a call may be made.
    private enum Admission {
        case granted
        /// Once the account was verified; this caller is to do it, and nobody else.
        case afterVerification
        case refused(NetworkError)
    }

    /// How long others wait while one verifies: seconds.
    private static let verifying: TimeInterval = 5
    /// How long a verification tells that a refusal is about one post alone: seconds.
    private static let verificationLasts: TimeInterval = 60
    /// The part of the server's share that is left for what cannot wait, such as publishing.
    private static let reserve = 0.1
    /// No announced period is waited for longer than this, in seconds: clocks and headers may be
    /// wrong.
    private static let longestPeriod: TimeInterval = 900
    /// How long to wait for money where the network does not say how long, and at least: seconds.
    private static let usualLack: TimeInterval = 3_600
    private static let shortestLack: TimeInterval = 60

    private let network: any SocialNetwork
    private let account: String
    private let patience: Patience
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let onWait: @Sendable (AccountWait.Scope, AccountWait?) async -> Void
    private let onRefusal: @Sendable (NetworkError?) async -> Void
    private let tally: RequestTally?
    private let lock = NSLock()
    private var state: State

    /// - Parameters:
    ///   - account: What the log calls the account.
    ///   - previous: A gate that stood before the same account; what it knows is still true.
    ///   - logger: Told of every pause and of its end.
    ///   - tally: Counts how long calls take; nil for nobody.
    ///   - kept: The waits that an earlier process stored; ignored if there is a gate before this
    ///     one.
    ///   - onWait: Told of every wait that is to be stored, and with nil that the stored one is
    ///     over.
    ///   - onRefusal: Told of every refusal of the credentials, and with nil that they are taken
    ///     again.
    package init(
        _ network: any SocialNetwork, account: String, patience: Patience = .minutes,
        after previous: AccountGate? = nil, now: @escaping @Sendable () -> Date, logger: Logger,
        tally: RequestTally? = nil, kept: [AccountWait] = [],
        onWait: @escaping @Sendable (AccountWait.Scope, AccountWait?) async -> Void = { _, _ in },
        onRefusal: @escaping @Sendable (NetworkError?) async -> Void = { _ in }
    ) {
        self.network = network
        self.account = account
        self.patience = patience
        self.now = now
        self.logger = logger
        self.tally = tally
        self.onWait = onWait
        self.onRefusal = onRefusal
        if let previous {
            state = previous.known
        } else {
            state = State()
            for wait in kept {
                state.waits[wait.scope] = Hold(
                    wait: wait, error: Self.held(wait, at: network), written: wait)
            }
        }
    }

    /// The error for calls that a wait of an earlier process holds back.
    private static func held(_ wait: AccountWait, at network: any SocialNetwork) -> NetworkError {
        let operation: NetworkError.Operation =
            switch wait.scope {
            case .everything: .verifyAccount
            case .operation(let operation): operation
            }
        return NetworkError(
            code: wait.code, network: network.name, host: network.host, operation: operation,
            detail: "the network has asked to wait", retryAfter: wait.until, outcome: .notSent)
    }

    private var known: State { lock.withLock { state } }

    // MARK: What is known

    package var name: NetworkName { network.name }

    package var host: String { network.host }

    package var capabilities: Capabilities { network.capabilities }

    package var clockLead: TimeInterval? { network.clockLead }

    package func price(ofReading items: Int, from feed: Feed) -> Money? {
        network.price(ofReading: items, from: feed)
    }

    package func surveyStart(at address: String) -> FeedPosition {
        network.surveyStart(at: address)
    }

    package var priceOfOwnPost: Money? { network.priceOfOwnPost }

    package func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money? {
        network.price(ofPublishing: texts, pictures: pictures, isReply: isReply)
    }

    /// The last refusal that nothing has taken back; nil if there is none.
    package var refusal: NetworkError? { known.doubt?.error }

    /// Fails once the credentials are given up.
    package func check() throws(UnusableAccount) {
        guard let doubt = known.doubt, isOver(doubt) else { return }
        throw UnusableAccount(cause: doubt.error)
    }

    /// Until when no call may be made; nil if one may, perhaps after verifying.
    package func pause(at now: Date) -> Date? {
        let known = known
        let ends = [known.doubt?.pause, known.silence?.pause].map { $0?.end(at: now) }
        return (ends + [known.waits[.everything]?.end(at: now)]).compactMap(\.self).max()
    }

    /// Until when a feed must not be looked at; nil if it may be now.
    package func pause(of feed: Feed, at now: Date) -> Date? {
        let state = known
        let pauses = [state.accountPause, state.feedPauses[feed], state.doubt?.pause]
        let waits = [AccountWait.Scope.everything, .operation(feed.operation)].map {
            state.waits[$0]?.end(at: now)
        }
        return (pauses.map { $0?.end(at: now) } + waits).compactMap(\.self).max()
    }

    /// Whether a call may be made now, after verifying the credentials if that is due.
    ///
    /// - Throws: ``UnusableAccount`` once they are given up; `CancellationError`.
    package func isOpen() async throws -> Bool {
        do {
            try await enter()
            try await requireAnswer()
            return true
        } catch is NetworkError {
            try check()
            return false
        }
    }

    // MARK: Calls

    package func verifyAccount() async throws -> Account {
        try checkWaits(.verifyAccount)
        return try await judged(.verifyAccount) {
            try await self.cancellable { try await $0.verifyAccount() }
        }
    }

    /// How long a text may be; what is known already while the network cannot be asked.
    ///
    /// While calls are held back from the start on, the network's usual limits: nothing is sent
    /// before it is asked.
    package func limits() async throws -> PublishingLimits {
        do {
            let limits = try await ask(.readLimits) { try await $0.limits() }
            lock.withLock { state.limits = limits }
            return limits
        } catch let error as NetworkError {
            if let limits = known.limits { return limits }
            guard pause(at: now()) != nil, [.rateLimited, .capReached].contains(error.code) else {
                throw error
            }
            return .usual(of: name)
        }
    }

    package func emoji() async throws -> Set<String> {
        try await ask(.readEmoji) { try await $0.emoji() }
    }

    package func serverStatements() async throws -> [String] {
        try await ask(.readRules) { try await $0.serverStatements() }
    }

    /// Asks also while the credentials are refused, and concludes nothing about them.
    package func standing(of account: AccountID) async throws -> AccountStanding? {
        try checkWaits(.readProfile)
        return try await cancellable { try await $0.standing(of: account) }
    }

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        try await read(feed) { try await $0.page(feed, position, size: size) }
    }

    package func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage? {
        try await read(feed) { try await $0.page(feed, passing: position) }
    }

    private func read<Page: Sendable>(
        _ feed: Feed, _ body: @escaping @Sendable (any SocialNetwork) async throws -> Page
    ) async throws -> Page {
        do {
            let page = try await ask(feed.operation, body)
            note((page as? FeedPage)?.rateLimit, from: feed)
            return page
        } catch let error as NetworkError {
            pauses(error, feed)
            throw error
        }
    }

    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        try await prepared(.publish) { try await $0.prepare(draft) }
    }

    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        // Tokens without this one scope are in use, and everything else works with them.
        try await act(.upload, tolerating: .missingScope) { try await $0.upload(picture) }
    }

    package func isReady(_ name: String) async throws -> Bool {
        try await act(.upload, tolerating: .missingScope) { try await $0.isReady(name) }
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        try await prepared(.favorite) { try await $0.prepare(favorite) }
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        try await act(.delete) { try await $0.delete(address, if: isOurs) }
    }

    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        try await act(.unfavorite) { try await $0.unfavorite(favorite) }
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        try await prepared(.edit) { try await $0.prepareEdit(address, draft) }
    }

    package func labelAsBot() async throws {
        // Tokens without this one scope are in use, and everything else works with them.
        try await act(.labelAccount, tolerating: .missingScope) { try await $0.labelAsBot() }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        try await ask(.readOwnPosts) { try await $0.ownPosts(since: since) }
    }

    package func isFavorited(_ address: String) async throws -> Bool? {
        try await ask(.readPost) { try await $0.isFavorited(address) }
    }

    package func isShownToAnybody(_ address: String) async throws -> Bool? {
        try await ask(.readPost) { try await $0.isShownToAnybody(address) }
    }

    package func requireAudiences() throws(NetworkError) { try network.requireAudiences() }

    package var plainServer: any PlainServer { network.plainServer }

    package var serverHabits: [ServerHabit] { network.serverHabits }

    package func showsDeleted(_ address: String) async throws -> Bool {
        try await ask(.readPost) { try await $0.showsDeleted(address) }
    }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        try await ask(.readPost) { try await $0.lookUp(address) }
    }

    package func lookUpOwn(_ address: String) async throws -> ObservedPost? {
        try await ask(.readPost) { try await $0.lookUpOwn(address) }
    }

    package func ownPosts(at addresses: [String]) async throws -> (
        asked: [String], shown: [ObservedPost]
    ) {
        try await ask(.readPost) { try await $0.ownPosts(at: addresses) }
    }

    /// A lack of money for it does not pause the feed, which has money of its own.
    package func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage {
        let page = try await ask(.readOwnPosts) { try await $0.surveyOwnPosts(position) }
        note(page.rateLimit, from: .ownPosts)
        return page
    }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        try await ask(.readPost) { try await $0.lookUp(identity: identity) }
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        try await ask(.readConversation) { try await $0.conversation(of: post) }
    }

    package func ownAnswers(to address: String) async throws -> [ObservedPost] {
        try await ask(.readConversation) { try await $0.ownAnswers(to: address) }
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        try await ask(.readConversation) { try await $0.replies(to: address) }
    }

    private func ask<Value: Sendable>(
        _ operation: NetworkError.Operation,
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await enter(operation)
        return try await judged(operation) { try await self.cancellable(question) }
    }

    private func cancellable<Value: Sendable>(
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await cancelWhenGracefulShutdown { [network] in try await question(network) }
    }

    private func act<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        _ action: (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await enter(operation)
        try await requireAnswer()
        return try await judged(operation, tolerating: tolerated) { try await action(network) }
    }

    /// Prepares a change, which can be cancelled like a question; the change itself leaves at once,
    /// whatever the gate has learned meanwhile.
    private func prepared<Answer: Sendable>(
        _ operation: NetworkError.Operation,
        _ preparation: @escaping @Sendable (any SocialNetwork) async throws -> Departure<Answer>
    ) async throws -> Departure<Answer> {
        try await enter(operation)
        try await requireAnswer()
        let departure = try await judged(operation, isWhole: false) {
            try await self.cancellable(preparation)
        }
        return Departure { mayLeave in
            try await self.judged(operation) { try await departure.send(while: mayLeave) }
        } withdrawal: {
            await departure.withdraw()
        }
    }

    // MARK: Silence

    /// Returns if the network has answered since the answer to a change was lost, asking it if that
    /// is due.
    ///
    /// - Throws: ``NetworkError`` with outcome `notSent`; `CancellationError`.
    private func requireAnswer() async throws {
        guard let silence = known.silence else { return }
        let now = now()
        if let end = silence.pause?.end(at: now) { throw silence.error.held(until: end) }
        do {
            _ = try await verifyAccount()
        } catch var error as NetworkError {
            let next = RetryRule.silence.next(after: silence.questions + 1, key: account, now: now)
            lock.withLock {
                guard state.silence != nil else { return }
                state.silence?.questions += 1
                state.silence?.pause = Pause(begun: now, until: next)
            }
            error.outcome = .notSent
            throw error
        }
    }

    /// Notes that a change may have reached the network, whose answer was lost with the connection.
    private func fallSilent(_ error: NetworkError) {
        lock.withLock { if state.silence == nil { state.silence = Silence(error: error) } }
    }

    // MARK: Credentials

    /// Returns if a call may be made.
    ///
    /// - Parameter operation: The call; nil for any, of which nothing is known.
    private func enter(_ operation: NetworkError.Operation? = nil) async throws {
        try checkWaits(operation)
        switch admission(at: now()) {
        case .granted: return
        case .refused(let error): throw error
        case .afterVerification:
            do {
                _ = try await verifyAccount()
            } catch {
                verificationFailed(at: now())
                guard var error = error as? NetworkError else { throw error }
                // Whatever it was for did not leave.
                error.outcome = .notSent
                throw error
            }
        }
    }

    private func admission(at now: Date) -> Admission {
        lock.withLock {
            guard let doubt = state.doubt, !doubt.isVerified else { return .granted }
            if let end = doubt.pause.end(at: now) { return .refused(doubt.error.held(until: end)) }
            if doubt.isVerifying { return .refused(doubt.error.held(until: now + Self.verifying)) }
            state.doubt?.isVerifying = true
            return .afterVerification
        }
    }

    /// Makes a call and notes what it says about the credentials.
    ///
    /// The success of a mere preparation (`isWhole` is false) says nothing about them.
    private func judged<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        isWhole: Bool = true,
        _ call: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await timed(call)
            guard isWhole else { return value }
            lock.withLock { state.silence = nil }
            for scope in endedWaits(by: operation) { await onWait(scope, nil) }
            if accept(operation) {
                logger.notice("Credentials accepted again", metadata: ["account": "\(account)"])
                await onRefusal(nil)
            }
            return value
        } catch let error as NetworkError where error.stopsActor && error.code != tolerated {
            if operation.isAboutOnePost, try await areCredentialsTaken(despite: error) {
                throw error.aboutOnePost
            }
            throw await refuse(error, operation)
        } catch let error as NetworkError {
            if operation.isWrite, error.outcome == .unknown, error.code == .transport {
                fallSilent(error)
            }
            if let wait = noted(error, operation) { await onWait(wait.scope, wait) }
            throw error
        }
    }

    private func timed<Value>(_ call: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        defer { tally?.note(ContinuousClock.now - start, of: network.name) }
        return try await call()
    }

    /// Whether the network takes the credentials, by a verification of now or of a moment ago.
    ///
    /// - Parameter refusal: What it said when it was asked for a post.
    /// - Returns: False where it refuses them.
    /// - Throws: ``NetworkError`` that may pass, where the verification tells neither: then nobody
    ///   knows what was refused.
    private func areCredentialsTaken(despite refusal: NetworkError) async throws -> Bool {
        let now = now()
        if let verified = known.verified,
            (0..<Self.verificationLasts).contains(now.timeIntervalSince(verified))
        {
            return true
        }
        do {
            _ = try await verifyAccount()
            return true
        } catch var error as NetworkError {
            if error.stopsActor { return false }
            if error.isPermanent { error.code = .unavailable }
            error.outcome = refusal.outcome
            throw error
        }
    }

    /// Notes that the network took the credentials.
    ///
    /// - Returns: Whether that ended a doubt.
    private func accept(_ operation: NetworkError.Operation) -> Bool {
        let now = now()
        return lock.withLock {
            if operation == .verifyAccount { state.verified = now }
            guard var doubt = state.doubt else { return false }
            if operation == .verifyAccount {
                doubt.isVerified = true
                doubt.isVerifying = false
            }
            doubt.operations.remove(operation)
            state.doubt = doubt.operations.isEmpty ? nil : doubt
            return doubt.operations.isEmpty
        }
    }

    /// Notes that the network refused the credentials.
    ///
    /// A call that was under way at the time of a refusal, and is refused too, counts as one with
    /// it.
    ///
    /// - Returns: The error with when to try again.
    private func refuse(_ error: NetworkError, _ operation: NetworkError.Operation) async
        -> NetworkError
    {
        let now = now()
        let (noted, isNew) = lock.withLock { () -> (Doubt, Bool) in
            let known = state.doubt
            var noted =
                known
                ?? Doubt(
                    operations: [], error: error, refusals: 0, pause: Pause(begun: now, until: now))
            noted.operations.insert(operation)
            let isNew = known == nil || noted.isVerified || operation == .verifyAccount
            if isNew {
                noted.refusals += 1
                noted.error = error
                noted.pause = Pause(
                    begun: now,
                    until: patience.rule.next(after: noted.refusals, key: account, now: now))
                noted.isVerified = false
                noted.isVerifying = false
            }
            state.doubt = noted
            state.verified = nil
            return (noted, isNew)
        }
        if isNew {
            logger.warning(
                "Credentials refused, verifying them again",
                metadata: [
                    "account": "\(account)", "error": "\(error)",
                    "retry.attempt": "\(noted.refusals)",
                    "until": "\(noted.pause.until)",
                ])
            await onRefusal(error)
        }
        return error.held(until: noted.pause.until)
    }

    /// Notes that the network could not be asked whether it takes the credentials.
    private func verificationFailed(at now: Date) {
        lock.withLock {
            guard state.doubt?.isVerifying == true else { return }
            state.doubt?.isVerifying = false
            state.doubt?.pause = Pause(
                begun: now, until: patience.rule.next(after: 1, key: account, now: now))
        }
    }

    private func isOver(_ doubt: Doubt) -> Bool { patience.rule.isOver(after: doubt.refusals) }

    // MARK: Shares and money

    /// - Throws: The ``NetworkError`` of the wait that holds a call back.
    private func checkWaits(_ operation: NetworkError.Operation?) throws(NetworkError) {
        let waits = known.waits
        let now = now()
        for scope in [.everything, operation.map(AccountWait.Scope.operation)].compactMap(\.self) {
            guard let hold = waits[scope], let end = hold.end(at: now) else { continue }
            var error = hold.error.held(until: end)
            if let operation { error.operation = operation }
            throw error
        }
    }

    /// The calls that an error puts off, or that it shows to fail; `nil` if it is about this one
    /// call.
    private func scope(of error: NetworkError, _ operation: NetworkError.Operation) -> AccountWait
        .Scope?
    {
        // A call that was held back here tells nothing new. A login is part of another call, which
        // did not leave.
        let isAnswer =
            error.outcome != .notSent || [.logIn, .refreshSession].contains(error.operation)
        // What the gate of the host holds back are reads; what it lets through may still be sent.
        guard isAnswer, !error.isOfAddress else { return nil }
        switch error.code {
        case .rateLimited where !network.capabilities.countsEachFeed: return .everything
        case .rateLimited, .capReached:
            return error.concernsAccount ? .everything : .operation(operation)
        default:
            let mayPass = !error.isPermanent && ![.conflict, .overBudget].contains(error.code)
            return operation == .publish && mayPass ? .operation(.publish) : nil
        }
    }

    /// Notes that the network puts calls off, or fails at publishing.
    ///
    /// - Returns: The wait if it is to be stored.
    private func noted(_ error: NetworkError, _ operation: NetworkError.Operation) -> AccountWait? {
        guard let scope = scope(of: error, operation) else { return nil }
        let now = now()
        let until = end(of: error, at: now)
        return lock.withLock {
            let earlier = state.waits[scope]
            var wait = AccountWait(
                scope: scope, code: error.code, error: "\(error)",
                since: earlier?.wait.since ?? now, noted: now,
                until: until)
            // A clock that was set back tells nothing of how long it has lasted.
            wait.since = min(wait.since, now)
            if let end = earlier?.end(at: now) { wait.until = max(end, until) }
            let isKnown = earlier.map { wait.isKnown(from: $0.written) } ?? false
            state.waits[scope] = Hold(
                wait: wait, error: error, written: isKnown ? earlier?.written ?? wait : wait)
            return isKnown ? nil : wait
        }
    }

    /// When calls are made again after an error.
    private func end(of error: NetworkError, at now: Date) -> Date {
        switch error.code {
        case .rateLimited:
            let asked = max(error.retryAfter ?? now + RetryRule.pause.first, now + 1)
            return RetryRule.pause.honoured(asked, key: account, now: now) ?? asked
        case .capReached:
            return max(error.retryAfter ?? now + Self.usualLack, now + Self.shortestLack)
        default: return max(error.retryAfter ?? now, now)
        }
    }

    /// Ends the waits that a successful call shows to be over.
    private func endedWaits(by operation: NetworkError.Operation) -> [AccountWait.Scope] {
        let now = now()
        return lock.withLock {
            // What was under way when the wait began says nothing of it.
            let ended = state.waits.filter {
                $0.key.covers(operation) && $0.value.end(at: now) == nil
            }.map(\.key)
            for scope in ended { state.waits[scope] = nil }
            return ended
        }
    }

    /// Slows the account down before the server's share is used up.
    private func note(_ limit: RateLimit?, from feed: Feed) {
        let now = now()
        if let remaining = limit?.remaining {
            let window = network.capabilities.countsEachFeed ? feed.rawValue : account
            tally?.note(
                remaining: remaining, of: .init(network: network.name.rawValue, window: window))
        }
        guard let remaining = limit?.remaining, let reset = limit?.resetsAt, reset > now,
            Double(remaining) < Double(limit?.limit ?? 100) * Self.reserve
        else { return }
        hold(feed, until: after(min(reset, now + Self.longestPeriod), feed, now), now)
    }

    /// Makes a pause of an error that only time or money mends.
    private func pauses(_ error: NetworkError, _ feed: Feed) {
        let now = now()
        switch error.code {
        case .rateLimited:
            hold(
                feed, until: after(error.retryAfter ?? now + RetryRule.pause.first, feed, now), now)
        case .overBudget, .capReached, .creditsDepleted:
            lack(
                error, feed,
                until: max(error.retryAfter ?? now + Self.usualLack, now + Self.shortestLack), now)
        default: break
        }
    }

    /// A little after an instant at which everybody comes back.
    private func after(_ end: Date, _ feed: Feed, _ now: Date) -> Date {
        RetryRule.pause.honoured(end, key: "\(account) \(feed.rawValue)", now: now) ?? end
    }

    private func hold(_ feed: Feed, until: Date, _ now: Date) {
        let isNew = lock.withLock { () -> Bool in
            let known =
                (network.capabilities.countsEachFeed ? state.feedPauses[feed] : state.accountPause)?
                .end(
                    at: now)
            guard until > known ?? now else { return false }
            let pause = Pause(begun: now, until: until)
            if network.capabilities.countsEachFeed {
                state.feedPauses[feed] = pause
            } else {
                state.accountPause = pause
            }
            return known == nil
        }
        guard isNew else { return }
        logger.info("Account waits for its share of requests", metadata: metadata(feed, until))
    }

    /// Pauses the feed alone if the call is over budget, and the account after another error.
    ///
    /// Another feed may be cheaper, or have a share of its own. The log tells a pause once, however
    /// many feeds meet it, and not a wait of a moment.
    private func lack(_ error: NetworkError, _ feed: Feed, until: Date, _ now: Date) {
        let isNew = lock.withLock { () -> Bool in
            let pause = Pause(begun: now, until: until)
            if error.code == .overBudget {
                state.feedPauses[feed] = pause
            } else if until > state.accountPause?.end(at: now) ?? now {
                state.accountPause = pause
            }
            defer { state.announced[error.code] = until }
            return state.announced[error.code] != until
        }
        guard isNew, until > now + Self.shortestLack else { return }
        logger.log(
            level: error.code == .overBudget ? .info : .warning, "Account pauses",
            metadata: metadata(feed, until).merging(["error": "\(error)"]) { $1 })
    }

    private func metadata(_ feed: Feed, _ until: Date) -> Logger.Metadata {
        ["account": "\(account)", "feed": "\(feed.rawValue)", "until": "\(until)"]
    }
}

/// A time in which something is not to be done.
struct Pause {
    let begun: Date
    let until: Date

    /// When it ends; nil if it is over, or if the clock was set back: how long it would still be is
    /// then anybody's guess.
    func end(at now: Date) -> Date? { now >= begun && now < until ? until : nil }
}

/// An account that nothing can be done with until a person has done something.
///
/// Ends the worker, which throws the cause.
package struct UnusableAccount: Error, CustomStringConvertible {
    package let cause: NetworkError

    package init(cause: NetworkError) { self.cause = cause }

    package var description: String { cause.description }
}

extension NetworkError {
    /// The same error for a call that was not made.
    fileprivate func held(until time: Date) -> NetworkError {
        var error = self
        error.retryAfter = time
        error.outcome = .notSent
        return error
    }

    /// The same refusal where it is about the one post that was asked for.
    fileprivate var aboutOnePost: NetworkError {
        var error = self
        error.code = .forbidden
        return error
    }
}

extension NetworkError.Operation {
    /// Whether the call asks for one post of somebody's, which may be refused alone.
    fileprivate var isAboutOnePost: Bool { self == .readPost || self == .readConversation }
}

extension Feed {
    /// The operation that reads the feed.
    var operation: NetworkError.Operation {
        switch self {
        case .ownPosts: .readOwnPosts
        case .home: .readHome
        case .favorites: .readFavorites
        case .mentions: .readMentions
        }
    }
}
