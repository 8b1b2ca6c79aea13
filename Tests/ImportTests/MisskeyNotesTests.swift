import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Import

/// The export of notes of Misskey, Sharkey and Firefish.
@Suite struct MisskeyNotesTests {
    private let directory: TemporaryDirectory
    private let human = AccountID(network: .mastodon, value: "haruka@mk.example")

    init() throws { directory = try TemporaryDirectory() }

    /// A note as the export writes it.
    private static func note(
        _ id: String, _ text: String?, at time: String = "2023-01-31T12:00:00.250Z",
        visibility: String = "public",
        files: String = "", reply: String? = nil, renote: String? = nil, cw: String? = nil,
        poll: String = "null",
        isLocal: Bool = false
    ) -> String {
        func json(_ text: String?) -> String {
            text.map { "\"" + $0.replacing("\"", with: "\\\"").replacing("\n", with: "\\n") + "\"" }
                ?? "null"
        }
        let ids = files.isEmpty ? "[]" : #"["f1"]"#
        let list = files == "unknown" ? "" : #""files":[\#(files)],"#
        return #"""
            {"id":"\#(id)","text":\#(json(text)),"createdAt":"\#(time)","fileIds":\#(ids),\#(list)\#
            "replyId":\#(json(reply)),"renoteId":\#(json(renote)),"poll":\#(poll),"cw":\#(json(cw)),\#
            "visibility":"\#(visibility)","visibleUserIds":[],"localOnly":\#(isLocal),"reactionAcceptance":null}
            """#
    }

    private func read(_ notes: [String], owner: AccountID?, localHost: String? = nil) throws -> (
        posts: [Post], ImportSummary
    ) {
        let path = try directory.write(
            Data(("[" + notes.joined(separator: ",\n") + "]").utf8), to: "export.json")
        var posts: [Post] = []
        let summary = try ArchiveReader(
            path: path, purpose: .scheduler, localHost: localHost, owner: owner
        ).read {
            if case .post(let post) = $0 { posts.append(post) }
        }
        return (posts, summary)
    }

    @Test func readsANoteWithItsFields() throws {
        let (posts, summary) = try read([Self.note("9abc", "Bread & trains")], owner: human)
        #expect(summary.format == "Misskey notes")
        #expect(summary.owner == human)
        #expect(summary.problems == [])
        let post = try #require(posts.first)
        #expect(post.id == PostID(network: .mastodon, value: "https://mk.example/notes/9abc"))
        #expect(post.author == human)
        #expect(post.text == "Bread & trains")
        #expect(post.createdAt == Date(rfc3339: "2023-01-31T12:00:00.250Z"))
        #expect(post.visibility == .public)
        #expect(!post.isReply && !post.hasMedia && !post.isSensitive)
    }

    @Test func onlyWhatEverybodyMayReadIsHandedOver() throws {
        let (posts, summary) = try read(
            [
                Self.note("1", "all"), Self.note("2", "quiet", visibility: "home"),
                Self.note("3", "friends", visibility: "followers"),
                Self.note("4", "one", visibility: "specified"),
                Self.note("5", "mine", visibility: "hidden"),
                Self.note("6", "here alone", isLocal: true),
            ], owner: human)
        #expect(posts.map(\.text) == ["all", "quiet"])
        #expect(posts.map(\.visibility) == [.public, .unlisted])
        #expect(summary.notOpen == 4)
    }

    @Test(arguments: [
        #""localOnly":"here""#, #""visibility":"channel""#, #""deleteAt":"2026-12-01T00:00:00Z""#,
    ])
    func anUnknownWordLeavesANoteOut(field: String) throws {
        let note = Self.note("1", "few")
        let changed =
            field.contains("visibility")
            ? note.replacing(#""visibility":"public""#, with: field)
            : note.replacing(#""localOnly":false"#, with: field)
        let (posts, summary) = try read([changed, Self.note("2", "all")], owner: human)
        #expect(posts.map(\.text) == ["all"])
        #expect(summary.notOpen == 1)
    }

    @Test func renotesAreRepostsAndQuotesDoNotStandAlone() throws {
        let (posts, summary) = try read(
            [
                Self.note("1", nil, renote: "z"), Self.note("2", "look at that", renote: "z"),
                Self.note("3", "plain"),
            ],
            owner: human)
        #expect(posts.map(\.text) == ["look at that", "plain"])
        #expect(posts.map(\.isQuote) == [true, false])
        #expect(summary.reposts == 1)
    }

    @Test func pollsFilesAndWarningsAreTold() throws {
        let picture =
            #"{"id":"f1","type":"image/png","url":"https://mk.example/files/1.png","comment":"a pier","isSensitive":true,"properties":{"width":4,"height":3}}"#
        let film =
            #"{"id":"f1","type":"video/mp4","url":"https://mk.example/files/1.mp4","properties":{}}"#
        let (posts, _) = try read(
            [
                Self.note(
                    "1", "which?",
                    poll: #"{"multiple":false,"choices":["a","b"],"votes":[0,1],"expiresAt":null}"#),
                Self.note("2", "see", files: picture), Self.note("3", "see", files: film),
                // Misskey did not export files before 2023.
                Self.note("4", "see", files: "unknown"), Self.note("5", "soup", cw: "food"),
                Self.note("6", "soup", cw: ""),
            ], owner: human)
        #expect(posts.map(\.hasMedia) == [true, true, true, true, false, false])
        #expect(posts.map { $0.pictures.map(\.alt) } == [[], ["a pier"], [], [], [], []])
        #expect(posts.map(\.warning) == [nil, nil, nil, nil, "food", nil])
        #expect(posts.map(\.isSensitive) == [false, true, false, false, true, false])
    }

    @Test func tellsWhomANoteAnswersWhereItsTextDoes() throws {
        let (posts, _) = try read(
            [
                Self.note("1", "first"), Self.note("2", "second", reply: "1"),
                Self.note("3", "@Pal@b.example yes", reply: "x1"),
                Self.note("4", "@neighbour yes", reply: "x2"),
                Self.note("5", "who?", reply: "x3"),
            ], owner: human)
        #expect(
            posts.map { $0.replyTo?.author?.value } == [
                nil, "haruka@mk.example", "pal@b.example", "neighbour@mk.example", nil,
            ])
        #expect(
            posts.map { $0.replyTo?.post?.value } == [
                nil, "https://mk.example/notes/1", nil, nil, nil,
            ])
        #expect(posts.map(\.isReply) == [false, true, true, true, true])
    }

    @Test(arguments: [
        ("$[x2 $[tada.speed=1s big] news]", "big news"),
        ("<center>in the **middle**</center>", "in the middle"),
        (
            "[words](https://a.example/x) and ?[more](https://b.example/)",
            "words (https://a.example/x) and more (https://b.example/)"
        ),
        ("<https://a.example/(x)>", "https://a.example/(x)"),
        ("$[unclosed words", "$[unclosed words"),
        ("a [list] of $100 < $200, 2 ** 3 ** 4", "a [list] of $100 < $200, 2 ** 3 ** 4"),
        ("$[x2 a [b] c]!", "a [b] c!"),
        ("<3 :blobcat: @you@b.example #tag", "<3 :blobcat: @you@b.example #tag"), ("$[]", "$[]"),
        ("$[x2]", "$[x2]"),
    ])
    func theMarkupIsNoPartOfTheText(written: String, plain: String) {
        #expect(MisskeyMarkup.read(written).text == plain)
    }

    @Test func badNotesCostOnlyThemselves() throws {
        let (posts, summary) = try read(
            [
                Self.note("1", "kept"), Self.note("2", "no day", at: "yesterday"),
                Self.note("3", "no zone", at: "2023-01-31T12:00:00"),
                Self.note("../4", "no id"), "5",
            ], owner: human)
        #expect(posts.map(\.text) == ["kept", "no day", "no zone"])
        #expect(posts.map(\.isTimeTrusted) == [true, false, false])
        #expect(
            summary.problems.map(\.reason) == [
                "id is missing or not one word", "not a JSON object",
            ])
    }

    /// An export says neither who nor where.
    @Test func withoutAServerItSaysWhatToDo() throws {
        let error = try importError { _ = try read([Self.note("1", "x")], owner: nil) }
        #expect(error.code == .unsupported)
        expect(error.reason) { $0.contains("log the human in before") }
        let (posts, summary) = try read([Self.note("1", "x")], owner: nil, localHost: "mk.example")
        #expect(posts.map(\.id.value) == ["https://mk.example/notes/1"])
        #expect(summary.owner == nil)
    }

    @Test func isFoundInAFolderByItsName() throws {
        let folder = try Fixture.folder(
            ["notes-2023-01-31-12-00-00.json": "[\(Self.note("1", "x"))]", "following.csv": "a"],
            in: directory)
        try expect(Reading(folder).texts, equals: ["x"])
    }

    @Test func teachesNoFavorites() throws {
        let path = try directory.write(Data("[\(Self.note("1", "x"))]".utf8), to: "export.json")
        let error = try importError { _ = try Reading(path, for: .classifier) }
        #expect(error.code == .nothingToRead)
    }
}
