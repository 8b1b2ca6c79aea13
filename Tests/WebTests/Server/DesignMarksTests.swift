import Archive
import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Schedule
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// What a designer asked of the pages, as far as their text shows it; `LayoutInBrowserTests` looks
/// at the rest.
@Suite(.timeLimit(.minutes(30))) struct DesignMarksTests {
    private static func zone() throws -> TimeZone {
        try #require(TimeZone(identifier: WebStand.zone))
    }

    /// The text of a page without its tags.
    private func words(_ page: WebClient.Answer) -> String {
        page.body.replacingOccurrences(of: "<[^>]*>", with: "", options: .regularExpression)
    }

    // MARK: Actions and Today

    private static let summary = "the human favorites posts like this one"

    /// A reply and two favorites that were sent today.
    private func fill(_ mirror: HumanMirror) async throws {
        let target = { (number: Int) in
            Action.Target(
                post: "https://far.example/@pal/\(number)", author: MirrorLife.pal,
                address: "\(number)", text: "how is the bread \(number)?")
        }
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "answer-0"), text: "The bread is fine.",
            language: "en", visibility: .unlisted)
        let why = Explanation(
            Self.summary, favoriteRate: 5.1, threshold: 2, baseLogOdds: -2,
            features: [.init(name: "rosemary", logOdds: 2.5, favorites: 31, normals: 14)])
        let reply = Action.Reply(to: target(1), thread: "t", wording: wording)
        let payloads: [(Action.Payload, Explanation)] = [
            (.reply(reply), Explanation("one of 12 old replies")),
            (.favorite(target(2)), why), (.favorite(target(3)), why),
        ]
        for (payload, why) in payloads {
            let at = WebStand.now - 3_600
            let intent = Intent(payload, due: at, expires: at + 3_600, explanation: why)
            let action = try await mirror.outbox(lease: nil).propose(intent, now: at).action
            try await mirror.storage.execute(
                """
                UPDATE actions SET state = 'done', sending_ms = \(at.milliseconds), remote_id = 'r'
                WHERE mirror = 'mika' AND id = \(action.id)
                """)
        }
    }

    /// The text and the rate stand there, and not one sentence many times.
    @Test(arguments: ["/m/mika", "/m/mika/actions"]) func rowsSayWhatWasSaidAndWhy(_ path: String)
        async throws
    {
        try await WebStand.with { stand in
            try await fill(try await stand.mirror())
            let page = try await stand.client.send(path)
            #expect(page.body.contains("<bdi>The bread is fine.</bdi>"))
            // What other people wrote is kept only while something waits for a person.
            #expect(!page.body.contains("how is the bread"))
            #expect(page.body.components(separatedBy: "Rate 5.1").count - 1 == 2)
            #expect(!page.body.contains(Self.summary))
        }
    }

    /// Every slot can be left out and changed in its row, not only the first eight.
    @Test func theNinthSlotHasTheSameControls() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            let day = LocalTime(WebStand.now, in: try Self.zone()).day
            let slots = (1...12).map { number in
                let due = WebStand.now + Double(number) * 1_800
                let wording = Action.Wording(
                    source: PostID(
                        network: .mastodon, value: "https://social.example/@mika/\(number)"),
                    text: "Post number \(number).", language: nil, visibility: .unlisted)
                return Intent(
                    .post(Slot.Name(day: day, number: number), wording), due: due,
                    expires: due + 3_600)
            }
            let plan = StoredPlan(
                day: day, timeZone: WebStand.zone, seed: "s", made: WebStand.now,
                model: DayPlanner.modelVersion)
            let isStored = try await mirror.outbox(lease: nil).store(plan, slots: slots)
            try #require(isStored)
            let page = try await stand.client.send("/m/mika")
            for slot in try await mirror.outbox(lease: nil).slots(of: day) {
                let time = LocalTime(slot.due, in: try Self.zone()).minute
                let path = "/m/mika/slots/\(slot.id)"
                #expect(page.body.contains("<form method=\"post\" action=\"\(path)/skip\">"))
                #expect(page.body.contains("Change<span class=\"vh\"> \(time)</span>"))
                let own = try await stand.client.send(path)
                #expect(own.body.contains("action=\"\(path)/move\""))
            }
            // The form of the ninth is on its own page, and its button leaves it out here.
            let ninth = try await mirror.outbox(lease: nil).slots(of: day)[8]
            let action = try #require(page.body.range(of: "/slots/\(ninth.id)/skip\">"))
            let seen = try #require(
                page.body[action.upperBound...].firstMatch(of: #/name="seen" value="([^"]*)"/#))
            let answer = try await stand.client.send(
                "/m/mika/slots/\(ninth.id)/skip",
                form: [("csrf", page.field("csrf") ?? ""), ("seen", String(seen.output.1))])
            #expect(answer.status == 303)
            let after = try await mirror.outbox(lease: nil).actions(withIDs: [ninth.id])[ninth.id]
            #expect(after?.state == .skipped)
        }
    }

    // MARK: Texts, People, Health

    /// What may be posted stands before what is left out, and why.
    @Test func textsBeginWithWhatMayBePosted() async throws {
        let text: @Sendable (Int) -> String = {
            $0 % 2 == 0
                ? "The bread of the old bakery smells of rosemary, loaf \($0)."
                : "The train does not run today, so we walk home, part \($0)."
        }
        try await WebStand.with(variables: ["FITNESS": "strict"], text: text) { stand in
            let page = try await stand.client.send("/m/mika/texts")
            let list = try #require(page.body.range(of: "id=\"list\""))
            let reasons = try #require(page.body.range(of: "id=\"why\""))
            #expect(list.lowerBound < reasons.lowerBound)
            #expect(page.body[list.upperBound..<reasons.lowerBound].contains("smells of rosemary"))
            #expect(!page.body[list.upperBound..<reasons.lowerBound].contains("The train"))
        }
    }

    /// One person has one name on all pages, and it breaks before the server's `@`.
    @Test func aPersonHasOneNameOnAllPages() async throws {
        try await WebStand.with { stand in
            _ = try await PageState.fill(stand)
            try await stand.mirror().people.set(
                .deny, for: MirrorLife.pal, handle: nil, reason: "operator", at: WebStand.now)
            let reference = WebFields.encoded(MirrorLife.pal.reference)
            for path in [
                "/waiting", "/actions", "/people", "/people?stance=deny", "/people/\(reference)",
                "/actions?person=\(reference)", "/confirm/people-deny?account=\(reference)",
            ] {
                let page = try await stand.client.send("/m/mika" + path)
                let text = words(page)
                #expect(text.contains("@pal@far.example"), "\(path)")
                #expect(text.firstMatch(of: #/(^|[^@\w])pal@far\.example/#) == nil, "\(path)")
            }
            for path in ["/waiting", "/actions", "/people"] {
                try await #expect(
                    stand.client.send("/m/mika" + path).body.contains("@pal<wbr>@far.example"),
                    "\(path)")
            }
        }
    }

    @Test(arguments: [
        ("@pal@far.example", "@pal<wbr>@far.example"), ("pal@far.example", "pal<wbr>@far.example"),
        ("@pal.bsky.example", "@pal.bsky.example"), ("@", "@"), ("", ""), ("@@", "@<wbr>@"),
        ("a\"<b>@c", "a&quot;&lt;b&gt;<wbr>@c"),
    ])
    func aNameBreaksBeforeItsServer(_ name: String, _ markup: String) {
        #expect(Markup.account(name).text == markup)
    }

    @Test func theNumbersOfLimitsHaveAColumn() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/health")
            let start = try #require(page.body.range(of: "id=\"limits\"")).upperBound
            let end = try #require(page.body.range(of: "id=\"told\"")).lowerBound
            let limits = page.body[start..<end]
            let rows = limits.components(separatedBy: "<tr><th scope=\"row\">").count - 1
            #expect(rows >= 3)
            let aligned = limits.matches(
                of: #/<td class="n">[0-9,]+<\/td><td class="whole"><bdi>of [^<]+<\/bdi><\/td>/#)
            #expect(aligned.count == rows)
            for columns in ["class=\"two", "class=\"duo"] { #expect(!page.body.contains(columns)) }
        }
    }

    // MARK: All mirrors

    /// A reason that several mirrors have stands once, with their number.
    @Test func equalReasonsAreGrouped() async throws {
        try await WebStand.with(["ann", "bo", "cleo"]) { stand in
            for name in ["new", "newer"] { try await stand.add(name) }
            try await stand.mirror("bo").table.pause(until: nil, reason: "rest", now: WebStand.now)
            let status = try await MirrorsStatus(of: stand.installation, now: WebStand.now)
            let shared = try #require(status.shared)
            #expect(!shared.isEmpty)
            for group in shared {
                #expect(group.count == status.mirrors.count { $0.reason == group.text })
                #expect(group.count > 1)
            }
            // Those on other pages count, too.
            var query = MirrorsStatus.Query()
            query.size = 1
            let first = try await MirrorsStatus(of: stand.installation, query, now: WebStand.now)
            let listed = first.mirrors.compactMap(\.reason)
            #expect(listed.count == 1)
            #expect(first.shared == shared.filter { listed.contains($0.text) })
            let page = try await stand.client.send("/")
            for group in shared {
                let text = Words.capitalized(group.text)
                let heading = "\(Words.count(group.count, "mirror")): \(text)"
                #expect(words(page).contains(Markup.escaped(heading)), "\(heading)")
            }
            // Each mirror is there once, and the one with a reason of its own says it.
            let names = page.body.matches(of: #/href="\/m\/([a-z]+)"/#).map { String($0.output.1) }
            #expect(names.sorted() == ["ann", "bo", "cleo", "new", "newer"])
            #expect(page.body.contains("rest"))
        }
    }

    // MARK: The page itself

    /// The colors are chosen in the settings, and the page stays there.
    @Test func theThemeStaysWhereItIs() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika/settings")
            let back = "/m/mika/settings#look"
            #expect(page.body.contains("name=\"back\" value=\"\(back)\""))
            let answer = try await stand.client.send(
                "/look",
                form: [("csrf", page.field("csrf") ?? ""), ("theme", "dark"), ("back", back)])
            #expect(answer.status == 303)
            #expect(answer["Location"] == back)
            for path in ["/m/mika/settings", "/m/mika"] {
                try await #expect(
                    stand.client.send(path).body.contains("data-theme=\"dark\""), "\(path)")
            }
        }
    }

    /// The only person who can log in is not asked who they are; a password manager is told.
    @Test func theLoginAsksForThePasswordAlone() async throws {
        try await WebStand.with(variables: ["WEB_PASSWORD": WebStand.password]) { stand in
            let page = try await stand.client.send("/login")
            #expect(page.status == 200)
            let fields = page.body.matches(of: #/<input [^>]*>/#).map { String($0.output) }
            let seen = fields.filter { !$0.contains(" hidden") && !$0.contains("type=\"hidden\"") }
            #expect(seen.count == 2)
            #expect(seen.allSatisfy { $0.contains("password") || $0.contains("type=\"checkbox\"") })
            #expect(!page.body.contains("readonly"))
            #expect(!words(page).contains("operator"))
        }
    }
}
