import Control
import Expectations
import Foundation
import Mirroring
import TestSupport
import Testing

@testable import Web

/// The page that can be opened and sent on.
@Suite struct ReportPageTests {
    private func document(_ report: MirrorReport) throws -> MarkupDocument {
        try MarkupDocument(ReportPage(report).html)
    }

    // MARK: What it is

    @Test func hasAPlaceForEverything() throws {
        let page = try document(SampleReport.report())
        #expect(page.all("html").first?.attributes["lang"] == "en")
        #expect(page.all("title").first?.text == "The mirror of @ann@home.example")
        #expect(page.all("h1").map(\.text) == ["The mirror of @ann@home.example"])
        #expect(
            page.all("h2").map(\.text) == [
                "How it is", "The hours of human and bot", "The week", "The coming plan",
                "The last four weeks",
                "The last actions, and why", "What is favorited", "What is left out, and why",
                "What is stored",
            ])
        for section in page.all("section") {
            let label = try #require(section.attributes["aria-labelledby"])
            expect(page.all("h2")) { $0.contains { $0.attributes["id"] == label } }
        }
    }

    @Test func saysTheNumbersOfTheReport() throws {
        let page = try document(SampleReport.report())
        // Each table has one caption.
        let tables = Dictionary(
            zip(page.all("caption").map(\.text), page.all("table").map(\.text)),
            uniquingKeysWith: { first, _ in first })
        // 28 days of two posts, and four Mondays of three: 28 at seven and 32 at twelve.
        let hours = try #require(tables["Share of all posts by hour"])
        #expect(hours.contains("7:0046.7 %0.0 %"))
        #expect(hours.contains("12:0053.3 %100.0 %"))
        let week = try #require(tables["Posts of the human"])
        #expect(week.contains("7:004444444"))
        #expect(week.contains("12:008444444"))
        #expect(week.contains("all12888888"))
        try expect(#require(tables["By author"])) { $0.contains("@ann@home.example1234") }
        try expect(#require(tables["in favorites of the human / in other posts"])) {
            $0.contains("bread9 / 1")
        }
        try expect(#require(tables["What did not happen, by reason"])) {
            $0.contains("old postthe post is a reply407")
        }
        expect(tables.keys) { $0.contains { $0.hasPrefix("2026-05-29, a preview") } }
        let text = try #require(page.all("body").first).text
        #expect(text.contains("skipped"))
        #expect(text.contains("today's limit for this person is reached"))
        #expect(text.contains("rate 4.25, for @bob@home.example, A loaf."))
        #expect(text.contains("Why something does not happen"))
    }

    /// Each name that a template asks for is there.
    @Test func theTemplateHasItsValues() {
        for report in [SampleReport.report(), SampleReport.hostileReport()] {
            let context = ReportPage(report).context
            #expect(TemplateKeys(.report, context, PageTemplate.ofFiles).missing.isEmpty)
        }
    }

    /// A page that is sent on quotes no posts of those whose words were learned.
    @Test func wordsHaveNoExamples() {
        var report = SampleReport.report()
        report.stats.wordsFor[0].example = "Fresh from somebody's oven."
        let html = ReportPage(report).html
        #expect(html.contains("bread"))
        #expect(!html.contains("oven"))
    }

    /// A page that is sent on tells nothing of the machine.
    @Test func doesNotTellWhereTheDatabaseIs() {
        #expect(!ReportPage(SampleReport.report()).html.contains("/home/ann"))
    }

    @Test func isSmall() { #expect(ReportPage(SampleReport.report()).html.utf8.count < 60_000) }

    @Test func aMirrorThatKnowsNothingHasAPageToo() throws {
        var report = SampleReport.report()
        report.days = []
        report.status.recent = []
        report.status.idle = []
        report.status.classifier = nil
        report.stats.likeness = nil
        report.stats.humanPosts = StatsReport.Rhythm([])
        report.stats.botPosts = StatsReport.Rhythm([])
        report.stats.authors = []
        report.stats.wordsFor = []
        report.stats.wordsAgainst = []
        report.stats.leftOut = []
        let text = try #require(try document(report).all("body").first).text
        for sentence in [
            "No day can be planned yet.", "Nothing was done or decided yet.",
            "Nothing was learned yet.",
            "Nothing was left out.", "The human has no posts.",
        ] {
            #expect(text.contains(sentence), "\(sentence)")
        }
    }

    // MARK: Who reads it

    @Test func everyTableHasACaptionAndHeadings() throws {
        let page = try document(SampleReport.report())
        #expect(page.all("table").count >= 10)
        for table in page.all("table") {
            #expect(table.inside["caption"] == 1)
            #expect(table.inside["thead"] == 1)
        }
        expect(page.all("th")) {
            $0.allSatisfy { ["col", "row"].contains($0.attributes["scope"] ?? "") }
        }
    }

    @Test func everyDrawingHasANameAndSaysWhatItShows() throws {
        let page = try document(SampleReport.report())
        let drawings = page.all("svg").filter { $0.attributes["role"] == "img" }
        #expect(drawings.count == 3)
        let named = Dictionary(
            page.elements.compactMap { element in
                element.attributes["id"].map { ($0, element.text) }
            },
            uniquingKeysWith: { first, _ in first })
        for drawing in drawings {
            for id in try #require(drawing.attributes["aria-labelledby"]).split(separator: " ") {
                expect(named[String(id)]) { $0?.isEmpty == false }
            }
        }
        expect(named["clock-d"]) {
            $0?.contains("The human posts most from 12:00 on, 53.3 %") == true
        }
        expect(named["week-d"]) {
            $0?.contains("The human posts most on Mondays from 12:00 on.") == true
        }
        expect(named["days-d"]) { $0?.contains("60 of the human, 10 of the bot") == true }
    }

    @Test func noIdentifierIsThereTwice() throws {
        let identifiers = try document(SampleReport.report()).elements.compactMap {
            $0.attributes["id"]
        }
        #expect(Set(identifiers).count == identifiers.count)
    }

    // MARK: Who writes in it

    private static let known: Set<String> = [
        "html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2",
        "h3", "p", "dl", "dt", "dd", "ul", "li", "div", "span", "b", "small", "figure", "svg",
        "desc", "g", "rect", "circle", "line", "path", "text", "details", "summary", "table",
        "caption", "thead", "tbody", "tr", "th", "td", "time", "code", "bdi",
    ]

    @Test func whatOthersWriteStaysText() throws {
        let page = try document(SampleReport.hostileReport())
        let ordinary = try document(SampleReport.report())
        #expect(Set(page.elements.map(\.name)).isSubset(of: Self.known))
        // Nothing of it became an element.
        #expect(page.elements.count == ordinary.elements.count)
        let attributes = Set(page.elements.flatMap(\.attributes.keys))
        #expect(
            attributes.isDisjoint(with: [
                "src", "href", "style", "onerror", "xlink:href", "srcset", "action",
            ]))
        expect(attributes) { $0.allSatisfy { !$0.hasPrefix("on") } }
        let text = try #require(page.all("body").first).text
        #expect(
            text.contains(
                "</td></table><script>alert(1)</script><img src=x onerror=\"alert('2')\" />&lt;&#x3c;"
            ))
        expect(text.unicodeScalars) {
            !$0.contains { (0x202A...0x202E).contains($0.value) || $0.value == 0x1B }
        }
    }

    @Test func nothingIsLoadedAndNothingRuns() throws {
        let html = ReportPage(SampleReport.report()).html
        let page = try MarkupDocument(html)
        #expect(page.all("script").isEmpty)
        #expect(page.all("link").isEmpty)
        #expect(page.all("img").isEmpty)
        let style = try #require(page.all("style").first).text
        // A pattern of the page itself is the only thing that a style names.
        let named = style.replacing("url(#", with: "")
        for word in ["url(", "@import", "expression", "<"] { #expect(!named.contains(word)) }
        let policy = page.all("meta").first {
            $0.attributes["http-equiv"] == "Content-Security-Policy"
        }
        expect(policy?.attributes["content"]) {
            $0?.hasPrefix("default-src 'none'; style-src 'unsafe-inline'") == true
        }
        // The names of languages of markup are no places.
        let places = html.replacing("http://www.w3.org/1999/xhtml", with: "")
            .replacing("http://www.w3.org/2000/svg", with: "")
        #expect(!places.contains("://"))
    }

    // MARK: The drawing that stands alone

    @Test func theDrawingIsOneWellFormedDocument() throws {
        let text = HoursPicture(SampleReport.stats(SampleReport.hostile)).svg
        let drawing = try MarkupDocument(text)
        #expect(drawing.elements.first?.name == "svg")
        #expect(
            drawing.all("title").dropFirst().map(\.text) == [
                "The hours of human and bot", "The week of human and bot", "The last four weeks",
            ])
        #expect(drawing.all("script").isEmpty)
        #expect(text.contains("prefers-color-scheme: dark"))
        let identifiers = drawing.elements.compactMap { $0.attributes["id"] }
        #expect(Set(identifiers).count == identifiers.count)
        let missing = TemplateKeys(
            .hoursPicture, HoursPicture(SampleReport.stats()).context, PageTemplate.ofFiles
        ).missing
        #expect(missing.isEmpty)
    }

    /// Viewers of drawings know no variables, so that it names the colors itself.
    @Test func theDrawingHasTheColorsOfThePages() throws {
        func colors(_ text: String) -> Set<String> {
            Set(text.matches(of: /#[0-9a-f]{6}/).map { String($0.output) })
        }
        let style = try #require(document(SampleReport.report()).all("style").first).text
        let drawn = colors(HoursPicture(SampleReport.stats()).svg)
        #expect(drawn.count == 14)
        #expect(drawn.isSubset(of: colors(style)))
    }
}

/// Texts in markup.
@Suite struct MarkupTests {
    @Test(arguments: [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"), ("\"it's\"", "&quot;it&#39;s&quot;"),
        ("&amp;", "&amp;amp;"),
        ("one\ntwo\tthree\r", "one\ntwo three "), ("a\u{202E}b\u{2066}c\u{2028}d", "a b c d"),
        ("\u{0}\u{8}\u{1B}\u{7F}\u{85}", "     "), ("\u{FFFE}\u{FFFF}", "\u{FFFD}\u{FFFD}"),
        ("שלום 👩‍👩‍👧 日本", "שלום 👩‍👩‍👧 日本"),
    ]) func whatComesFromOutsideIsEscaped(_ text: String, _ expected: String) {
        #expect(Markup.escaped(text) == expected)
        #expect(
            ("<p title=\"\(text)\">\(text)</p>" as Markup).text
                == "<p title=\"\(expected)\">\(expected)</p>")
    }

    @Test func whateverComesTheRestIsWellFormed() throws {
        var generator = SeededGenerator(seed: 5)
        let signs = "<>&\"'/=!-[]?#;: \n\u{0}\u{202E}\u{FFFE}aé日👩‍👧\u{E0001}".unicodeScalars.map {
            $0
        }
        for _ in 0..<300 {
            var text = ""
            for _ in 0..<30 {
                text.unicodeScalars.append(
                    signs[Int.random(in: 0..<signs.count, using: &generator)])
            }
            let page: Markup = "<p title=\"\(text)\"><b>\(text)</b></p>"
            let elements = try MarkupDocument(page.text).elements
            #expect(elements.map(\.name) == ["p", "b"])
            #expect(elements[0].attributes["title"] == elements[1].text)
        }
    }

    @Test func markupNestsAsItIs() {
        let inner: Markup = "<b>\("<")</b>"
        #expect(
            ("<p>\(inner)\([inner, inner])</p>" as Markup).text
                == "<p><b>&lt;</b><b>&lt;</b><b>&lt;</b></p>")
    }

    @Test func numbersOfDrawingsAreShort() {
        #expect(("\(1.0) \(2.5) \(1.0 / 3) \(-0.005) \(7)" as Markup).text == "1 2.5 0.33 -0.01 7")
    }
}
