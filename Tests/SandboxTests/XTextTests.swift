import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct XTextTests {
    private static let directory = SandboxDirectory(SandboxFixture.standard.population, on: .x)

    private func text(_ text: String) -> XText { XText(text, directory: Self.directory) }

    /// The values of one kind of entity as they stand in the delivered text.
    private func pieces(_ kind: String, of text: XText) throws -> [String] {
        let json = try #require(text.entities(Self.directory))
        let object = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any]
        let scalars = Array(text.delivered.unicodeScalars)
        return try (object?[kind] as? [[String: Any]] ?? []).map { entity in
            let start = try #require(entity["start"] as? Int)
            let end = try #require(entity["end"] as? Int)
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[start..<end])
            return String(part)
        }
    }

    @Test func escapesThreeCharactersOnly() {
        #expect(
            text(#"1 < 2 && "3" > 'x' &amp;"#).delivered
                == #"1 &lt; 2 &amp;&amp; "3" &gt; 'x' &amp;amp;"#)
        #expect(text("plain").entities(Self.directory) == nil)
    }

    @Test func putsShortAddressesInPlaceOfLinks() throws {
        let text = text("a < https://elsewhere.example/notes/1?from=cats&page=2 and example.com")
        let addresses = try pieces("urls", of: text)
        #expect(addresses.count == 2)
        expect(addresses) { $0.allSatisfy { $0.hasPrefix("https://t.co/") && $0.count == 23 } }
        #expect(text.delivered == "a &lt; \(addresses[0]) and \(addresses[1])")
        #expect(text.hasLink)
        let json = String(
            decoding: try #require(text.entities(Self.directory)).bytes, as: UTF8.self)
        #expect(
            json.contains(#""expanded_url":"https://elsewhere.example/notes/1?from=cats&page=2""#))
        #expect(json.contains(#""display_url":"elsewhere.example/notes/1?…""#))
        #expect(json.contains(#""expanded_url":"http://example.com""#))
    }

    @Test func callsPeopleByTheirNamesOnX() throws {
        let ferry = SandboxIdentity.handle("ferry@elsewhere.example", on: .x)
        let text = text(
            "@aoi & @ferry@elsewhere.example, @Mirror@sandbox.example @nobody @x@y.example #cats")
        #expect(text.delivered == "@aoi &amp; @\(ferry), @mirror @nobody @x@y.example #cats")
        try expect(pieces("mentions", of: text), equals: ["@aoi", "@\(ferry)", "@mirror"])
        try expect(pieces("hashtags", of: text), equals: ["#cats"])
        #expect(text.mentions.count == 3)
        #expect(self.text("hello @\(ferry)").mentions == [text.mentions[1]])
    }

    @Test func cutsAReposts140Characters() throws {
        let author = try #require(Self.directory.person(handle: "aoi"))
        let short = text("hello").reposted(from: author, Self.directory)
        #expect(short.delivered == "RT @aoi: hello")
        let long = text(String(repeating: "ねこ&", count: 60)).reposted(from: author, Self.directory)
        #expect(long.pieces.map(\.text).joined().unicodeScalars.count == 140)
        #expect(long.delivered.hasSuffix("…"))
        #expect(long.mentions == [author])
        let whole = text(String(repeating: "a", count: 131)).reposted(from: author, Self.directory)
        #expect(whole.delivered == "RT @aoi: " + String(repeating: "a", count: 131))
        let over = text(String(repeating: "a", count: 132)).reposted(from: author, Self.directory)
        #expect(over.delivered == "RT @aoi: " + String(repeating: "a", count: 130) + "…")
        let link = text(String(repeating: "a", count: 125) + " https://elsewhere.example/")
            .reposted(from: author, Self.directory)
        #expect(!link.hasLink)
        #expect(link.delivered.hasSuffix("a …"))
    }

    @Test func shortensALongPostTo280() {
        let words = text("@aoi " + String(repeating: "故郷 ", count: 100))
        #expect(words.isLong)
        let shown = words.shortened()
        let weight = XWeight.weight(of: shown.delivered)
        #expect((276...280).contains(weight))
        #expect(shown.delivered.hasPrefix("@aoi 故郷"))
        #expect(!text(String(repeating: "a", count: 280)).isLong)
        #expect(text("short").shortened().delivered == "short")
    }
}
