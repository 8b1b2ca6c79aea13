import Foundation
import TestSupport
import Testing

@testable import Posts

@Suite struct BlueskyTextTests {
    private static let family = "👨‍❤️‍👨"
    private static let example =
        "✨ example mentioning @atproto.com to share the URL \(family) https://en.wikipedia.org/wiki/CBOR."

    private func facet(_ start: Int, _ end: Int, _ link: String? = "https://e.org/") -> TextFacet {
        TextFacet(byteStart: start, byteEnd: end, link: link)
    }

    @Test func tellsTheWordsOfLinks() {
        let text = "see this and #tag or e.org"
        let read = PlainText.read(
            text,
            facets: [
                facet(0, 8), facet(13, 17, "https://e.org/tag"), facet(21, 26, "https://e.org/x"),
            ])
        #expect(read.text == "see this (https://e.org/) and #tag or https://e.org/x")
        #expect(read.linkWords == ["see this"])
    }

    @Test func aLinkKeepsItsWords() {
        let text = PlainText.read(
            Self.example, facets: [facet(23, 35, nil), facet(74, 108, "https://e.org/other")]
        ).text
        #expect(
            text == "✨ example mentioning @atproto.com to share the URL \(Self.family) "
                + "https://en.wikipedia.org/wiki/CBOR (https://e.org/other).")
        let words = PlainText.read(
            "I wrote why I left, it took a year",
            facets: [facet(8, 18, "https://blog.example/leaving")]
        ).text
        #expect(words == "I wrote why I left (https://blog.example/leaving), it took a year")
    }

    @Test(arguments: [
        ("e.org/long…", "https://e.org/long/path"), ("e.org/long...", "https://e.org/long/path"),
        ("e.org", "https://www.e.org/"), ("https://e.org/a", "https://e.org/a"),
    ])
    func aShortenedAddressIsReplacedByTheWholeOne(shown: String, address: String) {
        #expect(
            PlainText.read(shown, facets: [facet(0, shown.utf8.count, address)]).text == address)
    }

    @Test func aLinkThatIsAHashtagStaysOne() {
        #expect(
            PlainText.read("#cats", facets: [facet(0, 5, "https://e.org/tag/cats")]).text == "#cats"
        )
    }

    @Test func countsBytesNotCharacters() {
        let bytes = Array(Self.example.utf8)
        #expect(String(decoding: bytes[23..<35], as: UTF8.self) == "@atproto.com")
        #expect(
            String(decoding: bytes[74..<108], as: UTF8.self) == "https://en.wikipedia.org/wiki/CBOR"
        )
        #expect(PlainText.read("猫e.orgと", facets: [facet(3, 8)]).text == "猫https://e.org/ と")
    }

    /// Other networks read on where nothing but a part of the record tells that the link is over.
    @Test(arguments: [
        ("e.orgです", "https://e.org/ です"), ("e.org、次", "https://e.org/ 、次"),
        ("e.org(笑)", "https://e.org/ (笑)"),
        ("e.org.", "https://e.org/."), ("e.org, x", "https://e.org/, x"),
        ("e.org.x", "https://e.org/ .x"),
        ("e.org\u{3000}次", "https://e.org/\u{3000}次"), ("e.org", "https://e.org/"),
    ])
    func aLinkEndsWhereItsPartDoes(text: String, expected: String) {
        #expect(PlainText.read(text, facets: [facet(0, 5)]).text == expected)
    }

    @Test func sortsThePartsFirst() {
        let text = PlainText.read(
            "a b c",
            facets: [facet(4, 5, "https://c.org"), facet(0, 1, "https://a.org"), facet(2, 3, nil)]
        ).text
        #expect(text == "a (https://a.org) b c (https://c.org)")
    }

    @Test func lettersOfOneClusterMayBelongToDifferentParts() {
        // The accent is a character of its own in the bytes, though not on the screen.
        let text = PlainText.read("e\u{301}x", facets: [facet(0, 1)]).text
        #expect(Array(text.unicodeScalars) == Array("e (https://e.org/) \u{301}x".unicodeScalars))
    }

    @Test(arguments: [
        (-1, 3), (3, 3), (5, 2), (0, 11), (10, 11), (Int.min, 3), (0, Int.max), (Int.max, Int.max),
        (Int.min, Int.max),
        (1, 3), (0, 2), (2, 3), (0, 5), (5, 6), (11, 20),
    ])
    func passesOverPartsThatNameNoWholeCharacters(start: Int, end: Int) {
        // Bytes: 3 of 猫, a, 4 of the cat's face, b, c.
        #expect(PlainText.read("猫a🐱bc", facets: [facet(start, end)]).text == "猫a🐱bc")
    }

    @Test func reachesTheEndOfTheText() {
        #expect(PlainText.read("猫a🐱bc", facets: [facet(8, 10)]).text == "猫a🐱bc (https://e.org/)")
        #expect(PlainText.read("猫", facets: [facet(0, 3)]).text == "猫 (https://e.org/)")
    }

    @Test(arguments: [
        ([(0, 4, "https://one.org"), (2, 6, "https://two.org")], "abcd (https://one.org) ef"),
        ([(2, 6, "https://two.org"), (0, 4, "https://one.org")], "abcd (https://one.org) ef"),
        (
            [(0, 6, "https://one.org"), (1, 2, "https://two.org"), (5, 6, "https://three.org")],
            "abcdef (https://one.org)"
        ),
        ([(0, 2, "https://one.org"), (0, 3, "https://two.org")], "ab (https://one.org) cdef"),
        (
            [(0, 2, "https://one.org"), (0, 2, "https://two.org"), (2, 3, "https://x.org")],
            "ab (https://one.org) c (https://x.org) def"
        ),
    ])
    func ofOverlappingPartsTheFirstCounts(parts: [(Int, Int, String)], expected: String) {
        #expect(
            PlainText.read("abcdef", facets: parts.map { facet($0.0, $0.1, $0.2) }).text == expected
        )
    }

    @Test func aMentionHidesTheLinkThatBeginsInsideIt() {
        #expect(PlainText.read("@a.org", facets: [facet(0, 6, nil), facet(1, 6)]).text == "@a.org")
    }

    @Test(arguments: [
        "javascript:alert(1)", "", "at://did:plc:a/b/c", "e.org", "https:", "https://e.org/a b",
        "https://e.org/\n\nx",
        "ftp://e.org", "https://" + String(repeating: "a", count: 3_000),
    ])
    func keepsTheShownTextOfWhatIsNoWebAddress(link: String) {
        #expect(PlainText.read("see this", facets: [facet(4, 8, link)]).text == "see this")
    }

    @Test func cleansTheResult() {
        #expect(PlainText.read(" \u{0}a\u{2028}b\u{7} \n", facets: []).text == "a\nb")
        #expect(
            PlainText.read("x", facets: [facet(0, 1, " https://e.org/\u{1} ")]).text
                == "x (https://e.org/)")
        #expect(PlainText.read("", facets: [facet(0, 0), facet(0, 1)]).text.isEmpty)
    }

    @Test func entitiesAreTextHere() {
        #expect(PlainText.read("a &amp; <b>", facets: []).text == "a &amp; <b>")
    }

    @Test func limitsTheResult() {
        let text = String(repeating: "a ", count: 1_000)
        let link = "https://" + String(repeating: "x", count: 2_000)
        let facets = (0..<1_000).map { facet($0 * 2, $0 * 2 + 1, link) }
        #expect(PlainText.read(text, facets: facets).text.utf8.count <= 100_000)
        #expect(
            PlainText.read(String(repeating: "猫", count: 500_000), facets: facets).text.utf8.count
                <= 100_000)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func survivesRandomParts(seed: UInt64) {
        var state = seed
        func random(_ range: Range<Int>) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int(state >> 33) % range.count
        }
        let pieces = ["a", "é", "猫", "👩‍👩‍👧", "\u{0}", " ", "\r\n", "e\u{301}", "https://x.y"]
        for _ in 0..<50 {
            let text = (0..<random(0..<20)).map { _ in pieces[random(0..<pieces.count)] }.joined()
            let facets = (0..<random(0..<12)).map { _ in
                facet(random(-2..<60), random(-2..<60), random(0..<2) == 0 ? nil : "https://e.org/")
            }
            let result = PlainText.read(text, facets: facets).text
            #expect(result.utf8.count <= text.utf8.count + 12 * 18)
            #expect(!result.unicodeScalars.contains("\u{0}"))
            #expect(!result.unicodeScalars.contains("\u{FFFD}"))
            #expect(PlainText.trimmed(result) == result)
        }
    }

    /// Eight times the parts and text take 64 times as long if the time is quadratic.
    @Test func timeGrowsWithTheInputOnly() {
        func seconds(_ count: Int) -> Double {
            let text = String(repeating: "ab", count: count)
            let facets = (0..<count).reversed().map { facet($0 * 2, $0 * 2 + 2, "https://e.org") }
            return ProcessorTime.seconds { _ = PlainText.read(text, facets: facets).text }
        }
        let small = seconds(1 << 9)
        #expect(seconds(1 << 12) < small * 30 + 0.05)
    }
}
