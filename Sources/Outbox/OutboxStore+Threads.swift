package import Foundation
import Posts
import Storage

/// Going on with threads: each part is an action of its own, made when the one before is known to be out.
///
/// What is still to be said stands with the part before and moves on with each: whatever dies in between, the next
/// worker finds it there, and no part has an action before its turn. A thread that has not begun is one slot.
extension OutboxStore {
    /// Makes actions of the next parts of threads whose part before is out, and ends those that cannot go on.
    ///
    /// A thread is said whole or not at all: of one that ends too soon, and not because a person wants it so, all parts are
    /// taken back, also one that turns out later to have arrived.
    ///
    /// - Parameters:
    ///   - now: When the next parts are due.
    ///   - grace: How long they may be late, in seconds.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func continueThreads(now: Date, grace: TimeInterval) async throws -> [Action] {
        // Nearly always there is nothing, and reading takes no lock.
        guard try await !actions(where: Self.mayGoOn, order: "id ASC", limit: 1).isEmpty else { return [] }
        return try await write { connection in
            var next: [Action] = []
            for action in try actions(where: Self.mayGoOn, order: "id ASC", limit: 100, on: connection) {
                if let part = action.nextPart(at: now, grace: grace, of: mirror), try insert(part, on: connection) {
                    next.append(part)
                }
                if case .post(let slot, _) = action.payload, action.cutsThread {
                    for part in try parts(of: slot, on: connection) {
                        _ = try noteUndo(part.id, reason: Action.Reason.threadCut, now: now, on: connection)
                    }
                }
                try connection.execute(
                    "UPDATE actions SET rest = NULL WHERE mirror = \(mirror) AND id = \(action.id)")
            }
            try noteUses(by: next, on: connection)
            return next
        }
    }

    /// What is over, however it ended, and has more to follow.
    static let mayGoOn: SQL = "rest IS NOT NULL AND state IN ('done', 'undone', 'failed', 'skipped', 'expired')"

    /// These actions, and what goes on from them: who takes a part of a thread back takes back what follows.
    func withContinuations(_ ids: [String], on connection: any StorageConnection) throws -> [String] {
        var all = ids
        for id in ids {
            guard let action = try action(id, on: connection), case .post(let slot, _) = action.payload else {
                continue
            }
            all += try parts(of: slot, on: connection).filter { $0.name.part > slot.part }.map(\.id)
        }
        var seen: Set<String> = []
        return all.filter { seen.insert($0).inserted }
    }

    /// All there is of a thread, by one of its parts.
    private func parts(
        of slot: Slot.Name, on connection: any StorageConnection
    ) throws -> [(name: Slot.Name, id: String)] {
        let first = Slot.Name(day: slot.day, number: slot.number)
        let parts = try actions(
            where: "kind = 'post' AND (subject = \("\(first)") OR subject LIKE \("\(first)/%"))", order: "id ASC",
            limit: 100, on: connection)
        return parts.compactMap { part in
            if case .post(let name, _) = part.payload { (name, part.id) } else { nil }
        }
    }
}

extension Action {
    /// Whether it leaves its thread incomplete, and no person wants it so.
    fileprivate var cutsThread: Bool {
        guard undo == nil, reason != Reason.byPerson, reason != Reason.forgotten else { return false }
        return state == .failed || (state != .done && parent != nil)
    }

    /// The action of the part after this one: to be sent, or skipped where this one is not out and to stay.
    fileprivate func nextPart(at now: Date, grace: TimeInterval, of mirror: String) -> Action? {
        guard case .post(let slot, let wording?) = payload, let part = wording.rest.first else { return nil }
        var said = part.wording
        said.rest = Array(wording.rest.dropFirst())
        let isOut = state == .done && undo == nil && remoteAddress != nil
        if !isOut { said.rest = [] }
        // What never left has nothing to end, and what is taken back says so itself.
        guard isOut || parent != nil || state == .failed else { return nil }
        var intent = Intent(
            .post(slot.next, said), state: isOut ? .planned : .skipped, due: now, expires: now + grace,
            reason: isOut ? nil : Reason.threadEnded,
            explanation: Explanation("goes on from \(slot)"))
        // Nothing else may take its place, and nothing of the human's holds it up: the thread is begun.
        intent.isPinned = true
        var action = Action(intent, of: mirror, at: now)
        if isOut, let remoteID, let remoteAddress {
            action.parent = Parent(post: remoteID, address: remoteAddress)
        }
        return action
    }
}
