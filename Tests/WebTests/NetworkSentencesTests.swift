import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Web

/// What a page promises and offers is what the desk does, on each network.
@Suite(.timeLimit(.minutes(30))) struct NetworkSentencesTests {
    /// Where nobody listens: what is asked of the network fails at once.
    static let nowhere = "http://127.0.0.1:9"
    /// The bot's account on each network; the human's is on Mastodon.
    static let accounts: [NetworkName: [String: String]] = [
        .mastodon: ["BOT_SERVER": Self.nowhere],
        .x: [
            "BOT_NETWORK": "x", "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "planted",
            "BOT_CONSUMER_KEY": "planted",
            "BOT_CONSUMER_SECRET": "planted", "BOT_ACCESS_TOKEN_SECRET": "planted",
            "X_ACKNOWLEDGE_POLICY": "yes",
        ],
        .bluesky: [
            "BOT_NETWORK": "bluesky", "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "",
            "BOT_HANDLE": "mirror.example",
            "BOT_APP_PASSWORD": "planted", "FAVORITE_MODE": "suggest",
            "BOT_API_BASE_URL": Self.nowhere,
        ],
    ]

    /// Favorites that wait, of which the texts are kept or not.
    private func suggest(_ stand: WebStand, isKept: Bool) async throws {
        let mirror = try await stand.mirror()
        let life = MirrorLife(
            mirror: mirror, human: PageStage.human, now: WebStand.now, isHostile: false)
        for number in 0..<3 { try await life.suggestFavorite(number) }
        if !isKept {
            try await mirror.storage.execute(
                "UPDATE actions SET target_text = NULL WHERE mirror = 'mika' AND kind = 'favorite'")
        }
    }

    /// The fields of the page's form of suggestions, all of them ticked.
    private func fields(_ page: WebClient.Answer) -> [(String, String)] {
        let hidden = page.body.matches(of: #/name="(csrf|seen-[0-9a-f]+)" value="([^"]*)"/#).map {
            (String($0.output.1), String($0.output.2))
        }
        let ids = page.body.matches(of: #/name="id" value="([0-9a-f]+)"/#).map {
            ("id", String($0.output.1))
        }
        return Array(hidden.prefix(1)) + hidden.filter { $0.0 != "csrf" } + ids
    }

    @Test(arguments: NetworkName.known, [true, false])
    func noButtonOfWaitingIsRefused(_ network: NetworkName, isKept: Bool) async throws {
        let variables = try #require(Self.accounts[network])
        let buttons = ["approve", "done", "decline"]
        for verb in buttons {
            for isBulk in [true, false] {
                try await WebStand.with(variables: variables) { stand in
                    try await suggest(stand, isKept: isKept)
                    let page = try await stand.client.send("/m/mika/waiting")
                    let pattern =
                        isBulk
                        ? "name=\"all\" value=\"\(verb)\""
                        : "name=\"\(verb)\" value=\"([0-9a-f]+)\""
                    let button = try Regex(pattern)
                    guard let found = page.body.firstMatch(of: button) else {
                        // Where the desk would do it, it is offered.
                        #expect(verb == (network == .x ? "approve" : "done"), "\(network), \(verb)")
                        return
                    }
                    let value = isBulk ? verb : String(found.output[1].substring ?? "")
                    let form = fields(page) + [(isBulk ? "all" : verb, value)]
                    let answer = try await stand.client.send("/m/mika/waiting", form: form)
                    #expect(answer.status == 303, "\(network), \(verb): \(answer.status)")
                    let after = try await stand.client.send("/m/mika/waiting")
                    #expect(!after.body.contains("Not done"), "\(network), \(verb)")
                }
            }
        }
    }

    /// Learning is promised only where something is learned.
    @Test(arguments: NetworkName.known, [true, false])
    func whatIsLearnedIsSaid(_ network: NetworkName, isKept: Bool) async throws {
        let variables = try #require(Self.accounts[network])
        try await WebStand.with(variables: variables) { stand in
            try await suggest(stand, isKept: isKept)
            let page = try await stand.client.send("/m/mika/waiting")
            let promises = page.body.contains("What you say of a favorite is learned.")
            let denies = page.body.contains("Nothing is learned of what you say of favorites here")
            #expect(promises == (network != .x || isKept), "\(network)")
            #expect(denies == (network == .x && !isKept), "\(network)")
        }
    }
}

