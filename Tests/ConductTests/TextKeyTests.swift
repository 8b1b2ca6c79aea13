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

    @Test func keyIsTheSameOnEveryMachine() {
        // The first 16 bytes of SHA-256 of "good morning".
        #expect(TextRules.textKey("Good Morning") == "cdf71dea7d7741a2b6f021f3dd344f75")
    }
}
