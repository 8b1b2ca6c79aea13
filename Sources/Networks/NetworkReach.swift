package import Foundation
package import Transport

/// Whether any server answers the requests of a process.
///
/// Every HTTP response is an answer, whatever its status. A request that was cancelled, or that the
/// client itself refused to send, tells nothing.
package final class NetworkReach: @unchecked Sendable {
    // Sendable because `state` is only touched under `lock`.

    /// A time during which no request was answered.
    package struct Failure: Equatable, Sendable {
        /// When its first request began; for display.
        package let since: Date
        /// The same on a monotonic clock, in seconds.
        package let began: TimeInterval
        /// The last error.
        package let error: String
    }

    /// An instant, by the clock that decides and by the one that is displayed.
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
        /// When the first of them began, or the last answer came if that was later.
        var firstFailure: Instant?
        var error: String?
        /// Requests in flight, with their beginnings.
        var pending: [Int: Instant] = [:]
        /// Those that did not answer since the last answer, the last one last.
        var servers: [ServerAddress] = []

        /// The beginning of a request, as far as it counts: an answer to another one came later.
        func counted(_ begin: Instant) -> Instant {
            begin.uptime < lastAnswer.uptime ? lastAnswer : begin
        }
    }

    /// Seconds without an answer after which the process counts as cut off.
    ///
    /// Then another worker looks at the mirrors within their poll and 40 s, if connections fail
    /// within 10 s.
    package static let patience: TimeInterval = 15
    /// Requests without an answer that are needed for it.
    private static let failuresAtLeast = 3
    /// Addresses that a probe asks.
    private static let serversAtMost = 3
    /// The answer to a probe is not read further.
    private static let probeBytes = 1_024

    private let lock = NSLock()
    private var state = State()

    package init() {}

    /// Notes that a request begins.
    ///
    /// - Returns: The number of the request, which one of the other three methods ends.
    func begins(at instant: Instant) -> Int {
        lock.withLock {
            state.counter += 1
            state.pending[state.counter] = instant
            return state.counter
        }
    }

    /// Notes that a server answered a request.
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

    /// Notes that a server did not answer a request; a probe asks it.
    func failed(_ request: Int, _ error: String, server: ServerAddress) {
        lock.withLock {
            guard let begin = state.pending.removeValue(forKey: request).map(state.counted) else {
                return
            }
            state.failures += 1
            if let first = state.firstFailure, first.uptime <= begin.uptime {
                state.firstFailure = first
            } else {
                state.firstFailure = begin
            }
            state.error = error
            state.servers.removeAll { $0 == server }
            state.servers = state.servers.suffix(Self.serversAtMost - 1) + [server]
        }
    }

    /// Notes that a request ended here, without a word about the network.
    func withdrew(_ request: Int) { lock.withLock { state.pending[request] = nil } }

    /// Returns the failure of all requests; nil if one was answered lately, or if few were made
    /// since.
    ///
    /// - Parameter uptime: The monotonic clock.
    package func failure(at uptime: TimeInterval) -> Failure? {
        lock.withLock {
            let stuck = state.pending.values.map(state.counted).filter {
                uptime - $0.uptime >= Self.patience
            }
            guard state.failures + stuck.count >= Self.failuresAtLeast else { return nil }
            let begins = stuck + [state.firstFailure].compactMap(\.self)
            guard let first = begins.min(by: { $0.uptime < $1.uptime }),
                uptime - first.uptime >= Self.patience
            else { return nil }
            let error = state.error ?? "no answer within \(Int(Self.patience)) s"
            return Failure(since: first.date, began: first.uptime, error: error)
        }
    }

    /// Asks the servers that did not answer for a page, without any account, and notes the first
    /// answer.
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
    /// Whether the client itself refused the request, so that no server was asked.
    var isOfClient: Bool { [.invalidURL, .forbiddenScheme, .invalidHeader].contains(code) }
}
