import Expectations
import Foundation
import MeCab
import Posts
import TestSupport
import Testing

@testable import Favorites

@Suite struct FeatureExtractorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let nouns: Set<String>
        var content: Set<String> = []
        var testDescription: String { String(text.prefix(40)) }
    }

    static let vectors = [
        Vector(text: "今日は猫の写真を撮った", nouns: ["今日", "猫", "写真"], content: ["撮る"]),
        Vector(text: "ＳｗｉｆｔでＢＯＴを書いた！！", nouns: ["swift", "bot", "!!"], content: ["書く"]),
        Vector(
            text: "@alice 旅行の写真 https://example.com/a?b=c 見て", nouns: ["旅行", "写真"], content: ["見る"]),
        Vector(
            text: "#猫 #Swift6 #123 の話",
            nouns: ["猫", "swift", "6", "#", "123", "話", "#猫", "#swift6"]),
        Vector(text: "Check https://t.co/AbC123を見て", nouns: ["check"], content: ["見る"]),
        Vector(text: "I love it!!! :)", nouns: ["i", "love", "it", "!!!", ":)"]),
        Vector(text: "猫猫猫", nouns: ["猫"]),
        Vector(text: "ｱﾆﾒ最高ｗｗｗ", nouns: ["アニメ", "最高", "www"]),
        Vector(text: "😀☕❤️", nouns: ["☕❤"]),
        Vector(text: "", nouns: []),
        Vector(text: "\u{3000}\u{3000}", nouns: []),
        Vector(text: "＃ハッシュタグ ＠bob", nouns: ["ハッシュ", "タグ", "#ハッシュタグ"]),
        Vector(text: "@alice@example.social さん、ありがとう", nouns: ["さん"], content: ["ありがとう"]),
        Vector(text: "2024年1月1日", nouns: ["2024", "年", "1", "月", "日"]),
        Vector(
            text: String(repeating: "a", count: 40),
            nouns: ["a", String(repeating: "a", count: 25)]),
        Vector(text: "C++とC#とF#", nouns: ["c", "++", "#", "f"]),
    ]

    private func features(
        _ text: String, author: String? = nil, words: FeatureWords = .content
    ) throws -> FeatureSet {
        let example = Example(
            id: PostID(network: .mastodon, value: "1"), author: author, text: text)
        return try FeatureExtractor(tokenizer: Tokenizer(), words: words).features(of: example)
    }

    @Test(arguments: vectors) func findsNouns(_ vector: Vector) throws {
        try expect(Set(features(vector.text, words: .nouns).words), equals: vector.nouns)
    }

    @Test(arguments: vectors) func findsContentWords(_ vector: Vector) throws {
        try expect(Set(features(vector.text).words), equals: vector.nouns.union(vector.content))
    }

    @Test(arguments: vectors) func storedTextHasTheSameFeatures(_ vector: Vector) throws {
        let extractor = try FeatureExtractor(tokenizer: Tokenizer())
        let example = Example(
            id: PostID(network: .x, value: "1"), author: "@Alice", text: vector.text + "\0猫\r\n犬")
        #expect(extractor.features(of: example) == extractor.features(of: example.stored))
        #expect(!example.stored.text.contains("\0"))
    }

    @Test func wordsAreDistinct() throws {
        let words = try features("猫 #猫 猫 #猫 swift Swift ＳＷＩＦＴ").words
        #expect(words.count == Set(words).count)
        #expect(Set(words) == ["猫", "#猫", "swift"])
    }

    @Test(
        arguments: [
            ("Alice", "@alice"), ("@Alice@Example.Social", "@alice@example.social"), ("", nil),
            ("  ", nil), ("@", nil),
            ("two words", nil), ("zero\0byte", nil), (String(repeating: "x", count: 300), nil),
        ] as [(String, String?)])
    func authorIsTheHandleInLowerCase(_ handle: String, _ feature: String?) throws {
        try expect(features("", author: handle).author, equals: feature)
    }

    @Test(
        arguments: [
            ("a#b", []), ("a/#b", []), ("&#x27;", []), ("##tag", ["#tag"]), ("(#tag)", ["#tag"]),
            ("#1", []),
            ("#_", []),
            ("#1a", ["#1a"]), ("#a#b", ["#a"]), ("#", []), ("#日本語、", ["#日本語"]), ("＃Ａ", ["#a"]),
            ("# tag", []), ("#हिन्दी", ["#हिन्दी"]), ("#தமிழ் x", ["#தமிழ்"]), ("#東京・大阪", ["#東京・大阪"]),
        ] as [(String, [String])])
    func hashtagsHaveALetterAndABeginning(_ text: String, _ tags: [String]) {
        #expect(TextCleaner(text).hashtags == tags)
    }

    @Test(
        arguments: [
            ("hi @bob.", "hi  "), ("a@b", "a@b"), ("/@b", "/@b"), ("@a@b.c x", "  x"),
            ("@a@ x", " @ x"), ("@!", "@!"),
            ("@a@b_c", " "), ("@stadt@bäw.example x", "  x"), ("@a@xn--bw-via.example:80", " "),
            ("@a--b@my--c.d", " "),
            ("@josé@b.example", " "), ("https://例え.jp/a x", "  x"),
            ("https://b.example/вики x", "  x"),
            ("https://президент.рф", " "), ("@bob...and", " "), ("@bob-.", " "),
            ("x http:// y", "x http:// y"), ("(https://a.b/c)d", "( "), ("HTTP://A.B猫", " 猫"),
            ("a\tb\nc\u{7f}", "a b c "), ("hhttp://x", "h "), ("http", "http"),
            ("ttp://x", "ttp://x"),
            ("http://http://x y", "  y"), ("http:// https://x", "http://  "), ("a:http://x", "a: "),
            ("猫http://x猫http://y", "猫 猫 "), ("猫@a", "猫@a"), ("、@a猫", "、 猫"), ("#猫@a", " 猫  "),
            ("é@a", "é@a"),
            ("#é猫!", " é猫 !"), ("@a#b", " #b"),
        ] as [(String, String)])
    func linksMentionsAndControlCharactersBecomeSpaces(_ text: String, _ cleaned: String) {
        #expect(TextCleaner(text).text == cleaned)
    }

    @Test func onlyTheBeginningOfALongTextCounts() throws {
        let words = try features(String(repeating: "猫 ", count: 2_500) + "写真").words
        #expect(words == ["猫"])
    }

    @Test func dropsFeaturesThatAreTooLong() throws {
        let set = try features("#" + String(repeating: "猫", count: 200))
        expect(set.words) { $0.allSatisfy { $0.utf8.count <= FeatureExtractor.maximumBytes } }
        #expect(set.words.contains("猫"))
    }

    @Test func fingerprintTellsTheChoiceOfWords() throws {
        let tokenizer = try Tokenizer()
        let content = FeatureExtractor(tokenizer: tokenizer, words: .content)
        #expect(
            content.fingerprint
                == FeatureExtractor(tokenizer: tokenizer, words: .content).fingerprint)
        let all = FeatureWords.allCases.map {
            FeatureExtractor(tokenizer: tokenizer, words: $0).fingerprint
        }
        #expect(Set(all).count == FeatureWords.allCases.count)
        #expect(content.fingerprint >= 0)
    }

    /// Texts that cost a careless implementation time that grows with the square of their length.
    static let hostile: [String] = {
        let units = [
            "a", "ー", "ア", "猫", "ん", "1", "一", "#", "@", "#a", "@a", "@a@", "#1", "http://", "h",
            "!", "\u{301}",
            "e\u{301}\u{323}", "\u{FDFA}", "😀", "한", "ก", "\0", "\u{200D}", "\u{E000}", "İ", "a-",
            "https://a ",
        ]
        return units.map { String(repeating: $0, count: 1_000_000 / $0.utf8.count) }
    }()

    @Test(arguments: hostile.indices) func hostileTextIsBounded(_ index: Int) throws {
        let text = Self.hostile[index]
        var set = FeatureSet(words: [], author: nil)
        let seconds = try ProcessorTime.secondsOnce { set = try features(text) }
        #expect(seconds < 2)
        expect(set.words) {
            $0.allSatisfy { !$0.isEmpty && $0.utf8.count <= FeatureExtractor.maximumBytes }
        }
    }
}
