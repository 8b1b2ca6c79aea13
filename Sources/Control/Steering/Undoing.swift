package import Foundation
package import Mirroring
package import Outbox
import Posts

/// A person's undo requests and their outcomes.
package struct Undoing: Sendable {
    /// The selection of actions.
    package enum Scope: Equatable, Sendable {
        /// Named actions.
        case named([String])
        /// The action that was sent last.
        case last
        /// All actions sent at that time or later.
        case since(Date)
        case everything
        /// Actions with an earlier request to undo that is not completed.
        case requested
        /// Actions whose undo is proposed because the human deleted or edited the original posts.
        case proposed
    }

    /// The most actions in one request.
    private static let mostActions = 100_000

    let mirror: HumanMirror
    let store: OutboxStore

    package init(mirror: HumanMirror) {
        self.mirror = mirror
        store = mirror.outbox(lease: nil)
    }

    /// The selected actions, the latest first.
    ///
    /// - Parameters:
    ///   - scope: The selection.
    ///   - kinds: Only these kinds; not applied to named actions.
    ///   - now: Determines the day of a slot that is named without one.
    /// - Returns: The actions; named actions even if they cannot be undone.
    /// - Throws: ``ActionNameError``; the store's error.
    package func actions(_ scope: Scope, kinds: [ActionKind], now: Date) async throws -> [Action] {
        switch scope {
        case .named(let names): try await named(names, now: now)
        case .last:
            try await store.undoable(
                kinds, since: nil, onlyWithoutRequest: true, limit: 1)
        case .since(let start):
            try await store.undoable(kinds, since: start, limit: Self.mostActions)
        case .everything: try await store.undoable(kinds, since: nil, limit: Self.mostActions)
        case .proposed: try await store.proposedUndos().filter { kinds.contains($0.kind) }
        case .requested: try await store.wantedUndos().filter { kinds.contains($0.kind) }
        }
    }

    private func named(_ names: [String], now: Date) async throws -> [Action] {
        var selected: [Action] = []
        for name in names {
            let (action, isStored) = try await mirror.action(named: name, now: now)
            guard isStored else { throw ActionNameError.preview(name) }
            if !selected.contains(where: { $0.id == action.id }) { selected.append(action) }
        }
        return selected
    }

    /// Returns the outcomes of undo requests, as they are stored now.
    ///
    /// - Parameters:
    ///   - actions: The selected actions.
    ///   - answers: The answers to the requests, by action id; empty for earlier requests.
    /// - Returns: The receipt.
    /// - Throws: The store's error.
    package func receipt(
        for actions: [Action], answers: [String: UndoAnswer] = [:]
    ) async throws -> UndoReceipt {
        var receipt = UndoReceipt(mirror: mirror.name)
        let stored = try await store.actions(withIDs: actions.map(\.id))
        for action in actions.map({ stored[$0.id] ?? $0 }) {
            receipt.add(UndoReceipt.Item(action, answer: answers[action.id]))
        }
        return receipt
    }
}

/// The outcomes of a person's undo requests.
package struct UndoReceipt: Codable, Sendable {
    /// The result for one action, or its present state.
    package enum Result: String, Codable, CaseIterable, Sendable {
        case takenBack = "taken-back"
        /// The post was deleted, but the server still shows its text to anybody with the address.
        case stillShown = "still-shown"
        /// The post had been deleted before the request.
        case alreadyGone = "already-gone"
        /// The action had not happened, and was cancelled.
        case withheld
        /// The action was undone before.
        case already
        /// The next request is due later.
        case waiting
        /// The outcome of the action is still unknown.
        case unknown
        /// The network refuses to undo it.
        case refused
        /// The action did not happen.
        case nothing
        /// The action belongs to another account of the bot.
        case outOfReach = "out-of-reach"
    }

    /// One action.
    package struct Item: Codable, Sendable {
        package var id: String
        package var kind: ActionKind
        package var subject: String
        package var result: Result
        /// The last answer of the network, if it did not undo the action.
        package var cause: String?
        /// When the next request is due.
        package var next: Date?
        package var text: String?

        init(_ action: Action, answer: UndoAnswer?) {
            id = action.id
            kind = action.kind
            subject = action.subject
            text = action.text
            result = Result(action, answer: answer)
            guard [.waiting, .refused].contains(result) else { return }
            cause = action.undo?.outcome
            next = action.undo?.next
        }
    }

    package var schema = "mirror-bot/undo/1"
    package var mirror: String
    package var takenBack = 0
    package var stillShown = 0
    package var alreadyGone = 0
    package var withheld = 0
    package var already = 0
    package var waiting = 0
    package var unknown = 0
    package var refused = 0
    package var nothing = 0
    package var outOfReach = 0
    /// The number of effects of interrupted commands that were undone or completed.
    package var effects = 0
    /// The number of these effects that are retried later.
    package var openEffects = 0
    /// The number of these effects that the network refuses to undo or complete.
    package var refusedEffects = 0
    package var actions: [Item] = []

    init(mirror: String) { self.mirror = mirror }

    /// Whether no work is left.
    package var isComplete: Bool { waiting + unknown + openEffects == 0 }

    /// Adds the results for effects of interrupted commands.
    ///
    /// - Parameters:
    ///   - before: The number of effects before they were undone or completed.
    ///   - left: The effects that remain.
    package mutating func add(effects before: Int, left: [Effect]) {
        openEffects = left.count { $0.next != nil }
        refusedEffects = left.count - openEffects
        effects = max(0, before - left.count)
    }

    mutating func add(_ item: Item) {
        actions.append(item)
        switch item.result {
        case .takenBack: takenBack += 1
        case .stillShown: stillShown += 1
        case .alreadyGone: alreadyGone += 1
        case .withheld: withheld += 1
        case .already: already += 1
        case .waiting: waiting += 1
        case .unknown: unknown += 1
        case .refused: refused += 1
        case .nothing: nothing += 1
        case .outOfReach: outOfReach += 1
        }
    }
}

extension UndoReceipt.Result {
    fileprivate init(_ action: Action, answer: UndoAnswer?) {
        if answer == .already {
            self = .already
            return
        }
        switch action.state {
        case .undone:
            switch action.undo?.outcome {
            case Undo.gone?: self = .alreadyGone
            case Undo.shown?: self = .stillShown
            default: self = .takenBack
            }
        case .done where action.isOfAnotherAccount: self = .outOfReach
        case .done: self = action.undo?.next == nil ? .refused : .waiting
        case .sending: self = .unknown
        case .failed where action.undo?.next != nil: self = .unknown
        case .skipped where answer == .withheld: self = .withheld
        case .planned, .claimed, .suggested, .skipped, .expired, .failed: self = .nothing
        }
    }
}
