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
        let tables = Dictionary(
            page.all("table").map { table in
                let lines = table.text.split(separator: "\n")
                return (String(lines[0]), lines.joined())
            }, uniquingKeysWith: { $1 })
        // 28 days of two posts, and four Mondays of three: 28 at seven and 32 at twelve.
        let hours = try #require(tables["Share of posts by hour"])
        #expect(hours.contains("7:0046.7 %0.0 %"))
        #expect(hours.contains("12:0053.3 %100.0 %"))
        let week = try #require(tables["Posts of the human by hour and weekday"])
        #expect(week.contains("7:004444444"))
        #expect(week.contains("12:008444444"))
        #expect(week.contains("all12888888"))
        try expect(#require(tables["By author"])) { $0.contains("@ann@home.example1234") }
        try expect(#require(tables["Words that speak for a favorite"])) { $0.contains("bread91") }
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
        let drawings = page.all("svg")
        #expect(drawings.count == 4)
        let named = Dictionary(
            page.elements.compactMap { element in
                element.attributes["id"].map { ($0, element.text) }
            },
            uniquingKeysWith: { first, _ in first })
        for drawing in drawings {
            #expect(drawing.attributes["role"] == "img")
            for id in try #require(drawing.attributes["aria-labelledby"]).split(separator: " ") {
                expect(named[String(id)]) { $0?.isEmpty == false }
            }
        }
        expect(named["hours-summary"]) {
            $0?.contains("The human posts most from 12:00 on: 32 of 60.") == true
        }
        expect(named["week-human-summary"]) {
            $0?.contains("The human posts most on Mon: 12 of 60.") == true
        }
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
        "h3", "p", "dl",
        "dt",
        "dd", "ul", "li", "figure", "figcaption", "svg", "desc", "g", "rect", "text", "details",
        "summary", "table",
        "caption",
        "thead", "tbody", "tr", "th", "td", "time", "code", "bdi",
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
        for word in ["url(", "@import", "expression", "<"] { #expect(!style.contains(word)) }
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
        let text = Chart.document(SampleReport.stats(SampleReport.hostile))
        let drawing = try MarkupDocument(text)
        #expect(drawing.elements.first?.name == "svg")
        #expect(drawing.all("svg").count == 5)
        #expect(drawing.all("script").isEmpty)
        #expect(text.contains("prefers-color-scheme: dark"))
        let identifiers = drawing.elements.compactMap { $0.attributes["id"] }
        #expect(Set(identifiers).count == identifiers.count)
    }

    /// The highest bar is as high as there is room, and the others in proportion.
    @Test func barsAreInProportion() throws {
        let chart = try MarkupDocument(Chart.hours(SampleReport.stats()).element.text)
        func number(_ name: String, of bar: MarkupDocument.Element) -> Double {
            bar.attributes[name].flatMap { Double($0) } ?? .nan
        }
        let bars = chart.all("rect")
        let human = bars.filter { number("y", of: $0) < 80 }.map { number("height", of: $0) }
        #expect(human.count == 2 && human[1] == 64 && abs(human[0] - 64 * 28 / 32) < 0.01)
        // The human's stand on the axis, the bot's hang from it.
        #expect(bars.count { number("y", of: $0) + number("height", of: $0) == 80 } == 2)
        #expect(bars.filter { number("y", of: $0) == 98 }.map { number("height", of: $0) } == [64])
    }

    @Test func cellsAreTheStrongerTheMore() throws {
        let week = try MarkupDocument(Chart.weeks(SampleReport.stats())[0].element.text)
        let cells = week.all("rect").compactMap {
            $0.attributes["fill-opacity"].flatMap { Double($0) }
        }
        // Each day is a row with its hours: on Monday four posts at seven and eight at twelve, else
        // four at both.
        #expect(cells.count == 7 * 3)
        #expect(cells.prefix(6).map { ($0 * 100).rounded() } == [7, 60, 100, 7, 60, 60])
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
                == "<p><b>&lt;</b><b>&lt;</b>\n<b>&lt;</b></p>")
    }

    @Test func numbersOfDrawingsAreShort() {
        #expect(("\(1.0) \(2.5) \(1.0 / 3) \(-0.005) \(7)" as Markup).text == "1 2.5 0.33 -0.01 7")
    }
}
