import Foundation
import Outbox

/// What goes wrong in one history, drawn from its seed, and what has gone wrong so far.
final class Fate: @unchecked Sendable {
    /// What happens to a request or to the process that makes it.
    enum Trouble: String, CaseIterable, Sendable {
        case crash, lostRequest, lostAnswer, lateAct, pause
        case refusal, tooBusy, lookUpDown, databaseDown, commitLost
    }

    /// What became of something in all histories, to know that the model reaches it.
    struct Tally: Sendable {
        var troubles: [Trouble: Int] = [:]
        var crashes: [DeliveryStep: Int] = [:]
        var repeated = 0
        var leasesLost = 0
        var actions = 0
        var delivered = 0
        var expired = 0
        var unconfirmed = 0
        var sighted = 0

        mutating func add(_ other: Tally) {
            troubles.merge(other.troubles, uniquingKeysWith: +)
            crashes.merge(other.crashes, uniquingKeysWith: +)
            repeated += other.repeated
            leasesLost += other.leasesLost
            actions += other.actions
            delivered += other.delivered
            expired += other.expired
            unconfirmed += other.unconfirmed
            sighted += other.sighted
        }
    }

    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private var state: UInt64
    private var calm = false
    private var subject: String?
    private var bySubject: [String: [Trouble: Int]] = [:]
    private(set) var tally = Tally()

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678 }

    /// From now on nothing goes wrong.
    func calmDown() { lock.withLock { calm = true } }

    /// A number below `bound`, the same in every run of the history; SplitMix64.
    func draw(_ bound: Int) -> Int {
        lock.withLock {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
        }
    }

    /// Whether something goes wrong now, `percent` times in a hundred; it is then counted.
    func strikes(_ trouble: Trouble, _ percent: Int) -> Bool {
        let isHit = draw(100) < percent
        return lock.withLock {
            guard isHit, !calm else { return false }
            tally.troubles[trouble, default: 0] += 1
            if let subject { bySubject[subject, default: [:]][trouble, default: 0] += 1 }
            return true
        }
    }

    /// The action that is worked on, to which trouble is put down.
    func attend(to subject: String?) { lock.withLock { self.subject = subject } }

    func troubles(of subject: String) -> [Trouble: Int] {
        lock.withLock { bySubject[subject] ?? [:] }
    }

    func count(_ change: @Sendable (inout Tally) -> Void) { lock.withLock { change(&tally) } }
}
