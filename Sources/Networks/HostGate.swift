import Foundation
package import Logging

/// How many requests a server takes from one address in a period, whichever accounts make them.
struct AddressLimit: Equatable, Sendable {
    let count: Int
    /// In seconds.
    let period: TimeInterval
}

/// How a server counts one call by the address that it comes from.
struct AddressCount: Sendable {
    let limit: AddressLimit
    /// Tells several limits of one host apart; empty for the one that all calls share.
    var scope = ""
    /// Whether the numbers and the 429 of the answer are those of this limit, and not of one of the
    /// account.
    var isAnnounced = true
}

/// The gates of the hosts that the mirrors of a process send requests to, one a limit.
///
/// They stand below the gates of all accounts. Which server counts by address is decided in the
/// folder of its network.
package final class HostGates: @unchecked Sendable {
    // Sendable because the variables are only touched under `lock`.
    private let lock = NSLock()
    private let logger: Logger?
    private var gates: [String: HostGate] = [:]
    private var learned: [String: AddressLimit] = [:]
    /// Whether any of the hosts answers the process.
    package let reach = NetworkReach()

    /// - Parameter logger: Told when a host stops all requests for a while; nil for nobody.
    package init(logger: Logger? = nil) { self.logger = logger }

    /// Returns the gate of a host for calls that are counted together.
    func gate(of server: ServerAddress, _ count: AddressCount) -> HostGate {
        lock.withLock {
            let key = "\(server.base) \(count.scope)"
            if let gate = gates[key] { return gate }
            let gate = HostGate(host: server.host, limit: count.limit, logger: logger)
            gates[key] = gate
            return gate
        }
    }

    /// The limit that a mirror has found out about a host; nil if the host counts by account, or
    /// none has asked.
    func limit(of server: ServerAddress) -> AddressLimit? { lock.withLock { learned[server.base] } }

    /// Keeps for all mirrors what the software of a host says about its limit; nil where it counts
    /// by account.
    func learn(_ limit: AddressLimit?, of server: ServerAddress) {
        lock.withLock { learned[server.base] = limit }
    }
}

/// One host's limit by address, which the mirrors of a process share.
///
/// Requests of the last period are counted in slots of a thirtieth of it, so that the limit holds
/// however the server places its own periods. What the server announces corrects the count: others
/// may use the same address.
///
/// Reads leave a tenth of the limit for changes. A mirror that has used its share of the rest (the
/// limit divided by the mirrors that asked within a period, at least ``quantum``) gets only what
/// the others do not need: each of them is kept as much of its share as it asked for in the last
/// period, at least ``quantum``. Where there is not enough for those below their share, they take
/// turns: who was refused waits in a line, and whose turn it is may make up to ``quantum``
/// requests. Nothing sleeps here: who must wait is told until when.
final class HostGate: @unchecked Sendable {
    // Sendable because every variable is only touched under `lock`.

    /// An instant, by the clock that decides and by the one that callers are told.
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

