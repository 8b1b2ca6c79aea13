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

    package func outcomeIfDone(at desk: Desk) async throws -> SuggestionDecision? {
        try await SuggestionReview(mirror: desk.mirror).earlierDecision(.approved, about: id)
    }
}

/// Notes that a person carried out a suggested favorite, where the network does not let the bot give any.
package struct NoteSuggestionDone: PersonOperation {
    package static let name = "suggestion-done"
    /// The suggestion's id, or its beginning.
    package var id: String

    package init(id: String) { self.id = id }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SuggestionDecision {
        try await SuggestionReview(mirror: desk.mirror).noteDone(id, seen: seen, now: desk.now)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SuggestionDecision? {
        try await SuggestionReview(mirror: desk.mirror).earlierDecision(.done, about: id)
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

    package func outcomeIfDone(at desk: Desk) async throws -> SuggestionDecision? {
        try await SuggestionReview(mirror: desk.mirror).earlierDecision(.dismissed, about: id)
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

    package func outcomeIfDone(at desk: Desk) async throws -> SuggestionDecision? {
        try await SuggestionReview(mirror: desk.mirror).earlierDecision(.reopened, about: id)
    }
}

/// What became of a suggestion.
package struct SuggestionDecision: PersonOutcome {
    /// What a person decided.
    package enum Decision: String, Codable, Sendable {
        case approved
        /// A person favorited the post themselves.
        case done
        case dismissed
        /// It waits again.
        case reopened
    }

    package private(set) var schema = "mirror-bot/suggestion-decision/1"
    package let id: String
    package let kind: ActionKind
    package let decision: Decision
    /// False if that was decided before.
    package let isNew: Bool
    /// Whom it is about; nil for a post.
    package let person: ReportedPerson?
    /// Why nothing was learned from it; nil if something was, or nothing is to be.
    package let notLearned: String?
    package let wayBack: WayBack?

    init(
        _ action: Action, _ decision: Decision, about person: ReportedPerson?, isNew: Bool = true,
        notLearned: String? = nil
    ) {
        (id, kind, self.decision, self.notLearned) = (action.id, action.kind, decision, notLearned)
        (self.isNew, self.person) = (isNew, person)
        wayBack =
            switch decision {
            case .approved, .done: nil
            case .dismissed: WayBack(ReopenSuggestion.self, "suggestions", "reopen", action.id)
            case .reopened: WayBack(DismissSuggestion.self, "suggestions", "dismiss", action.id)
            }
    }
}
