import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Outbox

/// How a network's answers become outcomes, and how what was sent is found again.
@Suite struct NetworkDelivererTests {
    private static let sending = PaperMirror.now
    private let log = Recorder<String>()

    private func deliverer(_ network: PaperNetwork) -> NetworkDeliverer {
        NetworkDeliverer(
            network: network, logger: Logger(label: "test") { [log] _ in LogRecorder(lines: log) })
    }

    private func action(
        _ kind: ActionKind, text: String? = "thank you", target: String? = nil,
        on network: NetworkName = .bluesky
    ) -> Action {
        let wording = text.map {
            Action.Wording(
                source: PostID(network: network, value: "old"), text: $0, language: "ja",
                visibility: .unlisted)
        }
        let about = Action.Target(
            post: target ?? "s", author: AccountID(network: network, value: "somebody"),
            address: target.map { "address-\($0)" } ?? "")
        let bystanders = [AccountID(network: network, value: "did:plc:other")]
        let payload: Action.Payload =
            switch kind {
            case .post: .post(Slot.Name(day: .earliest, number: 1), wording)
            case .reply:
                .reply(
                    Action.Reply(to: about, bystanders: bystanders, thread: "s", wording: wording))
            case .favorite: .favorite(about)
            }
        var action = Action(
            Intent(payload, state: .sending, due: Self.sending - 30, expires: Self.sending + 900),
            of: "test",
            at: Self.sending)
        action.key = "k1"
        action.sending = Self.sending
        action.attempts = 1
        return action
    }

