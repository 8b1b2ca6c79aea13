import Favorites
package import Foundation
import Networks
package import Outbox
import Posts
import Settings

/// A person's decisions about what waits for them.
///
/// What they say of a favorite is learned too: agreeing is a favorite of the human's, declining is a post that was seen and
/// passed over.
package struct SuggestionReview: Sendable {
    /// What came of one decision.
    package struct Outcome: Equatable, Sendable {
        package let action: Action
        /// Why nothing was learned from it; nil if something was, or nothing is to be learned.
        package let unlearned: String?
    }

    /// How long an approved suggestion may wait for the worker, in seconds.
    private static let patience: TimeInterval = 24 * 3_600

    private let mirror: HumanMirror
    private let store: OutboxStore

    package init(mirror: HumanMirror) {
        self.mirror = mirror
        store = mirror.outbox(lease: nil)
    }

    /// Lets the worker do what was suggested.
    ///
    /// - Returns: Nil if no such suggestion waits.
    /// - Throws: `ConfigurationError` for a favorite where the network or `FAVORITE_MODE` lets the bot give none; the
    ///   store's error.
    package func approve(_ id: String, now: Date) async throws -> Outcome? {
        guard let action = try await waiting(id) else { return nil }
        if action.kind == .favorite { try await requireFavorites(action) }
        guard try await store.approve(action.id, now: now, expires: now + Self.patience) else { return nil }
        return try await outcome(of: action, now: now) { .favorited($0) }
    }

    private func requireFavorites(_ action: Action) async throws {
        let network = try await mirror.requiredNetwork(of: .bot)
        if !network.capabilities.canFavorite {
            throw ConfigurationError(
                network.name.displayName, "does not let software favorite; open the address of \(action.id) instead")
        }
        if mirror.configuration.favoriteMode == .off {
            throw ConfigurationError("FAVORITE_MODE", "is off, so the bot gives no favorites; set it to suggest first")
        }
    }

    /// Decides against what was suggested.
    ///
    /// - Returns: Nil if no such suggestion waits.
    /// - Throws: The store's error.
    package func dismiss(_ id: String, now: Date) async throws -> Outcome? {
        guard let action = try await waiting(id), try await store.dismiss(action.id, now: now) else { return nil }
        return try await outcome(of: action, now: now) { .seen($0) }
    }

    private func waiting(_ id: String) async throws -> Action? {
        let found = try await store.actions(identifiedBy: id.lowercased(), limit: 2)
        return found.count == 1 && found[0].state == .suggested ? found[0] : nil
    }

    private func outcome(of action: Action, now: Date, _ event: (Example) -> FavoriteEvent) async throws -> Outcome {
        guard let decided = try await store.action(action.kind, subject: action.subject) else {
            return Outcome(action: action, unlearned: nil)
        }
        guard action.kind == .favorite, let target = action.target else {
            return Outcome(action: decided, unlearned: nil)
        }
        do {
            let network = try await mirror.requiredNetwork(of: .bot)
            guard network.name.descriptor.prices == nil else {
                return Outcome(
                    action: decided, unlearned: "on \(network.name.displayName), asking for the post would cost")
            }
            // Its text is not kept with the suggestion, and may not be there any more.
            guard let post = try await network.lookUp(target.address) else {
                return Outcome(action: decided, unlearned: "the post is gone")
            }
            let record = try await mirror.table.record()
            let learnable = Learnable(people: mirror.people, own: Set([record.human, record.bot].compactMap(\.self)))
            guard let item = try await learnable.among([post]).first else {
                return Outcome(action: decided, unlearned: "nothing is learned from its author")
            }
            _ = try await mirror.favorites().learn([event(item.example)], at: now)
            return Outcome(action: decided, unlearned: nil)
        } catch {
            // The decision counts whatever becomes of the lesson.
            return Outcome(action: decided, unlearned: "\(error)")
        }
    }
}
