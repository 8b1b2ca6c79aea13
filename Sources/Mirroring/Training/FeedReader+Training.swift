import Foundation
import Localization
import Logging
import Networks
import Posts
import Settings

/// Reads a feed for a training: first new items, then further into the past, as far as the money
/// allows.
extension FeedReader {
    /// The parameters of reading a feed for a training.
    private struct Order: Sendable {
        let step: TrainingProgress.Step
        let limit: Int
        let budget: TrainingBudget
        /// Whether older items are known already, and not wanted.
        let isEnough: @Sendable () -> Bool
        let report: @Sendable (TrainingProgress) -> Void
    }

    /// Reads new items and the rest of the past.
    ///
    /// If reading costs money, the wanted number is stored first, so that a worker continues where
    /// the money of this training ends.
    ///
    /// - Parameters:
    ///   - step: The step, for reports.
    ///   - limit: The number of wanted items of a feed that was never read.
    ///   - budget: The money that may be spent.
    ///   - isEnough: Called after each page if reading costs money; true ends the walk for good.
    ///   - report: Called with the price before the first request.
    ///   - handle: Handles the posts of one page, the newest first, with the most items that there
    ///     will be.
    /// - Returns: A sentence about items that could not be read, or `nil`; and the cost that is
    ///   left, or `nil` if reading is free.
    /// - Throws: ``NetworkError``; the store's error; the error of `handle`.
    func train(
        _ step: TrainingProgress.Step, limit: Int, budget: TrainingBudget,
        isEnough: @escaping @Sendable () -> Bool = { false },
        report: @escaping @Sendable (TrainingProgress) -> Void,
        _ handle: @escaping @Sendable ([ObservedPost], _ total: Int?) async throws -> Void
    ) async throws -> (missing: String?, price: TrainingPrice?) {
        let order = Order(
            step: step, limit: limit, budget: budget, isEnough: isEnough, report: report)
        if isPaid { try await wantPast(limit) }
        let items = try await itemsLeft(order)
        try await announcePrice(order, items: items)
        let missing = try await readAll(order, handle)
        return (missing, try await trainingPrice(order, itemsBefore: items))
    }

    private func readAll(
        _ order: Order,
        _ handle: @escaping @Sendable ([ObservedPost], _ total: Int?) async throws -> Void
    ) async throws -> String? {
        let total = try await isUnread() ? order.limit : nil
        let pageHandler: Handler = { items, _ in
            try await handle(items, total)
            return []
        }
        do {
            var isNewRead = true
            if total == nil { isNewRead = try await readWhatIsNew(order, pageHandler) }
            if let missing = try await readPast(order, pageHandler) { return missing }
            return isNewRead ? nil : try await sentenceOnUnpaid(order, left: nil)
        } catch let error as NetworkError where error.code == .overBudget {
            return try await sentenceOnUnpaid(
                order, left: try await itemsLeft(order), until: error.retryAfter)
        }
    }

    /// Reads new items; returns false if there is not enough money for all of them.
    private func readWhatIsNew(_ order: Order, _ page: @escaping Handler) async throws -> Bool {
        let mayGoOn: Permission = { try await self.mayRead(.feed(self.feed), within: order.budget) }
        guard try await mayGoOn() else { return false }
        do {
            return try await readNew(page, mayGoOn: mayGoOn)
        } catch let error as NetworkError where error.code == .overBudget {
            // The past is paid from another share.
            return false
        }
    }

    /// Whether reading the feed costs money.
    nonisolated var isPaid: Bool {
        guard let price = gate.price(ofReading: 1, from: feed) else { return false }
        return price > .zero
    }

    /// The number of items of the past still wanted; nil if the past was read.
    private func itemsLeft(_ order: Order) async throws -> Int? {
        if try await isUnread() { return order.limit }
        return try await past().map { min($0.remaining ?? order.limit, order.limit) }
    }

    /// Reports the maximum cost of the reading, before the first request.
    private func announcePrice(_ order: Order, items: Int?) async throws {
        guard let items, items > 0, let price = gate.price(ofReading: items, from: feed) else {
            return
        }
        let plan = try await order.budget.plan(at: clock.now)
        let things = order.step.things
        let left = plan.left(for: .past(feed)).cents
        let announcement =
            if let day = gate.name.descriptor.prices?.day {
                localized(
                    """
                    reading at most \(items) \(things) costs at most \(price.cents) at the prices of \(day); \
                    of this month's \(plan.budget.cents), \(left) is left for it
                    """)
            } else {
                localized(
                    """
                    reading at most \(items) \(things) costs at most \(price.cents); \
                    of this month's \(plan.budget.cents), \(left) is left for it
                    """)
            }
        order.report(
            TrainingProgress(
                step: order.step, done: 0, total: items, announcement: announcement))
    }

    /// Whether there is money for another page of the past, or reading is free.
    func mayRead(within budget: TrainingBudget) async throws -> Bool {
        try await mayRead(.past(feed), within: budget)
    }

    private func mayRead(_ purpose: SpendingPurpose, within budget: TrainingBudget) async throws
        -> Bool
    {
        guard isPaid, let price = gate.price(ofReading: TrainingLeft.smallestPage, from: feed)
        else { return true }
        return try await budget.plan(at: clock.now).left(for: purpose) >= price
    }

