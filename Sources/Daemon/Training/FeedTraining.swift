import Foundation
import Networks
import Posts

/// Reads one feed for a training: first what is new, then further into the past, as far as the money reaches.
struct FeedTraining: Sendable {
    let reader: FeedReader
    let step: TrainingProgress.Step
    /// How many items are wanted from a feed that was never read.
    let limit: Int
    let budget: TrainingBudget
    let report: @Sendable (TrainingProgress) -> Void

    /// Reads what is new and what is left of the past.
    ///
    /// - Parameter handle: Given the posts of one page, the newest first, and how many items there will be at most.
    /// - Returns: A sentence about what could not be read, and how to get it; nil if everything was.
    /// - Throws: ``NetworkError``; the store's error; what `handle` throws.
    func read(_ handle: @escaping @Sendable ([ObservedPost], _ total: Int?) async throws -> Void) async throws
        -> String?
    {
        let total = try await reader.isUnread() ? limit : nil
        let page: @Sendable ([ObservedPost]) async throws -> Void = { try await handle($0, total) }
        do {
            try await announcePrice()
            if total == nil {
                let isPaid = try await mayPay()
                guard isPaid, try await reader.readNew(page, mayGoOn: { _ in try await mayPay() }) else {
                    return try await unpaid(left: try await left())
                }
            }
            return try await readBack(page)
        } catch let error as NetworkError where error.code == .overBudget {
            return try await unpaid(left: try await left() ?? total, until: error.retryAfter)
        }
    }

    /// How many items of the past are still wanted; nil if the past was read.
    private func left() async throws -> Int? { try await reader.past().map { min($0.left, limit) } }

    /// Tells what the reading may cost, before the first request.
    private func announcePrice() async throws {
        let items = try await reader.isUnread() ? limit : try await left()
        guard let items, let price = reader.network.price(ofReading: items, from: reader.feed) else { return }
        let state = try await budget.state(at: reader.clock.now)
        report(
            TrainingProgress(
                step: step, done: 0, total: items,
                announcement: """
                    reading at most \(items) \(step.things) costs at most \(price); of this month's \(state.budget), \
                    \(state.left) is left for training
                    """))
    }

    /// Whether another page may be asked for.
    private func mayPay() async throws -> Bool {
        guard let price = reader.network.price(ofReading: 1, from: reader.feed), price > .zero else { return true }
        return try await budget.state(at: reader.clock.now).left > .zero
    }

    /// Reads into the past and says what is missing of it.
    ///
    /// A position that the network no longer knows ends that, or begins it anew where that is free.
    private func readBack(
        _ handle: @escaping @Sendable ([ObservedPost]) async throws -> Void
    ) async throws -> String? {
        let stopped = try await reader.past()
        do {
            return try await readOn(handle)
        } catch let error as NetworkError where error.code == .rejected && stopped != nil {
            guard try await reader.past() == stopped else { throw error }
            guard reader.network.price(ofReading: 1, from: reader.feed) == nil else {
                try await reader.forgetPast()
                return """
                    older \(step.things) were not read, for \(reader.network.name.displayName) no longer knows where \
                    the last training stopped; to read everything anew, and pay for it, run the same command with --again
                    """
            }
            try await reader.cursors.clear(prefix: reader.name)
            return try await readOn(handle)
        }
    }

    private func readOn(_ handle: @escaping @Sendable ([ObservedPost]) async throws -> Void) async throws -> String? {
        let left = try await reader.readBack(limit: limit, handle) { try await mayPay() }
        return left > 0 ? try await unpaid(left: left) : nil
    }

    private func unpaid(left: Int?, until: Date? = nil) async throws -> String {
        let state = try await budget.state(at: reader.clock.now)
        let date = max(until ?? state.renews, reader.clock.now).rfc3339.prefix(10)
        let what = left.map { "at most \($0) older \(step.things) were" } ?? "newer \(step.things) were"
        // Within the month's money a day's share may be used up.
        let cause =
            state.left > .zero && until != nil
            ? "the budget for \(reader.network.name.displayName) allows no more now"
            : "half of this month's budget for \(reader.network.name.displayName), \(state.budget), is spent"
        return """
            \(what) not read, for \(cause); run the same command again after \(date), raise X_BUDGET_USD_PER_MONTH, or \
            train from a downloaded archive with --from
            """
    }
}
