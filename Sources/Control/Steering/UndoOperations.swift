import Favorites
import Foundation
import Localization
package import Mirroring
package import Outbox
package import Posts

/// Requests to undo actions; waiting actions are cancelled.
///
/// A worker, or the caller, then deletes the sent ones at the network.
package struct AskUndo: PersonOperation {
    package static let name = "undo"
    /// The complete ids of actions.
    package var ids: [String]

    package init(ids: [String]) { self.ids = ids }

    package func perform(at desk: Desk, seen: Seen?) async throws -> UndoWishes {
        // A person who undoes very many actions at once does not judge the single texts, so no
        // label is stored.
        guard ids.count <= PersonLabel.mostAtOnce else {
            return try await ask(at: desk, seen: seen, storing: AskUndo.noLabel)
        }
        let label = desk.mirror.labelWriter(.takenBack, now: desk.now)
        return try await ask(at: desk, seen: seen, storing: label)
    }

    /// Stores no label with the undone actions.
    fileprivate static let noLabel: OutboxStore.Note = { _, _ in }

    /// - Parameter note: See `OutboxStore.askUndos(_:reason:seen:now:_:)`.
    fileprivate func ask(
        at desk: Desk, seen: Seen?, storing note: @escaping OutboxStore.Note
    ) async throws -> UndoWishes {
        let answers = try await desk.outbox.askUndos(ids, seen: seen, now: desk.now, note)
        // A new version wakes the worker's publisher, which may sleep for hours.
        try await desk.mirror.table.raiseVersion()
        // The outcome of requests in flight is known soon, so it is waited for.
        if answers.values.contains(.remembered) {
            let requestedIDs = Set(ids)
            _ = try await InFlightWait(mirror: desk.mirror).wait { requestedIDs.contains($0.id) }
        }
        return UndoWishes(answers: answers)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> UndoWishes? {
        let actions = try await desk.outbox.actions(withIDs: ids)
        guard !actions.isEmpty, actions.count == Set(ids).count,
            actions.values.allSatisfy({ $0.undo != nil })
        else {
            return nil
        }
        return UndoWishes(
            answers: actions.mapValues { $0.state == .skipped ? .withheld : $0.undoAnswer })
    }
}

/// Requests to undo everything that the bot did, as far as this database knows.
package struct AskUndoEverything: PersonOperation {
    package static let name = "undo-everything"
    /// The bot's handle, typed as a confirmation.
    package var bot: String

    package init(bot: String) { self.bot = bot }

    /// - Parameter seen: ``UndoOutlook/seen``, which is compared before the transactions that store
    ///   the requests.
    package func perform(at desk: Desk, seen: Seen?) async throws -> UndoWishes {
        let record = try await desk.mirror.table.record()
        guard record.isBotHandle(bot) else {
            throw ChangeRefusal(
                .unusable,
                localized(
                    "\"\(bot.prefix(60))\" is not the bot's handle, which is @\(record.botHandleToType)"
                )
            )
        }
        let undoing = Undoing(mirror: desk.mirror)
        if seen != nil { try seen.require(try await undoing.outlookOnEverything().seen) }
        let actions = try await undoing.actions(
            .everything, kinds: ActionKind.allCases, now: desk.now)
        return try await AskUndo(ids: actions.map(\.id)).ask(
            at: desk, seen: nil, storing: AskUndo.noLabel)
    }
}

extension MirrorRecord {
    /// The bot's handle, without `@`, that a person must type to undo everything.
    package var botHandleToType: String { botHandle ?? "bot" }

    /// Whether a person typed the bot's handle, with or without `@`, in upper or lower case.
    package func isBotHandle(_ typed: String) -> Bool {
        typed.trimmingCharacters(in: .whitespaces).drop { $0 == "@" }.lowercased()
            == botHandleToType.lowercased()
    }
}

/// The outcome of requests to undo actions.
package struct UndoWishes: PersonOutcome {
    package private(set) var schema = "mirror-bot/undo-wishes/1"
    /// The answers by the id of the action, including later parts of the named threads.
    package let answers: [String: UndoAnswer]

    init(answers: [String: UndoAnswer]) { self.answers = answers }
}

/// Keeps posts whose undo was proposed because the human deleted or edited the originals.
package struct KeepProposed: PersonOperation {
    package static let name = "undo-keep"
    /// The complete ids of the actions to keep; nil for all whose undo is proposed.
    package var ids: [String]?

    package init(ids: [String]? = nil) { self.ids = ids }

    /// - Parameter seen: The digest of the named actions; not used if no actions are named.
    package func perform(at desk: Desk, seen: Seen?) async throws -> KeptChange {
        KeptChange(kept: try await desk.outbox.rejectProposedUndos(ids, seen: seen))
    }
}

/// The number of kept copies.
package struct KeptChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/undo-kept/1"
    package let kept: Int

    init(kept: Int) { self.kept = kept }
}
