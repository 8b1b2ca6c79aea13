import TestSupport
import Testing

@testable import Favorites

/// The short cut past the tables of Unicode, compared with them.
@Suite struct PlainScalarsTests {
    private static let all: [Unicode.Scalar] = (0...0x10FFFF).compactMap { value in
        PlainScalars.plain(value) == nil ? nil : Unicode.Scalar(value)
    }

    /// What the tables say.
    private static func unified(_ text: String) -> String {
        var unified = String.UnicodeScalarView()
        for scalar in TextCleaner.normalized(text).unicodeScalars {
            unified.append(TextCleaner.isControl(scalar) ? " " : scalar)
        }
        return String(unified)
    }

    /// The bytes of the short cut as text; nil where it does not know the text.
    private static func plain(_ text: String, atMost limit: Int = 1_000) -> String? {
        PlainScalars.unified(text, atMost: limit).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Compared by their bytes: Swift takes other forms of the same letter for equal.
    private static func isSame(_ left: String?, _ right: String) -> Bool {
        left.map { Array($0.utf8) == Array(right.utf8) } ?? false
    }

    @Test func everyPlainScalarBecomesWhatTheTablesSay() {
        let wrong = Self.all.filter { scalar in
            !Self.isSame(Self.plain(String(scalar)), Self.unified(String(scalar)))
        }
        #expect(wrong == [])
        #expect(Self.all.count > 20_000)
    }

    @Test func plainScalarsDoNotChangeEachOther() {
        var generator = SeededGenerator(seed: 7)
        var wrong: [String] = []
        for _ in 0..<5_000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<40 {
                view.append(Self.all[Int.random(in: Self.all.indices, using: &generator)])
            }
            let text = String(view)
            if !Self.isSame(Self.plain(text), Self.unified(text)) { wrong.append(text) }
        }
        #expect(wrong == [])
    }

    @Test(arguments: [
        "か\u{3099}", "a\u{301}", "é\u{323}", "ﾊﾞ", "⑩", "Ω", "½", "㍿", "ｅ\u{301}", "\u{85}", "🇯🇵",
    ])
    func aTextWithAnythingElseIsLeftToTheTables(_ text: String) {
        #expect(PlainScalars.unified(text, atMost: 10) == nil)
        #expect(TextCleaner.unified(text) == Array(Self.unified(text).utf8))
    }

    @Test func nothingIsKeptBeyondTheLimit() {
        #expect(Self.plain("ＡＢＣＤ", atMost: 3) == "abc")
        #expect(Self.plain("ﾈｺﾈｺ", atMost: 3) == "ネコネ")
        #expect(Self.plain("ab…", atMost: 3) == "ab.")
        #expect(Self.plain("abc…", atMost: 3) == "abc")
        #expect(Self.plain("猫猫猫\u{85}", atMost: 3) == nil)
        #expect(Self.plain("", atMost: 3) == "")
    }

    @Test func aMarkBehindTheLastScalarStillCounts() {
        let text = String(repeating: "a", count: TextCleaner.maximumLength - 1) + "か"
        #expect(TextCleaner.unified(text).suffix(3) == Array("か".utf8)[...])
        #expect(TextCleaner.unified(text + "\u{3099}").suffix(3) == Array("\u{304C}".utf8)[...])
    }
}