        mutating func forget(before oldest: Int) {
            let old = slots.prefix { $0.slot < oldest }
            sum -= old.reduce(0) { $0 + $1.count }
            slots.removeFirst(old.count)
        }
    }

    /// The requests that one mirror asked for and got.
    private struct Member {
        var asked = Tally()
        var used = Tally()
    }

    /// A mirror in the line.
    private struct Place {
        let mirror: String
        /// When the place is given up because the mirror did not come back, by the monotonic clock.
        let end: TimeInterval
    }

    /// The requests that a mirror may still make because it is its turn.
    private struct Turn {
        var left: Int
        let end: TimeInterval
    }

    /// Requests that a mirror may make in one turn: enough for a look at a feed.
    static let quantum = 4
    private static let slots = 30
    private static let reserve = 0.1
    /// Seconds after which an unused turn ends.
    private static let turnLasts: TimeInterval = 10
    /// Seconds after its time for which a mirror in the line keeps its place.
    private static let placeLasts: TimeInterval = 120

    private let host: String
    private let logger: Logger?
    private let slotLength: TimeInterval
    private let lock = NSLock()
    private var count: Int
    private var slot = Int.min
    /// The requests of all mirrors, and of others at the same address.
    private var total = Tally()
    private var members: [String: Member] = [:]
    private var line: [Place] = []
    private var turns: [String: Turn] = [:]
    /// Until when the server wants no requests, by the monotonic clock.
    private var pausedUntil: TimeInterval?

    init(host: String, limit: AddressLimit, logger: Logger? = nil) {
        self.host = host
        self.logger = logger
        count = max(1, limit.count)
        slotLength = max(limit.period, 1) / Double(Self.slots)
    }

    /// Counts a request of a mirror if it may be made now.
    ///
    /// - Parameters:
    ///   - isUrgent: True for what must not wait for others: it is only held back while the server
    ///     wants no requests.
    /// - Returns: Nil if the request may be made, else when to ask again.
    func admit(_ mirror: String, isUrgent: Bool, at now: Instant) -> Date? {
        lock.withLock {
            advance(to: now.uptime)
            members[mirror, default: Member()].asked.add(1, in: slot)
            if let end = pausedUntil {
                guard end <= now.uptime else { return now.date + (end - now.uptime) }
                pausedUntil = nil
            }
            guard !isUrgent else {
                charge(mirror)
                return nil
            }
            let lacking = lacking(to: mirror)
            if lacking > 0 {
                let wait = max(release(of: lacking) - now.uptime, 1)
                join(mirror, until: now.uptime + wait + Self.placeLasts)
                return now.date + wait
            }
            beginOrGoOn(mirror, at: now.uptime)
            charge(mirror)
            return nil
        }
    }

    /// Corrects the limit and the count by what the server announces.
    func note(_ announced: RateLimit, at now: Instant) {
        lock.withLock {
            advance(to: now.uptime)
            if let limit = announced.limit, limit > 0 { count = limit }
            guard let remaining = announced.remaining else { return }
            let others = count - remaining - total.sum
            if others > 0 { total.add(others, in: slot) }
        }
    }

    /// Stops all requests until the server wants some again.
    func pause(until end: Date, at now: Instant) {
        let isNew = lock.withLock { () -> Bool in
            let end = now.uptime + end.timeIntervalSince(now.date)
            guard end > pausedUntil ?? now.uptime else { return false }
            defer { pausedUntil = end }
            return pausedUntil.map { $0 <= now.uptime } ?? true
        }
        guard isNew else { return }
        logger?.notice(
            "Host wants no requests from this address",
            metadata: ["host": "\(host)", "until": "\(end)"])
    }

    // MARK: Shares; all under the lock

    /// How many requests would have to be forgotten for the mirror to make one; zero or less if it
    /// may.
    private func lacking(to mirror: String) -> Int {
        let room = Int(Double(count) * (1 - Self.reserve)) - total.sum
        if let turn = turns[mirror], turn.left > 0 { return 1 - room }
        return 1 + claims(before: mirror) - room
    }

    /// The requests that are kept for other mirrors.
    private func claims(before mirror: String) -> Int {
        let ahead = line.firstIndex { $0.mirror == mirror } ?? line.count
        let begun = turns.reduce(0) { $0 + ($1.key == mirror ? 0 : $1.value.left) }
        let waiting = ahead * Self.quantum + begun
        let share = share
        guard let used = members[mirror]?.used.sum, used >= share else { return waiting }
        let spared = members.reduce(0) { sum, member in
            let asked = member.value.asked.sum
            let used = member.value.used.sum
            return sum
                + (member.key == mirror
                    ? 0 : max(0, min(share - used, max(Self.quantum, asked - used))))
        }
        return max(waiting, spared)
    }

    /// The requests in a period that each mirror may make whatever the others do.
    private var share: Int {
        max(Self.quantum, Int(Double(count) * (1 - Self.reserve)) / max(1, members.count))
    }

    /// Puts a mirror that is below its share at the end of the line, unless it stands there.
    private func join(_ mirror: String, until end: TimeInterval) {
        guard members[mirror].map({ $0.used.sum < share }) ?? true,
            !line.contains(where: { $0.mirror == mirror })
        else {
            return
        }
        line.append(Place(mirror: mirror, end: end))
    }

    /// Begins the turn of a mirror that stands in the line, or takes a request off its turn.
    private func beginOrGoOn(_ mirror: String, at uptime: TimeInterval) {
        if let place = line.firstIndex(where: { $0.mirror == mirror }) {
            line.remove(at: place)
            turns[mirror] = Turn(left: Self.quantum - 1, end: uptime + Self.turnLasts)
        } else if let turn = turns[mirror] {
            turns[mirror] = turn.left > 1 ? Turn(left: turn.left - 1, end: turn.end) : nil
        }
    }

    // MARK: Counting; all under the lock

    private func charge(_ mirror: String) {
        total.add(1, in: slot)
        members[mirror]?.used.add(1, in: slot)
    }

    /// Forgets what is older than a period.
    private func advance(to uptime: TimeInterval) {
        line.removeAll { $0.end <= uptime }
        turns = turns.filter { $0.value.end > uptime }
        let present = Int((uptime / slotLength).rounded(.down))
        guard present > slot else { return }
        slot = present
        // A slot is forgotten when its last instant is a period ago.
        let oldest = slot - Self.slots
        total.forget(before: oldest)
        members = members.compactMapValues { member in
            var member = member
            member.used.forget(before: oldest)
            member.asked.forget(before: oldest)
            return member.asked.sum == 0 ? nil : member
        }
    }

    /// When so many requests will have been forgotten, by the monotonic clock; a period from now if
    /// there are not so many.
    private func release(of number: Int) -> TimeInterval {
        var sum = 0
        let slot = total.slots.first { entry in
            sum += entry.count
            return sum >= number
        }
        return Double((slot?.slot ?? self.slot) + Self.slots + 1) * slotLength
    }
}
