import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Pictures are at the network before their post leaves, and what is there is known after a crash.
@Suite struct UploadingTests {
    private static let now = OutboxFixture.start

    /// A network that takes pictures as it is told, and every post.
    private actor Gallery: ImmediateDeliverer {
        nonisolated let requestDeadline: Duration = .seconds(30)
        nonisolated let resendWindow: Duration? = .seconds(3_000)
        nonisolated let clockLead: TimeInterval? = nil
        private var outcomes: [UploadOutcome]
        private(set) var asked: [Int] = []
        private(set) var sent: [Action] = []

        init(_ outcomes: [UploadOutcome]) { self.outcomes = outcomes }

        func upload(_ place: Int, of action: Action) async -> UploadOutcome {
            asked.append(place)
            return outcomes.isEmpty
                ? .uploaded(reference: "media-\(asked.count)", isReady: true)
                : outcomes.removeFirst()
        }

        func send(_ action: Action) async -> DeliveryOutcome {
            sent.append(action)
            return .delivered(remoteID: "uri", remoteAddress: "7")
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        { .absent }
    }

    private static func intent(
        _ pictures: Int = 2, from source: String = "source", expires: TimeInterval = 900
    )
        -> Intent
    {
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: source), text: "text", visibility: .unlisted,
            pictures: (0..<pictures).map { Picture(alt: "picture \($0)") })
        return Intent(
            .post(Slot.Name(day: OutboxFixture.day, number: 1), wording), due: now,
            expires: now + expires)
    }

    private func deliver(
        _ outbox: OutboxFixture, _ network: Gallery, _ intent: Intent = intent(),
        at time: Date = now,
        changing: @escaping @Sendable (Action) -> Action = { $0 }
    ) async throws -> Action {
        let action = try await outbox.store.propose(intent, now: time).action
        return try await Delivery(store: outbox.store, deliverer: network)
            .deliver(action, now: { time }) { .ready(changing($0)) }
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func everyPictureIsStoredBeforeThePostLeaves(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = Gallery([])
        let steps = Recorded<String>()
        let action = try await outbox.store.propose(Self.intent(), now: Self.now).action
        #expect(action.wording?.pictures.map(\.alt) == ["picture 0", "picture 1"])
        let done = try await Delivery(
            store: outbox.store, deliverer: network, onStep: { steps.add($0.rawValue) },
            onUpload: { steps.add("upload-\($0.rawValue)") }
        ).deliver(action, now: { Self.now }) { .ready($0) }
        #expect(done.state == .done)
        let sent = try #require(await network.sent.first)
        #expect(sent.pictureUploads?.map(\.reference) == ["media-1", "media-2"])
        await expect(network.asked, equals: [0, 1])
        let uploads = ["upload-answered", "upload-stored"]
        #expect(
            steps.values.starts(
                with: ["claimed", "prepared"] + uploads + uploads + ["sending-stored"]))
    }

    /// A worker that ends between the last picture and the post leaves both to the next one.
    @Test func whatIsUploadedIsNotUploadedAgain() async throws {
        let outbox = try await OutboxFixture()
        let first = Gallery([])
        let action = try await outbox.store.propose(Self.intent(), now: Self.now).action
        let steps = Recorded<UploadStep>()
        let ending = Task {
            try await Delivery(
                store: outbox.store, deliverer: first,
                onUpload: { step in
                    steps.add(step)
                    if steps.values.count == 4 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            ).deliver(action, now: { Self.now }) { .ready($0) }
        }
        await #expect(throws: CancellationError.self) { _ = try await ending.value }
        await expect(first.asked, equals: [0, 1])
        await expect(first.sent) { $0.isEmpty }
        let known = try #require(try await outbox.store.action(.post, subject: action.subject))
        #expect(known.uploads.map(\.reference) == ["media-1", "media-2"])
        let second = Gallery([])
        let done = try await Delivery(store: outbox.store, deliverer: second)
            .deliver(known, now: { Self.now + 5 }) { .ready($0) }
        #expect(done.state == .done)
        await expect(second.asked) { $0.isEmpty }
        await expect(
            second.sent.first?.pictureUploads?.map(\.reference), equals: ["media-1", "media-2"])
    }

    @Test func whatIsToldToComeLaterIsNotSentBefore() async throws {
        let outbox = try await OutboxFixture()
        let network = Gallery([
            .uploaded(reference: "slow", isReady: false),
            .uploaded(reference: "slow", isReady: true),
        ])
        let waiting = try await deliver(outbox, network, Self.intent(1))
        #expect(waiting.state == .planned)
        #expect(waiting.reason == .outbox(.processing))
        #expect(waiting.uploads.map(\.reference) == ["slow"])
        #expect(waiting.pictureUploads == nil)
        await expect(network.sent) { $0.isEmpty }
        let next = try #require(waiting.nextAttempt)
        #expect((1...60).contains(next.timeIntervalSince(Self.now)))
        let done = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(waiting, now: { next }) { .ready($0) }
        #expect(done.state == .done)
        #expect(done.uploads.first?.made == Self.now)
        await expect(network.sent.count, equals: 1)
    }

    @Test func anUploadThatFailsIsTriedAgainLater() async throws {
        let outbox = try await OutboxFixture()
        let network = Gallery([
            .notSent(reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
        ])
        let waiting = try await deliver(outbox, network)
        #expect(waiting.state == .planned)
        #expect(waiting.reason == "unavailable")
        #expect(waiting.attempts == 1)
        #expect(waiting.sends == 0)
        #expect(waiting.sending == nil)
        await expect(network.sent) { $0.isEmpty }
        let done = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(waiting, now: { Self.now + 100 }) { .ready($0) }
        #expect(done.state == .done)
    }

    @Test func aPictureThatIsRefusedLeavesThePostOut() async throws {
        let outbox = try await OutboxFixture()
        let network = Gallery([
            .uploaded(reference: "one", isReady: true),
            .refused(reason: .outbox(.pictureGone), detail: "it is not there"),
        ])
        let skipped = try await deliver(outbox, network)
        #expect(skipped.state == .skipped)
        #expect(skipped.reason == .outbox(.pictureGone))
        #expect(skipped.explanation?.outcome == "it is not there")
        await expect(network.sent) { $0.isEmpty }
    }

    /// A network forgets what is in no post, and another post has other pictures.
    @Test(arguments: [(2_000.0, "source"), (-100, "source"), (60, "other")])
    func anUploadThatIsOldOrOfAnotherPostIsOfNoUse(_ age: TimeInterval, _ source: String)
        async throws
    {
        let outbox = try await OutboxFixture()
        let network = Gallery([])
        let stale = Action.Upload(
            source: PostID(network: .mastodon, value: source), place: 0, reference: "stale",
            made: Self.now - age)
        let done = try await deliver(outbox, network, Self.intent(1)) { action in
            var action = action
            action.uploads = [stale]
            return action
        }
        #expect(done.state == .done)
        await expect(network.asked, equals: [0])
        await expect(network.sent.first?.pictureUploads?.map(\.reference), equals: ["media-1"])
    }

    @Test func aPostWithoutPicturesNeedsNoUpload() async throws {
        let outbox = try await OutboxFixture()
        let network = Gallery([])
        try await expect(deliver(outbox, network, Self.intent(0)).state, equals: .done)
        await expect(network.asked) { $0.isEmpty }
    }

    @Test func nothingIsUploadedForAPostWhoseTimeHasPassed() async throws {
        let outbox = try await OutboxFixture()
        let network = Gallery([])
        let late = try await deliver(
            outbox, network, Self.intent(1, expires: 10), at: Self.now + 11)
        #expect(late.state == .expired)
        await expect(network.asked) { $0.isEmpty }
    }
}
