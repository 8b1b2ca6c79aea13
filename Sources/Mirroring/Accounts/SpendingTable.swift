package import Foundation
package import Networks
import Posts
import Settings
package import Storage

/// The stored cost of calls: one budget for both accounts, divided by ``MonthPlan``.
///
/// Each row of `spending` is the cost of the calls for one purpose in a month or on a day in UTC,
/// in millionths of a dollar.
package struct SpendingTable: SpendingBook {
    /// Days for which costs are kept.
    private static let daysKept = 40
    /// Seconds to wait if a call under way may return enough money.
    private static let callWait: TimeInterval = 60
    /// Days over which the daily cost of life is averaged, and the least number of days to divide
    /// by.
    private static let averagedDays = 28
    private static let fewestDays = 7

    private let storage: any StorageEngine
    private let mirror: String
    /// The monthly budget.
    package let budget: Money
    /// The maximum cost of home timelines per day.
    private let homeShare: Money
    /// Whether favorites are given or suggested.
    private let wantsFavorites: Bool
    private let underWay = CallsUnderWay()

    init(_ configuration: MirrorSettings, storage: any StorageEngine) {
        self.init(
            storage: storage, mirror: configuration.mirror, budget: configuration.monthlyBudget,
            homeShare: configuration.homeShare, wantsFavorites: configuration.favoriteMode != .off
        )
    }

    init(
        storage: any StorageEngine, mirror: String, budget: Money, homeShare: Money,
        wantsFavorites: Bool = true
    ) {
        self.storage = storage
        self.mirror = mirror
        self.budget = budget
        self.homeShare = homeShare
        self.wantsFavorites = wantsFavorites
    }

    package func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws
        -> Date?
    {
        guard amount > .zero else { return nil }
        let call = underWay.newNumber()
        var isReserved = false
        defer { if !isReserved { underWay.drop(call) } }
        let wait: Date? = try await storage.transaction { connection in
            // The body may run again.
            underWay.drop(call)
            let plan = try plan(at: now, for: purpose, on: connection)
            guard amount <= plan.left(for: purpose) else {
                var planWithoutOpenCalls = plan
                for (purpose, reserved) in underWay.amounts(at: now) {
                    planWithoutOpenCalls.pay(.zero - reserved, for: purpose)
                }
                let end = plan.nextChance(for: purpose, toPay: amount)
                return amount <= planWithoutOpenCalls.left(for: purpose)
                    ? min(now + Self.callWait, end) : end
            }
            let today = try amounts(in: .day(of: now), on: connection)
            if purpose.isHome {
                let spentOnHome = today.filter { $0.key.isHome }.values.reduce(.zero, +)
                guard spentOnHome + amount <= homeShare else {
                    let homeCalls = underWay.amounts(at: now).filter { $0.key.isHome }
                    let underWayOnHome = homeCalls.values.reduce(.zero, +)
                    let end = SpendingPeriod.day(of: now).end
                    return spentOnHome - underWayOnHome + amount <= homeShare
                        ? min(now + Self.callWait, end) : end
                }
            }
            if today[purpose] == nil { try removeDays(before: now, on: connection) }
            try add(amount, for: purpose, at: now, on: connection)
            // Registered inside the transaction, so that whoever reads the row knows of the call.
            underWay.begin(call, amount, for: purpose, at: now)
            return nil
        }
        isReserved = wait == nil
        return wait
    }

    package func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date)
        async throws
    {
        guard amount > .zero else { return }
        try await storage.transaction { try add(amount, for: purpose, at: reservedAt, on: $0) }
    }

    package func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date)
        async throws
    {
        defer { underWay.end(purpose, begun: reservedAt) }
        guard amount > .zero else { return }
        let periods = [SpendingPeriod.month(of: reservedAt), .day(of: reservedAt)].map(\.name)
        try await storage.execute(
            """
            UPDATE spending
            SET microdollars = CASE WHEN microdollars > \(amount.microdollars)
                THEN microdollars - \(amount.microdollars) ELSE 0 END
            WHERE mirror = \(mirror) AND period IN \(list: periods) AND purpose = \(purpose.label)
            """)
    }

    /// Reads the costs of the month of `now`.
    ///
    /// - Throws: The store's error.
    package func spending(at now: Date) async throws -> Spending {
        let month = SpendingPeriod.month(of: now)
        let purposes = try await storage.read { try amounts(in: month, on: $0) }
        let labels = purposes.filter { $0.value > .zero }.map { ($0.key.label, $0.value) }
        return Spending(
            month: month.name, budget: budget, total: purposes.values.reduce(.zero, +),
            byPurpose: Dictionary(uniqueKeysWithValues: labels), renews: month.end)
    }

    /// The division of the money of the month of `now`, including the spending so far.
    ///
    /// - Throws: The store's error.
    package func plan(at now: Date) async throws -> MonthPlan {
        // A purpose of learning, for which all parts of the plan are read.
        try await storage.read { try plan(at: now, for: .past(.ownPosts), on: $0) }
    }

    /// - Parameter purpose: The purpose to pay for; most purposes of life need no look at the other
    ///   parts.
    private func plan(
        at now: Date, for purpose: SpendingPurpose, on connection: any StorageConnection
    ) throws -> MonthPlan {
        var plan = MonthPlan(budget: budget, at: now, wanted: [])
        for (purpose, amount) in try amounts(in: .month(of: now), on: connection) {
            plan.pay(amount, for: purpose)
        }
        guard purpose.part != .life || purpose == .originals else { return plan }
        (plan.lifePerDay, plan.followingPerDay) = try lifePerDay(before: now, on: connection)
        plan.wanted = try FeedTable.trainingLeft(of: mirror, on: connection).wanted(
            favorites: wantsFavorites)
        return plan
    }

    /// Returns the recent cost of life per day, and the share of it that following took.
    private func lifePerDay(
        before now: Date, on connection: any StorageConnection
    ) throws -> (whole: Money, following: Money) {
        let today = LocalTime(now, in: .gmt).day
        let rows = try connection.query(
            """
            SELECT period, purpose, microdollars FROM spending
            WHERE mirror = \(mirror) AND LENGTH(period) > 7 AND period < \(today.description)
                AND period >= \(today.advanced(by: -Self.averagedDays).description)
            """)
        var life = Money.zero
        var following = Money.zero
        var first = today
        for row in rows {
            first = min(first, LocalDay(try row.text("period")) ?? today)
            let purpose = SpendingPurpose(label: try row.text("purpose"))
            let amount = Money(microdollars: try row.int("microdollars"))
            if purpose.part == .life { life = life + amount }
            if purpose == .originals { following = following + amount }
        }
        // The average of one or two days is not reliable.
        let number = max(Self.fewestDays, today.ordinal - first.ordinal)
        return (
            Money(microdollars: life.microdollars / number),
            Money(microdollars: following.microdollars / number)
        )
    }

    /// Reads the amounts spent in all months, by the label of a `SpendingPurpose`.
    ///
    /// `spending` is the only ledger, both of the total and of its parts.
    ///
    /// - Throws: The store's error.
    package func booked() async throws -> [String: Money] {
        // A month's name is shorter than a day's.
        let rows = try await storage.query(
            "SELECT purpose, microdollars FROM spending WHERE mirror = \(mirror) AND LENGTH(period) = 7"
        )
        return Dictionary(
            try rows.map {
                (try $0.text("purpose"), Money(microdollars: try $0.int("microdollars")))
            },
            uniquingKeysWith: +)
    }

    /// Returns the spending of some mirrors in the month of `now` and in all months, in one
    /// statement.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Returns: The spending by name of mirror; no entry for a mirror that spent nothing.
    /// - Throws: The store's error.
    package static func totals(
        of mirrors: [String], in storage: any StorageEngine, now: Date
    ) async throws -> [String: (month: Money, all: Money)] {
        // A month's name is shorter than a day's.
        let rows = try await storage.query(
            """
            SELECT mirror, CAST(SUM(microdollars) AS BIGINT) AS microdollars,
                CAST(SUM(CASE WHEN period = \(SpendingPeriod.month(of: now).name) THEN microdollars ELSE 0 END) AS BIGINT)
                    AS of_month
            FROM spending WHERE mirror IN \(list: mirrors) AND LENGTH(period) = 7 GROUP BY mirror
            """)
        return try rows.reduce(into: [:]) { totals, row in
            totals[try row.text("mirror")] = (
                Money(microdollars: try row.int("of_month")),
                Money(microdollars: try row.int("microdollars"))
            )
        }
    }

    /// Returns the cost of a period by purpose.
    private func amounts(
        in period: SpendingPeriod, on connection: any StorageConnection
    ) throws -> [SpendingPurpose: Money] {
        let rows = try connection.query(
            "SELECT purpose, microdollars FROM spending WHERE mirror = \(mirror) AND period = \(period.name)"
        )
        return Dictionary(
            try rows.map {
                (
                    SpendingPurpose(label: try $0.text("purpose")),
                    Money(microdollars: try $0.int("microdollars"))
                )
            }, uniquingKeysWith: +)
    }

    private func add(
        _ amount: Money, for purpose: SpendingPurpose, at now: Date,
        on connection: any StorageConnection
    ) throws {
        for period in [SpendingPeriod.month(of: now), .day(of: now)] {
            try connection.execute(
                """
                INSERT INTO spending (mirror, period, purpose, microdollars)
                VALUES (\(mirror), \(period.name), \(purpose.label), \(amount.microdollars))
                ON CONFLICT (mirror, period, purpose)
                DO UPDATE SET microdollars = spending.microdollars + excluded.microdollars
                """)
        }
    }

    private func removeDays(before now: Date, on connection: any StorageConnection) throws {
        let oldest = SpendingPeriod.day(of: now - Double(Self.daysKept) * 86_400).name
        // A month's name is shorter than a day's.
        try connection.execute(
            "DELETE FROM spending WHERE mirror = \(mirror) AND period < \(oldest) AND LENGTH(period) > 7"
        )
    }
}

