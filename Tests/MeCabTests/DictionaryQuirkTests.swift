import Expectations
import MeCab
import Testing

/// Peculiarities of MeCab and of the dictionary that the features rely on.
@Suite struct DictionaryQuirkTests {
    private func words(_ text: String) throws -> [(
        text: String, class: WordClass, detail: String?, isUnknown: Bool
    )] {
        var words: [(String, WordClass, String?, Bool)] = []
        try Tokenizer().forEachWord(in: text) { word, wordClass in
            words.append((word.text, wordClass, word.field(1), word.isUnknown))
        }
        return words
    }

    @Test(arguments: ["!", "#", "@", "://", ":)", "(^^)"])
    func unknownSignsAreNouns(_ text: String) throws {
        let found = try words(text)
        #expect(found.map(\.text) == [text])
        expect(found) { $0.allSatisfy { $0.class == .noun && $0.detail == "サ変接続" && $0.isUnknown } }
    }

    @Test(arguments: ["！", "？", "。", "、"]) func fullWidthSignsAreSymbols(_ text: String) throws {
        let found = try words(text)
        #expect(found.map(\.class) == [.other])
        #expect(found.map(\.isUnknown) == [false])
    }

    @Test(arguments: ["swift", "hello", "ｱｲｳ", "グーグルマップス"]) func unknownLettersAreNouns(
        _ text: String
    ) throws {
        let found = try words(text)
        #expect(found.map(\.text) == [text])
        expect(found) { $0.allSatisfy { $0.class == .noun && ["固有名詞", "一般"].contains($0.detail) } }
    }

    @Test(arguments: [
        ("😀", false), ("☕", true), ("❤", true), ("\u{200D}", true), ("\u{FE0F}", false),
    ])
    func onlyOlderEmojiAreNouns(_ text: String, _ isNoun: Bool) throws {
        try expect(words(text).map { $0.class == .noun }, equals: [isNoun])
    }

    @Test func unknownRunsEndAfter25Characters() throws {
        let lengths = try words(String(repeating: "a", count: 40)).map(\.text.count)
        #expect(lengths == Array(repeating: 1, count: 15) + [25])
    }

    @Test func knownWordsHaveNineFieldsAndUnknownOnesSeven() throws {
        var fields: [String: Int] = [:]
        try Tokenizer().forEachWord(in: "猫zxqv") { word, _ in
            fields[word.text] = (0..<20).last { word.field($0) != nil }.map { $0 + 1 }
        }
        #expect(fields["猫"] == 9)
        // Four of the seven are `*`, which counts as nothing.
        #expect((fields["zxqv"] ?? 0) <= 7)
    }

    @Test func textBeyondTheBufferOfTheCommandLineToolIsRead() throws {
        let text = String(repeating: "今日は猫の写真を撮った。", count: 1_000)
        #expect(text.utf8.count > 4 * 8_192)
        let found = try words(text)
        #expect(found.count { $0.text == "猫" } == 1_000)
        #expect(found.last?.text == "。")
    }

    @Test func surfacesAreAsLongAsTheirWords() throws {
        // A surface points into the analysed text and does not end with a zero.
        try expect(words("猫の写真").map(\.text), equals: ["猫", "の", "写真"])
    }
}
