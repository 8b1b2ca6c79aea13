import Foundation
import Settings

/// Limits the concurrent requests without a session, so that they do not delay those with one.
final class RequestShares: @unchecked Sendable {
    /// The limit for one address.
    static let limitPerAddress = 10
    /// The limit for all addresses of other machines together; this machine has a separate limit of
    /// the same size.
    static let limitForAll = 60

    // Sendable because the counts are only touched under `lock`.
    private let lock = NSLock()
    private var counts: [NetworkRange: Int] = [:]
    private var fromElsewhere = 0
    private var fromThisMachine = 0

    /// Counts a request; returns false if a limit is reached.
    ///
    /// - Parameter share: ``Caller/share``.
    func enter(_ share: NetworkRange?) -> Bool {
        lock.withLock {
            guard let share else {
                guard fromThisMachine < Self.limitForAll else { return false }
                fromThisMachine += 1
                return true
            }
            let count = counts[share] ?? 0
            guard count < Self.limitPerAddress, fromElsewhere < Self.limitForAll else {
                return false
            }
            counts[share] = count + 1
            fromElsewhere += 1
            return true
        }
    }

    /// Stops counting a request for which ``enter(_:)`` returned true.
    func leave(_ share: NetworkRange?) {
        lock.withLock {
            guard let share else {
                fromThisMachine -= 1
                return
            }
            fromElsewhere -= 1
            let remaining = (counts[share] ?? 1) - 1
            counts[share] = remaining == 0 ? nil : remaining
        }
    }
}

/// Limits the valid proofs that one address has requested, so that it cannot use up the mirror's
/// limit for all addresses.
///
/// This machine is exempt, because its users cannot be distinguished.
final class ProofShares: @unchecked Sendable {
    /// The limit of proofs for one address.
    static let limitPerAddress = 10
    /// The limit of proofs for one address and one account, so that nobody uses up the limit of
    /// another person's account.
    static let limitPerAccount = 2
    /// The limit of remembered addresses.
    static let maximumAddresses = 10_000

    private struct RequestedProof {
        let subject: String
        let requestedAt: Date
    }

    // Sendable because the list is only touched under `lock`.
    private let lock = NSLock()
    private var proofsByAddress: [NetworkRange: [RequestedProof]] = [:]

    /// Records a request for a proof; returns false if the limit is reached.
    ///
    /// - Parameters:
    ///   - share: ``Caller/share``.
    ///   - subject: The mirror and the account.
    ///   - lasts: The time for which a proof is valid, in seconds.
    func enter(
        _ share: NetworkRange?, for subject: String, lasts: TimeInterval, now: Date
    ) -> Bool {
        guard let share else { return true }
        return lock.withLock {
            if proofsByAddress.count >= Self.maximumAddresses, proofsByAddress[share] == nil {
                proofsByAddress = proofsByAddress.filter {
                    $0.value.contains { now < $0.requestedAt + lasts }
                }
                guard proofsByAddress.count < Self.maximumAddresses else { return false }
            }
            var proofs = (proofsByAddress[share] ?? []).filter { now < $0.requestedAt + lasts }
            let countForSubject = proofs.count { $0.subject == subject }
            guard proofs.count < Self.limitPerAddress, countForSubject < Self.limitPerAccount else {
                return false
            }
            proofs.append(RequestedProof(subject: subject, requestedAt: now))
            proofsByAddress[share] = proofs
            return true
        }
    }
}
