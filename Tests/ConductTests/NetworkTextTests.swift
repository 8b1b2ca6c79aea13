import Conduct
import NetworkNames
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
        #expect(TextRules(network: .x, links: .leftOut).text(for: post(source)).value == expected)
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func signsOfXAreWordsElsewhere(network: NetworkName) {
        let text = "#cats cost $AAPL and $GOOG"
        #expect(TextRules(network: network).text(for: post(text)).value == text)
        #expect(
            TextRules(network: network).text(for: post("lunch with @alice.bsky.social!")).value
                == "lunch with alice.bsky.social!")
    }

    /// Hashtags at the end that are no part of the sentence go with their signs.
    @Test(arguments: [
        ("Slow bread / #fb", "Slow bread"), ("Slow bread #fb", "Slow bread"),
        ("Slow bread (#fb)", "Slow bread"),
        ("Slow bread | #food | #bread", "Slow bread"), ("Slow bread #food #bread", "Slow bread"),
        ("Slow bread. #food", "Slow bread."), ("Slow bread!\n\n#food", "Slow bread!"),
        ("遅いパン。＃食べ物", "遅いパン。"),
        ("Slow bread – #food", "Slow bread"), ("I love #bread", "I love bread"),
        ("#bread is slow", "bread is slow"),
        ("#food #bread is slow", "food bread is slow"), ("We're #1", "We're #1"),
        ("Slow bread / fast", "Slow bread / fast"),
        ("Tea with @aoi / #fb", "Tea with aoi"),
    ])
    func hashtagsThatOnlyFileATextLeaveNothingOnX(source: String, expected: String) {
        #expect(TextRules(network: .x).text(for: post(source)).value == expected)
        #expect(
            TextRules(network: .bluesky).text(for: post("Slow bread / #fb")).value
                == "Slow bread / #fb")
    }

    @Test func aTextOfHashtagsAloneIsNotSentOnX() {
        #expect(TextRules(network: .x).text(for: post("#slow #bread")).code == "no-words")
    }

    /// A sentence that speaks about its link makes no sense without it.
    @Test(arguments: [
        "a nice read: https://example.org/a/b?c=d#e", "I'm reading about https://example.org/1",
        "watch at https://example.org/1 to follow along!", "これ見てhttps://example.org/1",
        "at: HTTP://EXAMPLE.ORG okay",
        "a nice read @https://example.org/1", "a nice read https://www.例え.jp/1",
        "https://example.orgですよね。ええ",
        "I bought example.com yesterday", "hello.みんなで行こう", "it was ok.Then we left",
        "broken http:// here",
    ])
    func aTextWithALinkIsLeftOutWhereLinksAre(source: String) {
        #expect(TextRules(network: .x, links: .leftOut).text(for: post(source)).code == "has-link")
        #expect(TextRules(network: .x, links: .kept).text(for: post(source)).value != nil)
    }

    @Test func whatIsCutOffOrTooLongIsRefusedForThat() {
        let rules = TextRules(network: .x, links: .leftOut)
        #expect(rules.text(for: post("and then… https://t.co/abc")).code == "truncated")
        #expect(rules.text(for: post(String(repeating: "あ", count: 141))).code == "too-long")
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
        let rules = TextRules(network: network, links: .leftOut, repliesNameThePerson: false)
        #expect(
            rules.replyText(for: reply("@aoi thank you @bob"), to: "ren").value == "thank you bob")
        // The handle is not part of the text, so its form does not matter.
        #expect(rules.replyText(for: reply("@aoi thank you"), to: "no handle").value == "thank you")
        #expect(
            rules.replyText(for: reply("@aoi https://example.org/1"), to: "ren").code == "has-link")
    }

    @Test(arguments: [
        (NetworkName.x, "ren", true), (.x, "Ren_1", true), (.x, "_", true),
        (.x, "abcdefghijklmno", true),
        (.x, "abcdefghijklmnop", false), (.x, "", false), (.x, "ren@host", false),
        (.x, "ren.dot", false),
        (.x, "re-n", false), (.x, "れん", false), (.x, "ren all", false), (.x, "ｒｅｎ", false),
        (.bluesky, "ren.bsky.social", true), (.bluesky, "example.com", true),
        (.bluesky, "a-b.xn--p1ai", true),
        (.bluesky, "ren", false), (.bluesky, "ren.", false), (.bluesky, ".social", false),
        (.bluesky, "ren.1a", false),
        (.bluesky, "ren@bsky.social", false), (.bluesky, "-ren.social", false),
        (.bluesky, "ren-.social", false),
        (.bluesky, "re_n.social", false), (.bluesky, "例え.jp", false),
        (.bluesky, "handle.invalid", false),
        (.bluesky, "Handle.Invalid", false),
        (.bluesky, String(repeating: "a", count: 64) + ".com", false),
        (.bluesky, String(repeating: "a.", count: 127) + "com", false),
        (.bluesky, "a b.com", false),
    ])
    func handlesHaveTheFormOfTheirNetwork(network: NetworkName, text: String, isHandle: Bool) {
        #expect((Handle(text, on: network) != nil) == isHandle)
        let answer = TextRules(network: network).replyText(for: reply("thank you"), to: text)
        #expect(answer.value == (isHandle ? "@\(text) thank you" : nil))
    }

    @Test func noCharacterThatNetworksRefuseIsLeft() {
        let text =
            "\u{FEFF}good\u{FFFE} morn\u{FFFF}ing"
            + [0xFDD0, 0x1FFFE].compactMap { Unicode.Scalar($0 as UInt32) }.map(String.init)
            .joined()
        for network in NetworkName.allCases {
            #expect(TextRules(network: network).text(for: post(text)).value == "good morning")
        }
    }
}
