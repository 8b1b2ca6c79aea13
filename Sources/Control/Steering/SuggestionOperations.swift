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

/// Lets the worker do what it suggests.
package struct ApproveSuggestion: SuggestionOperation {
    package static let name = "suggestion-approve"
    package static let decision = SuggestionDecision.Decision.approved
    package var id: String

    package init(id: String) { self.id = id }
}

/// Notes that a person carried out a suggested favorite, where the network does not let the bot
/// give any.
package struct NoteSuggestionDone: SuggestionOperation {
    package static let name = "suggestion-done"
    package static let decision = SuggestionDecision.Decision.done
    package var id: String

    package init(id: String) { self.id = id }
}

/// Decides against what the worker suggests.
package struct DismissSuggestion: SuggestionOperation {
    package static let name = "suggestion-dismiss"
    package static let decision = SuggestionDecision.Decision.dismissed
    package var id: String

    package init(id: String) { self.id = id }
}

/// Lets a suggestion wait again that a person decided against.
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
        /// It waits again.
        case reopened
    }

    package private(set) var schema = "mirror-bot/suggestion-decision/1"
    package let id: String
    package let kind: ActionKind
    package let decision: Decision
    /// False if that was decided before.
    package let isNew: Bool
    /// The person that it is about; `nil` for a post.
    package let person: ReportedPerson?
    /// Why nothing was learned from it; nil if something was, or nothing is to be.
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
