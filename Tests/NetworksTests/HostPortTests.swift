import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// Servers may be reached by another port than the usual one, and people are named by it.
@Suite struct HostPortTests {
    @Test func aMentionFromAHostWithAPortKeepsIt() async throws {
        let mentions =
            #"[{"id":"1","acct":"bot","url":"https://home.example/@bot"},"#
            + #"{"id":"8","acct":"Bob@Other.example:8443","url":"https://other.example:8443/@Bob"}]"#
        let html =
            #""<p><a href=\"https://home.example/@bot\" class=\"mention\">@bot</a> and "#
            + #"<a href=\"https://other.example:8443/@Bob\" class=\"mention\">@Bob</a></p>""#
        let status = Wire.status(
            "9",
            [
                "account": Wire.account("7", acct: "Ann@Far.example:8443"), "mentions": mentions,
                "content": html,
                "uri": #""https://far.example:8443/9""#,
            ])
        let loopback = try Loopback { request in
            request.path == "/api/v1/notifications"
                ? .json(Wire.list([Wire.notification("3", status: status)])) : nil
        }
        let mention = try #require(try await loopback.network.page(.mentions, .newest).items.first)
        #expect(mention.author.id == .mastodon("ann@far.example:8443", localHost: "home.example"))
        #expect(mention.author.handle == "Ann@far.example:8443")
        #expect(
            mention.post.mentions.map(\.value) == ["bot@home.example", "bob@other.example:8443"])
        #expect(mention.post.text == "@bot@home.example and @Bob@other.example:8443")
        #expect(mention.post.id.value == "https://far.example:8443/9")
    }

    /// The port is a part of the name: others may live at the same host.
    @Test func theAccountsOwnPortIsAPartOfItsName() async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v2/instance": .json(#"{"domain":"home.example:8443"}"#)
            case "/api/v1/accounts/verify_credentials":
                .json(Wire.account("1", acct: "bot", ["url": #""https://home.example:8443/@bot""#]))
            case "/api/v1/timelines/home":
                .json(
                    Wire.list([
                        Wire.status("9"),
                        Wire.status("8", ["account": Wire.account("6", acct: "ann@home.example")]),
                    ]))
            default: nil
            }
        }
        try await expect(loopback.network.verifyAccount().handle, equals: "bot@home.example:8443")
        let items = try await loopback.network.page(.home, .newest).items
        #expect(items.map(\.author.id.value) == ["ann@home.example:8443", "ann@home.example"])
    }
}
