import Foundation
import Posts
import TestSupport
import Testing

@Suite struct XWeightedTextTests {
    /// The vectors of twitter-text, configuration 3.
    @Test(arguments: [
        ("Hi http://test.co", 26),
        ("http://test.co", 23),
        ("Hello, world! 👋", 16),
        ("H🐱☺👨‍👩‍👧‍👦", 7),
        ("😷👾😡🔥💩", 10),
        ("🙋🏽👨‍🎤", 4),
        (String(repeating: "故", count: 160), 320),
        ("the" + String(repeating: "故", count: 160), 323),
        ("A\u{301}B", 2),
        ("A\u{FB2C}", 4),
        (String(repeating: "https://www.twitter.com/aloha ", count: 10), 240),
        (String(repeating: "randomurl", count: 7) + "s.com", 68),
    ])
    func countsAsXDoes(text: String, weight: Int) {
        #expect(XWeightedText.weight(of: text) == weight)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("a\nb", 3), ("Ж", 1), ("ا", 1), ("\u{10FF}", 1), ("\u{1100}", 2),
        ("あ", 2), ("한", 2),
        ("\u{2000}", 1), ("\u{200D}", 1), ("\u{200E}", 2), ("\u{2010}", 1), ("\u{201F}", 1),
        ("\u{2020}", 2),
        ("\u{2032}", 1), ("\u{2037}", 1), ("\u{2038}", 2), ("…", 2), ("“a”", 3), ("𝒳", 2), ("ﾊﾟ", 4),
        ("は\u{309A}", 2),
    ])
    func weighsEveryRange(text: String, weight: Int) {
        #expect(XWeightedText.weight(of: text) == weight)
    }

    @Test(arguments: [
        ("🇯🇵", 2), ("🇯🇵🇫🇷", 4), ("🇯", 2), ("1️⃣", 2), ("#️⃣*⃣", 4), ("a1️⃣", 3), ("1", 1), ("❤️", 2), ("❤", 2),
        ("👍🏿", 2),
        ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", 2), ("👩‍❤️‍💋‍👨", 2), ("🏳️‍🌈", 2), ("©", 1), ("©️", 2), ("a🏿", 3), ("😀😀", 4),
        // More than any real emoji joins.
        ("👨‍👨‍👨‍👨‍👨", 2 + 1 + 2), ("👨‍a", 4),
    ])
    func anEmojiCountsTwoHoweverItIsComposed(text: String, weight: Int) {
        #expect(XWeightedText.weight(of: text) == weight)
    }

    @Test(arguments: [
        ("https://example.org/a/very/long/path?with=a&query=too#and-more", 23),
        ("HTTPS://EXAMPLE.COM", 23),
        ("(https://example.org/a)", 25), ("https://example.org/a.", 24),
        ("https://example.org/日本", 23 + 4),
        ("見てhttps://example.org/a/long/enough/path", 4 + 23), ("-https://t.co", 24),
        ("https://example.org:8080/x", 23),
        ("https://example.org:x", 25), ("https://example.org?q=1", 23),
        ("https://example.org/?", 24),
        ("https://example.orgへ", 25), ("https://a.jp https://b.jp", 47),
        ("https://example.org/a(b)", 23 + 3),
    ])
    func aLinkCountsTheSameWhateverItsLength(text: String, weight: Int) {
        #expect(XWeightedText.weight(of: text) == weight)
    }

    @Test(arguments: [
        ("example.com", 23), ("see example.com now", 31),
        ("a.b.example.co.jp/with/a/long/path", 23 + 23),
        ("Hello.World", 23), ("1.2.3", 5), ("e.g. this", 9), ("wait...what", 11),
        ("user@example.org", 16),
        ("@example.org", 12), ("x/example.org", 13), ("$example.org", 12),
        ("hello.みんなで行こう", 23 + 8),
        ("Vol.ほかの", 4 + 6), ("café.com", 23), ("a.xn--p1ai", 23),
        ("a.com_b", 23 + 2), ("a.com-b", 23 + 2), ("a.comé", 23 + 1), ("#a.com", 6),
        ("#éa.com", 2 + 23), ("a.co2", 5),
        // X knows `co`, and perhaps not what follows.
        ("test.co.unheardof", 23 + 10), ("http://test.co.unheardof", 23 + 10),
        ("https://localhost/\(String(repeating: "a", count: 60))", 78),
        ("https://example.unheardof/aaaaaaaaaaaa", 38), ("https://a.unheardof", 23),
        ("xhttps://example.com", 20), ("https://a_b.example.com/0123456789", 23 + 4 + 11),
        ("https://example.com@x", 25), ("https://日本.jp", 15),
    ])
    func whatMayBeALinkCountsTheLargerWeight(text: String, weight: Int) {
        #expect(XWeightedText.weight(of: text) == weight)
    }

    @Test(arguments: [
        ("see example.com", true), ("https://example.com", true), ("hello.みんな", true),
        ("café.com", true),
        ("Node.js", true), ("user@example.com", false), ("Vol.ほかの", false), ("終わった。寝る。", false),
        ("1.5", false),
        ("...what", false), ("", false), ("no links here", false), ("http://", false),
    ])
    func tellsWhereXMayMakeALink(text: String, occurs: Bool) {
        #expect(XLink.occurs(in: text) == occurs)
    }

    @Test(arguments: [
        "a.", "http://", "https://a.b/", "h", "@", "1️⃣", "👨‍", "🇯", ".", "a.み", "-", "\u{301}",
        "https://a.com?",
    ])
    func timeGrowsWithTheLengthOnly(piece: String) {
        let text = String(repeating: piece, count: 20_000)
        let seconds = ProcessorTime.secondsOnce {
            _ = XWeightedText.weight(of: text)
            _ = XLink.occurs(in: text)
        }
        // Quadratic time would be minutes.
        #expect(seconds < 20)
    }

    @Test func anyTextWeighsAtLeastAsMuchAsItHasCharacters() {
        var state: UInt64 = 7
        for _ in 0..<500 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<20 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                if let scalar = Unicode.Scalar(UInt32(state >> 33) % 0x11_0000) {
                    scalars.append(scalar)
                }
            }
            let text = String(scalars)
            #expect(XWeightedText.weight(of: text) >= text.count)
        }
    }
}
