import Expectations
import Settings
import Testing

@Suite struct ServerURLTests {
    @Test(arguments: [
        ("https://social.example", "https://social.example"),
        ("Social.Example/", "https://social.example"),
        ("https://social.example:443", "https://social.example"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://social.example.:8443/", "https://social.example:8443"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "https://xn--bcher-kva.example"),
    ])
    func givesTheSameServerTheSameText(text: String, expected: String) throws {
        try expect(ServerURL.normalized(text, setting: "BOT_SERVER"), equals: expected)
        try expect(ServerURL.normalized(expected, setting: "BOT_SERVER"), equals: expected)
    }

    @Test(arguments: [
        "", "https://", "ftp://a.example", "https://ann@a.example", "https://a.example/b",
        "https://a.example?b",
        // What is written with `%` may become anything once it is decoded.
        "https://%54.xn----0.", "https://a%2Fb.example", "https://a%40b.example", "https://a%3A80",
        "https://a%20b",
        "https://a%0Ab",
        "https://.", "https://..", "https://a..example", "https://a.example:0",
        "https://a.example:65536",
        // Only this machine, in the spelling that everybody reads alike, is asked without TLS.
        "http://a.example", "http://0x7f.1", "http://2130706433", "http://127.1", "http://0",
        "http://0.0.0.0",
        "http://[::ffff:127.0.0.1]", "http://[::]", "http://0177.0.0.1", "http://192.168.1.1",
        "http://localhost.example",
        "https://a!b.example", "https://[:]", "https://[a.example]",
    ])
    func refusesWhatIsNoServer(text: String) {
        #expect(throws: ConfigurationError.self) {
            try ServerURL.normalized(text, setting: "BOT_SERVER")
        }
    }
}
