package import Foundation
package import Logging

/// The number of requests that a server accepts from one address in a period, regardless of the
/// accounts.
package struct AddressLimit: Equatable, Sendable {
    package let count: Int
    /// The length of the period, in seconds.
    package let period: TimeInterval

    package init(count: Int, period: TimeInterval) {
        self.count = count
        self.period = period
    }
}

/// The limit by address against which one call counts.
package struct AddressCount: Sendable {
    package let limit: AddressLimit
    /// Identifies one of several limits of a host; empty for the one that all calls share.
    package var scope: String
    /// Whether the rate limit and the status 429 of an answer are about this limit, and not about a
    /// limit of the account.
    package var isAnnounced: Bool

    package init(limit: AddressLimit, scope: String = "", isAnnounced: Bool = true) {
        self.limit = limit
        self.scope = scope
        self.isAnnounced = isAnnounced
    }
}

/// The gates of the hosts that the mirrors of a process send requests to, one for each limit.
///
/// A request first passes the gate of its account, then the gate of its host. The module of each
/// network decides which servers count by address.
package final class HostGates: @unchecked Sendable {
    // Sendable because the variables are only touched under `lock`.
    private let lock = NSLock()
    private let logger: Logger?
    private var gates: [String: HostGate] = [:]
    private var addressLimits: [String: AddressLimit] = [:]
    /// The record of whether any of the hosts answers the process.
    package let reach = NetworkReach()

    /// - Parameter logger: Logs when a host stops all requests for a while; nil to log nothing.
    package init(logger: Logger? = nil) { self.logger = logger }

    /// Returns the gate of a host for calls that count against the same limit.
    func gate(of server: ServerAddress, _ count: AddressCount) -> HostGate {
        lock.withLock {
            let key = "\(server.base) \(count.scope)"
            if let gate = gates[key] { return gate }
            let gate = HostGate(host: server.host, limit: count.limit, logger: logger)
            gates[key] = gate
            return gate
        }
    }

    /// The limit of a host that a mirror has read; nil if the host counts by account, or if no
    /// mirror has read it.
    package func limit(of server: ServerAddress) -> AddressLimit? {
        lock.withLock { addressLimits[server.base] }
    }

    /// Stores for all mirrors the limit that a host's software has; nil if it counts by account.
    package func learn(_ limit: AddressLimit?, of server: ServerAddress) {
        lock.withLock { addressLimits[server.base] = limit }
    }
}

/// One host's limit by address, which the mirrors of a process share.
///
/// Requests of the last period are counted in slots of a thirtieth of it, so that the limit holds
/// wherever the server's own periods begin. Announced limits correct the count, because others may
/// use the same address.
///
/// Reads leave a tenth of the limit for changes. The share of a mirror is the rest of the limit
/// divided by the number of mirrors that wanted to make requests within a period, and at least
/// ``quantum``. A mirror that has used its share gets only requests that are not kept for the
/// others. For each other mirror the gate keeps as many requests as were refused to it in the last
/// period, at least ``quantum`` and at most the rest of its share. If there is not enough for all
/// mirrors below their share, they take turns: a refused mirror waits in a line, and in its turn it
/// may make up to ``quantum`` requests. The gate never sleeps: a refused caller gets the time to
/// ask again.
final class HostGate: @unchecked Sendable {
    // Sendable because every variable is only touched under `lock`.

    /// An instant on two clocks: the monotonic clock, which decides, and the callers' wall clock.
    struct Instant {
        /// A monotonic clock, in seconds.
        let uptime: TimeInterval
        let date: Date
    }

    /// Requests of the last period by slot, the oldest first.
    private struct Tally {
        private(set) var sum = 0
        private(set) var slots: [(slot: Int, count: Int)] = []

        mutating func add(_ number: Int, in slot: Int) {
            sum += number
            if slots.last?.slot == slot {
                slots[slots.count - 1].count += number
            } else {
                slots.append((slot, number))
            }
        }

