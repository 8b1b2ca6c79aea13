import Foundation
import Posts

@testable import Networks

/// A network whose caller is cut at one of its requests, as by a signal or because its process
/// stands still.
final class CutNetwork: SocialNetwork, @unchecked Sendable {
    /// Where in a request it is cut.
    enum Moment: String, CaseIterable, Sendable {
        case before
        case after
    }

    // Sendable because every access to a variable holds the lock.
    private let network: any SocialNetwork
    private let number: Int
    private let moment: Moment
    private let onCut: @Sendable () async throws -> Void
    private let lock = NSLock()
    private var made = 0

    /// - Parameters:
    ///   - number: Which request, counted from 1; 0 for none.
    ///   - onCut: Called there; what it throws is thrown instead of the request, or of its answer.
    init(
        _ network: any SocialNetwork, at number: Int, _ moment: Moment,
        onCut: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.network = network
        self.number = number
        self.moment = moment
        self.onCut = onCut
    }

    /// How many requests were made.
    var requests: Int { lock.withLock { made } }

    var plainServer: any PlainServer { CutServer(server: network.plainServer, network: self) }

    fileprivate func request<Value>(_ work: () async throws -> Value) async throws -> Value {
        let isCut = lock.withLock { () -> Bool in
            made += 1
            return made == number
        }
        if isCut, moment == .before { try await onCut() }
        let value = try await work()
        if isCut, moment == .after { try await onCut() }
        return value
    }

    var name: NetworkName { network.name }
    var host: String { network.host }
    var capabilities: Capabilities { network.capabilities }
    var clockLead: TimeInterval? { network.clockLead }

    func verifyAccount() async throws -> Account {
        try await request { try await network.verifyAccount() }
    }

    func limits() async throws -> PublishingLimits {
        try await request { try await network.limits() }
    }

    func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        try await request { try await network.page(feed, position, size: size) }
    }

    func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        let departure = try await request { try await network.prepare(draft) }
        return Departure { try await self.request { try await departure.send() } }
    }

    func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        try await request { try await network.prepare(favorite) }
    }

    @discardableResult
    func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        try await request { try await network.delete(address, if: isOurs) }
    }

    @discardableResult
    func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        try await request { try await network.unfavorite(favorite) }
    }

    func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        let departure = try await request { try await network.prepareEdit(address, draft) }
        return Departure { try await self.request { try await departure.send() } }
    }

    func labelAsBot() async throws { try await request { try await network.labelAsBot() } }

    func ownPosts(since: Date) async throws -> [ObservedPost] {
        try await request { try await network.ownPosts(since: since) }
    }

    func isFavorited(_ address: String) async throws -> Bool? {
        try await request { try await network.isFavorited(address) }
    }

    func lookUp(_ address: String) async throws -> ObservedPost? {
        try await request { try await network.lookUp(address) }
    }

    func isShownToAnybody(_ address: String) async throws -> Bool? {
        try await request { try await network.isShownToAnybody(address) }
    }

    func conversation(of post: ObservedPost) async throws -> String? {
        try await request { try await network.conversation(of: post) }
    }

    func replies(to address: String) async throws -> [ObservedPost] {
        try await request { try await network.replies(to: address) }
    }
}

/// The server of a network whose caller is cut at one of its requests.
private struct CutServer: PlainServer {
    let server: any PlainServer
    let network: CutNetwork

    func publish(_ draft: Draft, mark: String) async throws -> String? {
        try await network.request { try await server.publish(draft, mark: mark) }
    }

    func read(_ address: String) async throws -> PlainPost? {
        try await network.request { try await server.read(address) }
    }

    func isShownWithoutLogin(_ address: String) async throws -> Bool? {
        try await network.request { try await server.isShownWithoutLogin(address) }
    }

    func newest() async throws -> Set<String> {
        try await network.request { try await server.newest() }
    }

    func change(_ address: String, to draft: Draft) async throws -> Bool? {
        try await network.request { try await server.change(address, to: draft) }
    }

    func delete(_ address: String) async throws {
        try await network.request { try await server.delete(address) }
    }
}
