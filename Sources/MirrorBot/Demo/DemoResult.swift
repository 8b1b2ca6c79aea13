import Archive
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox
import Schedule
import Settings

/// The figures of a demo; the sandbox, and not the bot, counts those about sending.
struct DemoSummary: Encodable {
    var days: Int
    let planned: Int
    let posted: Int
    let skipped: Int
    let replies: Int
    let expectedReplies: Int
    let favorites: Int
    var suggested: Int
    /// The share of the bot's favorites that the human favorited too; null if there are no
    /// favorites, or the human's are unknown.
    var favoritePrecision: Double?
    /// The share of the posts open to a favorite that the human would favorite; null if it is
    /// unknown.
    let baseRate: Double?
    let unsolicited: Int
    let errors: Int
    let duplicateSends: Int
    /// The cost that the days would have had, in US dollars; null for a free network.
    var cost: Double?

    enum CodingKeys: String, CodingKey {
        case schema, days, planned, posted, skipped, replies, favorites, suggested, unsolicited,
            errors
        case expectedReplies = "expected_replies"
        case favoritePrecision = "favorite_precision"
        case baseRate = "base_rate"
        case duplicateSends = "duplicate_sends"
        case cost = "cost_usd"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("mirror-bot/demo/1", forKey: .schema)
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
        try container.encode(cost.map(Self.rounded), forKey: .cost)
    }

    private static func rounded(_ share: Double) -> Double { (share * 10_000).rounded() / 10_000 }
}

/// The complete results of a demo.
struct DemoResult {
    /// The number of days that are drawn at random to compare the bot's posting hours with the
    /// human's.
    static let drawnDays = 365

    var past: DemoPast
    /// The path of the download; nil for the sample.
    var from: String?
    let network: NetworkName
    var favoritesLearned: Int
    let normalsLearned: Int
    var summary: DemoSummary
    /// All actions whose time has come, oldest first.
    var actions: [Action]
    /// The human's shares of posts by hour.
    let humanHours: [Double]
    /// The bot's shares of posts by hour, on many days that were drawn but not simulated.
    let botHours: [Double]
    /// The handles of the people on their network, by identity.
    var names: [AccountID: String]
    /// The texts of the posts on the network, by the post's id.
    var texts: [String: String]
    /// The times at which the human first wrote the texts that the bot sent.
    var written: [PostID: Date]
    /// The assumptions behind the cost, and the home timelines' part of it in US dollars; nil for a
    /// free network.
    var costs: (assumptions: [String], home: Double)?
    /// The sandbox's complaints about the bot, one in each line; empty if there are none.
    var complaints: [String]
}

extension DemoResult {
    /// Reads the results of a demo; the cost of the learning before the first day is left out.
    ///
    /// - Throws: The store's error.
    init(
        past: DemoPast, from: String?, days: Int, sandbox: Sandbox, mirror: HumanMirror,
        learned: (favorites: Int, normals: Int), bookedBefore: [String: Money]
    ) async throws {
        let world = sandbox.world
        let ledger = await sandbox.ledger
        self.past = past
        self.from = from
        network = world.configuration.botNetwork
        (favoritesLearned, normalsLearned) = learned
        let recentActions = try await mirror.outbox(lease: nil).recent(100_000)
        actions = recentActions.filter { $0.due < mirror.clock.now }.sorted {
            ($0.due, $0.id) < ($1.due, $1.id)
        }
        let slots = actions.filter { $0.kind == .post }
        let received = ledger.summary
        let bookedCosts = try await mirror.spending.booked()
        func spent(for label: String) -> Money {
            max((bookedCosts[label] ?? .zero) - (bookedBefore[label] ?? .zero), .zero)
        }
        // The human's favorites are known only for the sample.
        summary = DemoSummary(
            days: days, planned: slots.count, posted: received.posted,
            skipped: slots.count { $0.state != .done },
            replies: received.replies, expectedReplies: received.expectedReplies,
            favorites: received.favorites,
            suggested: actions.count(where: \.isSuggestion),
            favoritePrecision: from == nil ? received.favoritePrecision : nil,
            baseRate: from == nil ? received.baseRate : nil, unsolicited: received.unsolicited,
            errors: received.errors, duplicateSends: received.duplicateSends,
            cost: network.descriptor.prices == nil
                ? nil : bookedCosts.keys.map(spent).reduce(.zero, +).dollars)
        complaints = Self.complaints(ledger)
        costs = nil
        if let prices = network.descriptor.prices {
            let home = spent(for: SpendingPurpose.feed(.home).label).dollars
            costs = (
                prices.assumptions(mirror.configuration) + ["the prices of \(prices.day)"], home
            )
        }
        let network = network
        names = Dictionary(
            world.population.people.map { ($0.id(on: network), $0.handle(on: network)) },
            uniquingKeysWith: { first, _ in first })
        texts = await sandbox.texts(on: network)
        var written: [PostID: Date] = [:]
        for source in Set(actions.compactMap(\.wording?.source)) {
            written[source] = try await mirror.archive.post(source)?.createdAt
        }
        self.written = written
        let times = try await mirror.archive.scheduleRows()
        let day = LocalTime(past.origin, in: past.zone.zone).day
        humanHours = MinuteShares(of: times.lazy.filter { $0.day < day }.map(\.minute)).shares
        botHours = MinuteShares(of: Self.drawn(from: day, times, mirror.configuration)).shares
    }

    /// The posting times on many days of the bot, as if all were planned on the eve of the first
    /// day.
    private static func drawn(
        from first: LocalDay, _ times: [LocalTime], _ configuration: MirrorSettings
    ) -> [MinuteOfDay] {
        let history = PostingHistory(times: times, asOf: first.advanced(by: -1))
        guard !history.isEmpty else { return [] }
        let planner = DayPlanner(history: history, configuration: configuration.schedule)
        // Days of the same weekday share a model.
        let week = (0..<7).map { planner.model(for: first.advanced(by: $0)) }
        return (0..<drawnDays).flatMap { offset in
            let seed = PlanSeed.plan(mirror: configuration.mirror, day: first.advanced(by: offset))
            var generator = SplitMix64(seed: seed)
            return week[offset % 7].minutes(using: &generator)
        }
    }

    private static func complaints(_ ledger: SandboxLedger) -> [String] {
        ledger.notifications.compactMap { notice in
            notice.objection.map { "told \(notice.recipient) of a \(notice.kind): \($0)" }
        }
            + ledger.favorites.compactMap { favorite in
                favorite.objection.map { "favorited a post by \(favorite.author): \($0)" }
            }
            + ledger.rejections.filter { !$0.isExpected }.map {
                "\($0.method) \($0.path): \($0.status), \($0.reason)"
            }
            + ledger.duplicates.map { "sent a \($0.kind) twice" }
    }
}
