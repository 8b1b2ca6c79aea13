package import Outbox
package import Posts

/// Lets the worker do what it suggests.
package struct ApproveSuggestion: PersonOperation {
    package static let name = "suggestion-approve"
    /// The suggestion's id, or its beginning.
    package var id: String

    package init(id: String) { self.id = id }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SuggestionDecision {
        try await SuggestionReview(mirror: desk.mirror).approve(id, seen: seen, now: desk.now)
    }
}

/// Decides against what the worker suggests.
package struct DismissSuggestion: PersonOperation {
    package static let name = "suggestion-dismiss"
    /// The suggestion's id, or its beginning.
    package var id: String

    package init(id: String) { self.id = id }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SuggestionDecision {
        try await SuggestionReview(mirror: desk.mirror).dismiss(id, seen: seen, now: desk.now)
    }
}

/// Lets a suggestion wait again that a person decided against.
package struct ReopenSuggestion: PersonOperation {
    package static let name = "suggestion-reopen"
    /// The suggestion's id, or its beginning.
    package var id: String

    package init(id: String) { self.id = id }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SuggestionDecision {
        try await SuggestionReview(mirror: desk.mirror).reopen(id, seen: seen, now: desk.now)
    }
}

/// What became of a suggestion.
package struct SuggestionDecision: PersonOutcome {
    /// What a person decided.
    package enum Decision: String, Codable, Sendable {
        case approved
        case dismissed
        /// It waits again.
        case reopened
    }

    package private(set) var schema = "mirror-bot/suggestion-decision/1"
    package let id: String
    package let kind: ActionKind
    package let decision: Decision
    /// Why nothing was learned from it; nil if something was, or nothing is to be.
    package let notLearned: String?
    package let wayBack: WayBack?

    init(_ action: Action, _ decision: Decision, notLearned: String? = nil) {
        (id, kind, self.decision, self.notLearned) = (action.id, action.kind, decision, notLearned)
        wayBack =
            switch decision {
            case .approved: nil
            case .dismissed: WayBack(ReopenSuggestion.self, "suggestions", "reopen", action.id)
            case .reopened: WayBack(DismissSuggestion.self, "suggestions", "dismiss", action.id)
            }
    }
}
