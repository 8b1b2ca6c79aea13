import Expectations
import Foundation
import MeCab
import Posts
import TestSupport
import Testing

@testable import Favorites

/// Words of scripts that MeCab's dictionary knows nothing of.
@Suite struct UnlistedWordsTests {
    private func words(_ text: String, _ words: FeatureWords = .content) throws -> [String] {
        let example = Example(id: PostID(network: .mastodon, value: "1"), author: nil, text: text)
        return try FeatureExtractor(tokenizer: Tokenizer(), words: words).features(of: example)
            .words
    }

    private func cut(_ text: String) throws -> (words: [String], rest: String) {
        let profile = try Tokenizer().profile
        var text = text
        return text.withUTF8 {
            let cut = UnlistedWords(in: $0, besides: profile)
            return (cut.words.map(\.text), String(decoding: cut.remainingText, as: UTF8.self))
        }
    }

    @Test(arguments: FeatureWords.allCases)
    func everyScriptHasWords(choice: FeatureWords) throws {
        let sentences = [
            ("오늘은 비가 와서 책을 읽었다", ["오늘은", "비가", "와서", "책을", "읽었다"]),
            ("قرأت اليوم كتابا عن البحر", ["قرأت", "اليوم", "كتابا", "عن", "البحر"]),
            ("קראתי היום ספר על הים", ["קראתי", "היום", "ספר", "על", "הים"]),
            ("आज बारिश हुई तो मैंने किताब पढ़ी", ["आज", "बारिश", "हुई", "तो", "मैंने", "किताब", "पढ़ी"]),
            ("இன்று மழை பெய்தது", ["இன்று", "மழை", "பெய்தது"]), ("დღეს წვიმდა და", ["დღეს", "წვიმდა", "და"]),
            ("այսօր անձրև էր", ["այսօր", "անձրև", "էր"]), ("ዛሬ፡ዝናብ ነበር", ["ዛሬ", "ዝናብ", "ነበር"]),
            ("আজ বৃষ্টি ছিল", ["আজ", "বৃষ্টি", "ছিল"]), ("ഇന്ന് മഴ പെയ്തു", ["ഇന്ന്", "മഴ", "പെയ്തു"]),
            ("བོད་ཡིག་", ["བོད", "ཡིག"]), ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", ["ᏣᎳᎩ", "ᎦᏬᏂᎯᏍᏗ"]),
            ("ἀνὴρ ἀγαθός", ["ἀνὴρ", "ἀγαθός"]),
            ("ọ̀rẹ́ mi", ["mi", "ọ̀rẹ́"]), ("ꆈꌠ ꁱꂷ", ["ꆈꌠ", "ꁱꂷ"]), ("ㄅㄆ", ["ㄅㄆ"]),
        ]
        for (text, expected) in sentences {
            let folded = expected.map { TextCleaner(String($0)).text }
            try expect(Set(words(text, choice)), equals: Set(folded))
        }
    }

    /// These the dictionary knows, and stays the one who cuts them.
    @Test(arguments: [
        "σήμερα έβρεχε", "сегодня шёл дождь", "今日は猫の写真を撮った", "I can't. café x_y 3.5", "猫❤️ 1️⃣ ☕😀 ♪",
        "tiếng Việt",
        "ÅSA 3月",
    ])
    func whatTheDictionaryKnowsIsLeftToIt(text: String) throws {
        let cleaned = TextCleaner(text).text
        try expect(cut(cleaned).words, equals: [])
        try expect(cut(cleaned).rest, equals: cleaned)
    }

    @Test(arguments: [
        ("วันนี้ฝน", ["วัน", "นนี้", "นี้ฝ", "ฝน"]), ("ก", ["ก"]), ("ລາວ", ["ລາ", "າວ"]), ("ភាសា", ["ភាសា"]),
        ("ไทย 2024 ไป", ["ไท", "ทย", "ไป"]),
    ])
    func scriptsWithoutSpacesGivePairs(text: String, expected: [String]) throws {
        try expect(cut(text).words, equals: expected)
    }