    @Test func everyAttemptSendsTheSameBytes() async throws {
        let network = PaperNetwork(.bluesky)
        var reply = action(.reply, target: "m")
        _ = await deliverer(network).send(reply)
        reply.attempts = 2
        reply.updated += 500
        reply.nextAttempt = Self.sending + 600
        _ = await deliverer(network).send(reply)
        let drafts = network.with { $0.published }
        #expect(drafts.count == 2 && drafts[0] == drafts[1])
        #expect(
            drafts.first
                == Draft(
                    text: "thank you", replyTo: "address-m",
                    bystanders: [AccountID(network: .bluesky, value: "did:plc:other")],
                    visibility: .unlisted,
                    language: "ja", key: "k1", createdAt: Self.sending))
        let favorite = action(.favorite, text: nil, target: "p")
        _ = await deliverer(network).send(favorite)
        _ = await deliverer(network).send(favorite)
        let expected = FavoriteDraft(address: "address-p", key: "k1", createdAt: Self.sending)
        #expect(network.with { $0.favorited } == [expected, expected])
    }

    @Test(arguments: [
        (NetworkError.Code.transport, NetworkError.Outcome.notSent, "notSent transport"),
        (.transport, .unknown, "unknown transport"),
        (.unavailable, .unknown, "unknown unavailable"),
        (.malformedResponse, .unknown, "unknown malformed-response"),
        (.rateLimited, .refused, "notSent rate-limited"),
        (.overBudget, .notSent, "notSent over-budget"),
        (.creditsDepleted, .refused, "notSent credits-depleted"),
        (.capReached, .refused, "notSent cap-reached"), (.conflict, .refused, "notSent conflict"),
        (.duplicate, .refused, "duplicate"), (.rejected, .refused, "refused rejected"),
        (.forbidden, .refused, "refused forbidden"), (.tooLong, .refused, "refused too-long"),
        (.capability, .notSent, "refused capability"), (.notFound, .refused, "refused not-found"),
        (.unauthorized, .refused, "notSent unauthorized"),
        (.missingScope, .refused, "notSent missing-scope"),
    ])
    func answersBecomeOutcomes(
        code: NetworkError.Code, outcome: NetworkError.Outcome, expected: String
    ) async {
        let network = PaperNetwork(.x)
        network.with {
            $0.failure = { operation, _ in network.error(code, operation, outcome: outcome) }
        }
        let result = await deliverer(network).send(action(.post))
        #expect(describe(result) == expected)
    }

    @Test(arguments: [
        (NetworkError.Code.rateLimited, RetryRule.Cause.tooBusy), (.unavailable, .serverTrouble),
        (.malformedResponse, .serverTrouble), (.transport, .unreachable), (.overBudget, .limit),
        (.capReached, .limit),
        (.creditsDepleted, .limit), (.conflict, .conflict), (.unauthorized, .credentials),
        (.missingScope, .credentials), (.accountDisabled, .credentials), (.rejected, .other),
    ])
    func eachErrorHasItsRowInTheTableOfWaits(code: NetworkError.Code, cause: RetryRule.Cause) {
        #expect(PaperNetwork(.mastodon).error(code).retryCause == cause)
    }

    /// A person can read what the network said, and nothing that is secret.
    @Test func aRefusalCarriesItsReasonForPeople() async throws {
        let network = PaperNetwork(.x)
        network.with {
            $0.failure = { operation, _ in network.error(.rejected, operation, outcome: .refused) }
        }
        guard case .refused(let reason, let detail) = await deliverer(network).send(action(.post))
        else {
            Issue.record("a refusal is final")
            return
        }
        #expect(reason == "rejected")
        #expect(detail == "\(network.error(.rejected, .publish, outcome: .refused))")
    }

    /// A reply without a target would be a post to everybody.
    @Test func whatLacksATextOrATargetIsNeverSent() async {
        let network = PaperNetwork(.bluesky)
        for broken in [
            action(.post, text: nil), action(.post, text: ""), action(.reply),
            action(.reply, text: nil, target: "m"),
            action(.favorite, text: nil),
        ] {
            expect(describe(await deliverer(network).send(broken)), equals: "refused incomplete")
        }
        #expect(network.with { $0.calls.isEmpty && $0.published.isEmpty && $0.favorited.isEmpty })
        // Nor is anything taken for it that happens to be there.
        network.add([own("1", "")], to: .ownPosts)
        for broken in [action(.post, text: nil), action(.favorite, text: nil)] {
            let found = await deliverer(network).lookUp(broken, since: Self.sending, among: [])
            guard case .undecided = found else {
                Issue.record("nothing can be recognised by nothing")
                return
            }
        }
    }

    private func describe(_ outcome: DeliveryOutcome) -> String {
        switch outcome {
        case .delivered: "delivered"
        case .notSent(let reason, _, _): "notSent \(reason)"
        case .refused(let reason, _): "refused \(reason)"
        case .duplicate: "duplicate"
        case .unknown(let reason): "unknown \(reason)"
        }
    }

    private func find(
        _ posts: [ObservedPost], _ action: Action, on name: NetworkName
    ) async -> String? {
        let network = PaperNetwork(name)
        network.add(posts, to: .ownPosts)
        guard
            case .found(let id, _) = await deliverer(network).lookUp(
                action, since: Self.sending, among: [])
        else {
            return nil
        }
        return id
    }

    private func own(
        _ id: String, _ text: String = "thank you", at offset: TimeInterval = 5,
        replyTo: String? = nil,
        address: String? = nil, on network: NetworkName = .bluesky
    ) -> ObservedPost {
        var post = paperPost(
            id, by: "bot", on: network, text, at: Self.sending + offset, replyTo: replyTo)
        if let address { post.replyToAddress = address }
        return post
    }

    @Test func findsTheAnswerByWhatItAnswers() async {
        let reply = action(.reply, target: "m")
        await expect(find([own("1", replyTo: "m")], reply, on: .bluesky), equals: "1")
        await expect(find([own("1", replyTo: "other")], reply, on: .bluesky), equals: nil)
        await expect(find([own("1")], reply, on: .bluesky), equals: nil)
        await expect(find([own("1", "thanks", replyTo: "m")], reply, on: .bluesky), equals: nil)
        await expect(
            find([own("1", replyTo: "m"), own("2")], action(.post), on: .bluesky), equals: "2")
        await expect(find([own("1", replyTo: "m")], action(.post), on: .bluesky), equals: nil)
        await expect(find([own("1", at: -4_000)], action(.post), on: .bluesky), equals: nil)
    }

    @Test func aNewVersionOfTheAnsweredPostIsTheSamePost() async {
        let reply = action(.reply, target: "m")
        // The address names the version, the identity does not.
        await expect(
            find([own("1", replyTo: "m", address: "address-m newer")], reply, on: .bluesky),
            equals: "1")
        await expect(
            find([own("1", replyTo: "n", address: "address-n newer")], reply, on: .bluesky),
            equals: nil)
    }

    @Test func anAnswerThatLostWhatItAnsweredIsFoundWhereItsTextNamesSomebody() async {
        let reply = action(.reply, text: "@ren thank you", target: "m", on: .mastodon)
        let orphan = own("1", "@ren thank you", on: .mastodon)
        await expect(find([orphan], reply, on: .mastodon), equals: "1")
        await expect(find([own("1", "@ren thank you")], reply, on: .bluesky), equals: nil)
        // A standalone post is never a reply's.
        await expect(
            find([own("1", replyTo: "m", on: .mastodon)], action(.post), on: .mastodon), equals: nil
        )
    }

    @Test func aHostThatBecameALinkIsRecognised() async {
        let post = action(.post, text: "I read example.com today")
        await expect(find([own("1", "I read http://example.com today")], post, on: .x), equals: "1")
        await expect(
            find([own("1", "I read http://example.com tomorrow")], post, on: .x), equals: nil)
    }

    @Test func anUnreachableNetworkIsNotAnAbsentPost() async {
        let network = PaperNetwork(.x)
        let later = Self.sending + 600
        network.with {
            $0.failure = { operation, _ in network.error(.overBudget, operation, retryAfter: later)
            }
        }
        let outcome = await deliverer(network).lookUp(action(.post), since: Self.sending, among: [])
        guard case .unavailable(let reason, let cause, let retry) = outcome else {
            Issue.record("a look-up that cannot be paid for tells nothing")
            return
        }
        #expect(reason == "over-budget")
        #expect(cause == .limit)
        #expect(retry == later)
    }
}

extension NetworkDeliverer {
    /// Prepares the action's request and makes it at once.
    fileprivate func send(_ action: Action) async -> DeliveryOutcome {
        switch await prepare(action) {
        case .ready(let request): await request.send { true }
        case .notNow(let reason, let cause, let retryAfter):
            .notSent(reason: reason, cause: cause, retryAfter: retryAfter)
        case .refused(let reason, let detail): .refused(reason: reason, detail: detail)
        }
    }
}
