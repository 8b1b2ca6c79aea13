package import Foundation
import Localization
package import Logging
package import Posts
import ServiceLifecycle

/// The only access to an account; it decides whether a call may be made now, and how long to wait
/// if not.
///
/// Calls wait for one of five reasons.
///
/// - The network refuses the credentials. That may be a mistake of the server, or of a proxy, so a
///   refusal only causes a pause. After the pause the credentials are verified. If they are refused
///   again, a longer pause follows, until the gate's patience ends. A success of the refused
///   operation ends the doubt. A refusal about a single post says nothing about the credentials if
///   the account is verified.
/// - The answer to a change was lost with its connection. No other change is made until the network
///   has answered a request.
/// - The network limits the rate of requests (429) in its answer to any call. Then no call is made,
///   except on X, which counts each kind of call separately.
/// - The network's quota of requests is used up, or nearly: then feeds wait, and the rest is left
///   for publishing.
/// - There is not enough money for the call.
///
/// A graceful shutdown ends reads; changes at the network are finished.
package final class AccountGate: SocialNetwork, @unchecked Sendable {
    // Sendable because every access to `state` holds the lock.

    /// The number of refusals after which the credentials are given up.
    package enum Patience: Sendable {
        /// One refusal is enough, because a user waits for the answer.
        case none
        /// Refusals are tolerated for some minutes, in which a planned post does not expire yet.
        case minutes
        /// Any number of refusals is tolerated, because the process has other work than this
        /// account.
        case endless

        fileprivate var rule: RetryRule {
            switch self {
            case .none: .awaitedCredentials
            case .minutes: .credentials
            case .endless: .spareCredentials
            }
        }
    }

    /// The doubt about the credentials after a refusal.
    private struct Doubt {
        /// The refused operations; the doubt ends when each of them has succeeded.
        var operations: Set<NetworkError.Operation>
        var error: NetworkError
        var refusals: Int
        var pause: Cooldown
        /// The network accepted the credentials in a verification after the pause; the refused
        /// operations have not been tried again yet.
        var isVerified = false
        var isVerifying = false
    }

    /// A state in which the network may be unreachable: the answer to a change was lost with its
    /// connection.
    private struct Silence {
        let error: NetworkError
        /// The number of requests without an answer since the change.
        var unansweredRequests = 0
        var pause: Cooldown?
    }

    /// A wait, and the error that is thrown by the calls that it holds back.
    private struct Hold {
        var wait: AccountWait
        let error: NetworkError
        /// The last state of the wait that was stored.
        var written: AccountWait

        /// The time at which the calls may be made again; `nil` if they may be made now.
        func end(at now: Date) -> Date? {
            wait.holdsCalls ? Cooldown(begun: wait.noted, until: wait.until).end(at: now) : nil
        }

        func isOver(at now: Date) -> Bool { end(at: now) == nil }
    }

    private struct State {
        var doubt: Doubt?
        var silence: Silence?
        /// The waits that the network asked for, by the calls that have to wait.
        var waits: [AccountWait.Scope: Hold] = [:]
        var accountPause: Cooldown?
        var feedPauses: [Feed: Cooldown] = [:]
        /// For each error about money, the end of the pause that was logged last.
        var loggedPauseEnds: [NetworkError.Code: Date] = [:]
        /// The time of the last verification in which the network accepted the credentials.
        var verifiedAt: Date?
        var limits: PublishingLimits?
    }

    /// Whether a call may be made, and under which condition.
    private enum Admission {
        case granted
        /// The call may be made after a verification of the account, which only this caller makes.
        case afterVerification
        case refused(NetworkError)
    }

    /// Seconds for which other calls wait while one verifies the account.
    private static let verificationTimeout: TimeInterval = 5
    /// Seconds after a successful verification in which the refusal of a request for a post counts
    /// as a refusal of this post only.
    private static let verificationLifetime: TimeInterval = 60
    /// The share of the server's quota that is kept for urgent calls, such as publishing.
    private static let reservedShare = 0.1
    /// The longest wait for the start of the next period of requests, in seconds; a longer
    /// announced one is cut, because clocks and headers may be wrong.
    private static let longestPeriod: TimeInterval = 900
    /// Seconds to wait for money if the network names no time.
    private static let defaultMoneyWait: TimeInterval = 3_600
    private static let shortestMoneyWait: TimeInterval = 60

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
    ///   - account: The account's name in the log.
    ///   - previous: The former gate of the same account, whose state is taken over.
    ///   - logger: Logs every pause and its end.
    ///   - tally: The counter of the durations of calls; nil to count none.
    ///   - storedWaits: The stored waits of an earlier process; ignored if there is a previous
    ///     gate.
    ///   - onWait: A function that is called with every wait to store, and with nil to remove the
    ///     stored one.
    ///   - onRefusal: A function that is called with every refusal of the credentials, and with nil
    ///     when they are accepted again.
    package init(
        _ network: any SocialNetwork, account: String, patience: Patience = .minutes,
        after previous: AccountGate? = nil, now: @escaping @Sendable () -> Date, logger: Logger,
        tally: RequestTally? = nil, kept storedWaits: [AccountWait] = [],
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
            state = previous.currentState
        } else {
            state = State()
            for wait in storedWaits {
                state.waits[wait.scope] = Hold(
                    wait: wait, error: Self.error(ofStored: wait, at: network),
                    written: wait)
            }
        }
    }

    /// The error for calls that a stored wait of an earlier process holds back.
    private static func error(ofStored wait: AccountWait, at network: any SocialNetwork)
        -> NetworkError
    {
        let operation: NetworkError.Operation =
            switch wait.scope {
            case .everything: .verifyAccount
            case .operation(let operation): operation
            }
        return NetworkError(
            code: wait.code, network: network.name, host: network.host, operation: operation,
            detail: localized("the network has asked to wait"), retryAfter: wait.until,
            outcome: .notSent)
    }

    private var currentState: State { lock.withLock { state } }

    // MARK: Properties of the account and its network

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

    /// The last refusal that is still in effect; nil if there is none.
    package var refusal: NetworkError? { currentState.doubt?.error }

    /// Throws if the credentials were given up, after more refusals than ``Patience`` tolerates.
    package func check() throws(UnusableAccount) {
        guard let doubt = currentState.doubt, areCredentialsGivenUp(doubt) else { return }
        throw UnusableAccount(cause: doubt.error)
    }

    /// The time until which no call may be made; nil if a call may be made, perhaps after verifying
    /// the account.
    package func pause(at now: Date) -> Date? {
        let state = currentState
        let ends = [
            state.doubt?.pause.end(at: now),
            state.silence?.pause?.end(at: now),
            state.waits[.everything]?.end(at: now),
        ]
        return ends.compactMap(\.self).max()
    }

    /// The time until which a feed must not be read; nil if it may be read now.
    package func pause(of feed: Feed, at now: Date) -> Date? {
        let state = currentState
        let pauses = [state.accountPause, state.feedPauses[feed], state.doubt?.pause]
        let scopes: [AccountWait.Scope] = [.everything, .operation(feed.operation)]
        let pauseEnds = pauses.map { pause in pause?.end(at: now) }
        let waitEnds = scopes.map { scope in state.waits[scope]?.end(at: now) }
        return (pauseEnds + waitEnds).compactMap(\.self).max()
    }

    /// Whether a call may be made now; verifies the credentials first if that is due.
    ///
    /// - Throws: ``UnusableAccount`` once the credentials are given up; `CancellationError`.
    package func isOpen() async throws -> Bool {
        do {
            try await requireAdmission()
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
        return try await callAndRecord(.verifyAccount) {
            try await self.cancellable { try await $0.verifyAccount() }
        }
    }

    /// The length limits of a text; those of the last answer if the request fails.
    ///
    /// If a rate limit or a quota holds calls back before the first answer, the result is the usual
    /// length limits of the network. The server's own length limits are read before anything is
    /// sent.
    package func limits() async throws -> PublishingLimits {
        do {
            let limits = try await ask(.readLimits) { try await $0.limits() }
            lock.withLock { state.limits = limits }
            return limits
        } catch let error as NetworkError {
            if let limits = currentState.limits { return limits }
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

    /// The request is also made while the credentials are refused; its answer has no effect on the
    /// doubt about them.
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
            pauseIfNeeded(after: error, feed)
            throw error
        }
    }

    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        try await prepareChange(.publish) { try await $0.prepare(draft) }
    }

    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        // A token without this one scope is common, and all other calls work with it.
        try await change(.upload, tolerating: .missingScope) { try await $0.upload(picture) }
    }

    package func isReady(_ name: String) async throws -> Bool {
        try await change(.upload, tolerating: .missingScope) { try await $0.isReady(name) }
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        try await prepareChange(.favorite) { try await $0.prepare(favorite) }
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        try await change(.delete) { try await $0.delete(address, if: isOurs) }
    }

    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        try await change(.unfavorite) { try await $0.unfavorite(favorite) }
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        try await prepareChange(.edit) { try await $0.prepareEdit(address, draft) }
    }

    package func labelAsBot() async throws {
        // A token without this one scope is common, and all other calls work with it.
        try await change(.labelAccount, tolerating: .missingScope) { try await $0.labelAsBot() }
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

    /// A lack of money for this does not pause the feed, which has a budget of its own.
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

    /// Makes a call that only reads; a graceful shutdown cancels it.
    private func ask<Value: Sendable>(
        _ operation: NetworkError.Operation,
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await requireAdmission(operation)
        return try await callAndRecord(operation) { try await self.cancellable(question) }
    }

    /// Makes a call that a graceful shutdown cancels.
    private func cancellable<Value: Sendable>(
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await cancelWhenGracefulShutdown { [network] in try await question(network) }
    }

    /// Makes a call that changes something; a graceful shutdown does not cancel it.
    private func change<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        _ action: (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await requireAdmission(operation)
        try await requireAnswer()
        return try await callAndRecord(operation, tolerating: tolerated) {
            try await action(network)
        }
    }

    /// Prepares a change; a graceful shutdown cancels the preparation.
    ///
    /// The returned change is made without asking the gate again.
    private func prepareChange<Answer: Sendable>(
        _ operation: NetworkError.Operation,
        _ preparation: @escaping @Sendable (any SocialNetwork) async throws -> Departure<Answer>
    ) async throws -> Departure<Answer> {
        try await requireAdmission(operation)
        try await requireAnswer()
        let departure = try await callAndRecord(operation, isPreparation: true) {
            try await self.cancellable(preparation)
        }
        return Departure { mayLeave in
            try await self.callAndRecord(operation) {
                try await departure.send(while: mayLeave)
            }
        } withdrawal: {
            await departure.withdraw()
        }
    }

    // MARK: Lost answers

    /// Throws if the answer to a change was lost and the network has not answered a request since.
    ///
    /// Makes such a request first, by verifying the account, unless the wait after the last such
    /// request still lasts.
    ///
    /// - Throws: ``NetworkError`` with outcome `notSent`; `CancellationError`.
    private func requireAnswer() async throws {
        guard let silence = currentState.silence else { return }
        let now = now()
        if let end = silence.pause?.end(at: now) { throw silence.error.asNotSent(until: end) }
        do {
            _ = try await verifyAccount()
        } catch var error as NetworkError {
            let next = RetryRule.silence.next(
                after: silence.unansweredRequests + 1, key: account, now: now)
            lock.withLock {
                guard state.silence != nil else { return }
                state.silence?.unansweredRequests += 1
                state.silence?.pause = Cooldown(begun: now, until: next)
            }
            error.outcome = .notSent
            throw error
        }
    }

    /// Records that a change may have reached the network, because its answer was lost with the
    /// connection.
    private func recordLostAnswer(_ error: NetworkError) {
        lock.withLock { if state.silence == nil { state.silence = Silence(error: error) } }
    }

    // MARK: Credentials

    /// Throws unless a call may be made now; verifies the account first if that is due.
    ///
    /// - Parameter operation: The operation of the call; nil for an unknown one.
    private func requireAdmission(_ operation: NetworkError.Operation? = nil) async throws {
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
                // The call for which the account was verified was not made.
                error.outcome = .notSent
                throw error
            }
        }
    }

    private func admission(at now: Date) -> Admission {
        lock.withLock {
            guard let doubt = state.doubt, !doubt.isVerified else { return .granted }
            if let end = doubt.pause.end(at: now) {
                return .refused(doubt.error.asNotSent(until: end))
            }
            if doubt.isVerifying {
                return .refused(doubt.error.asNotSent(until: now + Self.verificationTimeout))
            }
            state.doubt?.isVerifying = true
            return .afterVerification
        }
    }

    /// Makes a call and records what its outcome says about the credentials.
    ///
    /// The success of a preparation, which does not send the change, says nothing about the
    /// credentials. An error with the code `tolerated` is thrown without doubting the credentials.
    private func callAndRecord<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        isPreparation: Bool = false,
        _ call: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await timed(call)
            if isPreparation { return value }
            lock.withLock { state.silence = nil }
            // Nil removes the stored wait, or reports that the credentials are accepted.
            for scope in endedWaits(by: operation) { await onWait(scope, nil) }
            if accept(operation) {
                logger.notice("Credentials accepted again", metadata: ["account": "\(account)"])
                await onRefusal(nil)
            }
            return value
        } catch let error as NetworkError where error.stopsActor && error.code != tolerated {
            if operation.isAboutOnePost, try await areCredentialsAccepted(despite: error) {
                throw error.asRefusalOfOnePost
            }
            throw await refuse(error, operation)
        } catch let error as NetworkError {
            if operation.isWrite, error.outcome == .unknown, error.code == .transport {
                recordLostAnswer(error)
            }
            if let wait = recordWait(after: error, operation) { await onWait(wait.scope, wait) }
            throw error
        }
    }

    private func timed<Value>(_ call: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        defer { tally?.note(ContinuousClock.now - start, of: network.name) }
        return try await call()
    }

    /// Whether the network accepts the credentials, according to a verification now or in the last
    /// minute.
    ///
    /// - Parameter refusal: The refusal of a request for a post.
    /// - Returns: False if the network refuses the credentials.
    /// - Throws: A temporary ``NetworkError`` if the verification is inconclusive: the refusal may
    ///   then be about the credentials or about the post.
    private func areCredentialsAccepted(despite refusal: NetworkError) async throws -> Bool {
        let now = now()
        if let verifiedAt = currentState.verifiedAt,
            (0..<Self.verificationLifetime).contains(now.timeIntervalSince(verifiedAt))
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

    /// Records that the network accepted the credentials for an operation.
    ///
    /// - Returns: Whether this ended a doubt.
    private func accept(_ operation: NetworkError.Operation) -> Bool {
        let now = now()
        return lock.withLock {
            if operation == .verifyAccount { state.verifiedAt = now }
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

    /// Records that the network refused the credentials.
    ///
    /// A call that was in flight during an earlier refusal does not count as a further refusal.
    ///
    /// - Returns: The error, with the time of the next verification and the outcome `notSent`.
    private func refuse(_ error: NetworkError, _ operation: NetworkError.Operation) async
        -> NetworkError
    {
        let now = now()
        let (doubt, isNew) = lock.withLock { () -> (Doubt, Bool) in
            let earlier = state.doubt
            var doubt =
                earlier
                ?? Doubt(
                    operations: [], error: error, refusals: 0,
                    pause: Cooldown(begun: now, until: now))
            doubt.operations.insert(operation)
            // Any other refused call was admitted before the earlier refusal.
            let isNew = earlier == nil || doubt.isVerified || operation == .verifyAccount
            if isNew {
                doubt.refusals += 1
                doubt.error = error
                doubt.pause = Cooldown(
                    begun: now,
                    until: patience.rule.next(after: doubt.refusals, key: account, now: now))
                doubt.isVerified = false
                doubt.isVerifying = false
            }
            state.doubt = doubt
            state.verifiedAt = nil
            return (doubt, isNew)
        }
        if isNew {
            logger.warning(
                "Credentials refused, verifying them again",
                metadata: [
                    "account": "\(account)", "error": "\(error)",
                    "retry.attempt": "\(doubt.refusals)",
                    "until": "\(doubt.pause.until)",
                ])
            await onRefusal(error)
        }
        return error.asNotSent(until: doubt.pause.until)
    }

    /// Records that the verification of the credentials had no answer.
    private func verificationFailed(at now: Date) {
        lock.withLock {
            guard state.doubt?.isVerifying == true else { return }
            state.doubt?.isVerifying = false
            state.doubt?.pause = Cooldown(
                begun: now, until: patience.rule.next(after: 1, key: account, now: now))
        }
    }

    /// Whether there were more refusals than the gate's patience tolerates.
    private func areCredentialsGivenUp(_ doubt: Doubt) -> Bool {
        patience.rule.isOver(after: doubt.refusals)
    }

    // MARK: Waits, quotas and money

    /// - Throws: The ``NetworkError`` of the wait that applies to the call.
    private func checkWaits(_ operation: NetworkError.Operation?) throws(NetworkError) {
        let waits = currentState.waits
        let now = now()
        for scope in [.everything, operation.map(AccountWait.Scope.operation)].compactMap(\.self) {
            guard let hold = waits[scope], let end = hold.end(at: now) else { continue }
            var error = hold.error.asNotSent(until: end)
            if let operation { error.operation = operation }
            throw error
        }
    }

    /// The calls that have to wait after an error; `nil` if the error is about this one call only.
    private func scope(of error: NetworkError, _ operation: NetworkError.Operation) -> AccountWait
        .Scope?
    {
        // A call that was held back reveals nothing new. A failed login is an answer of the
        // network, although the call that needed the login was not sent.
        let isAnswer =
            error.outcome != .notSent || [.logIn, .refreshSession].contains(error.operation)
        // An error of the host's gate must not delay changes: that gate holds back only reads.
        guard isAnswer, !error.isAboutAddressLimit else { return nil }
        switch error.code {
        case .rateLimited where !network.capabilities.hasQuotaPerFeed: return .everything
        case .rateLimited, .capReached:
            return error.concernsAccount ? .everything : .operation(operation)
        default:
            let isTemporary = !error.isPermanent && ![.conflict, .overBudget].contains(error.code)
            return operation == .publish && isTemporary ? .operation(.publish) : nil
        }
    }

    /// Records that the network delays calls, or fails at publishing.
    ///
    /// - Returns: The wait if it has to be stored.
    private func recordWait(after error: NetworkError, _ operation: NetworkError.Operation)
        -> AccountWait?
    {
        guard let scope = scope(of: error, operation) else { return nil }
        let now = now()
        let until = retryTime(after: error, at: now)
        return lock.withLock {
            let earlierWait = state.waits[scope]
            var wait = AccountWait(
                scope: scope, code: error.code, error: "\(error)",
                since: earlierWait?.wait.since ?? now, noted: now,
                until: until)
            // If the clock was set back, the wait's duration is unknown and starts anew.
            wait.since = min(wait.since, now)
            if let end = earlierWait?.end(at: now) { wait.until = max(end, until) }
            var storedWait: AccountWait?
            if let written = earlierWait?.written, wait.isNearlyEqual(to: written) {
                storedWait = written
            }
            state.waits[scope] = Hold(wait: wait, error: error, written: storedWait ?? wait)
            return storedWait == nil ? wait : nil
        }
    }

    /// The time at which calls are made again after an error.
    private func retryTime(after error: NetworkError, at now: Date) -> Date {
        switch error.code {
        case .rateLimited:
            let requested = max(error.retryAfter ?? now + RetryRule.pause.firstWait, now + 1)
            return RetryRule.pause.honoured(requested, key: account, now: now) ?? requested
        case .capReached:
            return max(
                error.retryAfter ?? now + Self.defaultMoneyWait, now + Self.shortestMoneyWait)
        default: return max(error.retryAfter ?? now, now)
        }
    }

    /// Ends the waits that are over because a call has succeeded.
    private func endedWaits(by operation: NetworkError.Operation) -> [AccountWait.Scope] {
        let now = now()
        return lock.withLock {
            // A call that was in flight when the wait began does not end it.
            let ended = state.waits.filter { scope, hold in
                scope.covers(operation) && hold.isOver(at: now)
            }
            for scope in ended.keys { state.waits[scope] = nil }
            return Array(ended.keys)
        }
    }

    /// Pauses the account or feed before the server's quota is used up.
    private func note(_ limit: RateLimit?, from feed: Feed) {
        let now = now()
        if let remaining = limit?.remaining {
            let window = network.capabilities.hasQuotaPerFeed ? feed.rawValue : account
            tally?.note(
                remaining: remaining, of: .init(network: network.name.rawValue, window: window))
        }
        // A server that does not announce its quota is assumed to have one of 100 requests.
        guard let remaining = limit?.remaining, let reset = limit?.resetsAt, reset > now,
            Double(remaining) < Double(limit?.limit ?? 100) * Self.reservedShare
        else { return }
        let end = min(reset, now + Self.longestPeriod)
        recordPause(of: feed, until: jittered(end, for: feed, at: now), at: now)
    }

    /// Pauses the account or feed after an error that only time or money resolves.
    private func pauseIfNeeded(after error: NetworkError, _ feed: Feed) {
        let now = now()
        switch error.code {
        case .rateLimited:
            let end = error.retryAfter ?? now + RetryRule.pause.firstWait
            recordPause(of: feed, until: jittered(end, for: feed, at: now), at: now)
        case .overBudget, .capReached, .creditsDepleted:
            let retryTime = error.retryAfter ?? now + Self.defaultMoneyWait
            pauseForMoney(
                error, feed, until: max(retryTime, now + Self.shortestMoneyWait), at: now)
        default: break
        }
    }

    /// Returns a time a little after `end`, so that not all mirrors resume together.
    private func jittered(_ end: Date, for feed: Feed, at now: Date) -> Date {
        RetryRule.pause.honoured(end, key: "\(account) \(feed.rawValue)", now: now) ?? end
    }

    private func recordPause(of feed: Feed, until: Date, at now: Date) {
        let isNew = lock.withLock { () -> Bool in
            let hasQuotaPerFeed = network.capabilities.hasQuotaPerFeed
            let currentPause = hasQuotaPerFeed ? state.feedPauses[feed] : state.accountPause
            let currentEnd = currentPause?.end(at: now)
            guard until > currentEnd ?? now else { return false }
            let pause = Cooldown(begun: now, until: until)
            if hasQuotaPerFeed {
                state.feedPauses[feed] = pause
            } else {
                state.accountPause = pause
            }
            return currentEnd == nil
        }
        guard isNew else { return }
        logger.info(
            "Account waits for its share of requests", metadata: metadata(of: feed, until: until))
    }

    /// Pauses only the feed if the call is over budget, and the account after another error.
    ///
    /// Another feed may be cheaper, or have a budget of its own. Pauses of several feeds with the
    /// same error and end are logged once, and a pause of up to a minute is not logged.
    private func pauseForMoney(
        _ error: NetworkError, _ feed: Feed, until: Date, at now: Date
    ) {
        let isNew = lock.withLock { () -> Bool in
            let pause = Cooldown(begun: now, until: until)
            if error.code == .overBudget {
                state.feedPauses[feed] = pause
            } else if until > state.accountPause?.end(at: now) ?? now {
                state.accountPause = pause
            }
            defer { state.loggedPauseEnds[error.code] = until }
            return state.loggedPauseEnds[error.code] != until
        }
        guard isNew, until > now + Self.shortestMoneyWait else { return }
        var metadata = metadata(of: feed, until: until)
        metadata["error"] = "\(error)"
        logger.log(
            level: error.code == .overBudget ? .info : .warning, "Account pauses",
            metadata: metadata)
    }

    private func metadata(of feed: Feed, until: Date) -> Logger.Metadata {
        ["account": "\(account)", "feed": "\(feed.rawValue)", "until": "\(until)"]
    }
}

/// A span of time in which a call is not repeated.
package struct Cooldown: Sendable {
    package let begun: Date
    package let until: Date

    package init(begun: Date, until: Date) {
        self.begun = begun
        self.until = until
    }

    /// The end of the pause; nil if it is over, or if the clock was set back, because the remaining
    /// time is then unknown.
    package func end(at now: Date) -> Date? { now >= begun && now < until ? until : nil }

    /// Whether the pause is over, or the clock was set back.
    package func isOver(at now: Date) -> Bool { end(at: now) == nil }
}

/// An account that cannot be used until a person has acted.
///
/// Ends the worker, which throws the cause.
package struct UnusableAccount: Error, CustomStringConvertible {
    package let cause: NetworkError

    package init(cause: NetworkError) { self.cause = cause }

    package var description: String { cause.description }
}

extension NetworkError {
    /// The same error for a call that was not made.
    fileprivate func asNotSent(until time: Date) -> NetworkError {
        var error = self
        error.retryAfter = time
        error.outcome = .notSent
        return error
    }

    /// The same refusal, as one about the requested post.
    fileprivate var asRefusalOfOnePost: NetworkError {
        var error = self
        error.code = .forbidden
        return error
    }
}

extension NetworkError.Operation {
    /// Whether the call requests one post by another account, which may be refused by itself.
    fileprivate var isAboutOnePost: Bool { self == .readPost || self == .readConversation }
}

extension Feed {
    /// The operation that reads the feed.
    package var operation: NetworkError.Operation {
        switch self {
        case .ownPosts: .readOwnPosts
        case .home: .readHome
        case .favorites: .readFavorites
        case .mentions: .readMentions
        }
    }
}