    /// Reads into the past; returns a sentence about what is missing.
    ///
    /// If the network no longer accepts the position, the walk ends, or starts over if reading is
    /// free.
    private func readPast(_ order: Order, _ handle: @escaping Handler) async throws -> String? {
        let pastBefore = try await past()
        do {
            return try await readPastWithinBudget(order, handle)
        } catch let error as NetworkError where error.code == .rejected && pastBefore != nil {
            guard try await past() == pastBefore else { throw error }
            guard !isPaid else {
                try await forgetPast()
                return localized(
                    """
                    older \(order.step.things) were not read, for \(gate.name.displayName) no longer knows where \
                    the last training stopped; \(order.step.command) --again reads everything anew, and pays for it
                    """)
            }
            try await reset()
            return try await readPastWithinBudget(order, handle)
        }
    }

    private func readPastWithinBudget(
        _ order: Order, _ handle: @escaping Handler
    ) async throws -> String? {
        let remaining = try await readBack(limit: order.limit, handle) {
            guard !order.isEnough() else { return false }
            return try await self.mayRead(within: order.budget)
        }
        if remaining > 0, order.isEnough() {
            try await forgetPast()
            return nil
        }
        return remaining > 0 ? try await sentenceOnUnpaid(order, left: remaining) : nil
    }

    // MARK: What is left

    /// The cost of the rest; nil if reading is free.
    private func trainingPrice(_ order: Order, itemsBefore items: Int?) async throws
        -> TrainingPrice?
    {
        guard isPaid, let price = gate.price(ofReading: items ?? 0, from: feed) else { return nil }
        let remaining = try await itemsLeft(order) ?? 0
        let outlook = remaining > 0 ? try await outlook(order, until: nil) : nil
        return TrainingPrice(
            what: order.step.rawValue, items: items ?? 0, dollars: price.dollars,
            itemsLeft: remaining,
            dollarsLeft: (gate.price(ofReading: remaining, from: feed) ?? .zero).dollars,
            monthsLeft: remaining > 0 ? outlook?.months : 0, goesOn: outlook?.date)
    }

    /// Returns the month's plan, the number of months that all trainings still take, and when a
    /// worker continues this one.
    private func outlook(
        _ order: Order, until: Date?
    ) async throws -> (plan: MonthPlan, months: Int?, date: Date) {
        let now = clock.now
        let plan = try await order.budget.plan(at: now)
        let trainingLeft = try await table.trainingLeft()
        let gate = gate
        let months = trainingLeft.months(by: plan, of: SpendingPurpose.past(feed).part) {
            gate.price(ofReading: $0, from: $1)
        }
        let nextChance = plan.nextChance(
            for: .past(feed),
            toPay: gate.price(ofReading: TrainingLeft.smallestPage, from: feed) ?? .zero)
        return (plan, months, max(until ?? nextChance, now))
    }

    /// The sentence about the items that are left, and that a worker reads them by itself.
    ///
    /// - Parameters:
    ///   - left: The number of items of the past, at most; nil if new items are left.
    ///   - until: When there is money again; nil for the time in the plan.
    private func sentenceOnUnpaid(
        _ order: Order, left: Int?, until: Date? = nil
    ) async throws -> String {
        let setting = gate.name.descriptor.prices?.budgetSetting ?? ""
        guard let left else {
            return localized(
                """
                newer \(order.step.things) were not read, for this month's share of \(setting) is spent; mirror-bot run \
                reads them by itself
                """)
        }
        let (plan, months, date) = try await outlook(order, until: until)
        let share = plan.share(of: SpendingPurpose.past(feed).part)
        // Within the month's money a day's share may be used up.
        let isOnlyDayShareSpent =
            plan.left(for: .past(feed)) > .zero && until != nil && until != plan.end
        let cause =
            isOnlyDayShareSpent
            ? localized("\(gate.name.displayName)'s share of today is spent")
            : localized(
                "this month's share for them, \(share.cents) of \(plan.budget.cents), is spent")
        let day = date.rfc3339.prefix(10)
        let command = order.step.command
        let outlookText =
            switch months {
            case nil:
                localized(
                    """
                    No month has money for them; raise \(setting), or read a downloaded archive, which costs nothing: \
                    \(command) --from ARCHIVE
                    """)
            case let months? where months <= 0:
                localized(
                    """
                    mirror-bot run reads them by itself from \(day) on; a higher \(setting) is \
                    faster, and a downloaded archive costs nothing: \(command) --from ARCHIVE
                    """)
            case 1:
                localized(
                    """
                    mirror-bot run reads them by itself from \(day) on, in about 1 month; a higher \(setting) is \
                    faster, and a downloaded archive costs nothing: \(command) --from ARCHIVE
                    """)
            case let months?:
                localized(
                    """
                    mirror-bot run reads them by itself from \(day) on, in about \(months) months; a higher \(setting) is \
                    faster, and a downloaded archive costs nothing: \(command) --from ARCHIVE
                    """)
            }
        let things = order.step.things
        guard let price = gate.price(ofReading: left, from: feed) else {
            return localized("at most \(left) older \(things) are left: \(cause). \(outlookText)")
        }
        return localized(
            """
            at most \(left) older \(things) are left and cost at most \(price.cents): \
            \(cause). \(outlookText)
            """)
    }
}

extension AccountGate {
    /// The gate of a command, whose user waits for the answer.
    static func hasty(_ network: any SocialNetwork, clock: any WallClock) -> AccountGate {
        AccountGate(
            network, account: network.name.rawValue, patience: .none, now: { clock.now },
            logger: Logger(label: "mirror-bot") { _ in SwiftLogNoOpLogHandler() })
    }
}
