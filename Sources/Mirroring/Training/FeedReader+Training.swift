import Foundation
import Logging
import Networks
import Posts

/// Reading a feed for a training: first what is new, then further into the past, as far as the money reaches.
extension FeedReader {
    /// What a training asks for, and of whom.
    private struct Order: Sendable {
        let step: TrainingProgress.Step
        let limit: Int
        let budget: TrainingBudget
        let report: @Sendable (TrainingProgress) -> Void
    }

    /// Reads what is new and what is left of the past.
    ///
    /// - Parameters:
    ///   - step: What is read, for reports.
    ///   - limit: How many items are wanted from a feed that was never read.
    ///   - budget: What may be spent.
    ///   - report: Told the price before the first request.
    ///   - handle: Given the posts of one page, the newest first, and how many items there will be at most.
    /// - Returns: A sentence about what could not be read, and how to get it; nil if everything was.
    /// - Throws: ``NetworkError``; the store's error; what `handle` throws.
    func train(
        _ step: TrainingProgress.Step, limit: Int, budget: TrainingBudget,
        report: @escaping @Sendable (TrainingProgress) -> Void,
        _ handle: @escaping @Sendable ([ObservedPost], _ total: Int?) async throws -> Void
    ) async throws -> String? {
        let order = Order(step: step, limit: limit, budget: budget, report: report)
        let total = try await isUnread() ? limit : nil
        let page: Handler = { items, _ in
            try await handle(items, total)
            return []
        }
        do {
            try await announcePrice(order)
            if total == nil {
                let isPaid = try await mayRead(within: budget)
                guard isPaid, try await readNew(page, mayGoOn: { try await self.mayRead(within: budget) }) else {
                    return try await unpaid(order, left: try await left(order))
                }
            }
            return try await readPast(order, page)
        } catch let error as NetworkError where error.code == .overBudget {
            return try await unpaid(order, left: try await left(order) ?? total, until: error.retryAfter)
        }
    }

    /// How many items of the past are still wanted; nil if the past was read.
    private func left(_ order: Order) async throws -> Int? {
        try await past().map { min($0.remaining ?? order.limit, order.limit) }
    }

    /// Tells what the reading may cost, before the first request.
    private func announcePrice(_ order: Order) async throws {
        let items = try await isUnread() ? order.limit : try await left(order)
        guard let items, let price = gate.price(ofReading: items, from: feed) else { return }
        let state = try await order.budget.state(at: clock.now)
        order.report(
            TrainingProgress(
                step: order.step, done: 0, total: items,
                announcement: """
                    reading at most \(items) \(order.step.things) costs at most \(price); of this month's \
                    \(state.budget), \(state.left) is left for training
                    """))
    }

    /// Whether there is money for another page, where it costs any.
    func mayRead(within budget: TrainingBudget) async throws -> Bool {
        guard let price = gate.price(ofReading: 1, from: feed), price > .zero else { return true }
        return try await budget.state(at: clock.now).left > .zero
    }

    /// Reads into the past and says what is missing of it.
    ///
    /// A position that the network no longer knows ends that, or begins it anew where that is free.
    private func readPast(_ order: Order, _ handle: @escaping Handler) async throws -> String? {
        let stopped = try await past()
        do {
            return try await readOn(order, handle)
        } catch let error as NetworkError where error.code == .rejected && stopped != nil {
            guard try await past() == stopped else { throw error }
            guard gate.price(ofReading: 1, from: feed) == nil else {
                try await forgetPast()
                return """
                    older \(order.step.things) were not read, for \(gate.name.displayName) no longer knows where \
                    the last training stopped; to read everything anew, and pay for it, run the same command with --again
                    """
            }
            try await reset()
            return try await readOn(order, handle)
        }
    }

    private func readOn(_ order: Order, _ handle: @escaping Handler) async throws -> String? {
        let left = try await readBack(limit: order.limit, handle) { try await self.mayRead(within: order.budget) }
        return left > 0 ? try await unpaid(order, left: left) : nil
    }

    private func unpaid(_ order: Order, left: Int?, until: Date? = nil) async throws -> String {
        let state = try await order.budget.state(at: clock.now)
        let date = max(until ?? state.renews, clock.now).rfc3339.prefix(10)
        let what = left.map { "at most \($0) older \(order.step.things) were" } ?? "newer \(order.step.things) were"
        let network = gate.name.displayName
        // Within the month's money a day's share may be used up.
        let cause =
            state.left > .zero && until != nil
            ? "the budget for \(network) allows no more now"
            : "half of this month's budget for \(network), \(state.budget), is spent"
        return """
            \(what) not read, for \(cause); run the same command again after \(date), raise X_BUDGET_USD_PER_MONTH, or \
            train from a downloaded archive with --from
            """
    }
}

extension AccountGate {
    /// The gate of a command, where somebody waits for the answer.
    static func hasty(_ network: any SocialNetwork, clock: any WallClock) -> AccountGate {
        AccountGate(
            network, account: network.name.rawValue, patience: .none, now: { clock.now },
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
    }
}
