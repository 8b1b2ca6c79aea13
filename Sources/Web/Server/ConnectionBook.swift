import Foundation
import NIOCore
import Settings

/// The limits of connections and of waits for their clients.
struct ConnectionLimits: Sendable {
    /// The limit of all connections.
    var total = 1_000
    /// The limit of connections from other machines; the rest is left for this machine and for
    /// listed proxies.
    var fromElsewhere = 900
    /// The limit of connections from other machines without a session; the rest is left for those
    /// with one.
    var strangers = 700
    /// The limit of connections from one address of another machine; for IPv6, from one /64
    /// network.
    var perAddress = 100
    /// The timeout for the head of the first request.
    var firstHeadTimeout: Duration = .seconds(15)
    /// The timeout for the head of each further request.
    var nextHeadTimeout: Duration = .seconds(75)
    /// The timeout for the whole body of a request.
    ///
    /// For a client with a session it holds only for the next bytes of the body, because a file may
    /// take hours.
    var bodyTimeout: Duration = .seconds(30)
    /// The time within which a client must receive the next bytes of a response.
    var answerTimeout: Duration = .seconds(75)
}

/// The open connections, with their state.
///
/// A connection is closed when its client exceeds a timeout. Only the time counts in which the
/// server reads and the client must send. While the server makes a page, or waits for a processor,
/// no time counts against the client.
///
/// If a limit is reached, the connection that has waited longest for its client is closed to make
/// room. A new connection is refused only if all others are being answered, so idle connections do
/// not keep it out.
final class ConnectionBook: @unchecked Sendable {
    // Sendable because the mutable properties are only touched under `lock`.
    private let lock = NSLock()
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var lastNumber = 0
    private let limits: ConnectionLimits
    private let share: @Sendable (String) -> NetworkRange?
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - limits: The limits of connections, and the timeouts.
    ///   - share: Returns the range against whose limit an IP address counts; nil for this machine
    ///     and for listed proxies, whose connections are those of many clients.
    ///   - uptime: A function that reads the monotonic clock, in seconds.
    init(
        _ limits: ConnectionLimits = ConnectionLimits(),
        share: @escaping @Sendable (String) -> NetworkRange? = { Caller(peer: $0).share },
        uptime: @escaping @Sendable () -> Duration = ConnectionBook.systemUptime()
    ) {
        self.limits = limits
        self.share = share
        self.uptime = uptime
    }

    private static func systemUptime() -> @Sendable () -> Duration {
        let origin = ContinuousClock.now
        return { origin.duration(to: .now) }
    }

    private struct Connection {
        let channel: any Channel
        /// The address range whose limit it counts against; nil for this machine and listed
        /// proxies.
        let share: NetworkRange?
        /// A number that is higher than those of all earlier connections.
        let number: Int
        var hasSession = false
        var turn: ClientTurn

        var isStranger: Bool { share != nil && !hasSession }
    }

    var count: Int { lock.withLock { connections.count } }

    /// The number of connections with a completely received but unanswered request.
    var answering: Int { lock.withLock { connections.values.count { $0.turn.isServersTurn } } }

    /// The number of connections whose request body has not been received completely.
    var readingBodies: Int { lock.withLock { connections.values.count { $0.turn.isBodyOpen } } }

    // MARK: Admitting

