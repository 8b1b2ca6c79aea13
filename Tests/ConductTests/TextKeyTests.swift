import Conduct
import Testing

@Suite struct TextKeyTests {
    @Test(arguments: [
        ("Good morning", "good  MORNING"), ("good morning", " good\nmorning "), ("ＧＯＯＤ ｍｏｒｎｉｎｇ", "good morning"),
        ("see this https://e.org/1", "see this https://e.org/2"), ("ﾊﾟﾝ", "パン"), ("e\u{301}té", "été"),
        ("a https://e.org b", "a b"),
    ])
    func textsThatReadTheSameShareAKey(first: String, second: String) {
        #expect(TextRules.textKey(first) == TextRules.textKey(second))
    }

    @Test(arguments: [("good morning", "good morning!"), ("a b", "ab"), ("@alice hi", "@bob hi"), ("", "a")])
    func otherTextsDoNot(first: String, second: String) {
        #expect(TextRules.textKey(first) != TextRules.textKey(second))
    }

    @Test(arguments: [
        ("see example.com.", "see http://example.com."), ("見てexample.comだよ", "見てhttp://example.com だよ"),
        ("Hello.World is on", "http://Hello.World is on"), ("a (example.com/x) b", "a (http://example.com/x) b"),
    ])
    func aHostThatTheNetworkMadeALinkOfMakesNoDifference(sent: String, found: String) {
        #expect(TextRules.textKey(sent) != TextRules.textKey(found))
        #expect(TextRules.textKey(sent, ignoringHosts: true) == TextRules.textKey(found, ignoringHosts: true))
    }

    @Test(arguments: [("see example.com", "hear example.com"), ("1.5 km", "2.5 km"), ("...", "a")])
    func otherWordsStillDo(first: String, second: String) {
        #expect(TextRules.textKey(first, ignoringHosts: true) != TextRules.textKey(second, ignoringHosts: true))
    }

    @Test func keyIsTheSameOnEveryMachine() {
        // The first 16 bytes of SHA-256 of "good morning".
        #expect(TextRules.textKey("Good Morning") == "cdf71dea7d7741a2b6f021f3dd344f75")
    }
}
