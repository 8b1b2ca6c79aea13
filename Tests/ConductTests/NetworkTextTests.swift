import Conduct
import Posts
import Testing

/// What each network makes of the same text.
@Suite struct NetworkTextTests {
    @Test(arguments: [
        ("#cats are great", "cats are great"), ("so ＃猫 は", "so 猫 は"), ("we're #1!", "we're #1!"),
        ("C# is nice", "C# is nice"), ("C#が好き", "C#が好き"), ("##double tag", "double tag"),
        ("press #️⃣ now", "press #️⃣ now"), ("a #\u{200D}hidden tag", "a \u{200D}hidden tag"),
        ("$AAPL up, $GOOG down", "$AAPL up, GOOG down"), ("it costs $5 or $6", "it costs $5 or $6"),
        ("lunch with @alice.bsky.social!", "lunch with alice!"),
        ("lunch with @alice@example.org.", "lunch with alice."),
        ("lunch with @alice today", "lunch with alice today"), ("odd #@bob there", "odd bob there"),
        ("odd @#bob there", "odd bob there"),
        ("mail user@example.org now", "mail user@example.org now"),
    ])
    func signsLoseTheirMeaningOnX(source: String, expected: String) {
        #expect(TextRules(network: .x, links: .removed).text(for: post(source)).value == expected)
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func signsOfXAreWordsElsewhere(network: NetworkName) {
        let text = "#cats cost $AAPL and $GOOG"
        #expect(TextRules(network: network).text(for: post(text)).value == text)
        #expect(
            TextRules(network: network).text(for: post("lunch with @alice.bsky.social!")).value
                == "lunch with alice.bsky.social!")
    }

    @Test(arguments: [
        ("a nice read: https://example.org/a/b?c=d#e", "a nice read"),
        ("a nice read https://example.org.", "a nice read."),
        ("https://example.org/1 is a nice read", "is a nice read"), ("read https://example.org/1 today", "read today"),
        ("a nice read (https://example.org/1) today", "a nice read today"), ("これ見てhttps://example.org/1", "これ見て"),
        ("これ見て→ https://example.org/1\n二行目です", "これ見て\n二行目です"), ("one\nhttps://example.org/1\nthree", "one\nthree"),
        ("see https://a.jp https://b.jp both", "see both"), ("see https://a.jp, then https://b.jp!", "see, then!"),
        ("at: HTTP://EXAMPLE.ORG okay", "at: okay"), ("「https://example.org/1」を読んだ", "を読んだ"),
        ("first: https://example.org/1 second: https://example.org/2", "first: second"),
        ("a nice read @https://example.org/1", "a nice read"),
        ("a nice read https://www.例え.jp/1", "a nice read"), ("https://example.orgですよね。ええ", "ですよね。ええ"),
    ])
    func aLinkGoesAndTheRestStays(source: String, expected: String) {
        #expect(TextRules(network: .x, links: .removed).text(for: post(source)).value == expected)
        #expect(TextRules(network: .x, links: .leftOut).text(for: post(source)).code == "has-link")
        #expect(TextRules(network: .x, links: .kept).text(for: post(source)).value != nil)
    }

    @Test(arguments: [
        ("https://example.org/words", "no-words"), ("https://example.org/1 ok", "no-words"),
        ("I bought example.com yesterday", "link-left"), ("hello.みんなで行こう", "link-left"),
        ("it was ok.Then we left", "link-left"),
        ("broken http:// here", "link-left"), ("and then… https://t.co/abc", "truncated"),
        (String(repeating: "あ", count: 141), "too-long"),
    ])
    func whatWouldStillBeALinkIsRefused(text: String, code: String) {
        #expect(TextRules(network: .x, links: .removed).text(for: post(text)).code == code)
    }

    @Test func aLinkThatIsKeptIsPaidForByTheCharacter() {
        let link = "https://example.org/" + String(repeating: "a", count: 300)
        let text = "a nice read \(link)"
        #expect(TextRules(network: .x).text(for: post(text)).value == text)
        #expect(TextRules(network: .bluesky).text(for: post(text)).code == "too-long")
        #expect(TextRules(network: .mastodon).text(for: post(text)).value == text)
    }

    @Test(arguments: [NetworkName.x, .bluesky])
    func aReplyNamesNobodyWhereTheAnswerItselfNotifies(network: NetworkName) {
        let rules = TextRules(network: network, links: .removed, repliesNameThePerson: false)
        #expect(rules.replyText(for: reply("@aoi thank you @bob"), to: "ren").value == "thank you bob")
        // The handle is not part of the text, so its form does not matter.
        #expect(rules.replyText(for: reply("@aoi thank you"), to: "no handle").value == "thank you")
        #expect(rules.replyText(for: reply("@aoi https://example.org/1"), to: "ren").code == "no-words")
    }

    @Test(arguments: [
        (NetworkName.x, "ren", true), (.x, "Ren_1", true), (.x, "_", true), (.x, "abcdefghijklmno", true),
        (.x, "abcdefghijklmnop", false), (.x, "", false), (.x, "ren@host", false), (.x, "ren.dot", false),
        (.x, "re-n", false), (.x, "れん", false), (.x, "ren all", false), (.x, "ｒｅｎ", false),
        (.bluesky, "ren.bsky.social", true), (.bluesky, "example.com", true), (.bluesky, "a-b.xn--p1ai", true),
        (.bluesky, "ren", false), (.bluesky, "ren.", false), (.bluesky, ".social", false), (.bluesky, "ren.1a", false),
        (.bluesky, "ren@bsky.social", false), (.bluesky, "-ren.social", false), (.bluesky, "ren-.social", false),
        (.bluesky, "re_n.social", false), (.bluesky, "例え.jp", false), (.bluesky, "handle.invalid", false),
        (.bluesky, "Handle.Invalid", false), (.bluesky, String(repeating: "a", count: 64) + ".com", false),
        (.bluesky, String(repeating: "a.", count: 127) + "com", false), (.bluesky, "a b.com", false),
    ])
    func handlesHaveTheFormOfTheirNetwork(network: NetworkName, text: String, isHandle: Bool) {
        #expect((Handle(text, on: network) != nil) == isHandle)
        let answer = TextRules(network: network).replyText(for: reply("thank you"), to: text)
        #expect(answer.value == (isHandle ? "@\(text) thank you" : nil))
    }

    @Test func noCharacterThatNetworksRefuseIsLeft() {
        let text =
            "\u{FEFF}good\u{FFFE} morn\u{FFFF}ing"
            + [0xFDD0, 0x1FFFE].compactMap { Unicode.Scalar($0 as UInt32) }.map(String.init).joined()
        for network in NetworkName.allCases {
            #expect(TextRules(network: network).text(for: post(text)).value == "good morning")
        }
    }
}
