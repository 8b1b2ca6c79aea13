import Archive
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox

/// The figures of a demo; those about sending are the sandbox's, not the bot's.
struct DemoSummary: Encodable {
    let days: Int
    let planned: Int
    let posted: Int
    let skipped: Int
    let replies: Int
    let expectedReplies: Int
    let favorites: Int
    let suggested: Int
    /// Null without favorites.
    let favoritePrecision: Double?
    let baseRate: Double?
    let unsolicited: Int
    let errors: Int
    let duplicateSends: Int

    enum CodingKeys: String, CodingKey {
        case days, planned, posted, skipped, replies, favorites, suggested, unsolicited, errors
        case expectedReplies = "expected_replies"
        case favoritePrecision = "favorite_precision"
        case baseRate = "base_rate"
        case duplicateSends = "duplicate_sends"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(days, forKey: .days)
        try container.encode(planned, forKey: .planned)
        try container.encode(posted, forKey: .posted)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(replies, forKey: .replies)
        try container.encode(expectedReplies, forKey: .expectedReplies)
        try container.encode(favorites, forKey: .favorites)
        try container.encode(suggested, forKey: .suggested)
        try container.encode(favoritePrecision.map(Self.rounded), forKey: .favoritePrecision)
        try container.encode(baseRate.map(Self.rounded), forKey: .baseRate)
        try container.encode(unsolicited, forKey: .unsolicited)
        try container.encode(errors, forKey: .errors)
        try container.encode(duplicateSends, forKey: .duplicateSends)
    }

    private static func rounded(_ share: Double) -> Double { (share * 10_000).rounded() / 10_000 }
}

/// Everything a demo shows.
struct DemoResult {
    let past: DemoPast
    let favoritesLearned: Int
    let normalsLearned: Int
    let summary: DemoSummary
    /// All actions whose time came, oldest first.
    let actions: [Action]
    let humanHours: [Double]
    let botHours: [Double]
    /// What the people are called where they live, by identity.
    let names: [AccountID: String]
    /// What the network holds against the bot, a line each; empty when all went well.
    let complaints: [String]
}

extension DemoResult {
    /// Reads what came of a demo.
    init(
        past: DemoPast, days: Int, world: SandboxWorld, ledger: SandboxLedger, stores: MirrorStores,
        favoritesLearned: Int, normalsLearned: Int
    ) async throws {
        self.past = past
        self.favoritesLearned = favoritesLearned
        self.normalsLearned = normalsLearned
        let all = try await stores.outbox(lease: nil).recent(100_000)
        actions = all.filter { $0.due < world.end }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
        let slots = actions.filter { $0.kind == .post }
        let received = ledger.summary
        summary = DemoSummary(
            days: days, planned: slots.count, posted: received.posted, skipped: slots.count { $0.state != .done },
            replies: received.replies, expectedReplies: received.expectedReplies, favorites: received.favorites,
            suggested: actions.count(where: \.isSuggestion), favoritePrecision: received.favoritePrecision,
            baseRate: received.baseRate, unsolicited: received.unsolicited, errors: received.errors,
            duplicateSends: received.duplicateSends)
        complaints = Self.complaints(ledger)
        let network = world.configuration.botNetwork
        names = Dictionary(
            world.population.people.map { ($0.id(on: network), $0.handle(on: network)) },
            uniquingKeysWith: { first, _ in first })
        let day = LocalTime(past.origin, in: past.zone).day
        let plan = try await PlanReporter(stores: stores, zone: past.zone).report(on: day, now: world.end)
        humanHours = plan?.humanHours ?? []
        botHours = plan?.botHours ?? []
    }

    private static func complaints(_ ledger: SandboxLedger) -> [String] {
        ledger.notifications.compactMap { notice in
            notice.objection.map { "told \(notice.recipient) of a \(notice.kind): \($0)" }
        }
            + ledger.favorites.compactMap { favorite in
                favorite.objection.map { "favorited a post by \(favorite.author): \($0)" }
            }
            + ledger.rejections.filter { !$0.isExpected }.map { "\($0.method) \($0.path): \($0.status), \($0.reason)" }
            + ledger.duplicates.map { "sent a \($0.kind) twice" }
    }
}
