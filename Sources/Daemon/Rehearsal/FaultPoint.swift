import Favorites
import Outbox

/// A place in the worker at which a rehearsal may end or stop the process: where something is stored and the next thing
/// is not.
package struct FaultPoint: Hashable, Sendable {
    /// What `REHEARSAL_FAULT` calls it.
    package let name: String

    private init(_ name: String) { self.name = name }

    /// A day's plan is drawn and not stored.
    static let planDrawn = FaultPoint("plan.drawn")
    static let planStored = FaultPoint("plan.stored")
    /// The decision about a mention is stored, and the feed's cursor is not.
    static let mentionDecided = FaultPoint("mention.decided")
    /// The decisions about a page of the bot's home timeline are stored, and the feed's cursor is not.
    static let favoriteDecided = FaultPoint("favorite.decided")
    static let cursorStored = FaultPoint("cursor.stored")
    static let leaseTaken = FaultPoint("lease.taken")
    static let leaseReleased = FaultPoint("lease.released")

    static func delivery(_ step: DeliveryStep) -> FaultPoint { FaultPoint("delivery.\(step.rawValue)") }

    static func learning(_ step: LearningStep) -> FaultPoint { FaultPoint("learning.\(step.rawValue)") }

    /// Every point, in the order of a worker's life.
    package static let all: [FaultPoint] =
        [leaseTaken, planDrawn, planStored, mentionDecided, favoriteDecided, cursorStored]
        + LearningStep.allCases.map(learning) + DeliveryStep.allCases.map(delivery) + [leaseReleased]
}
