import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@testable import Outbox

/// What a row of `actions` may hold, by the kind of the action.
@Suite struct ActionRowTests {
    private static let now = OutboxFixture.start
    private static let target = OutboxFixture.answer("m").target
    private static let wording = OutboxFixture.answer("m").wording
    private static let slot = Slot.Name(day: OutboxFixture.day, number: 1)

    private static var silent: Action.Reply {
        var silent = OutboxFixture.answer("silent")
        silent.wording = nil
        silent.bystanders = [AccountID(network: .mastodon, value: "ann@example.com")]
        return silent
    }

    @Test(arguments: [
        Action.Payload.post(slot, wording), .post(slot, nil), .reply(OutboxFixture.answer("m")),
        .reply(silent),
        .favorite(target), .undecidable(mention: "m"),
    ])
    func everyPayloadIsReadAsItWasStored(_ payload: Action.Payload) async throws {
        let outbox = try await OutboxFixture()
        var why = Explanation(
            "a \"sentence\" / with é", pool: 3, windowMinutes: 30, favoriteRate: 2.1,
            features: [.init(name: "@ann", logOdds: 0.1), .init(name: "rain", logOdds: -1e-7)])
        why.outcome = "none"
        let intent = Intent(
            payload, state: .skipped, due: Self.now, expires: Self.now + 60, reason: "r",
            explanation: why)
        let stored = try await outbox.store.propose(intent, now: Self.now).action
        #expect(stored == Action(intent, of: "m", at: Self.now))
        try await expect(outbox.store.recent(9), equals: [stored])
    }

    /// The names that earlier versions gave, which are stored: another name would be another
    /// action.
    @Test func namesStayWhatTheyWere() {
        let intent = Intent(.favorite(Self.target), due: Self.now, expires: Self.now)
        let action = Action(intent, of: "m", at: Self.now)
        #expect(action.id == "d0bd9f67f39d")
        #expect(action.key == "d4cd9d6e43f2a69c1cc2cd632054b9bc")
    }

    private static let misfits: [(change: SQL, of: Action.Payload, kind: String, why: String)] = [
        ("kind = 'repost'", .favorite(target), "action", "kind is an unknown word"),
        ("state = 'lost'", .favorite(target), "favorite", "state is an unknown word"),
        ("text = 'hello'", .favorite(target), "favorite", "text is not empty"),
        ("source_post_id = '1'", .favorite(target), "favorite", "source_post_id is not empty"),
        ("thread = 't'", .favorite(target), "favorite", "thread is not empty"),
        ("target_author = NULL", .favorite(target), "favorite", "target_author is missing"),
        ("target_address = NULL", .favorite(target), "favorite", "target_address is missing"),
        (
            "target_network = 'orkut'", .favorite(target), "favorite",
            "target_network is an unknown word"
        ),
        (
            "target_post_id = 'other'", .favorite(target), "favorite",
            "target_post_id is another post than subject"
        ),
        (
            "target_author = NULL", .reply(OutboxFixture.answer("m")), "reply",
            "target_author is missing"
        ),
        ("thread = NULL", .reply(OutboxFixture.answer("m")), "reply", "thread is missing"),
        ("text = NULL", .reply(OutboxFixture.answer("m")), "reply", "text is missing"),
        (
            "source_network = NULL", .reply(OutboxFixture.answer("m")), "reply",
            "source_network is missing"
        ),
        ("state = 'planned'", .undecidable(mention: "m"), "reply", "target_post_id is missing"),
        ("text = 'hello'", .undecidable(mention: "m"), "reply", "text is not empty"),
        ("subject = 'first'", .post(slot, wording), "post", "subject names no slot"),
        ("target_author = 'ann'", .post(slot, wording), "post", "target_author is not empty"),
        ("bystanders = 'ann'", .post(slot, wording), "post", "bystanders is not empty"),
        ("visibility = NULL", .post(slot, wording), "post", "visibility is missing"),
        ("visibility = 'secret'", .post(slot, wording), "post", "visibility is an unknown word"),
    ]

    @Test(arguments: misfits.indices)
    func aRowThatDoesNotFitItsKindIsSetAsideAloneAndNamed(_ index: Int) async throws {
        let misfit = Self.misfits[index]
        let outbox = try await OutboxFixture()
        let isDecidable = if case .undecidable = misfit.of { false } else { true }
        let intent = Intent(
            misfit.of, state: isDecidable ? .planned : .skipped, due: Self.now,
            expires: Self.now + 60)
        let id = try await outbox.store.propose(intent, now: Self.now).action.id
        let sound = try await outbox.store.propose(OutboxFixture.reply("sound"), now: Self.now)
            .action.id
        try await outbox.storage.lenient.execute(
            "UPDATE actions SET \(misfit.change) WHERE id = \(id)")
        try await expect(outbox.store.recent(9).map(\.id), equals: [sound])
        // What has ended needs nobody.
        let rows = try await outbox.storage.lenient.query(
            "SELECT state FROM actions WHERE id = \(id)")
        let state = try rows[0].text("state")
        try await expect(
            outbox.store.setAside(limit: 9),
            equals: state == "skipped"
                ? []
                : [
                    """
                    row \(id) of actions is set aside: as a \(misfit.kind), \(misfit.why); a newer mirror-bot or something \
                    else wrote it, so update mirror-bot, or mend the row, delete it or restore a backup
                    """
                ])
        // Nothing else is decided about the same, and the others go on.
        if !["kind is an unknown word", "subject names no slot"].contains(misfit.why) {
            try await expect(outbox.store.propose(intent, now: Self.now).isNew, equals: false)
        }
        try await expect(outbox.store.due([.reply], now: Self.now).map(\.id), equals: [sound])
    }

    /// An explanation is for people: one that cannot be read keeps nothing from being done, and
    /// stays what it was.
    @Test func anUnreadableExplanationIsKept() async throws {
        let outbox = try await OutboxFixture()
        let stored = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        try await outbox.storage.lenient.execute("UPDATE actions SET explanation = 'because'")
        let network = ScriptedDeliverer(outcomes: [.delivered(remoteID: "u", remoteAddress: nil)])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let claimed = try #require(try await outbox.store.due([.reply], now: Self.now).first)
        #expect(claimed.explanation == nil)
        #expect(claimed.id == stored.id)
        let sent = try await delivery.deliver(claimed, now: { Self.now }) { .ready($0) }
        #expect(sent.state == .done)
        let rows = try await outbox.storage.lenient.query("SELECT explanation FROM actions")
        try expect(rows.map { try $0.text("explanation") }, equals: ["because"])
    }
}
