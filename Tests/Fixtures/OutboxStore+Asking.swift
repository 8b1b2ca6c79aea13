package import Foundation
package import Outbox

extension OutboxStore {
    /// The subjects that already have an action of this kind.
    package func known(_ kind: ActionKind, among subjects: [String]) async throws -> Set<String> {
        try await decisionFacts(kind, among: subjects, since: .distantPast) { _ in }.decided
    }

    /// What became of the wish to take one action back.
    package func askUndo(_ id: String, now: Date) async throws -> UndoAnswer {
        try await askUndos([id], now: now)[id] ?? .unknown
    }
}
