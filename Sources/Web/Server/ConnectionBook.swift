import Foundation
import NIOCore
import Settings

/// How many connections there may be, and how long the page waits for their clients.
struct ConnectionLimits: Sendable {
    /// Limit of all connections.
    var all = 1_000
    /// Limit of those of other machines; the rest is for this machine and for proxies that are
    /// listed.
    var fromElsewhere = 900
    /// Limit of those of other machines that have not shown a session; the rest is for those that
    /// have.
    var strangers = 700
    /// Limit of those of one address of another machine; of IPv6, one /64.
    var ofAddress = 100
    /// How long the head of the first request is waited for.
    var firstHead: Duration = .seconds(15)
    /// How long the head of each other request is waited for.
    var nextHead: Duration = .seconds(75)
    /// How long the body of a request is waited for, in all.
    var body: Duration = .seconds(30)
    /// How long bytes of an answer wait to be taken.
    var answer: Duration = .seconds(75)
}

/// The open connections, with what each of them waits for.
///
/// A connection is closed when its client was waited for too long. Only the time counts in which
/// the server reads and the client is to send: while a page is made, or its thread has no
/// processor, no time passes for the client.
///
/// Where a connection would be one too many, the one that waits longest for its client makes room;
/// only where all are being answered, the new one is refused. So connections that send nothing keep
/// nobody out.
final class ConnectionBook: @unchecked Sendable {
    // Sendable because the mutable properties are only touched under `lock`.
    private let lock = NSLock()
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var lastNumber = 0
    private let limits: ConnectionLimits
    private let share: @Sendable (String) -> NetworkRange?
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - limits: The limits.
    ///   - share: The share of connections from an IP address; nil for this machine and for listed
    ///     proxies, whose connections are those of many clients.
    ///   - uptime: Reads a clock that nobody sets.
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
        /// The address that it counts to; nil for this machine and listed proxies.
        let share: NetworkRange?
        /// Connections have ascending numbers.
        let number: Int
        var hasSession = false
        var turn: ClientTurn

        var isStranger: Bool { share != nil && !hasSession }
    }

    var count: Int { lock.withLock { connections.count } }

    /// The number of connections with a request that was read to its end and is not answered.
    var answering: Int { lock.withLock { connections.values.count { $0.turn.isServers } } }

    /// The number of connections on which a body is waited for.
    var readingBodies: Int { lock.withLock { connections.values.count { $0.turn.isBodyOpen } } }

    // MARK: Admitting

    /// Notes a new connection, unless there is no room for it.
    func admit(_ channel: any Channel) -> Bool {
        let share = share(channel.remoteAddress?.ipAddress ?? "")
        let (isAdmitted, pushedOut) = lock.withLock { () -> (Bool, (any Channel)?) in
            let now = uptime()
            var pushedOut: ObjectIdentifier?
            if let scope = fullScope(share) {
                pushedOut = longestWaiting(scope, at: now)
                guard pushedOut != nil else { return (false, nil) }
            }
            let old = pushedOut.flatMap { connections.removeValue(forKey: $0)?.channel }
            lastNumber += 1
            connections[ObjectIdentifier(channel)] = Connection(
                channel: channel, share: share, number: lastNumber, turn: ClientTurn(at: now))
            return (true, old)
        }
        // Outside of the lock, for closing tells it to the book.
        pushedOut?.close(promise: nil)
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [self] _ in
            lock.withLock { _ = connections.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        return true
    }

    /// The connections of which one has to go before one more with this share is admitted; nil if
    /// there is room.
    private func fullScope(_ share: NetworkRange?) -> ((Connection) -> Bool)? {
        let all = connections.values
        if let share {
            if all.count(where: { $0.share == share }) >= limits.ofAddress {
                return { $0.share == share }
            }
            if all.count(where: \.isStranger) >= limits.strangers { return { $0.isStranger } }
            if all.count(where: { $0.share != nil }) >= limits.fromElsewhere {
                return { $0.isStranger }
            }
        }
        guard all.count >= limits.all else { return nil }
        return share == nil ? { _ in true } : { $0.isStranger }
    }

    private func longestWaiting(_ isInScope: (Connection) -> Bool, at now: Duration)
        -> ObjectIdentifier?
    {
        connections.filter { !$0.value.turn.isServers && isInScope($0.value) }
            .max { first, second in
                let waited = (
                    first.value.turn.waited(until: now), second.value.turn.waited(until: now)
                )
                // Of those that wait as long, the older one goes.
                return waited.0 == waited.1
                    ? first.value.number > second.value.number : waited.0 < waited.1
            }?.key
    }

    /// Notes that a connection showed a session: it is not pushed out for those that did not.
    func noteSession(of channel: any Channel) {
        lock.withLock { connections[ObjectIdentifier(channel)]?.hasSession = true }
    }

    /// Notes what happens on a connection.
    func note(_ event: ClientTurn.Event, on channel: any Channel) {
        lock.withLock { connections[ObjectIdentifier(channel)]?.turn.note(event, at: uptime()) }
    }

    // MARK: Deadlines

    /// Closes the connections whose clients were waited for too long.
    func sweep() {
        let overdue = lock.withLock {
            let now = uptime()
            return connections.values.filter { $0.turn.isOverdue(limits, at: now) }.map(\.channel)
        }
        for channel in overdue { channel.close(promise: nil) }
    }

    /// Closes all connections, those with which the server has not begun among them.
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
        case bodyEnded
        case answerEnded
        /// The server takes bytes from now on, or does not.
        case isReading(Bool)
        case partIsWritten
        case partHasLeft
    }

    /// Requests whose heads were read and whose answers have not ended.
    private var requests = 0
    private var isFirst = true
    private(set) var isBodyOpen = false
    private var isReading = true
    /// How long the client was waited for before ``waitingSince``, for the part that is waited for
    /// now.
    private var waited: Duration = .zero
    /// Nil while the server does not wait for the client.
    private var waitingSince: Duration?
    /// Parts of answers that have not left.
    private var writes = 0
    private var writingSince: Duration = .zero

    /// - Parameter now: The uptime at which the connection was opened.
    init(at now: Duration) { waitingSince = now }

    /// Whether a request was read to its end and is not answered.
    var isServers: Bool { requests > 0 && !isBodyOpen }

    mutating func note(_ event: Event, at now: Duration) {
        waited = waited(until: now)
        waitingSince = nil
        change(event, at: now)
        if !isServers, isReading { waitingSince = now }
    }

    private mutating func change(_ event: Event, at now: Duration) {
        switch event {
        case .headWasRead:
            requests += 1
            isFirst = false
            isBodyOpen = true
            waited = .zero
        case .bodyEnded:
            isBodyOpen = false
            waited = .zero
        case .answerEnded:
            requests -= 1
            waited = .zero
        case .isReading(let isReading): self.isReading = isReading
        case .partIsWritten:
            if writes == 0 { writingSince = now }
            writes += 1
        case .partHasLeft:
            writes -= 1
            writingSince = now
        }
    }

    func waited(until now: Duration) -> Duration {
        waited + (waitingSince.map { now - $0 } ?? .zero)
    }

    /// Whether the client was waited for too long.
    func isOverdue(_ limits: ConnectionLimits, at now: Duration) -> Bool {
        if writes > 0, now - writingSince > limits.answer { return true }
        guard waitingSince != nil else { return false }
        if isBodyOpen { return waited(until: now) > limits.body }
        return waited(until: now) > (isFirst ? limits.firstHead : limits.nextHead)
    }
}
