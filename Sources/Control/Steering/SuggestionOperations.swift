package import Outbox
package import Posts

/// A decision of a person about one suggestion.
package protocol SuggestionOperation: PersonOperation where Outcome == SuggestionDecision {
    /// The decision that the operation makes.
    static var decision: SuggestionDecision.Decision { get }
    /// The suggestion's id, or its beginning.
    var id: String { get }

    init(id: String)
}

extension SuggestionOperation {
    package func perform(at desk: Desk, seen: Seen?) async throws -> SuggestionDecision {
        try await SuggestionReview(mirror: desk.mirror).decide(
            Self.decision, about: id, seen: seen, now: desk.now)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SuggestionDecision? {
        try await SuggestionReview(mirror: desk.mirror).earlierDecision(Self.decision, about: id)
    }
}

/// Approves a suggestion, so that the worker carries it out.
package struct ApproveSuggestion: SuggestionOperation {
    package static let name = "suggestion-approve"
    package static let decision = SuggestionDecision.Decision.approved
    package var id: String

    package init(id: String) { self.id = id }
}

/// Records that a person gave a suggested favorite themselves, on a network where the bot may not.
package struct NoteSuggestionDone: SuggestionOperation {
    package static let name = "suggestion-done"
    package static let decision = SuggestionDecision.Decision.done
    package var id: String

    package init(id: String) { self.id = id }
}

/// Dismisses a suggestion.
package struct DismissSuggestion: SuggestionOperation {
    package static let name = "suggestion-dismiss"
    package static let decision = SuggestionDecision.Decision.dismissed
    package var id: String

    package init(id: String) { self.id = id }
}

/// Reopens a suggestion that a person dismissed.
package struct ReopenSuggestion: SuggestionOperation {
    package static let name = "suggestion-reopen"
    package static let decision = SuggestionDecision.Decision.reopened
    package var id: String

    package init(id: String) { self.id = id }
}

/// The outcome of a decision about a suggestion.
package struct SuggestionDecision: PersonOutcome {
    /// A person's decision about a suggestion.
    package enum Decision: String, Codable, Sendable {
        case approved
        /// A person favorited the post themselves.
        case done
        case dismissed
        /// The suggestion waits again.
        case reopened
    }

    package private(set) var schema = "mirror-bot/suggestion-decision/1"
    package let id: String
    package let kind: ActionKind
    package let decision: Decision
    /// False if the same decision was made before.
    package let isNew: Bool
    /// The person of the suggestion; `nil` for a post.
    package let person: ReportedPerson?
    /// Why the decision was not learned; nil if it was, or is not to be learned.
    package let notLearned: String?
    package let wayBack: WayBack?

    init(
        _ action: Action, _ decision: Decision, about person: ReportedPerson?, isNew: Bool = true,
        notLearned: String? = nil
    ) {
        id = action.id
        kind = action.kind
        self.decision = decision
        self.notLearned = notLearned
        self.isNew = isNew
        self.person = person
        wayBack =
            switch decision {
            case .approved, .done: nil
            case .dismissed:
                WayBack(ReopenSuggestion(id: action.id), "suggestions", "reopen", action.id)
            case .reopened:
                WayBack(DismissSuggestion(id: action.id), "suggestions", "dismiss", action.id)
            }
    }
}
