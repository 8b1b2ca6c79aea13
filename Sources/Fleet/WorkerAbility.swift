import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Redis
import ServiceLifecycle
import Settings
import Synchronization
import Transport

/// Determines how much of the work of mirrors this process is able to do.
///
/// Without an answer of any server it can do nothing. Without Redis or the dictionary, where they
/// are configured, it can do a part: favorites and learning pause. `Claims` publishes the result to
/// the other workers, and shares mirrors accordingly.
///
/// A disability lasts for at least ``probeDelay`` seconds after another worker has taken the
/// mirrors, so that an unstable connection does not move them back and forth. Then a probe checks
/// whether a server answers again, without a mirror.
final class WorkerAbility: Sendable {
    /// A resource, apart from the networks, that the work needs.
    struct Part: Sendable {
        let name: String
        /// Throws while it is unusable.
        let check: @Sendable () async throws -> Void
    }

    private struct Failing {
        let since: Date
        /// When the failure began, on the monotonic clock, in seconds.
        let began: TimeInterval
        var reason: String
    }

    private struct State {
        var failing: [String: Failing] = [:]
        /// The extent of the last logged disability; nil for none.
        var loggedExtent: String?
    }

    /// Seconds between two checks.
    static let interval: TimeInterval = 15
    /// Seconds for which a part must fail before the failure counts, because lost connections are
    /// usually made again sooner.
    private static let failureDelay: TimeInterval = 60
    /// Seconds from the beginning of a disability to the first probe, or to the earliest end of a
    /// partial disability.
    static let probeDelay: TimeInterval = 300

    private let reach: NetworkReach
    private let client: HTTPClient
    private let parts: [Part]
    private let clock: any WallClock
    private let logger: Logger
    private let state = Mutex(State())

    init(
        reach: NetworkReach, client: HTTPClient, parts: [Part], clock: any WallClock, logger: Logger
    ) {
        self.reach = reach
        self.client = client
        self.parts = parts
        self.clock = clock
        self.logger = logger
    }

    convenience init(of installation: Installation, clock: any WallClock) {
        var parts = [
            Part(name: "the dictionary") { [installation] in _ = try installation.tokenizer() }
        ]
        if installation.process.redisURL != nil {
            parts.append(
                Part(name: "Redis") { [installation] in
                    _ = try await installation.redis()?.command(RedisCommand(["PING"]))
                })
        }
        self.init(
            reach: installation.reach, client: installation.client, parts: parts, clock: clock,
            logger: installation.logger)
    }

    /// The work that this process cannot do now; nil if it can do everything.
    var disability: WorkerRecord.Disability? {
        let uptime = clock.uptime
        if let failure = reach.failure(at: uptime) {
            return .init(
                since: failure.since, extent: .all,
                reason: "none of its requests is answered: \(failure.error)")
        }
        let failing = state.withLock { $0.failing }.filter {
            uptime - $0.value.began >= Self.failureDelay
        }
        guard
            let (name, first) = failing.min(by: {
                ($0.value.began, $0.key) < ($1.value.began, $1.key)
            })
        else { return nil }
        return .init(
            since: first.since, extent: .part, reason: "it cannot use \(name): \(first.reason)")
    }

    /// Checks the parts, and after ``probeDelay`` seconds whether a server answers.
    ///
    /// - Parameter isIdle: Whether the process holds no mirror; the requests of a mirror would show
    ///   whether a server answers.
    func check(isIdle: Bool) async {
        for part in parts {
            do {
                try await part.check()
                works(part)
            } catch {
                // A check that was cancelled proves nothing.
                guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
                fails(part, error)
            }
        }
        guard isIdle, let failure = reach.failure(at: clock.uptime),
            clock.uptime - failure.began >= Self.probeDelay
        else { return }
        await cancelWhenGracefulShutdown { [reach, client, clock] in
            await reach.probe(with: client, uptime: { clock.uptime }, now: { clock.now })
        }
    }

    private func works(_ part: Part) {
        let uptime = clock.uptime
        state.withLock { state in
            guard let failing = state.failing[part.name] else { return }
            let age = uptime - failing.began
            // A failure that counts is kept until `probeDelay` has passed.
            guard age < Self.failureDelay || age >= Self.probeDelay else { return }
            state.failing[part.name] = nil
        }
    }

    private func fails(_ part: Part, _ error: any Error) {
        let instant = (uptime: clock.uptime, date: clock.now)
        state.withLock { state in
            let earlier = state.failing[part.name]
            state.failing[part.name] = Failing(
                since: earlier?.since ?? instant.date, began: earlier?.began ?? instant.uptime,
                reason: "\(error)")
        }
    }

    /// Logs a disability once, and its end.
    ///
    /// - Parameter isSharing: Whether the mirrors move to more able workers.
    func logChange(isSharing: Bool) {
        let disability = disability
        let extent = disability?.extent.rawValue
        let isNews = state.withLock { state in
            defer { state.loggedExtent = extent }
            return state.loggedExtent != extent
        }
        guard isNews else { return }
        if let disability {
            logger.error(
                isSharing
                    ? "This worker cannot do its share, and leaves its mirrors to workers that can"
                    : "This worker cannot do its work",
                metadata: [LogKeys.error: "\(disability.reason)"])
        } else {
            logger.notice("This worker can do its work again")
        }
    }
}
