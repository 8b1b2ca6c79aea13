import Foundation
import Outbox

extension OutboxStore {
    /// The subjects that already have an action of this kind.
    func known(_ kind: ActionKind, among subjects: [String]) async throws -> Set<String> {
        try await standing(kind, among: subjects, since: .distantPast) { _ in }.known
    }
}
