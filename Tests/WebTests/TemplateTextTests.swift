import Embedded
import Localization
import Testing

@testable import Web

/// What a template says, and its translation.
@Suite struct TemplateTextTests {
    @Test(arguments: [
        ("<p>Ends <b>{{when}}</b>.</p>", ["Ends <b>{{when}}</b>."]),
        ("<h1>Today</h1>\n<p>{{text}}</p>", ["Today"]),
        ("{{#a}}<p>One</p>{{/a}}{{^a}}Two{{/a}}", ["One", "Two"]),
        ("<p>It is{{#a}} not{{/a}} done</p>", ["It is{{#a}} not{{/a}} done"]),
        ("<p><b><i>All</i></b></p>", ["All"]),
        ("<a href=\"x\" aria-label=\"Go {{x}}\">{{x}}</a>", ["Go {{x}}"]),
        ("<a{{#t}} title=\"{{.}}\"{{/t}}>{{x}}</a>", []),
        ("<button><svg><use/></svg>Never</button>", ["Never"]),
        ("<code>mirror-bot run</code>", []), ("<p>1 · 2</p>", []), ("{{>head}}", []),
        ("<label><input name=\"a\"> Learn</label>", ["Learn"]),
        ("<span class=\"a\"><p>One</p>two</span>", ["One", "two"]),
    ]) func theTextsAreThoseThatAPersonReads(source: String, texts: [String]) {
        #expect(TemplateText(source).texts == texts)
        #expect(TemplateText(source).translated(by: [:]) == source)
    }

    @Test func onlyTheTextsChange() {
        let source = "<p class=\"One\">One</p> <p title=\"One\">Two</p>"
        let translated = TemplateText(source).translated(by: ["One": "一"])
        #expect(translated == "<p class=\"One\">一</p> <p title=\"一\">Two</p>")
    }

    /// Each text of each template, and no other, is in the table.
    @Test func everyTextIsTranslated() throws {
        var texts: Set<String> = []
        for file in EmbeddedFiles.files(in: "Web") where file.name.hasSuffix(".mustache") {
            let source = String(decoding: file.bytes, as: UTF8.self)
            let template = TemplateText(source)
            #expect(template.translated(by: [:]) == source, "\(file.name)")
            texts.formUnion(template.texts)
        }
        let catalog = try MessageCatalog(
            EmbeddedFiles.text(of: "Localization/ja/web-templates.po"))
        let keys = Set(catalog.entries.map(\.key))
        #expect(texts.subtracting(keys) == [])
        #expect(keys.subtracting(texts) == [])
        #expect(keys.count == catalog.entries.count, "a text stands there twice")
    }

    /// A translation shows the same values, in the same elements.
    @Test func translationsHaveTheSameTags() throws {
        let catalog = try MessageCatalog(
            EmbeddedFiles.text(of: "Localization/ja/web-templates.po"))
        for (key, translation) in catalog.entries {
            #expect(!translation.isEmpty, "\(key)")
            #expect(Self.tags(key) == Self.tags(translation), "\(key)")
        }
    }

    private static func tags(_ text: String) -> [String] {
        let mustache = text.matches(of: #/\{\{\{?[^}]*\}?\}\}/#).map { String($0.output) }
        let elements = text.matches(of: #/<\/?[a-z0-9]+/#).map { String($0.output) }
        return (mustache + elements).sorted()
    }
}
