import Conduct
import Foundation
import NetworkNames
import Posts
import Testing

@Suite struct TextKeyTests {
    @Test(arguments: [
        ("Good morning", "good  MORNING"), ("good morning", " good\nmorning "),
        ("ＧＯＯＤ ｍｏｒｎｉｎｇ", "good morning"),
        ("see this https://e.org/1", "see this https://e.org/2"), ("ﾊﾟﾝ", "パン"),
        ("e\u{301}té", "été"),
        ("a https://e.org b", "a b"),
    ])
    func textsThatReadTheSameShareAKey(first: String, second: String) {
        #expect(TextRules.textKey(first) == TextRules.textKey(second))
    }

    /// An archive may leave out whom an answer names first, which the network shows.
    @Test(arguments: [(true, true), (false, false)]) func anAnswerReadsAlikeWithoutItsNames(
        isReply: Bool, isAlike: Bool
    ) {
        let author = AccountID(network: .mastodon, value: "a@b.example")
        func post(_ text: String) -> Post {
            Post(
                id: PostID(network: .mastodon, value: "1"), author: author, text: text,
                createdAt: Date(),
                replyTo: isReply ? ReplyTarget(author: nil) : nil)
        }
        #expect(TextRules.readAlike(post("@pal@c.example thank you"), post("thank you")) == isAlike)
        #expect(TextRules.readAlike(post("Thank  you"), post("thank you")))
        #expect(!TextRules.readAlike(post("thank you"), post("no thanks")))
    }

    @Test(arguments: [
        ("good morning", "good morning!"), ("a b", "ab"), ("@alice hi", "@bob hi"), ("", "a"),
    ])
    func otherTextsDoNot(first: String, second: String) {
        #expect(TextRules.textKey(first) != TextRules.textKey(second))
    }

    @Test(arguments: [
        ("see example.com.", "see http://example.com."),
        ("見てexample.comだよ", "見てhttp://example.com だよ"),
        ("Hello.World is on", "http://Hello.World is on"),
        ("a (example.com/x) b", "a (http://example.com/x) b"),
    ])
    func aHostThatTheNetworkMadeALinkOfMakesNoDifference(sent: String, found: String) {
        #expect(TextRules.textKey(sent) != TextRules.textKey(found))
        #expect(
            TextRules.textKey(sent, ignoringHosts: true)
                == TextRules.textKey(found, ignoringHosts: true))
    }

    @Test(arguments: [("see example.com", "hear example.com"), ("1.5 km", "2.5 km"), ("...", "a")])
    func otherWordsStillDo(first: String, second: String) {
        #expect(
            TextRules.textKey(first, ignoringHosts: true)
                != TextRules.textKey(second, ignoringHosts: true))
    }

    @Test func keyIsTheSameOnEveryMachine() {
        // The first 16 bytes of SHA-256 of "good morning".
        #expect(TextRules.textKey("Good Morning") == "cdf71dea7d7741a2b6f021f3dd344f75")
    }

    @Test(arguments: [
        ("*Never* say `never` :-)", "Never say never 🙂"), ("snake_case_name", "snakecasename"),
        ("see https://e.org/a_b_c now", "see https://e.org/a_b_c\nnow"),
        ("a [title](https://e.org/1) b", "a https://e.org/1 b"),
        ("> quoted\n# title", "quoted title"), ("@ren@e.org:8443 hi", "@ren hi"),
        ("I <3 it xD", "I 💓 it 😆"),
        (":cat: and :D", "🐈 and 😀"), ("2*3*4", "234"), ("朝*朝*朝", "朝 朝 朝"),
        ("Hello. *World*", "Hello. World"),
    ])
    func theLettersOfATextStayWhateverAServerMakesOfIt(sent: String, found: String) {
        #expect(TextRules.stableLetters(of: sent) == TextRules.stableLetters(of: found))
        #expect(!TextRules.stableLetters(of: sent).isEmpty)
    }

    @Test(arguments: [
        ("good morning", "good morrow"), ("1.5 km", "2.5 km"), ("朝", "昼"),
        ("it is 12:30:45", "it is 12:31:45"),
    ])
    func otherLettersTellTextsApart(first: String, second: String) {
        #expect(TextRules.stableLetters(of: first) != TextRules.stableLetters(of: second))
    }

    @Test(arguments: [
        "", ":-) <3", "🌧🌧", "https://e.org", "@ren", "*_*", "[", "[a](", ":", ":-", "8-", "[a]",
        ":a",
    ])
    func aTextWithoutWordsLeavesNothingThatCouldBeTrusted(text: String) {
        #expect(TextRules.stableLetters(of: text).count < 2)
    }
}
