/// The queued transfers, and the slots in use, by host.
///
/// Round robin by host: a free slot goes to the oldest transfer of the host whose turn is next. A
/// host gets at most ``maximumPerHost`` slots. Once ``maximumTotal`` slots are taken, only a host
/// without a slot gets one, so that hosts which do not answer delay only their own transfers. A
/// host is identified by its scheme, name and port.
struct TransferQueue {
    private struct Host {
        /// The number of slots in use.
        var runningCount = 0
        /// The queued transfers are those from `firstIndex` on; the earlier ones have left.
        var waiting: [Transfer] = []
        var firstIndex = 0
        /// Whether the host is in `turns`.
        var hasTurn = false

        var isEmpty: Bool { firstIndex == waiting.count }

        mutating func take() -> Transfer {
            defer {
                firstIndex += 1
                if firstIndex == waiting.count {
                    waiting = []
                    firstIndex = 0
                }
            }
            return waiting[firstIndex]
        }
    }

    private let maximumPerHost: Int
    private let maximumTotal: Int
    private var hosts: [String: Host] = [:]
    /// Hosts with queued transfers and a free slot of their own, the next turn first.
    private var turns: [String] = []
    /// The number of slots in use, by all hosts together.
    private var runningCount = 0
    /// The time of the next search for expired transfers: the earliest deadline of a queued
    /// transfer, but at least 50 ms after the last search for transfers that were queued then.
    private var nextSearch: ContinuousClock.Instant?

    init(maximumPerHost: Int, maximumTotal: Int) {
        self.maximumPerHost = max(1, maximumPerHost)
        self.maximumTotal = max(1, maximumTotal)
    }

    /// Queues a transfer behind the others of its host.
    mutating func add(_ transfer: Transfer) {
        nextSearch = min(nextSearch ?? transfer.deadline, transfer.deadline)
        hosts[transfer.origin, default: Host()].waiting.append(transfer)
        addTurn(transfer.origin)
    }

    /// Removes the transfer whose turn it is, and assigns it a slot.
    ///
    /// - Returns: Nil while no waiting transfer may begin.
    mutating func next() -> Transfer? {
        for _ in 0..<turns.count {
            let origin = turns.removeFirst()
            guard var host = hosts[origin] else { continue }
            host.hasTurn = false
            guard host.runningCount < maximumPerHost else {
                hosts[origin] = host
                continue
            }
            guard runningCount < maximumTotal || host.runningCount == 0 else {
                host.hasTurn = true
                turns.append(origin)
                hosts[origin] = host
                continue
            }
            // Abandoned transfers are skipped.
            var nextTransfer: Transfer?
            while nextTransfer == nil, !host.isEmpty {
                let transfer = host.take()
                if !transfer.isOver { nextTransfer = transfer }
            }
            hosts[origin] = host
            if let nextTransfer {
                begin(origin)
                return nextTransfer
            }
            forgetIfUnused(origin)
        }
        return nil
    }

    /// Assigns a slot to a transfer that is not queued.
    mutating func begin(_ transfer: Transfer) { begin(transfer.origin) }

    /// Frees the slot of a finished transfer.
    mutating func end(_ transfer: Transfer) {
        runningCount -= 1
        hosts[transfer.origin]?.runningCount -= 1
        addTurn(transfer.origin)
        forgetIfUnused(transfer.origin)
    }

    /// Removes the transfers whose deadline has passed at `now`.
    mutating func expired(at now: ContinuousClock.Instant) -> [Transfer] {
        guard let nextSearch, nextSearch <= now else { return [] }
        var expired: [Transfer] = []
        var earliestDeadline: ContinuousClock.Instant?
        for (origin, host) in hosts where !host.isEmpty {
            var host = host
            let waiting = host.waiting[host.firstIndex...].filter { !$0.isOver }
            expired += waiting.filter { $0.deadline <= now }
            host.waiting = waiting.filter { $0.deadline > now }
            host.firstIndex = 0
            for deadline in host.waiting.map(\.deadline) {
                earliestDeadline = min(earliestDeadline ?? deadline, deadline)
            }
            hosts[origin] = host
        }
        // A search costs time in proportion to the queued transfers, so there is at most one in 50
        // ms.
        self.nextSearch = earliestDeadline.map { max($0, now + .milliseconds(50)) }
        return expired
    }

    /// The time at which to call ``expired(at:)`` next; nil if nothing is queued.
    var nextExpiry: ContinuousClock.Instant? { nextSearch }

    /// Removes all waiting transfers.
    mutating func removeWaiting() -> [Transfer] {
        defer {
            hosts = [:]
            turns = []
            nextSearch = nil
        }
        return hosts.values.flatMap { $0.waiting[$0.firstIndex...] }
    }

    private mutating func begin(_ origin: String) {
        runningCount += 1
        hosts[origin, default: Host()].runningCount += 1
        addTurn(origin)
    }

    private mutating func addTurn(_ origin: String) {
        guard let host = hosts[origin], !host.hasTurn, !host.isEmpty,
            host.runningCount < maximumPerHost
        else { return }
        hosts[origin]?.hasTurn = true
        turns.append(origin)
    }

    private mutating func forgetIfUnused(_ origin: String) {
        guard let host = hosts[origin], host.runningCount == 0, host.isEmpty, !host.hasTurn else {
            return
        }
        hosts[origin] = nil
    }
}