    /// Adds a new connection, unless there is no room for it.
    func admit(_ channel: any Channel) -> Bool {
        let share = share(channel.remoteAddress?.ipAddress ?? "")
        let (isAdmitted, replacedChannel) = lock.withLock { () -> (Bool, (any Channel)?) in
            let now = uptime()
            var replacedID: ObjectIdentifier?
            if let scope = fullScope(share) {
                replacedID = longestWaiting(scope, at: now)
                guard replacedID != nil else { return (false, nil) }
            }
            let channelToClose = replacedID.flatMap { connections.removeValue(forKey: $0)?.channel }
            lastNumber += 1
            connections[ObjectIdentifier(channel)] = Connection(
                channel: channel, share: share, number: lastNumber, turn: ClientTurn(at: now))
            return (true, channelToClose)
        }
        // The connection is closed outside the lock, because closing calls the book.
        replacedChannel?.close(promise: nil)
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [self] _ in
            lock.withLock { _ = connections.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        return true
    }

    /// Returns which connections may be closed to make room for another one of this range; nil if
    /// there is room.
    private func fullScope(_ share: NetworkRange?) -> ((Connection) -> Bool)? {
        let openConnections = connections.values
        if let share {
            if openConnections.count(where: { $0.share == share }) >= limits.perAddress {
                return { $0.share == share }
            }
            if openConnections.count(where: \.isStranger) >= limits.strangers {
                return { $0.isStranger }
            }
            if openConnections.count(where: { $0.share != nil }) >= limits.fromElsewhere {
                return { $0.isStranger }
            }
        }
        guard openConnections.count >= limits.total else { return nil }
        return share == nil ? { _ in true } : { $0.isStranger }
    }

    private func longestWaiting(_ isInScope: (Connection) -> Bool, at now: Duration)
        -> ObjectIdentifier?
    {
        connections.filter { !$0.value.turn.isServersTurn && isInScope($0.value) }
            .max { first, second in
                let firstWait = first.value.turn.waited(until: now)
                let secondWait = second.value.turn.waited(until: now)
                // Among equal waits, the older connection is closed.
                return firstWait == secondWait
                    ? first.value.number > second.value.number : firstWait < secondWait
            }?.key
    }

    /// Records that a connection has a session: it is not closed in favor of connections without
    /// one.
    func noteSession(of channel: any Channel) {
        lock.withLock { connections[ObjectIdentifier(channel)]?.hasSession = true }
    }

    /// Records that bytes of a body were received, which extends the timeout of a client with a
    /// session.
    func noteBody(on channel: any Channel) {
        lock.withLock {
            guard connections[ObjectIdentifier(channel)]?.hasSession == true else { return }
            connections[ObjectIdentifier(channel)]?.turn.note(.bodyContinued, at: uptime())
        }
    }

    /// Records an event of a connection.
    func note(_ event: ClientTurn.Event, on channel: any Channel) {
        lock.withLock { connections[ObjectIdentifier(channel)]?.turn.note(event, at: uptime()) }
    }

    // MARK: Deadlines

    /// Closes the connections whose clients exceeded a timeout.
    func sweep() {
        let overdue = lock.withLock {
            let now = uptime()
            return connections.values.filter { $0.turn.isOverdue(limits, at: now) }.map(\.channel)
        }
        for channel in overdue { channel.close(promise: nil) }
    }

    /// Closes all connections, including those that the server has not started.
    func closeAll() {
        for channel in lock.withLock({ connections.values.map(\.channel) }) {
            channel.close(promise: nil)
        }
    }
}

/// Tracks whether a connection waits for the server or the client, and how long it has waited for
/// the client.
struct ClientTurn {
    enum Event {
        case headWasRead
        /// Bytes of a body were received from a client with a session, which may take its time.
        case bodyContinued
        case bodyEnded
        case answerEnded
        /// The server starts or stops accepting bytes.
        case isReading(Bool)
        case partIsWritten
        case partHasLeft
    }

    /// The number of requests whose heads were received and whose responses have not ended.
    private var requests = 0
    /// Whether no head of a request was received yet.
    private var isFirst = true
    private(set) var isBodyOpen = false
    private var isReading = true
    /// The time for which the server waited for the client before ``waitingSince``, in the present
    /// part of the request.
    private var waited: Duration = .zero
    /// The time since which the server waits for the client; nil while it does not wait.
    private var waitingSince: Duration?
    /// The number of parts of responses that are written but not sent yet.
    private var unsentParts = 0
    /// The later of two times: when the first unsent part was written, and when the last part was
    /// sent.
    private var writingSince: Duration = .zero

    /// - Parameter now: The uptime at which the connection was opened.
    init(at now: Duration) { waitingSince = now }

    /// Whether a completely received request is unanswered.
    var isServersTurn: Bool { requests > 0 && !isBodyOpen }

    mutating func note(_ event: Event, at now: Duration) {
        waited = waited(until: now)
        waitingSince = nil
        change(event, at: now)
        if !isServersTurn, isReading { waitingSince = now }
    }

    private mutating func change(_ event: Event, at now: Duration) {
        switch event {
        case .headWasRead:
            requests += 1
            isFirst = false
            isBodyOpen = true
            waited = .zero
        case .bodyContinued: waited = .zero
        case .bodyEnded:
            isBodyOpen = false
            waited = .zero
        case .answerEnded:
            requests -= 1
            waited = .zero
        case .isReading(let isReading): self.isReading = isReading
        case .partIsWritten:
            if unsentParts == 0 { writingSince = now }
            unsentParts += 1
        case .partHasLeft:
            unsentParts -= 1
            writingSince = now
        }
    }

    func waited(until now: Duration) -> Duration {
        waited + (waitingSince.map { now - $0 } ?? .zero)
    }

    /// Whether the server has waited too long for the client.
    func isOverdue(_ limits: ConnectionLimits, at now: Duration) -> Bool {
        if unsentParts > 0, now - writingSince > limits.answerTimeout { return true }
        guard waitingSince != nil else { return false }
        if isBodyOpen { return waited(until: now) > limits.bodyTimeout }
        return waited(until: now) > (isFirst ? limits.firstHeadTimeout : limits.nextHeadTimeout)
    }
}
