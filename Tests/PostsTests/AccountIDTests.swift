import Expectations
import Foundation
import Posts
import TestSupport
import Testing

/// One account has one key, however it is spelled.
@Suite struct AccountIDTests {
    @Test(arguments: [
        ("stadt@xn--bw-via.example", "stadt@bäw.example"),
        ("@Stadt@BÄW.example", "stadt@bäw.example"),
        ("https://bäw.example/@stadt", "stadt@bäw.example"),
        ("https://xn--bw-via.example/users/stadt", "stadt@bäw.example"),
        ("acct:stadt@bäw.example", "stadt@bäw.example"),
        ("stadt@ba\u{308}w.example.", "stadt@bäw.example"),
        ("mastodon:stadt@bäw.example:443", "stadt@bäw.example"), ("jo@h.example.", "jo@h.example"),
        ("@jo@H.EXAMPLE", "jo@h.example"), ("jo", "jo@home.example"),
        ("a_b.c@例え.jp", "a_b.c@例え.jp"),
        ("x@faß.example", "x@faß.example"), ("x@ＥＸＡＭＰＬＥ.com", "x@example.com"),
        ("x@h.example:8443", "x@h.example:8443"),
        ("https://h.example/@jo@far.example", "jo@far.example"),
        ("https://h.example/u/jo", "jo@h.example"),
    ])
    func everySpellingIsAccepted(text: String, shown: String) throws {
        let id = try #require(AccountID(reference: text, localHost: "home.example"))
        #expect(id.shown == shown)
        #expect(id.value.utf8.allSatisfy { $0 < 0x80 })
        #expect(id.canonical == id)
        // What is printed is accepted back.
        #expect(AccountID(reference: id.shown, localHost: nil) == id)
        #expect(AccountID(reference: id.reference, localHost: nil) == id)
        #expect(AccountID.mastodon(id.shown, localHost: "") == id)
    }

    @Test(arguments: [
        "", "@", "jo@", "@@h.example", "a b@h.example", "jo@h.example@x", "https://h.example",
        "https://h.example/about/x/y",
        "ftp://h.example/@jo", "jo\u{202E}@h.example", "jo@h.example/inbox", "x:", "jo@h:x",
    ])
    func whatIsNoAccountIsRefused(text: String) {
        #expect(AccountID(reference: text, localHost: "home.example") == nil)
    }

    /// Whatever letters a host has, both of its forms lead to each other.
    @Test func theFormsOfHostsLeadToEachOther() {
        var generator = SeededGenerator(seed: 32)
        let letters = Array("abcxyz019äöüßéñçåøæþ例え東京日本語あアобвгдαβγδאבגعربहिन्दीไทย한국어")
        for _ in 0..<2_000 {
            let label = String(
                (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    letters.randomElement(using: &generator)!
                })
            let canonical = HostName.canonical("\(label).example")
            let shown = HostName.shown(canonical)
            #expect(HostName.canonical(shown) == canonical)
            #expect(HostName.canonical(canonical) == canonical)
            #expect(HostName.shown(shown) == shown)
        }
    }

    /// Names that look like encoded ones and are not stay what they are.
    @Test(arguments: [
        "xn--a.example", "xn--.example", "xn--999999999.example", "xn--a-ecp.ru-.x",
        "xn--\u{7f}x.example",
    ])
    func brokenPunycodeIsShownAsItIs(host: String) {
        let canonical = HostName.canonical(host)
        #expect(HostName.canonical(HostName.shown(canonical)) == canonical)
    }
}