    @Test(
        arguments: [
            ("bts팬 x2를 3월", ["팬", "를", "월"], "bts  x2  3 "),
            ("끝.시작 가_나", ["끝", "시작", "가", "나"], " .   _ "),
            ("צה\"ל \"שלום\"", ["צה\"ל", "שלום"], "  \" \""),
            ("ג'ירפה 'לא'", ["ג'ירפה", "לא"], "  ' '"),
            ("٣٫٥ ١٢", ["٣٫٥", "١٢"], "   "), ("𠮷野家", ["𠮷"], " 野家"),
            ("می\u{200C}روم", ["می\u{200C}روم"], " "),
            ("որտե՞ղ", ["որտե՞ղ"], " "), ("क।ख", ["क", "ख"], " । "), ("안녕!!", ["안녕"], " !!"),
            ("猫팬ネコ", ["팬"], "猫 ネコ"),
        ] as [(String, [String], String)])
    func wordsEndWhereUnicodeEndsThem(text: String, expected: [String], rest: String) throws {
        try expect(cut(text).words, equals: expected)
        try expect(cut(text).rest, equals: rest)
    }

    @Test func theWordsOfAHashtagCountToo() throws {
        try expect(Set(words("#한국_요리 좋아")), equals: ["#한국_요리", "한국", "요리", "좋아", "_"])
    }

    @Test func caseMakesNoDifference() throws {
        try expect(words("ՀԱՅԵՐԵՆ"), equals: words("հայերեն"))
        try expect(words("ᲥᲐᲠᲗᲣᲚᲘ"), equals: words("ქართული"))
        try expect(words("ΣΟΦΟΣ"), equals: words("σοφός".replacing("ό", with: "ο")))
    }

    /// Cut with ICU's boundaries, apart from the code under test.
    @Test(arguments: 0..<6)
    func boundariesAreThoseOfUnicode(seed: UInt64) throws {
        let boundary = try NSRegularExpression(
            pattern: #"\b.+?\b"#, options: .useUnicodeWordBoundaries)
        // ICU takes Korean for a script without spaces, and lets no sign join its syllables.
        let letters =
            seed.isMultiple(of: 3)
            ? ["오늘", "비", "가", "각", "קו"]
            : [
                "قرأ", "ت", "ה", "ים", "ו", "आज", "है", "मैं", "ზე", "და", "եր", "է", "ዛ", "ሬ", "ক",
                "ষ্টি", "ഇ", "ന്ന്", "’",
                "·", "٣", "५",
                "\u{200C}", "\u{64B}", "\u{301}",
            ]
        let pieces = letters + [" ", " ", "\n", "،", "؟", "।", "።", "!", "(", ")", "-", "…", "🌧"]
        var generator = SeededGenerator(seed: seed)
        var count = 0
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 1...12, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let cleaned = TextCleaner(text).text
            let whole = NSRange(cleaned.startIndex..., in: cleaned)
            let expected = boundary.matches(in: cleaned, range: whole)
                .map { (cleaned as NSString).substring(with: $0.range) }
                // What has a letter or digit begins with it, unless nothing stands before a mark.
                .filter { $0.unicodeScalars.first.map { $0.isWord && !$0.isMark } ?? false }
            try expect(cut(cleaned).words, equals: expected)
            count += expected.count
        }
        #expect(count > 300)
    }

    /// Each range of letters is one that the dictionary makes words of, and letters beside them are
    /// symbols to it.
    @Test func theProfileKnowsTheLettersOfItsDictionary() throws {
        let tokenizer = try Tokenizer()
        func isListed(_ value: UInt32) throws -> Bool {
            var classes: [WordClass] = []
            let text = Unicode.Scalar(value).map { String($0) } ?? ""
            try tokenizer.forEachWord(in: text) { classes.append($1) }
            return classes != [.other]
        }
        for value: UInt32 in [
            0x61, 0xE9, 0x142, 0x1B0, 0x236, 0x3AE, 0x3FB, 0x457, 0x4F9, 0x50F, 0x1EA1, 0x732B,
            0x3402,
        ] {
            #expect(tokenizer.profile.lists(try #require(Unicode.Scalar(value))))
            try expect(isListed(value), equals: true)
        }
        for value: UInt32 in [
            0x250, 0x4FB, 0x511, 0x561, 0x5D0, 0x628, 0x915, 0xB85, 0xE01, 0x10D0, 0x1200, 0x1F00,
            0xAC00,
        ] {
            #expect(!tokenizer.profile.lists(try #require(Unicode.Scalar(value))))
            try expect(isListed(value), equals: false)
        }
    }

    @Test func longRunsTakeTimeInProportion() throws {
        for unit in ["가", "ก", "ب", "क", "א\"", "٣٫", "ᲐᲑ", "\u{64B}", "가'"] {
            func seconds(_ count: Int) -> Double {
                let text = String(repeating: unit, count: count)
                return ProcessorTime.seconds { _ = try? cut(text) }
            }
            #expect(seconds(1 << 14) < seconds(1 << 11) * 30 + 0.1)
        }
    }
}
