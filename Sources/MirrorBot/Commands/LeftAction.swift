import Archive
import Foundation
import Mirroring
import Outbox
import Posts

/// An action whose request was under way when a person forbade it, and how it ended.
struct LeftAction: Encodable {
    let id: String
    let kind: ActionKind
    let subject: String
    let state: ActionState
    let text: String?

    init(_ action: Action) {
        (id, kind, subject, state, text) = (action.id, action.kind, action.subject, action.state, action.text)
    }

    /// One line for the person.
    var line: String {
        let end =
            switch state {
            case .done: "is out; mirror-bot undo \(id) takes it back"
            case .sending: "nobody knows yet whether it arrived; mirror-bot undo \(id) takes it back if it did"
            default: "did not arrive, and will not be sent"
            }
        let shown = text.map { ": \(Printable.line($0, columns: 50))" } ?? ""
        return Printable.line("\(kind.rawValue) \(id) was leaving already and \(end)") + shown
    }
}

extension HumanMirror {
    /// Waits for what is leaving for some accounts and those that are linked to them.
    ///
    /// - Throws: The store's error; `CancellationError`.
    func leaving(for accounts: [AccountID]) async throws -> [LeftAction] {
        var all: Set<AccountID> = []
        for account in accounts { all.formUnion(try await people.linked(to: account)) }
        return try await LastWord(mirror: self).wait { [all] in $0.target.map { all.contains($0.author) } ?? false }
            .map(LeftAction.init)
    }
}
