import Foundation
import Posts

/// What a network remembers between calls.
final class XMemory: @unchecked Sendable {
    /// Which calls a refusal concerns.
    enum Scope: Hashable, Sendable {
        case everything
        case endpoint(XCall.Endpoint)
    }

    /// More bought things than this are not remembered; what is forgotten is counted twice, never too little.
    private static let maximumBought = 200_000
    /// More lost reads than this are not remembered, and stay paid.
    private static let maximumLost = 200

    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var verified: (account: Account, isProtected: Bool?)?
    private var level: String?
    private var pauses: [Scope: (error: NetworkError, since: Date)] = [:]
    private var boughtDay = 0
    private var bought: [String: Money] = [:]
    private var lost: [String: XPurse.Reservation] = [:]
    private var debts: [XPurse.Reservation] = []

    /// X's clock, as its answers tell it.
    let serverClock: ServerClock

    /// - Parameter uptime: Reads a clock that nobody sets, in seconds; nil for the system's.
    init(uptime: (@Sendable () -> TimeInterval)? = nil) { serverClock = ServerClock(uptime: uptime) }

    /// The account that the credentials belong to; nil before it is known.
    var account: Account? { lock.withLock { verified?.account } }

    /// Whether only followers see the account's posts; nil if that is not known.
    var isProtected: Bool? { lock.withLock { verified?.isProtected } }

    func keep(_ account: Account, isProtected: Bool?) {
        lock.withLock { verified = (account, isProtected) }
    }

    /// What X calls the reach of the credentials: `read`, `read-write`, `read-write-directmessages`.
    var accessLevel: String? {
        get { lock.withLock { level } }
        set { lock.withLock { level = newValue } }
    }

    // MARK: Pauses

    /// Lets no call of a kind be made before the error's ``NetworkError/retryAfter``.
    func pause(_ scope: Scope, for error: NetworkError, at now: Date) {
        lock.withLock { pauses[scope] = (error, now) }
    }

    /// Why no call may be made now; nil if one may.
    func pause(of endpoint: XCall.Endpoint, at now: Date) -> NetworkError? {
        lock.withLock {
            // A clock that was set back ends every pause: how long it still is would be anybody's guess.
            pauses = pauses.filter { _, pause in
                now >= pause.since && pause.error.retryAfter.map { now < $0 } ?? false
            }
            return (pauses[.everything] ?? pauses[.endpoint(endpoint)])?.error
        }
    }

    // MARK: Bought

    /// Buys things, of which X bills each once in a UTC day.
    ///
    /// - Parameters:
    ///   - prices: The price of each thing, by a name that no other thing has.
    ///   - time: When they were received.
    /// - Returns: What is to be paid beside what was paid on the same day.
    func buy(_ prices: [String: Money], at time: Date) -> Money {
        lock.withLock {
            let day = Self.day(of: time)
            if day != boughtDay {
                boughtDay = day
                bought = [:]
            }
            var sum = Money.zero
            for (name, price) in prices {
                let paid = bought[name] ?? .zero
                guard price > paid else { continue }
                sum = sum + (price - paid)
                if bought[name] != nil || bought.count < Self.maximumBought { bought[name] = price }
            }
            return sum
        }
    }

    /// The number of the day in UTC.
    static func day(of time: Date) -> Int { Int((time.timeIntervalSince1970 / 86_400).rounded(.down)) }

    /// Remembers what was taken for a read whose answer was lost.
    ///
    /// - Returns: What was taken before for the same read, and is no longer remembered.
    func lose(_ reservation: XPurse.Reservation, of call: XCall) -> XPurse.Reservation? {
        lock.withLock {
            guard let earlier = lost[call.reading] else {
                if lost.count < Self.maximumLost { lost[call.reading] = reservation }
                return nil
            }
            let isDearer = reservation.amount > earlier.amount || !earlier.isOfTheDay(of: reservation)
            lost[call.reading] = isDearer ? reservation : earlier
            return isDearer ? earlier : reservation
        }
    }

    /// What was taken for the same read when its answer was lost; it is no longer remembered.
    func find(_ call: XCall) -> XPurse.Reservation? {
        lock.withLock { lost.removeValue(forKey: call.reading) }
    }

    // MARK: Owed

    /// Remembers what calls cost beyond what was taken for them, and could not be written down.
    func owe(_ debt: XPurse.Reservation) { lock.withLock { debts.append(debt) } }

    /// Whether something is owed that nobody is about to write down.
    var hasDebts: Bool { lock.withLock { !debts.isEmpty } }

    /// What is owed, which is for the caller to write down.
    func takeDebts() -> [XPurse.Reservation] {
        lock.withLock {
            defer { debts = [] }
            return debts
        }
    }
}
