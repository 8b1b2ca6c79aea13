import Expectations
import Foundation
import MeCab
import Testing

@Suite struct TokenizerTests {
    /// A text with words of every class, unknown words, symbols and several scripts.
    static let text = """
        今日は東京の小さな公園で、とても白い猫をゆっくり見ていた。ああ、ありがとう！しかし、その2匹は逃げなかった。
        Swift 6.3 is out :) https://example.com/a?b=c ①㍿ ｱﾆﾒ ☕❤️😀 한국어 Привет グーグルマップス 食べすぎちゃった
        """

    @Test func classesAgreeWithTheNamesInTheDictionary() throws {
        let names: [String: WordClass] = [
            "名詞": .noun, "動詞": .verb, "形容詞": .adjective, "副詞": .adverb, "感動詞": .interjection,
            "連体詞": .adnominal,
        ]
        var seen: Set<WordClass> = []
        try Tokenizer().forEachWord(in: Self.text) { word, wordClass in
            let name = word.field(0) ?? ""
            #expect(wordClass == names[name] ?? .other, "\(word.text) is \(name)")
            seen.insert(wordClass)
        }
        #expect(seen == [.noun, .verb, .adjective, .adverb, .interjection, .adnominal, .other])
    }

    @Test func givesTheBaseFormOfInflectedWords() throws {
        let tokenizer = try Tokenizer()
        var forms: [String] = []
        try tokenizer.forEachWord(in: "写真を撮った。楽しかった") { word, wordClass in
            if wordClass.isInflected { forms.append(tokenizer.baseForm(of: word)) }
        }
        #expect(forms == ["撮る", "楽しい"])
    }

    /// Behind a text that ends with a space MeCab looks for words as far as the next zero.
    @Test(arguments: ["猫 ", "猫\n", "猫\t \n", "猫", "ネ"]) func nothingBehindATextIsRead(text: String)
        throws
    {
        let bytes = Array((text + "写真館").utf8)
        var words: [String] = []
        try bytes.withUnsafeBufferPointer { all in
            let text = UnsafeBufferPointer(rebasing: all[..<text.utf8.count])
            try Tokenizer().forEachWord(in: text) { word, _ in words.append(word.text) }
        }
        #expect(words == [text.trimmingCharacters(in: .whitespacesAndNewlines)])
    }

