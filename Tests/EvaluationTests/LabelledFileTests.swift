import Expectations
import Favorites
import Foundation
import Mirroring
import Posts
import TestSupport
import Testing

@testable import Evaluation

@Suite struct LabelledFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ lines: [String], maximumBytes: Int = LabelledFile.maximumBytes) throws
        -> LabelledFile
    {
        let path = try folder.write(Data(lines.joined(separator: "\n").utf8), to: "posts.jsonl")
        return try LabelledFile(path: path, maximumBytes: maximumBytes)
    }

    private static func line(
        _ id: String, _ isFavorite: Bool = false, at time: String? = "2026-01-01T00:00:00Z"
    )
        -> String
    {
        let created = time.map { #","created_at":"\#($0)""# } ?? ""
        return
            #"{"id":"\#(id)","author":"Pal","text":"bread \#(id)","favorite":\#(isFavorite)\#(created)}"#
    }

    @Test func readsEveryLineAsSeen() throws {
        let file = try file([
            Self.line("1", true), "{", Self.line("2"), #"{"id":"3","text":"unlabelled"}"#,
        ])
        #expect(file.posts.map(\.id.value) == ["1", "2"])
        #expect(file.posts.map(\.state) == [.seenFavorite, .seen])
        #expect(file.posts.map(\.example.author) == ["pal", "pal"])
        #expect(file.posts.map(\.example.text) == ["bread 1", "bread 2"])
        #expect(file.summary.read == 2)
        #expect(file.summary.problemCount == 1)
        #expect(file.summary.leftOut == ["without a label": 1])
    }

    @Test func timeComesBeforeTheOrderOfTheFile() throws {
        let file = try file([
            Self.line("c", at: "2026-01-03T00:00:00Z"), Self.line("a", at: "2026-01-01T00:00:00Z"),
            Self.line("d", at: "2026-01-03T00:00:00Z"),
            Self.line("b", at: "2026-01-03T08:00:00+09:00"),
        ])
        #expect(file.isTimed)
        #expect(file.postsInTime.map(\.id.value) == ["a", "b", "c", "d"])
        #expect(file.posts.map(\.id.value) == ["c", "a", "d", "b"])
    }

    @Test func oneMissingTimeLeavesTheOrderOfTheFile() throws {
        let file = try file([
            Self.line("c", at: "2026-01-03T00:00:00Z"), Self.line("a", at: nil),
            Self.line("b", at: "2026-01-02T00:00:00Z"),
        ])
        #expect(!file.isTimed)
        #expect(file.postsInTime.map(\.id.value) == ["c", "a", "b"])
    }

    @Test(
        arguments: [
            ("++--", true), ("++-", false), ("+--", false), ("++-+-", false), ("--++", false),
            ("++++", false),
            ("----", false),
        ] as [(String, Bool)])
    func favoritesBeforeAllOthersAreNoTimeline(_ signs: String, _ isGrouped: Bool) throws {
        let file = try file(signs.enumerated().map { Self.line("\($0)", $1 == "+") })
        #expect(file.isGrouped(atLeast: 2) == isGrouped)
    }

    @Test func moreThanFitsIsRefused() throws {
        let lines = (0..<100).map { Self.line("\($0)") }
        try expect(file(lines).posts.count, equals: 100)
        let error = #expect(throws: (any Error).self) { try file(lines, maximumBytes: 1_000) }
        #expect("\(try #require(error))".contains("posts.jsonl"))
    }

    @Test func aFileWithoutALabelIsRefused() throws {
        let error = #expect(throws: (any Error).self) {
            try file([#"{"id":"3","text":"unlabelled"}"#])
        }
        #expect("\(try #require(error))".contains("\"favorite\": true or false"))
    }
}
