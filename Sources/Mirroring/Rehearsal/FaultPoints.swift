package import Favorites
import Foundation
package import Outbox

/// A point in the worker at which a rehearsal may kill or stop the process: between two writes to
/// the store.
package struct FaultPoint: Hashable, Sendable {
    /// The point's name in `REHEARSAL_FAULT`.
    package let name: String

    private init(_ name: String) { self.name = name }

    /// A day's plan is drawn and not stored.
    package static let planDrawn = FaultPoint("plan.drawn")
    package static let planStored = FaultPoint("plan.stored")
    /// The decision about a mention is stored, and the feed's cursor is not.
    package static let mentionDecided = FaultPoint("mention.decided")
    /// The decisions about a page of the bot's home timeline are stored, and the feed's cursor is
    /// not.
    package static let favoriteDecided = FaultPoint("favorite.decided")
    package static let cursorStored = FaultPoint("cursor.stored")
    package static let leaseTaken = FaultPoint("lease.taken")
    package static let leaseReleased = FaultPoint("lease.released")

    package static func delivery(_ step: DeliveryStep) -> FaultPoint {
        FaultPoint("delivery.\(step.rawValue)")
    }

    package static func upload(_ step: UploadStep) -> FaultPoint {
        FaultPoint("upload.\(step.rawValue)")
    }

    package static func learning(_ step: LearningStep) -> FaultPoint {
        FaultPoint("learning.\(step.rawValue)")
    }

    package static func undo(_ step: UndoStep) -> FaultPoint { FaultPoint("undo.\(step.rawValue)") }

    /// Every point, in the order of a worker's life.
    package static let all: [FaultPoint] =
        [leaseTaken, planDrawn, planStored, mentionDecided, favoriteDecided, cursorStored]
        + LearningStep.allCases.map(learning) + DeliveryStep.allCases.map(delivery)
        + UploadStep.allCases.map(upload) + UndoStep.allCases.map(undo) + [leaseReleased]
}

/// The fault points of this process, which do nothing unless a rehearsal sets a trap.
package struct FaultPoints: Sendable {
    /// No fault points.
    package static let none = FaultPoints(trap: nil)

    private let trap: FaultTrap?

    init(trap: FaultTrap?) { self.trap = trap }

    /// Called when the process reaches a point.
    package func pass(_ point: FaultPoint) { trap?.pass(point) }
}

/// A signal that the process sends to itself when it reaches a point for the n-th time.
final class FaultTrap: @unchecked Sendable {
    // Sendable because the variable is only touched under `lock`.
    private let point: FaultPoint
    private let signal: Int32
    private let lock = NSLock()
    private var passingsLeft: Int

    init(point: FaultPoint, signal: Int32, passing: Int) {
        self.point = point
        self.signal = signal
        passingsLeft = passing
    }

    /// Reads `kill@NAME#N` or `stop@NAME#N`; nil for any other text.
    convenience init?(_ text: String) {
        let signals = ["kill": SIGKILL, "stop": SIGSTOP]
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, let signal = signals[parts[0]] else { return nil }
        let place = parts[1].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        guard place.count == 2, let passing = Int(place[1]), passing > 0,
            let point = FaultPoint.all.first(where: { $0.name == place[0] })
        else { return nil }
        self.init(point: point, signal: signal, passing: passing)
    }

    func pass(_ passed: FaultPoint) {
        guard passed == point else { return }
        let isLastPassing = lock.withLock { () -> Bool in
            passingsLeft -= 1
            return passingsLeft == 0
        }
        if isLastPassing { kill(getpid(), signal) }
    }
}