    /// The same where what lies behind must not be touched.
    @Test func aTextMayEndWhereMemoryEnds() async {
        await #expect(processExitsWith: .success) {
            let page = Int(getpagesize())
            let flags = MAP_PRIVATE | MAP_ANONYMOUS
            let memory = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, flags, -1, 0))
            try #require(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0)
            for text in ["猫 ", "猫", "ネコ", "cat"] {
                let start = memory + page - text.utf8.count
                start.copyMemory(from: Array(text.utf8), byteCount: text.utf8.count)
                let bytes = UnsafeRawBufferPointer(start: start, count: text.utf8.count)
                try Tokenizer().forEachWord(in: bytes.assumingMemoryBound(to: UInt8.self)) { _, _ in
                }
            }
        }
    }

    @Test func unknownWordsHaveNoBaseForm() throws {
        let tokenizer = try Tokenizer()
        var words: [String] = []
        try tokenizer.forEachWord(in: "zxqv") { word, _ in
            #expect(word.isUnknown)
            #expect(word.field(6) == nil)
            #expect(word.field(99) == nil)
            words.append(tokenizer.baseForm(of: word))
        }
        #expect(words == ["zxqv"])
    }

    @Test(arguments: ["", "  \n\u{3000} "])
    func textWithoutWordsShowsNone(_ text: String) throws {
        var words: [String] = []
        try Tokenizer().forEachWord(in: text.trimmingCharacters(in: .whitespacesAndNewlines)) {
            word, _ in
            words.append(word.text)
        }
        #expect(words.isEmpty)
    }

    @Test func zeroBytesDoNotEndTheText() throws {
        var words: [String] = []
        try Tokenizer().forEachWord(in: "猫\u{0}写真") { word, _ in words.append(word.text) }
        #expect(words.contains("猫"))
        #expect(words.contains("写真"))
    }

    @Test(arguments: [
        text, "aé猫😀", "é", "😀", "Äß", "кот猫", "\u{10FFFF}\u{7FF}\u{FFFD}a", "e\u{301}\u{E000}",
    ])
    func theTextOfAWordIsWhatItsBytesSay(_ text: String) throws {
        var count = 0
        try Tokenizer().forEachWord(in: text) { word, _ in
            #expect(
                word.text.utf8.elementsEqual(String(decoding: word.surface, as: UTF8.self).utf8))
            #expect(Array(word.text.utf8) == Array(word.surface))
            count += 1
        }
        #expect(count > 0)
    }

    @Test func refusesATextBeyondItsLimit() throws {
        let text = String(repeating: "猫", count: MeCabModel.maximumBytes / 3 + 1)
        let error = #expect(throws: MeCabError.self) {
            try Tokenizer().forEachWord(in: text) { _, _ in }
        }
        #expect(error?.code == .textTooLong)
    }

    @Test func analysesOnManyThreadsAsOnOne() async throws {
        let tokenizer = try Tokenizer()
        let texts = (0..<400).map { "\($0)番目の" + Self.text.dropFirst($0 % 20) }
        @Sendable func words(_ text: String) throws -> [String] {
            var words: [String] = []
            try tokenizer.forEachWord(in: text) { word, wordClass in
                words.append("\(word.text)/\(wordClass)")
            }
            return words
        }
        let expected = try texts.map(words)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for (text, expected) in zip(texts, expected) {
                        let found = try words(text)
                        #expect(found == expected)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func opensAFolderWhosePathHasSpaces() throws {
        let folder = try TemporaryDictionary()
        let installed = try #require(try DictionaryProfile.locate("ipadic-utf8").folders.first)
        let link = folder.path + "/ipadic"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: installed)
        let tokenizer = try Tokenizer(dictionary: link)
        try expect(tokenizer.dictionaryIdentity, equals: Tokenizer().dictionaryIdentity)
    }

    @Test(arguments: ["unidic", "", "/nonexistent/dictionary", "/tmp"])
    func namesTheSettingWhenThereIsNoDictionary(_ value: String) {
        let error = #expect(throws: MeCabError.self) { try Tokenizer(dictionary: value) }
        #expect(error?.code == .dictionaryNotFound)
        expect(error?.description) { $0?.contains("MECAB_DICTIONARY") == true }
    }

    @Test func saysHowToInstallAMissingDictionary() {
        let error = #expect(throws: MeCabError.self) {
            try Tokenizer(dictionary: "/nonexistent/dictionary")
        }
        expect(error?.description) { $0?.contains("make deps") == true }
        expect(error?.description) { $0?.contains("mecab-ipadic-utf8") == true }
    }

    @Test func refusesADamagedDictionary() throws {
        let folder = try TemporaryDictionary()
        try "not a dictionary".write(
            toFile: folder.path + "/sys.dic", atomically: true, encoding: .utf8)
        let error = #expect(throws: MeCabError.self) { try Tokenizer(dictionary: folder.path) }
        #expect(error?.code == .dictionaryUnreadable)
        expect(error?.description) { $0?.contains(folder.path) == true }
    }

    @Test(arguments: ["UTF-8", "EUC-JP"])
    func refusesADictionaryOfAnotherKind(_ charset: String) throws {
        let folder = try TemporaryDictionary(compiledIn: charset)
        let error = #expect(throws: MeCabError.self) { try Tokenizer(dictionary: folder.path) }
        #expect(error?.code == .wrongDictionary)
        expect(error?.description) { $0?.contains("MECAB_DICTIONARY") == true }
    }
}
