package import Foundation
import Posts
import Storage

/// Continuing threads: each part is an action, created when the previous part is confirmed.
///
/// The remaining parts are stored with the last action of the thread and move on with each part, so
/// that a restart continues it. No part has an action before its turn; a thread that has not begun
/// is one slot.
extension OutboxStore {
    /// Creates actions for the next parts of threads whose previous part is confirmed, and ends
    /// threads that cannot continue.
    ///
    /// A thread is published completely or not at all: if it ends early, except by a person, all
    /// its parts are undone, including one that turns out later to have been published.
    ///
    /// - Parameters:
    ///   - now: The due time of the next parts.
    ///   - grace: The tolerated delay in seconds.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func continueThreads(now: Date, grace: TimeInterval) async throws -> [Action] {
        // Usually there is nothing to do, and reading takes no lock.
        guard try await !actions(where: Self.hasPartsToFollow, order: "id ASC", limit: 1).isEmpty
        else {
            return []
        }
        return try await write { connection in
            var newParts: [Action] = []
            for action in try actions(
                where: Self.hasPartsToFollow, order: "id ASC", limit: 100, on: connection)
            {
                if let part = action.nextPart(at: now, grace: grace, of: mirror),
                    try insert(part, on: connection)
                {
                    newParts.append(part)
                }
                if case .post(let slot, _) = action.payload, action.cutsThread {
                    for part in try parts(of: slot, on: connection) {
                        _ = try noteUndo(
                            part.id, reason: .threadCut, now: now, on: connection)
                    }
                }
                try connection.execute(
                    "\(Self.noting) rest = NULL WHERE mirror = \(mirror) AND id = \(action.id)")
            }
            try noteUses(by: newParts, on: connection)
            return newParts
        }
    }

    /// Condition: the action has ended in any state, and later parts of its thread are stored.
    static let hasPartsToFollow: SQL =
        "rest IS NOT NULL AND state IN ('done', 'undone', 'failed', 'skipped', 'expired')"

    /// Returns these actions and the later parts of their threads, which are undone with them.
    func withContinuations(_ ids: [String], on connection: any StorageConnection) throws -> [String]
    {
        var allIDs = ids
        for id in ids {
            guard let action = try action(id, on: connection),
                case .post(let slot, _) = action.payload
            else {
                continue
            }
            let laterParts = try parts(of: slot, on: connection).filter {
                $0.name.part > slot.part
            }
            allIDs += laterParts.map(\.id)
        }
        var includedIDs: Set<String> = []
        return allIDs.filter { includedIDs.insert($0).inserted }
    }

    /// Returns all actions of the thread that one of its slots belongs to.
    private func parts(
        of slot: Slot.Name, on connection: any StorageConnection
    ) throws -> [(name: Slot.Name, id: String)] {
        let first = Slot.Name(day: slot.day, number: slot.number)
        let parts = try actions(
            where: "kind = 'post' AND (subject = \("\(first)") OR subject LIKE \("\(first)/%"))",
            order: "id ASC",
            limit: 100, on: connection)
        return parts.compactMap { part in
            if case .post(let name, _) = part.payload { (name, part.id) } else { nil }
        }
    }
}

extension Action {
    /// Whether the action leaves its thread incomplete, and not because a person decided so.
    fileprivate var cutsThread: Bool {
        guard undo == nil, reason != .outbox(.byPerson), reason != .outbox(.forgotten) else {
            return false
        }
        return state == .failed || (state != .done && parent != nil)
    }

    /// Makes the action of the next part: planned, or skipped if this part will not be published.
    fileprivate func nextPart(at now: Date, grace: TimeInterval, of mirror: String) -> Action? {
        guard case .post(let slot, let wording?) = payload, let part = wording.rest.first else {
            return nil
        }
        var nextWording = part.wording
        nextWording.rest = Array(wording.rest.dropFirst())
        let isPublished = state == .done && undo == nil && remoteAddress != nil
        if !isPublished { nextWording.rest = [] }
        // The first part ends a thread only if it was sent; otherwise there is no thread to end.
        guard isPublished || parent != nil || state == .failed else { return nil }
        var intent = Intent(
            .post(slot.next, nextWording), state: isPublished ? .planned : .skipped, due: now,
            expires: now + grace,
            reason: isPublished ? nil : .outbox(.threadEnded),
            explanation: Explanation("goes on from \(slot)"))
        // The next part must not be replaced or delayed, because the thread has begun.
        intent.isPinned = true
        var action = Action(intent, of: mirror, at: now)
        if isPublished, let remoteID, let remoteAddress {
            action.parent = Parent(post: remoteID, address: remoteAddress)
        }
        return action
    }
}
