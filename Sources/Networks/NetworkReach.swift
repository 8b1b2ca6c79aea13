package import Foundation
import Localization
package import Transport

/// A record of whether any server answers the requests of a process.
///
/// Every HTTP response counts as an answer, whatever its status. A request that was cancelled, or
/// that the client itself refused to send, does not count at all.
package final class NetworkReach: @unchecked Sendable {
    // Sendable because `state` is only touched under `lock`.

    /// A time during which no request was answered.
    package struct Failure: Equatable, Sendable {
        /// The wall-clock time at which the first failed request began; for display.
        package let since: Date
        /// The time when the first failed request began, by a monotonic clock in seconds.
        package let began: TimeInterval
        /// The error of the last failed request.
        package let error: String
    }

    /// An instant on two clocks: the monotonic clock, which decides, and the wall clock for
    /// display.
    struct Instant: Equatable, Sendable {
        /// A monotonic clock, in seconds.
        let uptime: TimeInterval
        let date: Date
    }

    private struct State {
        var counter = 0
        var lastAnswer = Instant(uptime: -.infinity, date: .distantPast)
        /// Requests that failed since the last answer.
        var failures = 0
        /// The time when the first of these requests began, or the time of the last answer if that
        /// was later.
        var firstFailure: Instant?
        var error: String?
        /// The requests in flight, each with the time when it began.
        var pending: [Int: Instant] = [:]
        /// The servers that failed to answer since the last answer, the latest one last.
        var servers: [ServerAddress] = []

        /// Returns the time when a request began, but not one before the last answer.
        func notBeforeLastAnswer(_ begin: Instant) -> Instant {
            begin.uptime < lastAnswer.uptime ? lastAnswer : begin
        }
    }

    /// Seconds without an answer after which the process is considered offline.
    ///
    /// If connections fail within 10 s, another worker then takes over the mirrors within the poll
    /// interval plus 40 s.
    package static let offlineDelay: TimeInterval = 15
    /// The minimum number of unanswered requests, besides the time in ``offlineDelay``, for the
    /// process to count as offline.
    private static let minimumFailures = 3
    /// The maximum number of servers that a probe requests a page from.
    private static let maximumServers = 3
    /// The number of bytes that are read of the answer to a probe.
    private static let probeBytes = 1_024

    private let lock = NSLock()
    private var state = State()

    package init() {}

    /// Records that a request begins.
    ///
    /// - Returns: The number of the request, for the method that records its end.
    func begins(at instant: Instant) -> Int {
        lock.withLock {
            state.counter += 1
            state.pending[state.counter] = instant
            return state.counter
        }
    }

    /// Records that a server answered a request.
    func answered(_ request: Int, at instant: Instant) {
        lock.withLock {
            state.pending[request] = nil
            state.lastAnswer = instant
            state.failures = 0
            state.firstFailure = nil
            state.error = nil
            state.servers = []
        }
    }

    /// Records that a server did not answer a request; a probe will try this server.
    func failed(_ request: Int, _ error: String, server: ServerAddress) {
        lock.withLock {
            guard let pending = state.pending.removeValue(forKey: request) else { return }
            let begin = state.notBeforeLastAnswer(pending)
            state.failures += 1
            if let first = state.firstFailure, first.uptime <= begin.uptime {
                state.firstFailure = first
            } else {
                state.firstFailure = begin
            }
            state.error = error
            state.servers.removeAll { $0 == server }
            state.servers = state.servers.suffix(Self.maximumServers - 1) + [server]
        }
    }

    /// Records that a request ended locally, without a result about the network.
    func withdrew(_ request: Int) { lock.withLock { state.pending[request] = nil } }

    /// Returns the failure of all requests; nil if one was answered recently, or if only a few were
    /// made.
    ///
    /// - Parameter uptime: The monotonic clock.
    package func failure(at uptime: TimeInterval) -> Failure? {
        lock.withLock {
            // A request that is in flight for so long counts as unanswered.
            let stuckBegins = state.pending.values.map(state.notBeforeLastAnswer).filter { begin in
                uptime - begin.uptime >= Self.offlineDelay
            }
            guard state.failures + stuckBegins.count >= Self.minimumFailures else { return nil }
            let begins = stuckBegins + [state.firstFailure].compactMap(\.self)
            guard let first = begins.min(by: { $0.uptime < $1.uptime }),
                uptime - first.uptime >= Self.offlineDelay
            else { return nil }
            let error = state.error ?? localized("no answer within \(Int(Self.offlineDelay)) s")
            return Failure(since: first.date, began: first.uptime, error: error)
        }
    }

    /// Requests a page from each server that did not answer, without an account, and records the
    /// first answer.
    ///
    /// - Parameters:
    ///   - client: Sends the requests.
    ///   - uptime: Returns the monotonic clock.
    ///   - now: Returns the wall clock.
    package func probe(
        with client: HTTPClient, uptime: @Sendable () -> TimeInterval, now: @Sendable () -> Date
    ) async {
        for server in lock.withLock({ state.servers }).reversed() {
            let request = begins(at: Instant(uptime: uptime(), date: now()))
            var probe = HTTPRequest(
                url: server.base + "/", timeout: .seconds(10), maximumBodyBytes: Self.probeBytes)
            probe.isPublicOnly = server.isPublicOnly
            do {
                _ = try await client.send(probe)
                return answered(request, at: Instant(uptime: uptime(), date: now()))
            } catch let error as TransportError {
                // A truncated answer is an answer too.
                if error.beginning != nil {
                    return answered(request, at: Instant(uptime: uptime(), date: now()))
                }
                failed(request, error.message, server: server)
            } catch {
                withdrew(request)
                return
            }
        }
    }
}

extension TransportError {
    /// Whether the client itself refused the request, so that it was not sent.
    var isRefusedByClient: Bool { [.invalidURL, .forbiddenScheme, .invalidHeader].contains(code) }
}
