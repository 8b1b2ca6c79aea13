import Localization
import Testing

@testable import Web

/// Which language a browser asks for.
@Suite struct PageLanguageTests {
    @Test(arguments: [
        ("ja", Language.japanese), ("ja-JP,ja;q=0.9,en;q=0.8", .japanese), ("en", .english),
        ("en-US,en;q=0.9,ja;q=0.8", .english), ("ja;q=0.2, en;q=0.4", .english),
        ("de, ja;q=0.5", .japanese), ("JA", .japanese), (" ja ; q=1.0 ", .japanese),
        ("de", nil), ("*", nil), ("", nil), ("ja;q=0", nil), ("ja;q=zero, en;q=0.1", .english),
        ("jam", nil), (";;;,,,=", nil), ("ja;q=nan", nil),
    ]) func theBrowserChooses(field: String, language: Language?) {
        #expect(PageLanguage.preferred(by: [field]) == language)
    }

    @Test func severalFieldsAreOne() {
        #expect(PageLanguage.preferred(by: ["en;q=0.5", "ja"]) == .japanese)
        #expect(PageLanguage.preferred(by: []) == nil)
    }

    @Test func aLongFieldIsReadToItsLimit() {
        let field = String(repeating: "de,", count: 100_000) + "ja"
        #expect(PageLanguage.preferred(by: [field]) == nil)
    }
}