/// The slots of Today: where they stand, what they say, and whether their links work.
@Suite(.timeLimit(.minutes(30))) struct SlotListTests {
    private func part(_ page: WebClient.Answer, from start: String, to end: String) throws
        -> Substring
    {
        let from = try #require(page.body.range(of: "id=\"\(start)\"")).upperBound
        let to = try #require(
            page.body.range(of: "id=\"\(end)\"", range: from..<page.body.endIndex)
        ).lowerBound
        return page.body[from..<to]
    }

    private func slots(_ text: some StringProtocol) -> [String] {
        String(text).matches(of: #/id="slot-([0-9a-f]+)"/#).map { String($0.output.1) }
    }

    /// Also those of a day that is only a preview.
    @Test(arguments: [false, true]) func everyTextCanBeForbidden(isStored: Bool) async throws {
        try await WebStand.with { stand in
            var page = try await stand.client.send("/m/mika")
            if isStored {
                let first = try #require(slots(page.body).first)
                let zone = try #require(TimeZone(identifier: WebStand.zone))
                _ = try await Desk(try await stand.mirror(), zone: zone).perform(
                    PinSlot(slot: first))
                page = try await stand.client.send("/m/mika")
            }
            let links = page.body.matches(of: #/href="([^"]*\/confirm\/never\?[^"]*)"/#).map {
                String($0.output.1)
            }
            #expect(!links.isEmpty)
            for link in links {
                let question = try await stand.client.send(link.replacing("&amp;", with: "&"))
                #expect(question.status == 200, "\(link): \(question.status)")
                #expect(question.body.contains("Never send this text?"), "\(link)")
            }
        }
    }

    @Test func theClockAloneSaysWhatIsEarlier() async throws {
        try await WebStand.with { stand in
            let before = try await stand.client.send("/m/mika")
            let ahead = slots(try part(before, from: "coming-list", to: "past-list"))
            let last = try #require(ahead.last)
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            // The first change stores the plan.
            _ = try await Desk(mirror, zone: zone).perform(PinSlot(slot: last))
            try await mirror.storage.execute(
                "UPDATE actions SET state = 'skipped', reason = 'no-text' WHERE mirror = 'mika' AND id = \(last)"
            )
            let after = try await stand.client.send("/m/mika")
            let coming = try part(after, from: "coming-list", to: "past-list")
            #expect(slots(coming).contains(last))
            #expect(coming.contains(Words.count(ahead.count - 1, "post")), "it counts")
        }
    }

    @Test func aKeptSlotWhoseTextIsForbiddenIsNotCounted() async throws {
        try await WebStand.with { stand in
            let before = try await stand.client.send("/m/mika")
            let ahead = slots(try part(before, from: "coming-list", to: "past-list"))
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            let desk = Desk(mirror, zone: zone)
            let slot = try #require(ahead.first)
            _ = try await desk.perform(PinSlot(slot: slot))
            _ = try await desk.perform(NeverSend(post: slot))
            let after = try await stand.client.send("/m/mika")
            let coming = try part(after, from: "coming-list", to: "past-list")
            #expect(coming.contains("Nothing is sent, it has no text"))
            #expect(coming.contains("<p>\(Words.count(ahead.count - 1, "post"))</p>"), "it counts")
        }
    }

    /// A day without a post offers one, which one press sends.
    @Test func aSilentDayOffersAPost() async throws {
        let state = try #require(PageState.all.first { $0.name == "silence" })
        let (stand, _) = try await state.start()
        let page = try await stand.client.send("/m/mika")
        let button = try #require(
            page.body.firstMatch(of: #/<button name="post" value="([^"]+)">Send it now/#))
        let start = try #require(page.body.range(of: "/first-post\">")).upperBound
        let seen = try #require(page.body[start...].firstMatch(of: #/name="seen" value="([^"]*)"/#))
        let answer = try await stand.client.send(
            "/m/mika/first-post",
            form: [
                ("csrf", page.field("csrf") ?? ""), ("seen", String(seen.output.1)),
                ("post", String(button.output.1)),
            ])
        #expect(answer.status == 303)
        let after = try await stand.client.send("/m/mika")
        #expect(!after.body.contains("Send it now"))
        #expect(after.body.contains("It is sent as soon as the worker comes to it."))
        let another = try await stand.client.send("/m/mika?other=1")
        #expect(another.status == 200)
        await stand.stop()
    }
}
