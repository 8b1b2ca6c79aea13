import NetworkNames
import Posts
import Testing

/// A whole server has one name, however it is spelled.
@Suite struct ServerNameTests {
    @Test(arguments: [
        ("*@far.example", "*@far.example"), ("@*@Far.Example", "*@far.example"),
        ("*@far.example.", "*@far.example"),
        ("*@FAR.EXAMPLE:443", "*@far.example"), ("mastodon:*@far.example", "*@far.example"),
        ("acct:*@far.example", "*@far.example"), ("*@bäw.example", "*@xn--bw-via.example"),
        ("*@BÄW.example.", "*@xn--bw-via.example"),
        ("*@xn--BW-via.example", "*@xn--bw-via.example"),
        ("*@ba\u{308}w.example", "*@xn--bw-via.example"), (" *@far.example ", "*@far.example"),
        ("*@far.example:8443", "*@far.example:8443"), ("*@ＦＡＲ.example", "*@far.example"),
        ("*@localhost", "*@localhost"),
    ])
    func everySpellingIsAccepted(text: String, reference: String) throws {
        let server = try #require(ServerName(reference: text))
        #expect(server.reference == reference)
        // What is printed is accepted back.
        #expect(ServerName(reference: server.shown) == server)
        #expect(ServerName(server.id) == server)
    }

    @Test(arguments: [
        "", "*", "*@", "@*", "far.example", "*.far.example", "@*.far.example", "*@*",
        "*@*.far.example", "*@.example",
        "*@far..example", "a*@far.example", "ann@far.example", "*@far.example@x",
        "*@far.example/inbox",
        "*@far.example:0",
        "*@far.example:x", "*@far.example:99999", "**@far.example", "*@fa r.example",
        "*@far\u{202E}.example",
        "https://far.example/*@far.example", "x:*@far.example", "bluesky:*@far.example",
        "did:plc:*@far.example",
        "*@fa%r.example",
    ])
    func whatIsNoServerIsRefused(text: String) {
        #expect(ServerName(reference: text) == nil)
    }

    @Test(arguments: [
        ("*@far.example", "ann@far.example", true), ("*@far.example", "ann@a.far.example", true),
        ("*@far.example", "ann@a.b.far.example", true),
        ("*@far.example", "ann@far.example:8443", true),
        ("*@far.example", "ann@nofar.example", false),
        ("*@far.example", "ann@far.example.org", false),
        ("*@a.far.example", "ann@far.example", false),
        ("*@far.example:8443", "ann@far.example:8443", true),
        ("*@far.example:8443", "ann@a.far.example:8443", true),
        ("*@far.example:8443", "ann@far.example", false),
        ("*@example", "ann@far.example", true), ("*@bäw.example", "ann@xn--bw-via.example", true),
        ("*@bäw.example", "ann@bäw.example", true), ("*@far.example", "far.example", false),
    ])
    func aServerCoversThoseBelowIt(server: String, account: String, isCovered: Bool) throws {
        let server = try #require(ServerName(reference: server))
        #expect(server.covers(AccountID(network: .mastodon, value: account)) == isCovered)
        // On other networks the same letters are no name of a server.
        #expect(!server.covers(AccountID(network: .x, value: account)))
        #expect(!server.covers(AccountID(network: .bluesky, value: account)))
    }

    @Test func theNarrowestCoveringServerComesFirst() {
        let account = AccountID(network: .mastodon, value: "ann@a.far.example:8443")
        #expect(
            ServerName.covering(account).map(\.reference) == [
                "*@a.far.example:8443", "*@far.example:8443", "*@example:8443", "*@a.far.example",
                "*@far.example",
                "*@example",
            ])
    }
}
