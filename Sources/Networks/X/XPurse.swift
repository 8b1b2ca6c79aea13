import Foundation
import Posts

/// Pays for calls: takes their highest price from the budget before, and gives back after what they did not cost.
struct XPurse: Sendable {
    /// What was taken for one call.
    struct Reservation: Sendable {
        var amount: Money
        var purpose: SpendingPurpose
        var time: Date
    }

    let book: any SpendingBook
    let memory: XMemory
    let client: XClient

    /// Takes what a call costs at most.
    ///
    /// - Throws: ``NetworkError`` with code `.overBudget`, or `.unavailable` if the book cannot be written, or
    ///   `CancellationError`; nothing is taken then.
    func reserve(_ amount: Money, for purpose: SpendingPurpose, _ call: XCall) async throws -> Reservation {
        try await reserve(largest: [amount], for: purpose, call).reservation
    }

    /// Takes the first of some amounts that the budget holds, largest first.
    ///
    /// - Returns: Which of them it was, and what was taken.
    /// - Throws: As ``reserve(_:for:_:)``.
    func reserve(
        largest amounts: [Money], for purpose: SpendingPurpose, _ call: XCall
    ) async throws -> (index: Int, reservation: Reservation) {
        let now = client.now()
        var later: Date?
        for (index, amount) in amounts.enumerated() {
            do {
                later = try await book.reserve(amount, for: purpose, at: now)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw client.error(
                    call, .unavailable, outcome: .notSent, detail: "what the call costs could not be written down")
            }
            if later == nil { return (index, Reservation(amount: amount, purpose: purpose, time: now)) }
        }
        var error = client.error(
            call, .overBudget, outcome: .notSent,
            detail: "it costs up to \(amounts.last ?? .zero), which is more than is left of the budget")
        error.retryAfter = later
        throw error
    }

    /// Gives back what a reserved call did not cost.
    ///
    /// A book that cannot be written keeps the whole amount: too much is counted then, never too little.
    func settle(_ reservation: Reservation, cost: Money) async {
        if cost < reservation.amount {
            try? await book.giveBack(
                reservation.amount - cost, for: reservation.purpose, reservedAt: reservation.time)
        } else if cost > reservation.amount {
            // The thing is bought already, so a refusal changes nothing.
            _ = try? await book.reserve(
                cost - reservation.amount, for: reservation.purpose, at: reservation.time)
        }
    }

    /// Gives back what a call did not cost that ended with an error.
    ///
    /// X bills no failed request. A read whose answer was lost is made again, and what it cost is counted then: the same
    /// thing twice in a day is billed once. A write whose answer was lost may have happened and stays paid.
    func settle(_ reservation: Reservation, after error: any Error, _ call: XCall) async {
        // A cancelled call is lost too.
        let outcome = (error as? NetworkError)?.outcome ?? .unknown
        if outcome == .unknown, call.operation.isWrite { return }
        // A cancelled task could not write to the book.
        await Task { await settle(reservation, cost: .zero) }.value
    }
}
