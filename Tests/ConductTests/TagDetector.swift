import Foundation
import Testing

/// Finds what X makes more of than words, by the expressions of twitter-text, written apart from
/// the code under test.
enum TagDetector {
    private static let hashtag =
        #"(?:^|[\x{FE0E}\x{FE0F}]|[^&\p{L}\p{M}\p{Nd}_\x{200c}\x{200d}])[#＃](?!\x{FE0F}|\x{20E3})[\p{L}\p{M}\p{Nd}_\x{200c}\x{200d}]*"#
        + #"[\p{L}\p{M}][\p{L}\p{M}\p{Nd}_\x{200c}\x{200d}]*"#
    private static let cashtag = #"(?:^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\s|[[:punct:]])"#
    private static let link =
        #"(?:^|[^a-z0-9@＠$#＃])https?://[^\s/.]+\.[a-z]{2,}|(?:^|[^a-z0-9@＠$#＃_./-])(?:[a-z0-9-]+\.)+"#
        + #"(?:com|org|jp|social|みんな)(?![a-z0-9@])"#

    static func findsHashtag(in text: String) -> Bool { count(hashtag, in: text) > 0 }

    static func cashtags(in text: String) -> Int { count(cashtag, in: text) }

    static func findsLink(in text: String) -> Bool { count(link, in: text) > 0 }

    private static func count(_ pattern: String, in text: String) -> Int {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive)
        else {
            return .max
        }
        return expression.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text))
    }
}

@Suite struct TagDetectorTests {
    @Test(arguments: ["#a", "a #b", "＃日本", "(#x1)", "#1a", "@#a", "https#a #b", "❤️#a", "①#a"])
    func findsHashtags(text: String) { #expect(TagDetector.findsHashtag(in: text)) }

    @Test(arguments: ["#", "#1", "C#a", "# a", "#️⃣", "日本#a", "a"])
    func findsNoOtherHashtags(text: String) { #expect(!TagDetector.findsHashtag(in: text)) }

    @Test(arguments: [
        ("$A", 1), ("$TICK and $TOCK", 2), ("$5", 0), ("a$b", 0), ("$ABCDEFG", 0), ("$A.B $C", 2),
    ])
    func countsCashtags(text: String, count: Int) {
        #expect(TagDetector.cashtags(in: text) == count)
    }

    @Test(arguments: [
        ("http://a.bc", true), ("see a.com", true), ("日本example.jp。", true), ("hello.みんなで", true),
        ("a.b", false),
        ("user@a.com", false), ("no", false), ("a.comx", false),
    ])
    func findsLinks(text: String, finds: Bool) { #expect(TagDetector.findsLink(in: text) == finds) }
}
