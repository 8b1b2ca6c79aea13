import Conduct
import Foundation
import NetworkNames
import Posts
import Testing

@Suite struct TextRulesTests {
    @Test(arguments: [
        ("good morning", "good morning"),
        ("  good morning \n", "good morning"),
        ("lunch with @alice today", "lunch with alice today"),
        ("lunch with @alice@example.org.", "lunch with alice."),
        ("lunch with @alice.bsky.social!", "lunch with alice.bsky.social!"),
        ("こんにちは@aliceさん", "こんにちはaliceさん"),
        ("こんにちは、＠aliceさん", "こんにちは、aliceさん"),
        ("こんにちは、@花子さん", "こんにちは、花子さん"),
        ("thanks @a, @b and (@c)", "thanks a, b and (c)"),
        ("write to me at user@example.org", "write to me at user@example.org"),
        ("3 apples @ 2 euros", "3 apples @ 2 euros"),
        ("ends with @", "ends with @"),
        ("see @@alice now", "see alice now"),
        ("see @＠@alice now", "see alice now"),
        ("hide @\u{200B}alice here", "hide alice here"),
        ("hide @\u{200B}@\u{200B}@\u{200B}@\u{200B}@\u{200B}@\u{200B}@bob", nil),
        ("see https://example.org/@alice/1", "see https://example.org/@alice/1"),
        ("see https://example.org/a?x=1&@alice", "see https://example.org/a?x=1&%40alice"),
        ("これ見てhttps://example.org/@alice", "これ見てhttps://example.org/%40alice"),
        ("see example.org/@alice for more", "see example.org/alice for more"),
        ("see https://user@example.org/", "see https://user@example.org/"),
        ("see https://例え.jp/@alice/1", "see https://xn--r8jz45g.jp/@alice/1"),
        ("see https://www.例え.jp/@alice", "see https://www.xn--r8jz45g.jp/@alice"),
        ("see https://müller.example/@alice.", "see https://xn--mller-kva.example/@alice."),
        ("これ見てhttps://例え.jp/@alice", "これ見てhttps://xn--r8jz45g.jp/%40alice"),
        ("see https://例え.jp/alice", "see https://例え.jp/alice"),
        ("see https://a.example/вики/@alice!", "see https://a.example/вики/%40alice!"),
        ("見て https://a.example/日本語/@alice とか", "見て https://a.example/日本語/%40alice とか"),
        ("see https://пример.рф/вики/@alice", "see https://xn--e1afmkfd.xn--p1ai/вики/%40alice"),
        ("see https://example.рф/@alice", "see https://example.xn--p1ai/@alice"),
        ("from @stadt@bäw.example yesterday", "from stadt yesterday"),
        ("from @eve@xn--bw-via.example yesterday", "from eve yesterday"),
        ("from @jo@my--host.example yesterday", "from jo yesterday"),
        ("from @foo--bar@x.example yesterday", "from foo--bar yesterday"),
        ("from @a..b@y.example yesterday", "from a..b yesterday"),
        ("from @josé@example.org yesterday", "from josé yesterday"),
        ("от @ann@пример.рф, вчера", "от ann, вчера"), ("昨日@ann@例え.jpから聞いた", "昨日annから聞いた"),
        ("昨日@ann@b.exampleから聞いた", "昨日annから聞いた"),
        ("昨日@花子さんは@bob.exampleと話した", "昨日花子さんはbob.exampleと話した"),
        ("so @bob...and then", "so bob...and then"),
        ("昨日見たhttps://example.comです @alice", "昨日見たhttps://example.comです alice"),
        ("one\r\ntwo\u{0}\u{7}\tthree", "one\ntwo three"),
        ("first\u{2028}second", "first\nsecond"),
        ("@", nil), ("", nil),
    ])
    func textNotifiesNobody(source: String, expected: String?) {
        let cleaned = TextRules().text(for: post(source)).value
        if let expected { #expect(cleaned == expected) }
        if let cleaned { #expect(!MentionDetector.findsMention(in: cleaned)) }
    }

    @Test(arguments: [
        ("@alice good morning", "mentions-others"), (".@alice good morning", "mentions-others"),
        ("＠alice おはよう", "mentions-others"), ("@花子 おはよう", "mentions-others"),
        ("RT@alice: good morning", "is-repost"),
        ("RT @alice: good morning", "is-repost"), ("lol rt @alice good morning", "is-repost"),
        ("yes! MT @alice good morning", "is-repost"),
        ("“@alice: good morning” indeed", "is-repost"),
        ("\"@alice: good morning\"", "is-repost"), ("QT：@alice good morning", "is-repost"),
        ("and then he said…", "truncated"), ("and then he said… https://t.co/abc", "truncated"),
        ("and then https://twitter.com/a… https://twitter.com/i/web/status/1", "truncated"),
        ("", "no-words"), ("😀😀😀", "no-words"), ("ab", "no-words"),
        ("https://example.org/words", "no-words"),
        ("ok @alice@example.org", "no-words"), ("!?!?!?", "no-words"), ("___", "no-words"),
        (String(repeating: "あ", count: 501), "too-long"),
    ])
    func unfitTextIsRefused(text: String, code: String) {
        #expect(TextRules().text(for: post(text)).code == code)
    }

    @Test(arguments: [
        "start @alice", "art@alice said it", "sort @alice out", "he waited… and waited",
        "a long read… https://example.org/1", "寝よう", String(repeating: "あ", count: 500), "T_T why",
    ])
    func ordinaryTextIsNotRefused(text: String) {
        #expect(TextRules().text(for: post(text)).code == nil)
    }

    @Test func unfitPostsAreRefusedWhateverTheySay() {
        let rules = TextRules()
        let text = "good morning"
        #expect(rules.text(for: post(text, visibility: .private)).code == "not-open")
        #expect(rules.text(for: post(text, visibility: .direct)).code == "not-open")
        #expect(rules.text(for: post(text, visibility: .unlisted)).code == nil)
        #expect(rules.text(for: post(text, isRepost: true)).code == "is-repost")
        #expect(rules.text(for: post(text, hasMedia: true)).code == "has-media")
        #expect(rules.text(for: post(text, isSensitive: true)).code == "sensitive")
        #expect(rules.text(for: reply(text)).code == "is-reply")
        #expect(rules.text(for: post(text, replyTo: ReplyTarget(author: nil))).code == "is-reply")
    }

    @Test func whatQuotesAPostIsRefusedAsThat() {
        var quoting = post("good morning")
        var answering = reply("good morning")
        quoting.isQuote = true
        answering.isQuote = true
        #expect(TextRules().text(for: quoting).code == "quotes-a-post")
        #expect(TextRules().replyText(for: answering, to: "ann@a.example").code == "quotes-a-post")
        // Its pictures do not make up for what is missing.
        quoting.hasMedia = true
        quoting.pictures = [Picture(url: "https://a.example/1.png", alt: "a hill")]
        #expect(TextRules(pictures: .all).text(for: quoting).code == "quotes-a-post")
    }

    @Test(arguments: [
        ("see https://example.org/1 please", true), ("see HTTP://EXAMPLE.ORG please", true),
        ("see http://例え.jp please", true), ("see example.org please", true),
        ("see sub.example.co.jp/x", true),
        ("mail user@example.org now", true), ("version 1.2.3 is out", false),
        ("wait...what", false),
        ("wait. What", false), ("e.g. this", false), ("終わった。寝る。", false), ("10.5 km today", false),
    ])
    func linksCanBeSwitchedOff(text: String, hasLink: Bool) {
        #expect((TextRules(links: .leftOut).text(for: post(text)).code == "has-link") == hasLink)
        #expect(TextRules(links: .kept).text(for: post(text)).code == nil)
    }

    @Test func refusalForLengthTellsTheNumbersAndNotTheText() {
        let rules = TextRules(limits: PublishingLimits(maximumCharacters: 10, charactersPerURL: 23))
        let result = rules.text(for: post("a secret text of 27 letters"))
        guard case .failure(let refusal) = result else {
            Issue.record("27 letters are more than 10")
            return
        }
        #expect(refusal.message == "the text has 27 characters, and the server allows 10")
    }

    // MARK: Warnings

    private func warned(
        _ warning: String?, text: String = "a long night", on network: NetworkName = .mastodon
    ) -> Post {
        var warned = post(text, isSensitive: true)
        warned.id.network = network
        warned.warning = warning
        return warned
    }

    @Test func aTextIsSentWithItsWarningOrNotAtAll() {
        let leaves = TextRules()
        let carries = TextRules(carriesWarnings: true)
        #expect(leaves.text(for: warned("dark")).code == "sensitive")
        #expect(leaves.warning(of: warned("dark")) == nil)
        #expect(carries.text(for: warned("dark")).value == "a long night")
        #expect(carries.warning(of: warned("dark  @pal@home.example")) == "dark  pal")
        // Marked sensitive, and nothing says why.
        #expect(carries.text(for: warned(nil)).code == "sensitive")
        #expect(carries.warning(of: post("plain")) == nil)
        #expect(
            TextRules(network: .x, carriesWarnings: true).text(for: warned("dark")).code
                == "sensitive")
        let bluesky = TextRules(network: .bluesky, carriesWarnings: true)
        #expect(bluesky.warning(of: warned("nudity porn", on: .bluesky)) == "nudity porn")
        #expect(bluesky.warning(of: warned("nudity dark", on: .bluesky)) == nil)
        #expect(leaves.version != carries.version)
        #expect(leaves.version == TextRules().version)
    }

    @Test func aWarningTakesUpWhatTheServerAllows() {
        var rules = TextRules(carriesWarnings: true)
        rules.limits.maximumCharacters = 20
        #expect(rules.text(for: warned("12345678")).value != nil)
        #expect(rules.text(for: warned("123456789")).code == "too-long")
        #expect(rules.preparation(of: warned("12345678")).length == 20)
    }

    /// The stored verdict of a text is the same for every server of the bot.
    @Test func aServerChangesNothingThatIsPrepared() {
        let usual = TextRules()
        var other = usual
        other.limits = PublishingLimits(
            maximumCharacters: 30, charactersPerURL: nil, unit: .codePoints, maximumBytes: 40)
        let linked = post("see https://example.org/" + String(repeating: "r", count: 80))
        let prepared = (usual.preparation(of: linked), other.preparation(of: linked))
        #expect(prepared.0.key == prepared.1.key)
        #expect(prepared.0.unfit == nil && prepared.1.unfit == nil)
        #expect(prepared.0.length == 27 && prepared.1.length == 27)
        #expect(other.version == usual.version)
        #expect(usual.text(for: linked).value != nil)
        #expect(other.text(for: linked).code == "too-long")
    }
}
