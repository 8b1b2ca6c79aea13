import Expectations
import Foundation
import Testing

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyFacetsTests {
    /// The parts that are found: kind, what it leads to, and the bytes it covers.
    private func parts(of text: String) -> [String] {
        BlueskyFacets.facets(in: text).map { facet in
            let covered = String(decoding: Array(text.utf8)[facet.bytes], as: UTF8.self)
            let target =
                facet.link.map { "link \($0)" } ?? facet.tag.map { "tag \($0)" } ?? "nothing"
            return "\(target) \(covered)"
        }
    }

    /// The documentation's own example; the mention is left out on purpose.
    @Test func countsInBytes() throws {
        let text =
            "✨ example mentioning @atproto.com to share the URL 👨‍❤️‍👨 https://en.wikipedia.org/wiki/CBOR."
        let facets = BlueskyFacets.facets(in: text)
        #expect(facets.count == 1)
        let facet = try #require(facets.first)
        #expect(facet == .init(bytes: 74..<108, link: "https://en.wikipedia.org/wiki/CBOR"))
        let json = #"""
            {"features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://en.wikipedia.org/wiki/CBOR"}],\#
            "index":{"byteEnd":108,"byteStart":74}}
            """#
        expect(String(decoding: try JSONBody.encoded(facet.json), as: UTF8.self), equals: json)
    }

    @Test(arguments: [
        ("", []), ("no parts", []), ("@ann.example hello", []),
        ("https://a.example", ["link https://a.example https://a.example"]),
        (
            "see https://a.example/b?c=d&e#f, and",
            ["link https://a.example/b?c=d&e#f https://a.example/b?c=d&e#f"]
        ),
        ("(https://a.example/b)", ["link https://a.example/b https://a.example/b"]),
        ("https://a.example/b_(c)", ["link https://a.example/b_(c) https://a.example/b_(c)"]),
        (
            "why I left the city (https://a.example/b), it took a year",
            ["link https://a.example/b https://a.example/b"]
        ),
        ("ここ (https://a.example/b) です", ["link https://a.example/b https://a.example/b"]),
        ("(https://a.example/b_(c)).", ["link https://a.example/b_(c) https://a.example/b_(c)"]),
        ("「https://a.example/日本」です", ["link https://a.example/日本 https://a.example/日本"]),
        ("https://a.example/。", ["link https://a.example/ https://a.example/"]),
        ("HTTPS://A.example", ["link HTTPS://A.example HTTPS://A.example"]),
        (
            "http://a.example\nhttps://b.example",
            [
                "link http://a.example http://a.example",
                "link https://b.example https://b.example",
            ]
        ),
        ("https://", []), ("https:///x", []), ("xhttps://a.example", []), ("ftp://a.example", []),
        ("#tag", ["tag tag #tag"]), ("#日本語。 x", ["tag 日本語 #日本語"]), ("＃タグ", ["tag タグ ＃タグ"]),
        ("é #a-b!", ["tag a-b #a-b"]), ("#1", []), ("#2026-11", []), ("#1st", ["tag 1st #1st"]),
        ("#", []),
        ("##", []), ("a#b", []), ("#\u{FE0F}\u{20E3}", []), ("#a\u{200D}b", ["tag a #a"]),
        ("#...", []),
        ("#tag https://a.example", ["tag tag #tag", "link https://a.example https://a.example"]),
    ])
    func findsLinksAndTags(text: String, expected: [String]) {
        #expect(parts(of: text) == expected)
    }

    @Test(arguments: [
        (
            "see why I left (https://a.example/b), it took long", ["why I left"],
            "see why I left, it took long",
            ["link https://a.example/b why I left"]
        ),
        ("日本 (https://a.example/日本_(語)) です", ["日本"], "日本 です", ["link https://a.example/日本_(語) 日本"]),
        (
            "one (https://a.example) two (https://b.example/) https://c.example", ["one", "two"],
            "one two https://c.example",
            [
                "link https://a.example one", "link https://b.example/ two",
                "link https://c.example https://c.example",
            ]
        ),
        // What words do not have an address behind them, or another one than a link, stay as they
        // are.
        ("one (two) three", ["one"], "one (two) three", []),
        ("one", ["one", "other", ""], "one", []),
        (
            "one (https://a.example b)", ["one"], "one (https://a.example b)",
            ["link https://a.example https://a.example"]
        ),
        (
            "one (https://a.example)", [], "one (https://a.example)",
            ["link https://a.example https://a.example"]
        ),
        (
            "#tag and words (https://a.example)", ["#tag and words"], "#tag and words",
            ["link https://a.example #tag and words"]
        ),
    ])
    func wordsLeadToTheAddressBehindThem(
        text: String, words: [String], shown: String, expected: [String]
    ) {
        let (text, facets) = BlueskyFacets.linked(text, words: words)
        #expect(text == shown)
        let parts = facets.map { facet in
            let covered = String(decoding: Array(text.utf8)[facet.bytes], as: UTF8.self)
            return "\(facet.link.map { "link \($0)" } ?? "tag \(facet.tag ?? "")") \(covered)"
        }
        #expect(parts == expected)
    }

    @Test func marksNoTagThatIsTooLong() {
        let long = String(repeating: "a", count: 64)
        #expect(parts(of: "#" + long).count == 1)
        #expect(parts(of: "#a" + long).isEmpty)
        // A character with a dozen accents, forty times: few characters and 1,000 bytes.
        let accented = String(repeating: "e" + String(repeating: "\u{301}", count: 12), count: 40)
        #expect(accented.count == 40)
        #expect(parts(of: "#" + accented).isEmpty)
    }

    @Test func unpairedBracketsBehindALinkAreLeftOut() {
        let link = "https://a.example/(b)"
        #expect(parts(of: link + String(repeating: ")", count: 20_000)) == ["link \(link) \(link)"])
        #expect(
            parts(of: "https://a.example/[(]))") == [
                "link https://a.example/[(]) https://a.example/[(])"
            ])
    }

    /// Whatever the text, parts lie inside it, whole characters each, from left to right.
    @Test func partsAreAlwaysInside() {
        var generator = SeededNumbers(seed: 7)
        let pieces = [
            "#", "a", "é", "👨‍❤️‍👨", " ", "\n", "https://", "x.example", "(", ")", ".", "日", "\u{301}",
            "@", "1",
        ]
        for _ in 0..<500 {
            let text = (0..<20).map { _ in pieces[generator.next(below: pieces.count)] }.joined()
            let bytes = Array(text.utf8)
            var end = 0
            for facet in BlueskyFacets.facets(in: text) {
                #expect(facet.bytes.lowerBound >= end)
                #expect(facet.bytes.upperBound > facet.bytes.lowerBound)
                #expect(facet.bytes.upperBound <= bytes.count)
                end = min(facet.bytes.upperBound, bytes.count)
                let part = bytes[min(facet.bytes.lowerBound, end)..<end]
                #expect(String(validating: part, as: UTF8.self) != nil)
            }
        }
    }
}

/// Numbers that are the same in every run.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
