import Archive
import Favorites
package import Foundation
import Localization
package import Mirroring
import Networks
import Outbox
package import Posts
import Settings

/// A person's decisions about waiting suggestions.
///
/// A decision about a favorite is learned too: an approval as a favorite of the human, a dismissal
/// as a post that was seen. A decision about a post is a label of its text.
package struct SuggestionReview: Sendable {
    /// How long an approved suggestion may wait for the worker, in seconds.
    private static let approvalLifetime: TimeInterval = 24 * 3_600

    private let mirror: HumanMirror
    private let store: OutboxStore

    package init(mirror: HumanMirror) {
        self.mirror = mirror
        store = mirror.outbox(lease: nil)
    }

    /// Carries out a decision.
    ///
    /// - Parameter seen: The action's digest that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: As ``approve(_:seen:now:)``, ``noteDone(_:seen:now:)``, ``dismiss(_:seen:now:)``
    ///   and ``reopen(_:seen:now:)``.
    func decide(
        _ decision: SuggestionDecision.Decision, about id: String, seen: Seen?, now: Date
    ) async throws -> SuggestionDecision {
        switch decision {
        case .approved: try await approve(id, seen: seen, now: now)
        case .done: try await noteDone(id, seen: seen, now: now)
        case .dismissed: try await dismiss(id, seen: seen, now: now)
        case .reopened: try await reopen(id, seen: seen, now: now)
        }
    }

    /// Approves a suggestion, so that the worker carries it out.
    ///
    /// - Parameter seen: The suggestion's digest that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: `ChangeRefusal` if no such suggestion waits, and for a favorite where the network
    ///   or `FAVORITE_MODE` lets the bot give none; `SeenChanged`; the store's error.
    package func approve(_ id: String, seen: Seen? = nil, now: Date) async throws
        -> SuggestionDecision
    {
        let action = try await suggestion(id, in: .suggested, seen: seen)
        if action.kind == .favorite { try await requireFavorites(action) }
        let approved = try await store.approve(
            action.id, seen: seen, now: now, expires: now + Self.approvalLifetime,
            mirror.labelWriter(.kept, now: now))
        guard approved != nil else { throw notWaiting(id) }
        return try await decision(
            action, .approved,
            notLearned: try await learn(from: action, now: now) { .favorited($0) })
    }

    /// Records that a person favorited the post of a suggestion themselves.
    ///
    /// - Parameter seen: The suggestion's digest that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: `ChangeRefusal` if no such suggestion waits, and where the bot can favorite by
    ///   itself; `SeenChanged`; the store's error.
    package func noteDone(_ id: String, seen: Seen? = nil, now: Date) async throws
        -> SuggestionDecision
    {
        let action = try await suggestion(id, in: .suggested, seen: seen)
        guard action.kind == .favorite else {
            throw ChangeRefusal(
                .notAllowed,
                saying: localized(
                    "\(control: .action(action.id)) is no favorite: only the bot can send it"))
        }
        let network = try await mirror.requiredNetwork(of: .bot)
        guard !network.capabilities.canFavorite else {
            throw ChangeRefusal(
                .notAllowed,
                saying: localized(
                    "on \(network.name.displayName) the bot favorites by itself; approve \(control: .action(action.id)) instead"
                ))
        }
        guard try await store.noteDone(action.id, seen: seen, now: now) != nil else {
            throw notWaiting(id)
        }
        return try await decision(
            action, .done,
            notLearned: try await learn(from: action, now: now) { .favorited($0) }
        )
    }

    /// The recorded decision of an action, if it is the one that a person requests again; else nil.
    ///
    /// - Throws: The store's error.
    func earlierDecision(
        _ decision: SuggestionDecision.Decision, about id: String
    ) async throws -> SuggestionDecision? {
        let matches = try await store.actions(identifiedBy: id.lowercased(), limit: 2)
        guard matches.count == 1, let action = matches.first else { return nil }
        let isDecided =
            switch decision {
            case .approved: [.planned, .claimed, .sending, .done].contains(action.state)
            case .done: action.state == .done && action.sending == nil
            case .dismissed: action.state == .skipped && action.reason == .outbox(.dismissed)
            case .reopened: action.state == .suggested
            }
        guard isDecided else { return nil }
        return try await self.decision(action, decision, isNew: false)
    }

    private func decision(
        _ action: Action, _ decision: SuggestionDecision.Decision, isNew: Bool = true,
        notLearned: String? = nil
    ) async throws -> SuggestionDecision {
        SuggestionDecision(
            action, decision, about: try await mirror.persons(of: [action])[action.id],
            isNew: isNew,
            notLearned: notLearned)
    }

    private func requireFavorites(_ action: Action) async throws {
        let network = try await mirror.requiredNetwork(of: .bot)
        if let obstacle = mirror.obstacleToFavorites(on: network) {
            throw ChangeRefusal(
                .notAllowed,
                saying: network.capabilities.canFavorite
                    ? SurfaceText(obstacle)
                    : localized(
                        "\(obstacle); open the address of \(control: .action(action.id)) instead"))
        }
    }

    /// Dismisses a suggestion.
    ///
    /// - Parameter seen: The suggestion's digest that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: `ChangeRefusal` if no such suggestion waits; `SeenChanged`; the store's error.
    package func dismiss(_ id: String, seen: Seen? = nil, now: Date) async throws
        -> SuggestionDecision
    {
        let action = try await suggestion(id, in: .suggested, seen: seen)
        let dismissed = try await store.dismiss(
            action.id, seen: seen, now: now, mirror.labelWriter(.declined, now: now))
        guard dismissed != nil else { throw notWaiting(id) }
        return try await decision(
            action, .dismissed,
            notLearned: try await learn(from: action, now: now) { .seen($0) }
        )
    }

    /// Reopens a suggestion that a person dismissed; what was learned from the dismissal stays
    /// until a new decision.
    ///
    /// - Parameter seen: The action's digest that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: `ChangeRefusal` if no such suggestion was dismissed, or its time has passed;
    ///   `SeenChanged`; the store's error.
    package func reopen(_ id: String, seen: Seen? = nil, now: Date) async throws
        -> SuggestionDecision
    {
        let action = try await suggestion(id, in: .skipped, seen: seen)
        guard action.reason == .outbox(.dismissed) else {
            throw ChangeRefusal(
                .over,
                saying: localized("\(control: .action(action.id)) is no dismissed suggestion"))
        }
        guard
            try await store.reopen(action.id, seen: seen, now: now, mirror.labelRemover(.declined))
                != nil
        else {
            throw ChangeRefusal(
                .outOfTime,
                saying: localized("\(control: .action(action.id)) is too late: its time has passed")
            )
        }
        return try await decision(action, .reopened)
    }

    private func suggestion(_ id: String, in state: ActionState, seen: Seen?) async throws
        -> Action
    {
        let matches = try await store.actions(identifiedBy: id.lowercased(), limit: 100)
        // A person who saw the action gets the error that it changed, not that it does not exist.
        if matches.count == 1 { try seen.require(matches[0].seen) }
        let matchesInState = matches.filter { $0.state == state }
        guard let action = matchesInState.first else { throw notWaiting(id) }
        guard matchesInState.count == 1 else {
            throw ChangeRefusal(
                .ambiguous,
                localized("\"\(id.prefix(60))\" is the beginning of several ids; give more digits")
            )
        }
        return action
    }

    private func notWaiting(_ id: String) -> ChangeRefusal {
        ChangeRefusal(
            .unknown,
            saying: localized(
                "\(control: .typed(id)) is no waiting suggestion; see \(control: .suggestions)"))
    }

    /// Learns from a decision about a favorite.
    ///
    /// - Returns: Why the decision was not learned; nil if it was, or is not to be learned.
    private func learn(
        from action: Action, now: Date, _ event: (Example) -> FavoriteEvent
    ) async throws -> String? {
        guard action.kind == .favorite, let target = action.target else { return nil }
        do {
            let network = try await mirror.requiredNetwork(of: .bot)
            // If requesting the post costs money, the copy stored with the suggestion is learned.
            if network.name.descriptor.prices != nil {
                guard let example = action.keptExample else {
                    return localized("what the post said is not kept")
                }
                let stances = try await mirror.people.stances(of: [target.author])
                guard stances[target.author] != .deny else {
                    return localized("nothing is learned from its author")
                }
                _ = try await mirror.favorites().learn([event(example)], at: now)
                return nil
            }
            // On other networks the post may have changed, or be gone.
            guard let post = try await network.lookUp(target.address) else {
                return localized("the post is gone")
            }
            let record = try await mirror.table.record()
            let learnable = Learnable(
                people: mirror.people, own: Set([record.human, record.bot].compactMap(\.self)))
            guard let item = try await learnable.among([post]).first else {
                return localized("nothing is learned from its author")
            }
            _ = try await mirror.favorites().learn([event(item.example)], at: now)
            return nil
        } catch {
            // The decision is valid even if nothing can be learned from it.
            return "\(error)"
        }
    }
}