/// The money reserved by unfinished calls of this process, some of which may be returned.
private final class CallsUnderWay: @unchecked Sendable {
    // Sendable because every access to `calls` holds the lock.
    /// Seconds after which a call that has not ended no longer reserves money.
    private static let longest: TimeInterval = 120

    private let lock = NSLock()
    private var calls: [(number: Int, amount: Money, purpose: SpendingPurpose, begun: Date)] = []
    private var lastNumber = 0

    /// Returns a number for a new call.
    func newNumber() -> Int {
        lock.withLock {
            lastNumber += 1
            return lastNumber
        }
    }

    func begin(_ number: Int, _ amount: Money, for purpose: SpendingPurpose, at now: Date) {
        lock.withLock {
            calls.removeAll { !Self.isUnderWay($0.begun, now) }
            calls.append((number, amount, purpose, now))
        }
    }

    /// Drops a call whose reservation failed.
    func drop(_ number: Int) { lock.withLock { calls.removeAll { $0.number == number } } }

    func end(_ purpose: SpendingPurpose, begun: Date) {
        lock.withLock {
            guard
                let index = calls.firstIndex(where: { $0.purpose == purpose && $0.begun == begun })
            else { return }
            calls.remove(at: index)
        }
    }

    /// The cost of calls, by purpose.
    func amounts(at now: Date) -> [SpendingPurpose: Money] {
        lock.withLock {
            Dictionary(
                calls.filter { Self.isUnderWay($0.begun, now) }.map { ($0.purpose, $0.amount) },
                uniquingKeysWith: +)
        }
    }

