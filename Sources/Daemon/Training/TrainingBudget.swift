package import Foundation
import Networks

/// How much of a month's money may be spent on training.
///
/// Half of it, so that what the bot does every day goes on. The last page may pass it by what one page costs.
package struct TrainingBudget: Sendable {
    private let spending: @Sendable (Date) async throws -> Spending

    /// - Parameter spending: What the month of an instant has cost so far.
    package init(_ spending: @escaping @Sendable (Date) async throws -> Spending) {
        self.spending = spending
    }

    init(_ table: SpendingTable) {
        self.init { try await table.spending(at: $0) }
    }

    /// What is left for training, and what that is part of.
    struct State {
        let budget: Money
        let left: Money
        /// When there is money again.
        let renews: Date
    }

    func state(at now: Date) async throws -> State {
        let spending = try await spending(now)
        let share = Money(microdollars: spending.budget.microdollars / 2)
        return State(budget: spending.budget, left: max(share - spending.total, .zero), renews: spending.renews)
    }
}
