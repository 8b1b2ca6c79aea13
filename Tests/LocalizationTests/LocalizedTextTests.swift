import Embedded
import Expectations
import Testing

@testable import Localization

/// Sentences in both languages, and the files of their translations.
@Suite struct LocalizedTextTests {
    @Test func englishIsTheText() {
        let name = "mika"
        #expect(localized("\(name) has \(3) posts") == "mika has 3 posts")
        #expect(LocalizedText("\(name) has \(3) posts").key == "{0} has {1} posts")
    }

    @Test func japaneseIsInTheTable() {
        Language.$current.withValue(.japanese) {
            #expect(localized("in \("2 h")") == "2 h後")
            #expect(localized("\(2) h \(5) min") == "2時間5分")
        }
        #expect(LocalizedText("now").text(in: .japanese) == "今")
    }

    /// A value is no part of the sentence, whatever is in it.
    @Test func aValueIsNotFilled() {
        let value = "{1} {0} {"
        #expect(localized("a \(value) b \(2)") == "a {1} {0} { b 2")
    }

    @Test func bracesThatAreNoPlaceholderStay() {
        let text = LocalizedText(key: "{ {9} {x} {0", values: ["v"])
        #expect(text.description == "{ {9} {x} {0")
    }

    @Test func aSentenceWithoutTranslationIsEnglish() {
        let text = LocalizedText(key: "nobody ever says \("{0}")", values: ["this"])
        #expect(text.text(in: .japanese) == "nobody ever says this")
    }

    @Test func childTasksSpeakTheSameLanguage() async {
        let word = await Language.$current.withValue(.japanese) {
            await Task { localized("now") }.value
        }
        #expect(word == "今")
    }

    @Test func aCatalogIsRead() throws {
        let catalog = try MessageCatalog(
            """
            # A comment.
            msgid "one \\"two\\"\\n"
            "three"
            msgstr "一"
            "二"

            msgid "tab\\tand \\\\"
            msgstr ""
            """)
        #expect(catalog.entries.map(\.key) == ["one \"two\"\nthree", "tab\tand \\"])
        #expect(catalog.entries.map(\.translation) == ["一二", ""])
    }

    @Test(arguments: [
        ("msgid \"a\"\nmsgid \"b\"\nmsgstr \"c\"", 2), ("msgstr \"a\"", 1), ("msgid a", 1),
        ("msgid \"a\"", 1), ("msgid \"a", 1), ("msgid \"a\"\nmsgstr \"\\x\"", 2), ("hello", 1),
        ("msgid \"a\"\nmsgstr \"b\"\nmsgstr \"c\"", 3), ("msgid \"a\" \"b\"\nmsgstr \"c\"", 1),
    ]) func aBrokenCatalogNamesTheLine(text: String, line: Int) {
        let error = #expect(throws: MessageCatalog.Fault.self) { try MessageCatalog(text) }
        #expect(error?.line == line)
    }

    @Test func everyFileIsRead() throws {
        let files = EmbeddedFiles.files(in: "Localization/ja")
        #expect(!files.isEmpty)
        for file in files {
            _ = try MessageCatalog(String(decoding: file.bytes, as: UTF8.self))
        }
    }
}
