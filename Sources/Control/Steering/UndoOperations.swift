package import Outbox
package import Posts

/// Notes that actions are to be taken back; what waits is kept from happening.
///
/// To delete what is on the network is left to a worker, or to who asked.
package struct AskUndo: PersonOperation {
    package static let name = "undo"
    /// Whole ids of actions.
    package var ids: [String]

    package init(ids: [String]) { self.ids = ids }

    package func perform(at desk: Desk, seen: Seen?) async throws -> UndoWishes {
        let answers = try await desk.outbox.askUndos(ids, seen: seen, now: desk.now)
        // What is leaving at this moment is known in a moment.
        if answers.values.contains(.remembered) {
            let asked = Set(ids)
            _ = try await LastWord(mirror: desk.mirror).wait { asked.contains($0.id) }
        }
        return UndoWishes(answers: answers)
    }
}

/// What became of wishes to take actions back.
package struct UndoWishes: PersonOutcome {
    package private(set) var schema = "mirror-bot/undo-wishes/1"
    /// By the actions' ids, those among them that go on from one that was named.
    package let answers: [String: UndoAnswer]

    init(answers: [String: UndoAnswer]) { self.answers = answers }
}

/// Lets the copies stay of what the human deleted or changed, about which the mirror asks.
package struct KeepProposed: PersonOperation {
    package static let name = "undo-keep"

    package init() {}

    package func perform(at desk: Desk, seen: Seen?) async throws -> KeptChange {
        KeptChange(kept: try await desk.outbox.keepProposed())
    }
}

/// How many copies stay.
package struct KeptChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/undo-kept/1"
    package let kept: Int

    init(kept: Int) { self.kept = kept }
}
