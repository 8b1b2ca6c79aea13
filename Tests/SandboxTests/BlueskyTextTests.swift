import NetworkNames
import Posts
import Testing

@testable import Sandbox

@Suite struct BlueskyTextTests {
    private static let population = SandboxFixture.standard.population
    private static let people = SandboxDirectory(population, on: .bluesky)

    private func text(_ source: String) -> BlueskyText {
        BlueskyText(source, people: Self.people)
    }

    /// What the facets mark.
    private func parts(of text: BlueskyText) -> [String] {
        let bytes = Array(text.text.utf8)
        return text.facets.map { String(decoding: bytes[$0.start..<$0.end], as: UTF8.self) }
    }

    @Test func marksNamesLinksAndTagsByBytes() throws {
        let rendered = text("✨ @aoi, @Ferry@elsewhere.example: https://e.org/long/path?a=1 #猫 👨‍👩‍👧")
        #expect(
            rendered.text
                == "✨ @aoi.sandbox.example, @ferry.elsewhere.example: e.org/long/path?a=1 #猫 👨‍👩‍👧")
        #expect(
            parts(of: rendered)
                == [
                    "@aoi.sandbox.example", "@ferry.elsewhere.example", "e.org/long/path?a=1", "#猫",
                ])
        let aoi = try #require(Self.population.index(of: "aoi"))
        let ferry = try #require(Self.population.index(of: "ferry@elsewhere.example"))
        #expect(
            rendered.facets.map(\.feature) == [
                .mention(did: Self.people.ids[aoi]), .mention(did: Self.people.ids[ferry]),
                .link(uri: "https://e.org/long/path?a=1"), .tag("猫"),
            ])
        #expect(rendered.facets.first?.start == 4)
    }

    @Test func cutsLongLinksForTheEyeOnly() {
        let address = "https://elsewhere.example/notes/1234?from=trains&page=2"
        let rendered = text("see \(address)")
        #expect(rendered.text == "see elsewhere.example/not...")
        #expect(rendered.facets.map(\.feature) == [.link(uri: address)])
        #expect(parts(of: rendered) == ["elsewhere.example/not..."])
    }

    @Test func leavesUnknownNamesAsTheyAre() {
        let rendered = text("@nobody and @nobody@elsewhere.example, a@b")
        #expect(rendered.text == "@nobody and @nobody@elsewhere.example, a@b")
        #expect(rendered.facets.isEmpty)
    }

    @Test func endsWhatIsTooLong() {
        let long = text(
            String(repeating: "a ", count: 140) + "@aoi " + String(repeating: "b", count: 30))
        #expect(long.text.count == 300)
        #expect(long.text.hasSuffix("…"))
        #expect(long.facets.isEmpty)
        let exact = text(String(repeating: "é", count: 300))
        #expect(exact.text == String(repeating: "é", count: 300))
        let heavy = text(String(repeating: "👨‍👩‍👧‍👦", count: 200))
        #expect(heavy.text.utf8.count <= 3_000)
        #expect(heavy.text.hasPrefix(String(repeating: "👨‍👩‍👧‍👦", count: 119)))
    }
}
