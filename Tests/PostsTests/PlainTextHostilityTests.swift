import Expectations
import Foundation
import TestSupport
import Testing

@testable import Posts

/// HTML that nobody writes by accident.
@Suite struct PlainTextHostilityTests {
    private static let pieces = [
        "<", ">", "</", "/>", "<p>", "</p>", "<p", "<a href=\"https://e.org/", "\">", "\"", "'",
        "<a href='http://x'>",
        "</a>", "<span class=\"quote-inline\">", "</span>", "<br>", "<ul>", "<li>", "</li>",
        "</ul>", "<pre>", "</pre>",
        "<!--", "-->", "--", "<script>", "</script>", "<style", "&", "&amp;", "&#", "&#x41;", ";",
        "=", " ", "\n", "a",
        "@", "#", "猫", "\u{0}", "é", "<?", "<!", "class=mention", "<ol reversed>", "<ol>",
        "<blockquote>",
        "</blockquote>", "<td>", "<ruby>", "<rt>",
        "<math>", "</math>", "<annotation encoding=text/plain>", "<img alt=😀>", "<img src=x>",
        "<sup>", "1", "<q>",
        "<video>", "</video>", "<div class=\"shared_content\">", "</div>", "♲", "\u{200D}", "👩‍👩‍👧",
    ]

    @Test(arguments: 0..<40 as Range<UInt64>)
    func survivesRandomMarkup(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let html = (0..<Int.random(in: 0..<80, using: &generator))
                .compactMap { _ in Self.pieces.randomElement(using: &generator) }.joined()
            let text = PlainText.fromHTML(html, mentions: ["http://x": "x@y.example"])
            #expect(text.utf8.count <= html.utf8.count * 8)
            #expect(!text.unicodeScalars.contains("\u{0}"))
            #expect(PlainText.trimmed(text) == text)
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func survivesRandomBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = PlainText.fromHTML(String(decoding: bytes, as: UTF8.self))
            expect(text.unicodeScalars) { !$0.contains { $0.value < 9 } }
        }
    }

    /// Each of these makes a careless reader start over at every piece.
    @Test(arguments: [
        "<", "<p", "<a ", "<a href=\"", "</", "<!--", "<!", "&", "&#", "&amp", "<script>", "<p>",
        "<ul><li>", "<pre>\n",
        "<span class=\"quote-inline\">", "<p class=quote-inline>", "<a href=http://a>",
        "<a href=http://a>x</a>",
        "</p>",
        "<a b=c d=e ", "<br>", " ", "\n", "<div><blockquote>", "<a href=http://a><br>", "&#x41;",
        "x<", "<a class=\"",
        "<ol reversed>", "<ol><li>", "<blockquote><br>", "<blockquote>a", "<td>a", "<ruby><rt>a",
        "<math><annotation>",
        "<math>a", "<img alt=😀>", "<sup>1", "<q>", "<a href=http://a><img src=x>",
        "<a href=http://a><p>",
        "<video>", "<div class=shared_content>", "♲\n", "<a href=http://a>x", "RE: ",
    ])
    func timeGrowsWithTheInputOnly(piece: String) {
        func seconds(_ bytes: Int) -> Double {
            let html = String(repeating: piece, count: bytes / piece.utf8.count)
            return ProcessorTime.seconds { _ = PlainText.fromHTML(html) }
        }
        // Eight times the input takes 64 times as long if the time is quadratic.
        let small = seconds(1 << 11)
        #expect(seconds(1 << 14) < small * 30 + 0.05)
    }
}
