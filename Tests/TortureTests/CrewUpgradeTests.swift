import Testing

@testable import Torture

@Suite struct CrewUpgradeTests {
    private func plans(_ count: Int, seed: UInt64 = 1) -> [CrewUpgrade] {
        (1...count).map { CrewUpgrade(number: $0, seed: seed) }
    }

    @Test func theSeedDecidesEverything() {
        #expect(plans(20) == plans(20))
        #expect(plans(20) != plans(20, seed: 2))
    }

    @Test func everythingHasItsTurnInTwentyUpgrades() {
        let plans = plans(20)
        for order in CrewUpgrade.Order.allCases { #expect(plans.count { $0.order == order } == 5) }
        #expect(Set(plans.map(\.migrations)) == [1, 2, 3])
        #expect(Set(plans.map { $0.killsMigrationAfter == nil }) == [true, false])
        #expect(Set(plans.map(\.killsOld)) == [true, false])
        #expect(Set(plans.map(\.killsNew)) == [true, false])
    }
}
