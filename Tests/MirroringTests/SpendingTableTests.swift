import Expectations
import Fixtures
import Foundation
import Networks
import Storage
import Testing
import X

@testable import Mirroring

/// A budget that holds, whatever happens at the same time.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SpendingTableTests {
    private static let cent = Money(microdollars: 10_000)
    private static let november = MonthPlanTests.date("2026-11-21T12:00:00Z")

    private func table(
        _ mirror: HumanMirror, budget: Int = 100, homeShare: Int = 10, named name: String = "test"
    ) -> SpendingTable {
        SpendingTable(
            storage: mirror.storage, mirror: name, budget: Self.cent * budget,
            homeShare: Self.cent * homeShare)
    }

    private func spent(_ table: SpendingTable, at now: Date = november) async throws -> Money {
        try await table.spending(at: now).total
    }

    @Test(arguments: Engine.allCases) func paysUntilTheBudgetIsSpent(_ engine: Engine) async throws
    {
        let mirror = try await BareMirror(engine).open()
        let table = table(mirror)
        try await expect(
            table.reserve(Self.cent * 60, for: .publish, at: Self.november), equals: nil)
        try await expect(
            table.reserve(Self.cent * 40, for: .lookUp, at: Self.november), equals: nil)
        let refusal = try await table.reserve(
            Money(microdollars: 1), for: .publish, at: Self.november + 300)
        #expect(refusal == MonthPlanTests.date("2026-12-01T00:00:00Z"))
        try await expect(spent(table), equals: Self.cent * 100)
        // A refused amount costs nothing, and a new month is a new budget.
        let december = MonthPlanTests.date("2026-12-01T00:00:00Z")
        try await expect(table.reserve(Self.cent * 100, for: .publish, at: december), equals: nil)
        try await expect(table.spending(at: december).left, equals: .zero)
        // Another mirror in the same database has its own.
        let other = self.table(mirror, named: "other")
        try await expect(
            other.reserve(Self.cent * 100, for: .publish, at: Self.november), equals: nil)
    }

    @Test func refusesWhatNoMonthCanPay() async throws {
        let table = table(try await BareMirror().open(), budget: 0)
        try await expect(table.reserve(Self.cent, for: .publish, at: Self.november)) { $0 != nil }
        try await expect(table.reserve(.zero, for: .publish, at: Self.november), equals: nil)
        try await expect(table.reserve(Money(microdollars: .max), for: .publish, at: Self.november))
        { $0 != nil }
        try await expect(
            table.reserve(Money(microdollars: -5), for: .publish, at: Self.november), equals: nil)
        try await expect(spent(table), equals: .zero)
    }

    /// What is owed already is counted, whatever the budget holds.
    @Test(arguments: Engine.allCases) func countsWhatIsOwed(_ engine: Engine) async throws {
        let table = table(try await BareMirror(engine).open())
        try await expect(
            table.reserve(Self.cent * 99, for: .publish, at: Self.november), equals: nil)
        try await table.charge(Self.cent * 20, for: .publish, reservedAt: Self.november)
        try await table.charge(Money(microdollars: -5), for: .publish, reservedAt: Self.november)
        let spending = try await table.spending(at: Self.november)
        #expect(spending.total == Self.cent * 119)
        #expect(spending.left == .zero)
        #expect(spending.byPurpose == ["publish": Self.cent * 119])
    }

    @Test(arguments: Engine.allCases) func givesBackWhatWasNotSpent(_ engine: Engine) async throws {
        let table = table(try await BareMirror(engine).open())
        let late = MonthPlanTests.date("2026-11-30T23:59:59Z")
        try await expect(
            table.reserve(Self.cent * 100, for: .feed(.mentions), at: late), equals: nil)
        try await table.giveBack(Self.cent * 99, for: .feed(.mentions), reservedAt: late)
        try await expect(spent(table, at: late), equals: Self.cent)
        try await expect(table.spending(at: late).byPurpose, equals: ["mentions": Self.cent])
        // The month that paid gets it, though another has begun.
        try await expect(
            spent(table, at: MonthPlanTests.date("2026-12-01T00:00:01Z")), equals: .zero)
        // More than was reserved never makes money.
        try await table.giveBack(Self.cent * 50, for: .feed(.mentions), reservedAt: late)
        try await expect(spent(table, at: late), equals: .zero)
        try await table.giveBack(Self.cent, for: .publish, reservedAt: late)
        try await expect(table.spending(at: late).byPurpose) { $0.isEmpty }
        try await expect(table.reserve(Self.cent * 100, for: .publish, at: late), equals: nil)
    }

    @Test(arguments: Engine.allCases) func keepsHomeTimelinesToTheirShareOfADay(_ engine: Engine)
        async throws
    {
        let table = table(try await BareMirror(engine).open())
        try await expect(
            table.reserve(Self.cent * 9, for: .feed(.home), at: Self.november), equals: nil)
        let refusal = try await table.reserve(
            Self.cent * 2, for: .feed(.home), at: Self.november + 300)
        #expect(refusal == MonthPlanTests.date("2026-11-22T00:00:00Z"))
        try await expect(
            table.reserve(Self.cent, for: .feed(.home), at: Self.november), equals: nil)
        // Others are not held up by it.
        try await expect(
            table.reserve(Self.cent * 40, for: .feed(.mentions), at: Self.november), equals: nil)
        try await expect(spent(table), equals: Self.cent * 50)
        try await table.giveBack(Self.cent * 5, for: .feed(.home), reservedAt: Self.november)
        try await expect(
            table.reserve(Self.cent * 5, for: .feed(.home), at: Self.november), equals: nil)
        let tomorrow = MonthPlanTests.date("2026-11-22T00:00:00Z")
        try await expect(
            table.reserve(Self.cent * 10, for: .feed(.home), at: tomorrow), equals: nil)
        // The month comes first: its refusal lasts longer.
        try await expect(table.reserve(Self.cent * 40, for: .publish, at: tomorrow), equals: nil)
        let spent = try await table.reserve(Self.cent * 10, for: .feed(.home), at: tomorrow + 300)
        #expect(spent == MonthPlanTests.date("2026-12-01T00:00:00Z"))
    }

    /// What a call under way took may come back in a moment, and nobody waits for another month
    /// because of it.
    @Test(arguments: Engine.allCases) func waitsAMomentForWhatMayBeGivenBack(_ engine: Engine)
        async throws
    {
        let table = table(try await BareMirror(engine).open(), homeShare: 20)
        let now = Self.november
        let month = MonthPlanTests.date("2026-12-01T00:00:00Z")
        try await expect(table.reserve(Self.cent * 60, for: .feed(.mentions), at: now), equals: nil)
        try await expect(
            table.reserve(Self.cent * 60, for: .publish, at: now + 1), equals: now + 61)
        // More than the whole budget is never there.
        try await expect(table.reserve(Self.cent * 101, for: .publish, at: now + 1), equals: month)
        try await table.giveBack(Self.cent * 50, for: .feed(.mentions), reservedAt: now)
        try await expect(table.reserve(Self.cent * 60, for: .publish, at: now + 2), equals: nil)
        // A call that cost what it took is over, too.
        try await table.giveBack(.zero, for: .publish, reservedAt: now + 2)
        try await expect(table.reserve(Self.cent * 60, for: .publish, at: now + 3), equals: month)
        // So is one that nobody heard of again.
        try await expect(table.reserve(Self.cent * 20, for: .feed(.home), at: now + 4), equals: nil)
        try await expect(
            table.reserve(Self.cent * 20, for: .publish, at: now + 5), equals: now + 65)
        try await expect(table.reserve(Self.cent, for: .feed(.home), at: now + 6), equals: now + 66)
        try await expect(table.reserve(Self.cent * 20, for: .publish, at: now + 300), equals: month)
        try await expect(
            table.reserve(Self.cent, for: .feed(.home), at: now + 301),
            equals: MonthPlanTests.date("2026-11-22T00:00:00Z"))
    }

    static let boundaries: [(String, String, String)] = [
        ("2026-11-21T12:00:00Z", "2026-11-22", "2026-12-01"),
        ("2026-11-30T23:59:59.999Z", "2026-12-01", "2026-12-01"),
        ("2026-12-31T23:59:59Z", "2027-01-01", "2027-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-02", "2026-02-01"),
        ("2028-02-28T10:00:00Z", "2028-02-29", "2028-03-01"),
        ("2026-02-28T10:00:00Z", "2026-03-01", "2026-03-01"),
        ("2026-01-31T10:00:00Z", "2026-02-01", "2026-02-01"),
        ("2028-01-31T10:00:00Z", "2028-02-01", "2028-02-01"),
    ]

    @Test(arguments: boundaries) func countsDaysAndMonthsInUTC(
        _ now: String, _ day: String, _ month: String
    ) {
        #expect(
            SpendingPeriod.day(of: MonthPlanTests.date(now)).end
                == MonthPlanTests.date(day + "T00:00:00Z"))
        #expect(
            SpendingPeriod.month(of: MonthPlanTests.date(now)).end
                == MonthPlanTests.date(month + "T00:00:00Z"))
    }

    @Test func reportsAMonthByPurpose() async throws {
        let table = table(try await BareMirror().open())
        for (purpose, cents) in [
            (SpendingPurpose.publish, 3), (.feed(.home), 2), (.publish, 4), (.lookUp, 1),
        ] {
            try await expect(
                table.reserve(Self.cent * cents, for: purpose, at: Self.november), equals: nil)
        }
        let spending = try await table.spending(at: MonthPlanTests.date("2026-11-30T00:00:00Z"))
        #expect(
            spending
                == Spending(
                    month: "2026-11", budget: Self.cent * 100, total: Self.cent * 10,
                    byPurpose: [
                        "publish": Self.cent * 7, "home": Self.cent * 2, "look-up": Self.cent,
                    ],
                    renews: MonthPlanTests.date("2026-12-01T00:00:00Z")))
        #expect(spending.left == Self.cent * 90)
        let empty = try await table.spending(at: MonthPlanTests.date("2026-10-30T00:00:00Z"))
        #expect(empty.total == .zero)
        #expect(empty.byPurpose.isEmpty)
        #expect(empty.month == "2026-10")
    }

    @Test(arguments: Engine.allCases) func forgetsDaysButNotMonths(_ engine: Engine) async throws {
        let mirror = try await BareMirror(engine).open()
        let table = table(mirror, budget: 10_000)
        for day in 0..<100 {
            let now = Self.november + Double(day) * 86_400
            try await expect(table.reserve(Self.cent, for: .feed(.home), at: now), equals: nil)
        }
        let rows = try await mirror.storage.query(
            "SELECT period FROM spending WHERE mirror = 'test'")
        let periods = try rows.map { try $0.text("period") }
        #expect(periods.count { $0.count == 10 } == 41)
        #expect(periods.contains("2027-02-28"))
        #expect(!periods.contains("2026-11-21"))
        #expect(periods.contains("2026-11"))
    }

    /// Several processes, each with many calls at once, and an amount that fills the budget
    /// exactly.
    @Test(arguments: Engine.allCases) func neverOverspendsInParallel(_ engine: Engine) async throws
    {
        let bare = try await BareMirror(engine)
        var tables: [SpendingTable] = []
        for _ in 0..<3 { tables.append(table(try await bare.open(), budget: 90, homeShare: 20)) }
        let purposes: [SpendingPurpose] = [.publish, .feed(.home), .feed(.mentions), .lookUp]
        let granted = try await withThrowingTaskGroup(of: (SpendingPurpose, Bool).self) { group in
            for number in 0..<120 {
                let table = tables[number % 3]
                let purpose = purposes[number / 3 % 4]
                group.addTask {
                    (
                        purpose,
                        try await table.reserve(Self.cent, for: purpose, at: Self.november) == nil
                    )
                }
            }
            return try await group.reduce(into: [SpendingPurpose: Int]()) {
                $0[$1.0, default: 0] += $1.1 ? 1 : 0
            }
        }
        // 30 each wanted a cent: home timelines got their 20, and the other 90 shared what was left
        // of 90.
        #expect(granted[.feed(.home)] ?? 0 <= 20)
        #expect(granted.values.reduce(0, +) == 90)
        let spending = try await tables[0].spending(at: Self.november)
        #expect(spending.total == Self.cent * 90)
        #expect(
            spending.byPurpose
                == Dictionary(uniqueKeysWithValues: granted.map { ($0.label, Self.cent * $1) }))
    }

    @Test func losesNothingWhenItIsGivenBackInParallel() async throws {
        let bare = try await BareMirror(.postgres)
        let first = table(try await bare.open())
        let second = table(try await bare.open())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let table = number.isMultiple(of: 2) ? first : second
                group.addTask {
                    guard
                        try await table.reserve(Self.cent * 2, for: .publish, at: Self.november)
                            == nil
                    else {
                        return
                    }
                    try await table.giveBack(Self.cent, for: .publish, reservedAt: Self.november)
                }
            }
            try await group.waitForAll()
        }
        try await expect(spent(first), equals: Self.cent * 40)
    }

    /// What a dry run reads is paid for like anything else.
    @Test func countsWhatADryRunSpends() async throws {
        let mirror = try await BareMirror().open()
        let scratch = try await mirror.scratch()
        try await expect(
            scratch.spending.reserve(Self.cent, for: .lookUp, at: Self.november), equals: nil)
        await scratch.close()
        try await expect(spent(mirror.spending), equals: Self.cent)
        #expect(mirror.spending.budget == Money(microdollars: 5_000_000))
    }

    @Test func takesItsSharesFromTheSettings() async throws {
        let variables = ["X_BUDGET_USD_PER_MONTH": "0.50", "X_HOME_POSTS_PER_DAY": "2"]
        let table = try await BareMirror(variables: variables).open().spending
        let share = XPrices.current.price(ofReading: 2, from: .home)
        try await expect(table.reserve(share, for: .feed(.home), at: Self.november), equals: nil)
        try await expect(
            table.reserve(Money(microdollars: 1), for: .feed(.home), at: Self.november)
        ) { $0 != nil }
        try await expect(table.reserve(Self.cent * 50, for: .publish, at: Self.november)) {
            $0 != nil
        }
        let left = try await table.spending(at: Self.november).left
        #expect(left == Self.cent * 50 - share)
        try await expect(table.reserve(left, for: .publish, at: Self.november), equals: nil)
    }
}
