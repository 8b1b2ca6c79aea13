import Conduct
import NetworkNames
import Posts
import Testing

@Suite struct TextLengthTests {
    /// Servers count each consonant that a virama joins, and newer rules all of them together.
    @Test(arguments: [("क्षत्रिय", 5), ("ক্ষ", 2), ("नमस्ते दुनिया", 8), ("ka\u{301}", 2)])
    func lettersThatAreJoinedCountEach(text: String, count: Int) {
        #expect(TextLength.count(text, limits: .mastodon) == count)
        #expect(TextLength.count(text, limits: .bluesky) == count)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("日本語", 3), ("e\u{301}", 1), ("👩‍👩‍👧", 1), ("🇯🇵", 1), ("a\nb", 3),
        ("https://example.org/a/very/long/path/that/costs/the/same", 23), ("http://a.b", 23),
        ("see https://example.org.", 28), ("(https://example.org/a)", 25),
        ("https://example.org/日本", 25),
        ("@ren@remote.example hi", 7), ("@ren hi", 7), ("user@example.org", 16),
        ("https://e.org/1 https://e.org/2", 47),
    ])
    func countsAsMastodonDoes(text: String, count: Int) {
        #expect(TextLength.count(text, limits: .mastodon) == count)
    }

    @Test(arguments: [
        ("https://localhost/\(String(repeating: "a", count: 60))", 78),
        ("見てhttps://example.org/\(String(repeating: "a", count: 60))", 82), ("http://日本.jp", 23),
    ])
    func doubtfulLinksCountInFull(text: String, count: Int) {
        #expect(TextLength.count(text, limits: .mastodon) == count)
    }

    @Test(arguments: [
        ("https://example.org/a/very/long/path/that/costs/all/of/it", 57), ("e\u{301}👩‍👩‍👧🇯🇵", 3),
        ("@ren@remote.example hi", 22), ("@ren.bsky.social hi", 19),
    ])
    func everythingCountsAsWrittenWhereLinksHaveNoLengthOfTheirOwn(text: String, count: Int) {
        #expect(TextLength.count(text, limits: .bluesky) == count)
        let codePoints = PublishingLimits(
            maximumCharacters: 10, charactersPerURL: nil, unit: .codePoints)
        #expect(TextLength.count(text, limits: codePoints) == text.unicodeScalars.count)
    }

    @Test func weightsCountOnX() {
        #expect(TextLength.count("日本語 https://example.org/a/very/long/path", limits: .x) == 30)
        let full = String(repeating: "日", count: 140)
        #expect(TextRules(network: .x).text(for: post(full)).value == full)
        #expect(TextRules(network: .x).text(for: post(full + "a")).code == "too-long")
    }

    @Test func blueskyLimitsGraphemesAndBytes() {
        let families = String(repeating: "👨‍👩‍👧‍👦", count: 110)
        #expect(TextRules(network: .bluesky).text(for: post("abc" + families)).code == nil)
        let more = String(repeating: "👨‍👩‍👧‍👦", count: 120)
        #expect(TextRules(network: .bluesky).text(for: post("abc" + more)).code == "too-long")
        #expect(
            TextRules(network: .bluesky).text(for: post(String(repeating: "a", count: 300))).code
                == nil)
        #expect(
            TextRules(network: .bluesky).text(for: post(String(repeating: "a", count: 301))).code
                == "too-long")
    }

    @Test func codePointsCountOneByOne() {
        let limits = PublishingLimits(
            maximumCharacters: 10, charactersPerURL: 20, unit: .codePoints)
        #expect(TextLength.count("e\u{301}👩‍👩‍👧", limits: limits) == 7)
        #expect(TextLength.count("a https://example.org/path/to/a/page", limits: limits) == 22)
    }

    @Test func bytesAreLimitedWhereTheNetworkSaysSo() {
        let limits = PublishingLimits(maximumCharacters: 300, charactersPerURL: 0, maximumBytes: 30)
        #expect(TextRules(limits: limits).text(for: post("十文字以上でも三十バイ")).code == "too-long")
        #expect(TextRules(limits: limits).text(for: post("十文字なら三十バイト")).code == nil)
    }
}
