import Foundation
import Testing

@testable import Control
@testable import Mirroring
@testable import Networks

/// What becomes of a profile, without any network.
@Suite struct ProfileProposalTests {
    private static let limits = AccountProfile.Limits(bio: 100, bioBytes: nil, fields: 2, field: 30)
    private static let lines = ProfileProposal.lines(human: "haruka@e.org", contact: "ops@e.org")

    @Test(arguments: [
        ("", "run by"), ("x", "run by"), (String(repeating: "x", count: 20), "Reply"),
        (String(repeating: "x", count: 40), "run by ops@e.org."),
        (String(repeating: "x", count: 60), "haruka@e.org."),
    ])
    func theLongestLineThatFitsIsTaken(bio: String, part: String) throws {
        let text = try #require(ProfileProposal.bio(bio, with: Self.lines, within: Self.limits))
        #expect(text.hasPrefix(bio))
        #expect(text.contains(part))
        #expect(text.unicodeScalars.count <= 100)
    }

    /// A memorial speaks the language of the human's posts, and its line takes the place of the one
    /// before.
    @Test(
        arguments: [
            ("en", "In memory of @haruka@e.org"), ("ja-JP", "追悼 @haruka@e.org"),
            ("de", "In Erinnerung an @haruka@e.org"),
            ("tlh", "In memory of @haruka@e.org"), (nil, "In memory of @haruka@e.org"),
        ] as [(String?, String)])
    func aMemorialSaysSo(_ language: String?, _ start: String) throws {
        let limits = AccountProfile.Limits(bio: 500, bioBytes: nil, fields: 2, field: 30)
        let lines = MemorialLine.forms(
            human: "haruka@e.org", contact: "ops@e.org", language: language)
        let before = try #require(ProfileProposal.bio("Hello", with: Self.lines, within: limits))
        let text = try #require(ProfileProposal.bio(before, with: lines, within: limits))
        #expect(text == "Hello\n\n\(lines[0])")
        #expect(lines[0].hasPrefix(start))
        #expect(lines[0].contains("ops@e.org"))
        // And the other way round.
        let retired = ProfileProposal.lines(retired: "haruka@e.org")
        #expect(
            ProfileProposal.bio(text, with: retired, within: limits) == "Hello\n\n\(retired[0])")
    }

    @Test func nothingOfAPersonIsCutForIt() {
        #expect(
            ProfileProposal.bio(
                String(repeating: "x", count: 90), with: Self.lines, within: Self.limits) == nil)
    }

    @Test func aFullTableStaysAsItIs() {
        let rows = ["a", "b"].map { AccountProfile.Field(name: $0, value: $0) }
        #expect(ProfileProposal.fields(rows, page: "https://e.org/@h", within: Self.limits) == rows)
        let ours = [rows[0], AccountProfile.Field(name: "mirror of", value: "old")]
        let changed = ProfileProposal.fields(ours, page: "https://e.org/@h", within: Self.limits)
        #expect(changed.map(\.value) == ["a", "https://e.org/@h"])
        let long = "https://e.org/" + String(repeating: "x", count: 40)
        #expect(ProfileProposal.fields([], page: long, within: Self.limits).isEmpty)
    }
}