        mutating func forget(before oldestSlot: Int) {
            let expiredSlots = slots.prefix { $0.slot < oldestSlot }
            sum -= expiredSlots.reduce(0) { $0 + $1.count }
            slots.removeFirst(expiredSlots.count)
        }
    }

    /// The requests that one mirror asked for and made.
    private struct Member {
        var asked = Tally()
        var used = Tally()
    }

    /// The place of a mirror in the line of mirrors that wait for their turn.
    private struct Place {
        let mirror: String
        /// The time at which the mirror loses its place because it did not return, by the monotonic
        /// clock.
        let end: TimeInterval
    }

    /// The requests that a mirror may still make in its turn.
    private struct Turn {
        var requestsLeft: Int
        let end: TimeInterval
    }

    /// Requests that a mirror may make in one turn: enough to read the new items of a feed.
    static let quantum = 4
    private static let slotsPerPeriod = 30
    /// The share of the limit that reads leave for changes.
    private static let reservedShare = 0.1
    /// Seconds after which an unused turn ends.
    private static let turnDuration: TimeInterval = 10
    /// Seconds for which a waiting mirror keeps its place after the time at which it may ask again.
    private static let placeGracePeriod: TimeInterval = 120

    private let host: String
    private let logger: Logger?
    private let slotLength: TimeInterval
    private let lock = NSLock()
    private var requestLimit: Int
    /// The number of the current slot.
    private var slot = Int.min
    /// The requests of all mirrors, and of others at the same address.
    private var total = Tally()
    private var members: [String: Member] = [:]
    /// The mirrors that wait for their turn, the next one first.
    private var line: [Place] = []
    /// For each mirror in its turn, the requests that it may still make.
    private var turns: [String: Turn] = [:]
    /// The time until which the server accepts no requests, by the monotonic clock.
    private var pausedUntil: TimeInterval?

    init(host: String, limit: AddressLimit, logger: Logger? = nil) {
        self.host = host
        self.logger = logger
        requestLimit = max(1, limit.count)
        slotLength = max(limit.period, 1) / Double(Self.slotsPerPeriod)
    }

    /// Records that a mirror wants to make a request, and counts the request if it may be made now.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether the call must not wait for others; then it is held back only while the
    ///     server accepts no requests.
    /// - Returns: Nil if the request may be made, else the time to ask again.
    func admit(_ mirror: String, isUrgent: Bool, at now: Instant) -> Date? {
        lock.withLock {
            advance(to: now.uptime)
            members[mirror, default: Member()].asked.add(1, in: slot)
            if let end = pausedUntil {
                guard end <= now.uptime else { return now.date + (end - now.uptime) }
                pausedUntil = nil
            }
            guard !isUrgent else {
                countRequest(of: mirror)
                return nil
            }
            let shortfall = shortfall(of: mirror)
            if shortfall > 0 {
                let wait = max(expiry(of: shortfall) - now.uptime, 1)
                joinLine(mirror, until: now.uptime + wait + Self.placeGracePeriod)
                return now.date + wait
            }
            takeTurn(mirror, at: now.uptime)
            countRequest(of: mirror)
            return nil
        }
    }

    /// Corrects the limit and the count with the server's announced limit.
    func note(_ announced: RateLimit, at now: Instant) {
        lock.withLock {
            advance(to: now.uptime)
            if let limit = announced.limit, limit > 0 { requestLimit = limit }
            guard let remaining = announced.remaining else { return }
            let requestsOfOthers = requestLimit - remaining - total.sum
            if requestsOfOthers > 0 { total.add(requestsOfOthers, in: slot) }
        }
    }

    /// Stops all requests until the server accepts them again.
    func pause(until end: Date, at now: Instant) {
        let isNew = lock.withLock { () -> Bool in
            let endUptime = now.uptime + end.timeIntervalSince(now.date)
            let formerEnd = pausedUntil ?? now.uptime
            guard endUptime > formerEnd else { return false }
            pausedUntil = endUptime
            let wasPaused = formerEnd > now.uptime
            return !wasPaused
        }
        guard isNew else { return }
        logger?.notice(
            "Host wants no requests from this address",
            metadata: ["host": "\(host)", "until": "\(end)"])
    }

