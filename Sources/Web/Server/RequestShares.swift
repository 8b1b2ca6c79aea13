import Foundation
import Settings

/// Limits how many requests without a session are answered at once, so that they do not hold up
/// those with one.
final class RequestShares: @unchecked Sendable {
    /// Of one address.
    static let ofAddress = 10
    /// Of all addresses of other machines; and of this machine.
    static let ofAll = 60

    // Sendable because the counts are only touched under `lock`.
    private let lock = NSLock()
    private var counts: [NetworkRange: Int] = [:]
    private var fromElsewhere = 0
    private var fromHere = 0

    /// Takes a place; false if there is none.
    ///
    /// - Parameter share: ``Caller/share``.
    func enter(_ share: NetworkRange?) -> Bool {
        lock.withLock {
            guard let share else {
                guard fromHere < Self.ofAll else { return false }
                fromHere += 1
                return true
            }
            let count = counts[share] ?? 0
            guard count < Self.ofAddress, fromElsewhere < Self.ofAll else { return false }
            counts[share] = count + 1
            fromElsewhere += 1
            return true
        }
    }

    /// Gives the place back.
    func leave(_ share: NetworkRange?) {
        lock.withLock {
            guard let share else {
                fromHere -= 1
                return
            }
            fromElsewhere -= 1
            let rest = (counts[share] ?? 1) - 1
            counts[share] = rest == 0 ? nil : rest
        }
    }
}

/// Limits how many proofs one address asks for while their words are good, so that it does not use
/// up those of a mirror.
///
/// It does not hold for this machine, where nobody can be told from the others.
final class ProofShares: @unchecked Sendable {
    /// Proofs of one address.
    static let ofAddress = 10
    /// Proofs of one address for one account, so that it does not use up those of somebody else's.
    static let ofAccount = 2
    /// Limit of the addresses that are remembered.
    static let addresses = 10_000

    private struct Asked {
        let subject: String
        let at: Date
    }

    // Sendable because the list is only touched under `lock`.
    private let lock = NSLock()
    private var asked: [NetworkRange: [Asked]] = [:]

    /// Notes that a proof is asked for; false if it is one too many.
    ///
    /// - Parameters:
    ///   - share: ``Caller/share``.
    ///   - subject: The mirror and the account.
    ///   - lasts: For how long a proof counts, in seconds.
    func enter(
        _ share: NetworkRange?, for subject: String, lasts: TimeInterval, now: Date
    ) -> Bool {
        guard let share else { return true }
        return lock.withLock {
            if asked.count >= Self.addresses, asked[share] == nil {
                asked = asked.filter { $0.value.contains { now < $0.at + lasts } }
                guard asked.count < Self.addresses else { return false }
            }
            var proofs = (asked[share] ?? []).filter { now < $0.at + lasts }
            let ofAccount = proofs.count { $0.subject == subject }
            guard proofs.count < Self.ofAddress, ofAccount < Self.ofAccount else { return false }
            proofs.append(Asked(subject: subject, at: now))
            asked[share] = proofs
            return true
        }
    }
}
