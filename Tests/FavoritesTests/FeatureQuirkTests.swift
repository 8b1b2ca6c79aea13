import Expectations
import Favorites
import MeCab
import Posts
import Testing

/// What MeCab and its dictionary do to signs, scripts and runs, as it shows in features.
@Suite struct FeatureQuirkTests {
    private func words(_ text: String, _ words: FeatureWords = .nouns) throws -> [String] {
        let example = Example(id: PostID(network: .mastodon, value: "1"), author: nil, text: text)
        return try FeatureExtractor(tokenizer: Tokenizer(), words: words).features(of: example)
            .words
    }

    @Test(
        arguments: [
            ("!", ["!"]), ("://", ["://"]), (":)", [":)"]), ("(^^)", ["(^^)"]), ("# ", ["#"]),
            ("@ ", ["@"]),
            // Full-width signs are symbols to the dictionary, but their ASCII forms are not.
            ("最高！", ["最高", "!"]), ("何？！", ["何", "?!"]), ("。", []), ("、", []),
            // So are half-width letters and kana, which become the usual ones.
            ("ﾃｽﾄ", ["テスト"]), ("ＡＢＣ", ["abc"]), ("①", ["1"]), ("㍿", ["株式会社"]), ("ﬁn", ["fin"]),
        ] as [(String, [String])])
    func signsAreWordsInTheirPlainForm(_ text: String, _ expected: [String]) throws {
        try expect(words(text), equals: expected)
    }

    @Test(
        arguments: [
            // Signs beyond the first plane are symbols, older ones are nouns.
            ("😀", []), ("猫😀", ["猫"]), ("☕", ["☕"]), ("❤", ["❤"]),
            // A joiner or a selector alone says nothing.
            ("\u{200D}", []), ("\u{FE0F}", []), ("❤\u{FE0F}", ["❤"]),
        ] as [(String, [String])])
    func someEmojiAreNouns(_ text: String, _ expected: [String]) throws {
        try expect(words(text), equals: expected)
    }

    @Test func englishWordsAreNouns() throws {
        try expect(
            words("The quick brown fox doesn't jump, see you tomorrow"),
            equals: [
                "the", "quick", "brown", "fox", "doesn", "'", "t", "jump", ",", "see", "you",
                "tomorrow",
            ])
    }

    @Test(arguments: [(24, [24]), (25, [25]), (26, [25, 1]), (40, [25, 1])])
    func unknownRunsAreCutAfter25Characters(_ count: Int, _ lengths: [Int]) throws {
        try expect(
            words(String(repeating: "z", count: count)).map(\.count).sorted(by: >), equals: lengths)
    }

    @Test func contentWordsOfEveryClassAreFeatures() throws {
        // Adverb, adnominal, adjective, noun, adverb, verb; particles, auxiliaries and conjunctions
        // are none.
        try expect(
            words("しかしとても小さな白い花がゆっくり咲いた", .content),
            equals: ["とても", "小さな", "白い", "花", "ゆっくり", "咲く"])
        try expect(words("しかしとても小さな白い花がゆっくり咲いた"), equals: ["花"])
        try expect(words("ああ、楽しかった", .content), equals: ["ああ", "楽しい"])
    }

    @Test func nothingIsACommonWord() throws {
        // Pronouns, suffixes, dependent nouns and numbers are nouns, and count.
        try expect(words("私たちのこと 3個"), equals: ["私", "たち", "こと", "3", "個"])
    }

    @Test func formsThatLookAlikeAreOneWord() throws {
        try expect(words("ガ ｶﾞ カ\u{3099}").count, equals: 1)
        try expect(words("CAFÉ cafe\u{301}").count, equals: 1)
        try expect(words("İstanbul").first?.unicodeScalars.first, equals: "i")
    }
}
