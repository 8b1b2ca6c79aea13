package import Foundation

/// Keeps account of what calls cost, and refuses what the operator's budget does not hold.
///
/// Amounts are reserved before a call and corrected after it, so that a process that is killed in between counts too
/// much and never too little.
package protocol SpendingBook: Sendable {
    /// Takes an amount from the budget.
    ///
    /// - Parameters:
    ///   - amount: What the call costs at most.
    ///   - purpose: What it is for; purposes may have shares of their own.
    ///   - now: Decides which month and day pay for it, in UTC.
    /// - Returns: Nil if the amount is reserved; else when there may be enough again.
    /// - Throws: The store's error.
    func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws -> Date?

    /// Counts what a call cost beside what was reserved for it, whether or not the budget holds it: it is owed already.
    ///
    /// - Parameters:
    ///   - amount: What the call cost beyond its reservation.
    ///   - purpose: As when it was reserved.
    ///   - reservedAt: As when it was reserved.
    /// - Throws: The store's error.
    func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws

    /// Gives back what a reserved call did not cost.
    ///
    /// - Parameters:
    ///   - amount: At most what was reserved.
    ///   - purpose: As when it was reserved.
    ///   - reservedAt: As when it was reserved.
    /// - Throws: The store's error.
    func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws
}
