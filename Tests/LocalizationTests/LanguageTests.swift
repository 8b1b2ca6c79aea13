import Expectations
import Localization
import Testing

/// Which language a person is spoken to in.
@Suite struct LanguageTests {
    @Test(arguments: [
        ("ja", Language.japanese), ("ja-JP,ja;q=0.9,en;q=0.8", .japanese), ("en", .english),
        ("en-US,en;q=0.9,ja;q=0.8", .english), ("ja;q=0.2, en;q=0.4", .english),
        ("de, ja;q=0.5", .japanese), ("JA", .japanese), (" ja ; q=1.0 ", .japanese),
        ("de", nil), ("*", nil), ("", nil), ("ja;q=0", nil), ("ja;q=zero, en;q=0.1", .english),
        ("jam", nil), (";;;,,,=", nil), ("ja;q=nan", nil),
    ]) func theBrowserChooses(field: String, language: Language?) {
        #expect(Language.preferred(byAccepted: [field]) == language)
    }

    @Test func severalFieldsAreOne() {
        #expect(Language.preferred(byAccepted: ["en;q=0.5", "ja"]) == .japanese)
        #expect(Language.preferred(byAccepted: []) == nil)
    }

    @Test func aLongFieldIsReadToItsLimit() {
        let field = String(repeating: "de,", count: 100_000) + "ja"
        #expect(Language.preferred(byAccepted: [field]) == nil)
    }

    @Test(arguments: [
        (["LANG": "ja_JP.UTF-8"], Language.japanese), (["LANG": "C.UTF-8"], .english),
        ([:], .english),
        (["LANG": "ja_JP", "LC_ALL": "en_GB.UTF-8"], .english),
        (["LANG": "en_GB", "LC_ALL": "", "LC_MESSAGES": "ja"], .japanese),
        (["LANG": "ja@radical"], .japanese), (["LANG": "POSIX"], .english),
    ]) func theTerminalChooses(variables: [String: String], language: Language) {
        #expect(Language.ofTerminal { variables[$0] } == language)
    }
}
