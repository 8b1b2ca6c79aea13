/// The queued transfers, and the slots in use, by host.
///
/// Round robin by host: a free slot goes to the host whose turn is next, and to its oldest
/// transfer. A host gets at most ``maximumPerHost`` slots. Once ``maximumTotal`` slots are taken,
/// only a host without any gets one, so that hosts which do not answer delay only their own
/// transfers. A host is a scheme, a name and a port.
struct TransferQueue {
    private struct Host {
        var running = 0
        /// Queued transfers from `first` on; those before it have left.
        var waiting: [Transfer] = []
        var first = 0
        var isInTurn = false

        var isEmpty: Bool { first == waiting.count }

        mutating func take() -> Transfer {
            defer {
                first += 1
                if first == waiting.count {
                    waiting = []
                    first = 0
                }
            }
            return waiting[first]
        }
    }

    private let maximumPerHost: Int
    private let maximumTotal: Int
    private var hosts: [String: Host] = [:]
    /// Hosts with queued transfers and a free slot of their own, the next turn first.
    private var turns: [String] = []
    private var running = 0
    /// The earliest deadline found by the last search for expired transfers, or added since, and
    /// the time of that search.
    private var earliestDeadline: ContinuousClock.Instant?

    init(maximumPerHost: Int, maximumTotal: Int) {
        self.maximumPerHost = max(1, maximumPerHost)
        self.maximumTotal = max(1, maximumTotal)
    }

    /// Queues a transfer behind the others of its host.
    mutating func add(_ transfer: Transfer) {
        earliestDeadline = min(earliestDeadline ?? transfer.deadline, transfer.deadline)
        hosts[transfer.origin, default: Host()].waiting.append(transfer)
        takeTurn(transfer.origin)
    }

    /// Removes the transfer whose turn it is, and assigns it a slot.
    ///
    /// - Returns: Nil while no waiting transfer may begin.
    mutating func next() -> Transfer? {
        for _ in 0..<turns.count {
            let origin = turns.removeFirst()
            guard var host = hosts[origin] else { continue }
            host.isInTurn = false
            guard host.running < maximumPerHost else {
                hosts[origin] = host
                continue
            }
            guard running < maximumTotal || host.running == 0 else {
                host.isInTurn = true
                turns.append(origin)
                hosts[origin] = host
                continue
            }
            // Abandoned transfers are skipped.
            var found: Transfer?
            while found == nil, !host.isEmpty {
                let transfer = host.take()
                if !transfer.isOver { found = transfer }
            }
            hosts[origin] = host
            if let found {
                begin(origin)
                return found
            }
            forgetIfUnused(origin)
        }
        return nil
    }

    /// Assigns a slot to a transfer that is not queued.
    mutating func begin(_ transfer: Transfer) { begin(transfer.origin) }

    /// Frees the slot of a finished transfer.
    mutating func end(_ transfer: Transfer) {
        running -= 1
        hosts[transfer.origin]?.running -= 1
        takeTurn(transfer.origin)
        forgetIfUnused(transfer.origin)
    }

    /// Removes the transfers whose deadline has passed at `now`.
    mutating func expired(at now: ContinuousClock.Instant) -> [Transfer] {
        guard let earliest = earliestDeadline, earliest <= now else { return [] }
        var expired: [Transfer] = []
        var next: ContinuousClock.Instant?
        for (origin, host) in hosts where !host.isEmpty {
            var host = host
            let waiting = host.waiting[host.first...].filter { !$0.isOver }
            expired += waiting.filter { $0.deadline <= now }
            host.waiting = waiting.filter { $0.deadline > now }
            host.first = 0
            next = host.waiting.map(\.deadline).reduce(next) { min($0 ?? $1, $1) }
            hosts[origin] = host
        }
        // A search costs time in proportion to the queued transfers, so there is at most one in 50
        // ms.
        earliestDeadline = next.map { max($0, now + .milliseconds(50)) }
        return expired
    }

    /// When ``expired(at:)`` is to be called next; nil if nothing is queued.
    var nextExpiry: ContinuousClock.Instant? { earliestDeadline }

    /// Removes all waiting transfers.
    mutating func removeWaiting() -> [Transfer] {
        defer {
            hosts = [:]
            turns = []
            earliestDeadline = nil
        }
        return hosts.values.flatMap { $0.waiting[$0.first...] }
    }

    private mutating func begin(_ origin: String) {
        running += 1
        hosts[origin, default: Host()].running += 1
        takeTurn(origin)
    }

    private mutating func takeTurn(_ origin: String) {
        guard let host = hosts[origin], !host.isInTurn, !host.isEmpty, host.running < maximumPerHost
        else { return }
        hosts[origin]?.isInTurn = true
        turns.append(origin)
    }

    private mutating func forgetIfUnused(_ origin: String) {
        guard let host = hosts[origin], host.running == 0, host.isEmpty, !host.isInTurn else {
            return
        }
        hosts[origin] = nil
    }
}
