package import Foundation
package import Networks
import Posts
import Storage

/// What calls have cost, kept in the mirror's `counters`, one budget for both accounts.
///
/// Each number is an amount in millionths of a dollar: what a month cost, what
/// it cost by purpose, and what a day cost by purpose.
package struct SpendingTable: SpendingBook {
    /// Days that are kept.
    private static let memory = 40

    private let storage: any StorageEngine
    private let mirror: String
    /// What a month may cost.
    package let budget: Money
    /// What home timelines may cost on a day.
    private let homeShare: Money

    init(_ configuration: MirrorConfiguration, storage: any StorageEngine) {
        self.init(
            storage: storage, mirror: configuration.mirror, budget: configuration.x.monthlyBudget,
            homeShare: configuration.x.homeShare)
    }

    init(storage: any StorageEngine, mirror: String, budget: Money, homeShare: Money) {
        self.storage = storage
        self.mirror = mirror
        self.budget = budget
        self.homeShare = homeShare
    }

    package func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws -> Date? {
        guard amount > .zero else { return nil }
        let names = SpendingNames(purpose, at: now)
        let dayShare = purpose == .feed(.home) ? homeShare : budget
        return try await storage.transaction { connection in
            let spent = try amounts(names.all, on: connection)
            guard spent[names.month, default: .zero] + amount <= budget else { return SpendingNames.nextMonth(now) }
            guard spent[names.purposeOfDay, default: .zero] + amount <= dayShare else {
                return SpendingNames.nextDay(now)
            }
            if spent[names.purposeOfDay] == nil { try removeDays(before: now, on: connection) }
            for name in names.all {
                try set(name, to: spent[name, default: .zero] + amount, on: connection)
            }
            return nil
        }
    }

    package func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        guard amount > .zero else { return }
        let names = SpendingNames(purpose, at: reservedAt).all
        try await storage.transaction { connection in
            let spent = try amounts(names, on: connection)
            for name in names {
                try set(name, to: spent[name, default: .zero] + amount, on: connection)
            }
        }
    }

    package func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        guard amount > .zero else { return }
        let names = SpendingNames(purpose, at: reservedAt).all
        try await storage.transaction { connection in
            for (name, spent) in try amounts(names, on: connection) {
                try set(name, to: max(spent - amount, .zero), on: connection)
            }
        }
    }

    /// What the month of `now` has cost.
    ///
    /// - Throws: The store's error.
    package func spending(at now: Date) async throws -> Spending {
        let prefix = SpendingNames.month(now)
        let rows = try await storage.query(
            "SELECT name, value FROM counters WHERE mirror = \(mirror) AND name LIKE \(prefix + "%")")
        var (total, purposes) = (Money.zero, [String: Money]())
        for row in rows {
            let (name, amount) = (try row.text("name"), Money(microdollars: try row.int("value")))
            if name == prefix { total = amount } else { purposes[String(name.dropFirst(prefix.count + 1))] = amount }
        }
        return Spending(
            month: String(prefix.dropFirst(SpendingNames.prefix.count)), budget: budget, total: total,
            byPurpose: purposes.filter { $0.value > .zero }, renews: SpendingNames.nextMonth(now))
    }

    private func amounts(_ names: [String], on connection: any StorageConnection) throws -> [String: Money] {
        let rows = try connection.query(
            "SELECT name, value FROM counters WHERE mirror = \(mirror) AND name IN \(list: names)")
        return Dictionary(
            try rows.map { (try $0.text("name"), Money(microdollars: try $0.int("value"))) },
            uniquingKeysWith: { first, _ in first })
    }

    private func set(_ name: String, to amount: Money, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(name), \(amount.microdollars))
            ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
            """)
    }

    private func removeDays(before now: Date, on connection: any StorageConnection) throws {
        let oldest = SpendingNames.day(now, daysAgo: Self.memory)
        try connection.execute(
            """
            DELETE FROM counters
            WHERE mirror = \(mirror) AND name LIKE \(SpendingNames.dayPrefix + "%") AND name < \(oldest)
            """)
    }
}

/// What a month has cost so far.
package struct Spending: Sendable, Equatable {
    /// As `2026-11`, in UTC.
    package var month: String
    package var budget: Money
    package var total: Money
    /// By the label of a ``SpendingPurpose``; only what cost something.
    package var byPurpose: [String: Money]
    /// When the budget is whole again.
    package var renews: Date

    /// What is left; nothing where the budget was lowered below what is spent.
    package var left: Money { max(budget - total, .zero) }
}

/// The names of the amounts that pay for a call, and the days and months behind them, in UTC.
struct SpendingNames {
    static let prefix = "x-spent-"
    static let dayPrefix = "x-spent-on-"

    /// `x-spent-2026-11`.
    let month: String
    /// `x-spent-2026-11/publish`.
    let purposeOfMonth: String
    /// `x-spent-on-2026-11-21/publish`.
    let purposeOfDay: String

    init(_ purpose: SpendingPurpose, at now: Date) {
        month = Self.month(now)
        purposeOfMonth = month + "/" + purpose.label
        purposeOfDay = Self.day(now) + "/" + purpose.label
    }

    var all: [String] { [month, purposeOfMonth, purposeOfDay] }

    static func month(_ now: Date) -> String { prefix + utcDay(now).description.prefix(7) }

    static func day(_ now: Date, daysAgo: Int = 0) -> String {
        dayPrefix + utcDay(now).advanced(by: -daysAgo).description
    }

    /// When the next day begins.
    static func nextDay(_ now: Date) -> Date { start(of: utcDay(now).advanced(by: 1)) }

    /// When the next month begins.
    static func nextMonth(_ now: Date) -> Date {
        let today = utcDay(now)
        // The 32nd of any month is one of the first four days of the next.
        let later = today.advanced(by: 32 - today.components.day)
        return start(of: later.advanced(by: 1 - later.components.day))
    }

    private static func utcDay(_ now: Date) -> LocalDay { LocalTime(now, in: .gmt).day }

    private static func start(of day: LocalDay) -> Date { Date(timeIntervalSince1970: Double(day.ordinal) * 86_400) }
}

extension Money {
    /// The largest amount that a setting may name, a million dollars.
    private static let most = 1_000_000

    /// The amount that a text such as `5` or `0.25` names.
    ///
    /// - Parameter text: Dollars in digits, with at most six after a point. Nothing else: no sign, no currency.
    init?(dollars text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber, (1...2).contains(parts.count), let whole = Int(String(decoding: parts[0], as: UTF8.self)),
            whole <= Self.most
        else { return nil }
        let fraction = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : "0"
        guard fraction.count <= 6, let millionths = Int(fraction + String(repeating: "0", count: 6 - fraction.count))
        else { return nil }
        self.init(microdollars: whole * 1_000_000 + millionths)
    }

    /// The amount for JSON, where a reader expects dollars.
    var dollars: Double { Double(microdollars) / 1_000_000 }
}
