import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Storage
import Testing

@testable import Web

/// The pages Hours, Favorites, Texts and Settings as the server sends them.
@Suite(.timeLimit(.minutes(30))) struct LikenessServerTests {
    private static let post = "https://social.example/@mika/0"

    @Test(arguments: [
        "/hours", "/favorites", "/texts", "/texts?fitness=fit&q=number", "/settings",
        "/settings?show=set",
        "/settings?show=all", "/settings/set?name=MAX_PER_DAY&value=3", "/muted?word=number",
        "/settings/zone?zone=Asia/Tokyo&to=2020-01-01",
        "/confirm/never?post=https%3A%2F%2Fsocial.example%2F@mika%2F0",
        "/confirm/forget?post=https%3A%2F%2Fsocial.example%2F@mika%2F0",
    ])
    func aPageComesWholeAndSmall(_ path: String) async throws {
        let hostile: @Sendable (Int) -> String = { "Post number \($0): \(SampleReport.hostile)" }
        try await WebStand.with(text: hostile) { stand in
            let answer = try await stand.client.send("/m/mika" + path)
            #expect(answer.status == 200)
            let assets = WebAsset.ofEveryPage.reduce(0) { $0 + $1.size }
            #expect(answer.body.utf8.count + assets <= 60_000, "\(answer.body.utf8.count)")
            // The frame is no larger than what every page leaves it.
            let inner = try #require(answer.body.firstMatch(of: #/<main[^>]*>([\s\S]*)<\/main>/#))
                .output.1
            expect(answer.body.utf8.count - inner.utf8.count) { $0 <= RenderedPage.frame }
            #expect(answer.body.hasSuffix("</html>\n") || answer.body.hasSuffix("</html>"))
            for sign in ["<script>", "<img", "\u{202E}"] {
                let found = answer.body.contains(sign)
                #expect(!found, "\(sign)")
            }
            let ids = answer.body.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }
            #expect(Set(ids).count == ids.count)
            // Nothing of a text stands in the log.
            #expect(!stand.log.all.contains("Post number"))
        }
    }

    @Test func thePictureIsAFile() async throws {
        try await WebStand.with { stand in
            let answer = try await stand.client.send("/m/mika/hours.svg")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"]?.hasPrefix("image/svg+xml") == true)
            #expect(!answer.body.contains("Post number"))
        }
    }

    @Test func aSettingIsSetFromThePageToTheRow() async throws {
        try await WebStand.with { stand in
            let asked = try await stand.client.send("/m/mika/settings/set?name=MAX_PER_DAY&value=3")
            let form = [
                ("csrf", try #require(asked.field("csrf"))),
                ("seen", try #require(asked.field("seen"))),
                ("name", "MAX_PER_DAY"), ("value", "3"),
            ]
            let done = try await stand.client.send("/m/mika/settings", form: form)
            #expect(done.status == 303)
            let page = try await stand.client.send("/m/mika/settings")
            #expect(page.body.contains("<code>MAX_PER_DAY</code> is 3 now"))
            #expect(page.body.contains("<b><bdi>3</bdi></b>"))
            let mirror = try await stand.mirror()
            #expect(try await SettingsChange(of: mirror).settings.map(\.value) == ["3"])
            // Pressing twice does once, and an older form changes nothing.
            let twice = try await stand.client.send("/m/mika/settings", form: form)
            #expect(twice.status == 303)
            let other = form.dropLast() + [("value", "9")]
            let late = try await stand.client.send("/m/mika/settings", form: Array(other))
            #expect(late.status == 409)
            #expect(late.body.contains("value=\"9\""))
            #expect(try await SettingsChange(of: mirror).settings.map(\.value) == ["3"])
        }
    }

    @Test func whatCannotBeUsedIs400WithWhatWasTyped() async throws {
        try await WebStand.with { stand in
            let answers = [
                try await stand.client.send(
                    "/m/mika/settings/set?name=QUIET_HOURS&value=23:00-25:00"),
                try await stand.client.send("/m/mika/settings/zone?zone=Mars&to=2020-01-01"),
                try await stand.client.send("/m/mika/muted?day=Christmas"),
            ]
            for (answer, typed) in zip(answers, ["23:00-25:00", "Mars", "Christmas"]) {
                #expect(answer.status == 400)
                #expect(answer.body.contains("value=\"\(typed)\""))
            }
        }
    }

    /// The page says what to do, and neither what Redis said nor what was typed.
    @Test func aTryWithoutRedisSaysWhatToDo() async throws {
        try await WebStand.with(variables: ["REDIS_URL": "redis://127.0.0.1:1"]) { stand in
            let page = try await stand.client.send("/m/mika/favorites")
            #expect(page.status == 200)
            let asked = try await stand.client.send("/m/mika/settings/set?name=MAX_PER_DAY&value=3")
            let answer = try await stand.client.send(
                "/m/mika/favorites/try",
                form: [
                    ("csrf", try #require(asked.field("csrf"))), ("text", "Gooseberry"),
                    ("author", ""),
                ])
            #expect(answer.status == 503)
            #expect(answer.body.contains("Health has the reason"))
            #expect(!answer.body.contains("Gooseberry") && !answer.body.contains("127.0.0.1:1"))
            #expect(!stand.log.all.contains("Gooseberry"))
        }
    }

    @Test func aTextIsPostedOnceByPressingTwice() async throws {
        try await WebStand.with { stand in
            let asked = try await stand.client.send(
                "/m/mika/confirm/post?post=\(WebClient.encoded(Self.post))")
            #expect(asked.status == 200)
            let form = [
                ("csrf", try #require(asked.field("csrf"))),
                ("seen", try #require(asked.field("seen"))),
                ("post", Self.post),
            ]
            for _ in 0..<2 {
                let done = try await stand.client.send("/m/mika/texts/post", form: form)
                #expect(done.status == 303)
            }
            let mirror = try await stand.mirror()
            let said = try await mirror.outbox(lease: nil).waitingPosts().filter {
                $0.text == "Post number 0."
            }
            #expect(said.count == 1)
        }
    }

    @Test func aReadOnlyServerShowsNoControls() async throws {
        try await WebStand.with(isReadOnly: true) { stand in
            for path in ["/hours", "/favorites", "/texts", "/settings"] {
                let page = try await stand.client.send("/m/mika" + path)
                #expect(page.status == 200)
                #expect(!page.body.contains("method=\"post\""), "\(path)")
            }
            let refused = try await stand.client.send(
                "/m/mika/settings", form: [("name", "MAX_PER_DAY"), ("value", "3")])
            #expect(refused.status == 403)
        }
    }

    @Test func aMirrorWithoutAClockHasItsPagesToo() async throws {
        try await WebStand.with(variables: ["TIME_ZONE": ""]) { stand in
            try await stand.installation.storage.execute(
                "UPDATE mirrors SET time_zone = NULL WHERE mirror = 'mika'")
            for path in ["/hours", "/favorites", "/texts", "/settings"] {
                let page = try await stand.client.send("/m/mika" + path)
                #expect(page.status == 200, "\(path)")
            }
        }
    }
}