    // MARK: Shares; all under the lock

    /// The number of counted requests that must expire before the mirror may make another; zero or
    /// less if it may make one now.
    private func shortfall(of mirror: String) -> Int {
        let requestsFree = Int(Double(requestLimit) * (1 - Self.reservedShare)) - total.sum
        // In its turn, a mirror need not leave requests for others.
        if let turn = turns[mirror], turn.requestsLeft > 0 { return 1 - requestsFree }
        return 1 + reservedForOthers(than: mirror) - requestsFree
    }

    /// The number of requests that are kept for other mirrors.
    private func reservedForOthers(than mirror: String) -> Int {
        let mirrorsAhead = line.firstIndex { $0.mirror == mirror } ?? line.count
        var requestsLeftInTurns = 0
        for (name, turn) in turns where name != mirror { requestsLeftInTurns += turn.requestsLeft }
        let keptForLine = mirrorsAhead * Self.quantum + requestsLeftInTurns
        let share = share
        guard let made = members[mirror]?.used.sum, made >= share else { return keptForLine }
        var keptForShares = 0
        for (name, member) in members where name != mirror {
            let made = member.used.sum
            let expected = max(Self.quantum, member.asked.sum - made)
            keptForShares += max(0, min(share - made, expected))
        }
        return max(keptForLine, keptForShares)
    }

    /// The number of requests that each mirror may make in a period in any case.
    private var share: Int {
        max(
            Self.quantum,
            Int(Double(requestLimit) * (1 - Self.reservedShare)) / max(1, members.count))
    }

    /// Puts a mirror that is below its share at the end of the line, unless it is in the line.
    private func joinLine(_ mirror: String, until end: TimeInterval) {
        let requestsMade = members[mirror]?.used.sum ?? 0
        let isInLine = line.contains { $0.mirror == mirror }
        guard requestsMade < share, !isInLine else { return }
        line.append(Place(mirror: mirror, end: end))
    }

    /// Begins the turn of a mirror in the line, or subtracts a request from its turn.
    private func takeTurn(_ mirror: String, at uptime: TimeInterval) {
        if let index = line.firstIndex(where: { $0.mirror == mirror }) {
            line.remove(at: index)
            turns[mirror] = Turn(requestsLeft: Self.quantum - 1, end: uptime + Self.turnDuration)
        } else if let turn = turns[mirror] {
            turns[mirror] =
                turn.requestsLeft > 1
                ? Turn(requestsLeft: turn.requestsLeft - 1, end: turn.end) : nil
        }
    }

    // MARK: Counting; all under the lock

    private func countRequest(of mirror: String) {
        total.add(1, in: slot)
        members[mirror]?.used.add(1, in: slot)
    }

    /// Removes requests that are older than a period.
    private func advance(to uptime: TimeInterval) {
        line.removeAll { $0.end <= uptime }
        turns = turns.filter { $0.value.end > uptime }
        let currentSlot = Int((uptime / slotLength).rounded(.down))
        guard currentSlot > slot else { return }
        slot = currentSlot
        // A slot expires when its last instant is a period ago.
        let oldestSlot = slot - Self.slotsPerPeriod
        total.forget(before: oldestSlot)
        members = members.compactMapValues { member in
            var member = member
            member.used.forget(before: oldestSlot)
            member.asked.forget(before: oldestSlot)
            return member.asked.sum == 0 ? nil : member
        }
    }

    /// The time at which this number of requests will have expired, by the monotonic clock; a
    /// period from now if there are fewer.
    private func expiry(of number: Int) -> TimeInterval {
        var expiredCount = 0
        var lastSlot = slot
        for entry in total.slots {
            expiredCount += entry.count
            if expiredCount >= number {
                lastSlot = entry.slot
                break
            }
        }
        return Double(lastSlot + Self.slotsPerPeriod + 1) * slotLength
    }
}