    private static func isUnderWay(_ begun: Date, _ now: Date) -> Bool {
        abs(now.timeIntervalSince(begun)) < longest
    }
}

extension SpendingPurpose {
    /// Whether the purpose reads a home timeline, whose daily share is a setting.
    fileprivate var isHome: Bool { self == .feed(.home) || self == .past(.home) }
}

/// The costs of a month so far.
package struct Spending: Sendable, Equatable {
    /// The month in UTC, such as `2026-11`.
    package var month: String
    package var budget: Money
    package var total: Money
    /// The costs by the label of a `SpendingPurpose`; purposes without a cost are left out.
    package var byPurpose: [String: Money]
    /// When the next month begins, with the whole budget.
    package var renews: Date

    /// The rest of the budget; zero if the budget was lowered below the amount spent.
    package var left: Money { max(budget - total, .zero) }
}

extension Spending {
    /// Creates the costs of the month of `now` without a breakdown by purpose.
    package init(at now: Date, budget: Money, total: Money) {
        let month = SpendingPeriod.month(of: now)
        self.init(
            month: month.name, budget: budget, total: total, byPurpose: [:], renews: month.end)
    }
}

/// A day or a month in UTC.
struct SpendingPeriod: Equatable {
    /// `2026-11-21` or `2026-11`.
    let name: String
    /// The beginning of the next month.
    let end: Date

    static func day(of now: Date) -> SpendingPeriod {
        let day = LocalTime(now, in: .gmt).day
        return SpendingPeriod(name: day.description, end: start(of: day.advanced(by: 1)))
    }

    static func month(of now: Date) -> SpendingPeriod {
        let today = LocalTime(now, in: .gmt).day
        // Day 32 counted from the first of a month is always one of the first four days of the next
        // month.
        let later = today.advanced(by: 32 - today.components.day)
        return SpendingPeriod(
            name: String(today.description.prefix(7)),
            end: start(of: later.advanced(by: 1 - later.components.day)))
    }

    private static func start(of day: LocalDay) -> Date {
        Date(timeIntervalSince1970: Double(day.ordinal) * 86_400)
    }
}

extension Money {
    /// The amount for JSON, where a reader expects dollars.
    package var dollars: Double { Double(microdollars) / 1_000_000 }
}
