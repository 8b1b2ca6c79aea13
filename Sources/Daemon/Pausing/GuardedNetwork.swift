import Foundation
import Networks
import Posts
import ServiceLifecycle

/// A network that is left alone while it refuses the account's credentials.
///
/// Questions end with a graceful shutdown; what changes something at the network is finished.
struct GuardedNetwork: SocialNetwork {
    let network: any SocialNetwork
    let standing: AccountStanding
    /// Where the doubt is noted for whoever asks how the mirror is.
    let note: RefusalNote
    let clock: any WallClock

    var name: NetworkName { network.name }

    var capabilities: Capabilities { network.capabilities }

    var clockLead: TimeInterval? { network.clockLead }

    /// Whether a call may be made now, after verifying the credentials if that is due.
    ///
    /// - Throws: ``UnusableAccount`` once they are given up; `CancellationError`.
    func isOpen() async throws -> Bool {
        do {
            try await enter()
            return true
        } catch is NetworkError {
            try standing.check()
            return false
        }
    }

    func verifyAccount() async throws -> Account { try await asked(.verifyAccount) { try await $0.verifyAccount() } }

    func limits() async throws -> PublishingLimits { try await ask(.readLimits) { try await $0.limits() } }

    func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage {
        try await ask(feed.operation) { try await $0.page(feed, position) }
    }

    func publish(_ draft: Draft) async throws -> PublishedPost {
        try await act(.publish) { try await $0.publish(draft) }
    }

    func favorite(_ favorite: FavoriteDraft) async throws {
        try await act(.favorite) { try await $0.favorite(favorite) }
    }

    func delete(_ address: String) async throws { try await act(.delete) { try await $0.delete(address) } }

    func labelAsBot() async throws {
        // Tokens without this one scope are in use, and everything else works with them.
        try await act(.labelAccount, tolerating: .missingScope) { try await $0.labelAsBot() }
    }

    func ownPosts(since: Date) async throws -> [ObservedPost] {
        try await ask(.readOwnPosts) { try await $0.ownPosts(since: since) }
    }

    func isFavorited(_ address: String) async throws -> Bool? {
        try await ask(.readPost) { try await $0.isFavorited(address) }
    }

    func lookUp(_ address: String) async throws -> ObservedPost? {
        try await ask(.readPost) { try await $0.lookUp(address) }
    }

    func conversation(of post: ObservedPost) async throws -> String? {
        try await ask(.readConversation) { try await $0.conversation(of: post) }
    }

    func price(ofReading items: Int, from feed: Feed) -> Money? { network.price(ofReading: items, from: feed) }

    // MARK: The door

    private func ask<Value: Sendable>(
        _ operation: NetworkError.Operation,
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await enter()
        return try await asked(operation, question)
    }

    private func asked<Value: Sendable>(
        _ operation: NetworkError.Operation,
        _ question: @escaping @Sendable (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await judged(operation) {
            try await cancelWhenGracefulShutdown { [network] in try await question(network) }
        }
    }

    private func act<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        _ action: (any SocialNetwork) async throws -> Value
    ) async throws -> Value {
        try await enter()
        return try await judged(operation, tolerating: tolerated) { try await action(network) }
    }

    /// Returns if a call may be made.
    private func enter() async throws {
        switch standing.admission(at: clock.now) {
        case .granted: return
        case .refused(let error): throw error
        case .afterVerification:
            do {
                _ = try await verifyAccount()
            } catch {
                standing.verificationFailed(at: clock.now)
                guard var error = error as? NetworkError else { throw error }
                // Whatever it was for did not leave.
                error.outcome = .notSent
                throw error
            }
        }
    }

    /// Makes a call and notes what it says about the credentials.
    private func judged<Value: Sendable>(
        _ operation: NetworkError.Operation, tolerating tolerated: NetworkError.Code? = nil,
        _ call: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await call()
            if standing.accept(operation) { await note.clear() }
            return value
        } catch let error as NetworkError where error.stopsActor && error.code != tolerated {
            let (refused, isFirst) = standing.refuse(error, operation, at: clock.now)
            if isFirst { await note.set(error, at: clock.now) }
            throw refused
        }
    }
}

extension Feed {
    /// What reading the feed is called.
    fileprivate var operation: NetworkError.Operation {
        switch self {
        case .ownPosts: .readOwnPosts
        case .home: .readHome
        case .favorites: .readFavorites
        case .mentions: .readMentions
        }
    }
}
