import TestSupport
import Testing

@testable import Favorites

/// The short cut past the tables of Unicode, compared with them.
@Suite struct PlainScalarsTests {
    private static let all: [Unicode.Scalar] = (0...0x10FFFF).compactMap { value in
        PlainScalars.plain(value) == nil ? nil : Unicode.Scalar(value)
    }

    /// What the tables say.
    private static func unified(_ text: String) -> [Unicode.Scalar] {
        TextCleaner.normalized(text).unicodeScalars.map { TextCleaner.isControl($0) ? " " : $0 }
    }

    @Test func everyPlainScalarBecomesWhatTheTablesSay() {
        let wrong = Self.all.filter { scalar in
            PlainScalars.unified(String(scalar), atMost: 10) != Self.unified(String(scalar))
        }
        #expect(wrong == [])
        #expect(Self.all.count > 20_000)
    }

    @Test func plainScalarsDoNotChangeEachOther() {
        var generator = SeededGenerator(seed: 7)
        var wrong: [String] = []
        for _ in 0..<5_000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<40 { view.append(Self.all[Int.random(in: Self.all.indices, using: &generator)]) }
            let text = String(view)
            if PlainScalars.unified(text, atMost: 1_000) != Self.unified(text) { wrong.append(text) }
        }
        #expect(wrong == [])
    }

    @Test(arguments: ["café", "か\u{3099}", "a\u{301}", "ﾈｺ", "①", "Ω", "½", "㍿", "ｅ\u{301}", "\u{85}", "🇯🇵"])
    func aTextWithAnythingElseIsLeftToTheTables(_ text: String) {
        #expect(PlainScalars.unified(text, atMost: 10) == nil)
        #expect(TextCleaner.unified(text) == Self.unified(text))
    }

    @Test func nothingIsKeptBeyondTheLimit() {
        #expect(PlainScalars.unified("ＡＢＣＤ", atMost: 3) == ["a", "b", "c"])
        #expect(PlainScalars.unified("ab…", atMost: 3) == ["a", "b", "."])
        #expect(PlainScalars.unified("", atMost: 3) == [])
    }

    @Test func aMarkBehindTheLastScalarStillCounts() {
        let text = String(repeating: "a", count: TextCleaner.maximumLength - 1) + "か"
        #expect(TextCleaner.unified(text).last == "か")
        #expect(TextCleaner.unified(text + "\u{3099}").last == "が")
    }
}
