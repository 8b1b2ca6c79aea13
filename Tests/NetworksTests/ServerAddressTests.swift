import NetworkNames
import Posts
import Testing

@testable import Networks

@Suite struct ServerAddressTests {
    @Test(arguments: [
        ("https://social.example", "https://social.example", "social.example"),
        ("https://social.example/", "https://social.example", "social.example"),
        ("social.example", "https://social.example", "social.example"),
        (" Social.Example\n", "https://social.example", "social.example"),
        ("https://social.example:8443/", "https://social.example:8443", "social.example"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000", "127.0.0.1"),
        ("http://[::1]:3000", "http://[::1]:3000", "[::1]"),
        ("HTTPS://social.example", "https://social.example", "social.example"),
        ("https://social.example.", "https://social.example.", "social.example."),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]", "[2001:db8::1]"),
    ])
    func readsAddresses(text: String, base: String, host: String) throws {
        let server = try ServerAddress(text, network: .mastodon)
        #expect(server.base == base)
        #expect(server.host == host)
    }

    @Test(arguments: [
        "", " ", "https://", "https:///", "ftp://social.example", "file:///etc/passwd",
        "https://user:planted@social.example", "@ann@social.example", "https://social.example/@ann",
        "https://social.example?x=1", "https://social.example#x", "social.example/../x",
        "sociäl.example",
        "https://so cial.example", "https://social.example\\x", "https://%73ocial.example",
        "https://:443",
        // What the transport would refuse with each request.
        "https://[", "https://[::1", "https://[::1]x", "https://[a.example]", "https://[::1]:",
        "https://social.example:",
        "https://social.example:0", "https://social.example:65536",
        "https://social.example:99999999999999999999",
        "https://social.example:80:80", "https://social.example:+80", "https://a!b.example",
        "https://a..example",
        "http://a.example", "http://0x7f.1", "http://2130706433", "http://127.1", "http://0",
        "http://[::ffff:127.0.0.1]", "https://.", "https://a.example..",
        "https://\(String(repeating: "a", count: 300)).example",
    ])
    func refusesWhatIsNoAddress(text: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try ServerAddress(text, network: .mastodon)
        }
        #expect(error.code == .configuration)
        #expect(error.isPermanent)
        #expect(error.stopsActor)
        #expect(!error.description.contains("planted"))
        #expect(
            error.description.hasPrefix(
                "could not use the configuration on Mastodon (the configured server): "))
    }
}
