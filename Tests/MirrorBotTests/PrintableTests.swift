import Localization
import Testing

@testable import MirrorBot

@Suite struct PrintableTests {
    // MARK: Making text harmless

    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", " [31mred [0m"), ("a\rb", "a b"), ("a\nb\tc", "a b c"),
        ("a\r\nb", "a  b"),
        ("bell\u{07}", "bell "), ("nul\u{0}", "nul "), ("del\u{7F}", "del "),
        ("c1\u{9B}31m", "c1 31m"),
        ("title\u{1B}]0;x\u{07}", "title ]0;x "), ("next\u{85}line", "next line"),
        ("\u{2028}\u{2029}", "  "),
        ("", ""), ("plain", "plain"),
    ])
    func controlsBecomeSpaces(_ text: String, _ expected: String) {
        #expect(Printable.line(text) == expected)
    }

    @Test(arguments: [
        "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}",
        "\u{2068}", "\u{2069}",
    ])
    func nothingTurnsTheLineAround(_ sign: String) {
        #expect(Printable.line("invoice\(sign)fdp.exe") == "invoice fdp.exe")
    }

    @Test func onlyLineBreaksSurviveInLines() {
        #expect(Printable.lines("one\ntwo\r\u{1B}[2J\tthree\u{2028}") == "one\ntwo  [2J three ")
        #expect(Printable.line("one\ntwo") == "one two")
    }

    @Test func whatOtherScriptsNeedStays() {
        // Arabic, a joined family, a flag, a letter with an accent of its own, a variation
        // selector.
        for text in ["مرحبا", "👨‍👩‍👧", "🇯🇵", "e\u{301}", "☀️", "ひらがな", "\u{200F}مرحبا"] {
            #expect(Printable.line(text) == text)
        }
    }

    @Test func noControlCharacterIsLeftOfAnyText() {
        var left: [UInt32] = []
        for value in UInt32(0)...0x3000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = Printable.line("a" + String(Character(scalar))).unicodeScalars
            if shown.count != 2
                || shown.contains(where: { $0.properties.generalCategory == .control })
            {
                left.append(value)
            }
        }
        #expect(left == [])
    }

    // MARK: Width

    @Test(arguments: [
        ("", 0), ("abc", 3), ("日本語", 6), ("ﾊﾝｶｸ", 4), ("ＡＢ", 4), ("한국", 4), ("é", 1),
        ("e\u{301}", 1), ("😀", 2),
        ("👨‍👩‍👧", 2), ("🇯🇵", 2), ("☀️", 2), ("a日b", 4), ("、。", 4), ("𠮷", 2),
    ])
    func countsTheCellsOfATerminal(_ text: String, _ width: Int) {
        #expect(Printable.width(text) == width)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 2, "…"), ("a日本", 3, "a…"), ("abc", 1, "…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("", 0, ""),
    ])
    func cutsBetweenCharactersOnly(_ text: String, _ columns: Int, _ expected: String) {
        #expect(Printable.line(text, columns: columns) == expected)
    }

    @Test func aCutTextIsNeverTooWide() {
        let text = "a日😀e\u{301}☀️本ab"
        for columns in 1...12 {
            #expect(Printable.width(Printable.line(text, columns: columns)) <= columns)
        }
    }

    /// A sign stays with the character to which it belongs.
    @Test(arguments: [
        (
            "本人はどこに投稿していますか？ 入力してください。", 10,
            ["本人はどこ", "に投稿して", "いますか？", "入力してく", "ださい。"]
        ),
        ("「ab」と mirror-bot run です。", 12, ["「ab」と", "mirror-bot", "run です。"]),
        ("plain words here", 11, ["plain words", "here"]), ("", 10, []),
    ])
    func japaneseIsWrappedBetweenCharacters(
        _ text: String, _ columns: Int, _ expected: [String]
    ) {
        Language.$current.withValue(.japanese) {
            #expect(Printable.wrapped(text, columns: columns) == expected)
        }
    }

    @Test func englishIsWrappedBetweenWords() {
        let text = "本人はどこに投稿して"
        #expect(Printable.wrapped("say \(text)", columns: 6) == ["say", text])
    }

    @Test(arguments: [("ab", 4, "ab  "), ("日", 4, "日  "), ("abcd", 2, "abcd"), ("", 1, " ")])
    func padsToCells(_ text: String, _ columns: Int, _ expected: String) {
        #expect(Printable.padded(text, to: columns) == expected)
    }
}
