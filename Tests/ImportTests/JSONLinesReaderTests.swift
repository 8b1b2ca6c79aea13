import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct JSONLinesReaderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(
        _ text: String, for purpose: ImportPurpose = .scheduler,
        localHost: String? = "here.example",
        limits: ImportLimits = ImportLimits()
    ) throws -> Reading {
        let path = try directory.write(Data(text.utf8), to: "posts.jsonl")
        return try Reading(path, for: purpose, localHost: localHost, limits: limits)
    }

    private static func line(_ id: String, _ text: String = "hello", _ more: String = "") -> String
    {
        let extra = more.isEmpty ? "" : ",\(more)"
        return
            #"{"id":"\#(id)","author":"me","text":"\#(text)","created_at":"2026-11-20T08:15:30+09:00"\#(extra)}"#
    }

    @Test func readsAPostWithItsFields() throws {
        let reading = try read(
            Self.line(
                "https://here.example/1", "A \\u00e9 <b> &amp;",
                #""reply_to_author":"@Friend@There.example","reply_to_post":"https://there.example/2","#
                    + #""visibility":"unlisted","language":"ja","favorite":true,"more":{"id":1}"#))
        let post = try #require(reading.posts.first)
        #expect(reading.summary.problems == [])
        #expect(post.id == PostID(network: .mastodon, value: "https://here.example/1"))
        #expect(post.author == AccountID(network: .mastodon, value: "me@here.example"))
        #expect(post.text == "A é <b> &amp;")
        #expect(post.createdAt == Date(rfc3339: "2026-11-19T23:15:30Z"))
        #expect(post.utcOffset == 540)
        #expect(
            post.replyTo?.author == AccountID(network: .mastodon, value: "friend@there.example"))
        #expect(post.replyTo?.post == PostID(network: .mastodon, value: "https://there.example/2"))
        #expect(post.visibility == .unlisted)
        #expect(post.language == "ja")
    }

    @Test func takesEveryLineForTheHumansOwn() throws {
        let reading = try read(
            [
                Self.line("1"), Self.line("2", "b", #""favorite":true"#),
                Self.line("3", "c", #""favorite":false"#),
            ]
            .joined(separator: "\n"))
        #expect(reading.texts == ["hello", "b", "c"])
        #expect(reading.summary.posts == 3)
    }

    @Test func readsLabelledLinesForTheClassifier() throws {
        let reading = try read(
            [
                Self.line("1", "liked", #""favorite":true"#),
                Self.line("2", "seen", #""favorite":false"#),
                Self.line("3", "neither"),
                Self.line("4", "secret", #""favorite":true,"visibility":"private""#),
                Self.line("5", "odd", #""favorite":true,"visibility":"circle""#),
                Self.line("6", "", #""favorite":true"#),
                #"{"id":"7","text":"short","favorite":true}"#,
            ].joined(separator: "\n"), for: .classifier)
        #expect(
            reading.items == [
                .favorite(example("1", "liked")), .normal(example("2", "seen")),
                .favorite(
                    ImportedExample(
                        id: PostID(network: .mastodon, value: "7"), author: nil, text: "short",
                        createdAt: nil)),
            ])
        #expect(reading.summary.favorites == 2)
        #expect(reading.summary.normals == 1)
        #expect(reading.summary.unlabelled == 1)
        #expect(reading.summary.notOpen == 2)
        #expect(reading.summary.withoutText == 1)
    }

    private func example(_ id: String, _ text: String) -> ImportedExample {
        ImportedExample(
            id: PostID(network: .mastodon, value: id), author: "me@here.example", text: text,
            createdAt: Date(rfc3339: "2026-11-19T23:15:30Z"))
    }

    @Test func acceptsByteOrderMarkBlankLinesCarriageReturnsAndNoLastBreak() throws {
        let reading = try read(
            "\u{FEFF}\(Self.line("1"))\r\n\r\n  \n\n\(Self.line("2"))\r\n\(Self.line("3"))")
        #expect(reading.posts.map(\.id.value) == ["1", "2", "3"])
        #expect(reading.summary.problems == [])
    }

    @Test(arguments: [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("nonsense", "not valid JSON"),
        (#"{"id":"1"} x"#, "not valid JSON"),
        (#"{"author":"a","text":"t","created_at":"2026-11-20T08:15:30Z"}"#, "id is missing"),
        (
            #"{"id":1,"author":"a","text":"t","created_at":"2026-11-20T08:15:30Z"}"#,
            "id has the wrong type"
        ),
        (
            #"{"id":"","author":"a","text":"t","created_at":"2026-11-20T08:15:30Z"}"#,
            "id is empty, too long or not one word"
        ),
        (#"{"id":"1","text":"t","created_at":"2026-11-20T08:15:30Z"}"#, "author is missing"),
        (#"{"id":"1","author":"a","created_at":"2026-11-20T08:15:30Z"}"#, "text is missing"),
        (
            #"{"id":"1","author":"a","text":null,"created_at":"2026-11-20T08:15:30Z"}"#,
            "text has the wrong type"
        ),
        (#"{"id":"1","author":"a","text":"t"}"#, "created_at is missing"),
        (
            #"{"id":"1","author":"a","text":"t","created_at":"2026-11-20T08:15:30"}"#,
            "created_at is not a time such as 2026-11-20T08:15:30+09:00"
        ),
        (line("1", "t", #""favorite":"yes""#), "favorite has the wrong type"),
        (line("1", "t", #""favorite":1"#), "favorite has the wrong type"),
        (line("1", "t", #""text":"again""#), "text is there twice"),
        (line("1", "t", #""te\u0078t":"again""#), "text is there twice"),
        (
            line("1", "t", #""reply_to_author":"two words""#),
            "reply_to_author is empty, too long or not one word"
        ),
    ])
    func reportsALineThatIsWrong(line: String, reason: String) throws {
        let reading = try read("\(Self.line("good"))\n\n\(line)\n\(Self.line("also"))\n")
        #expect(reading.posts.map(\.id.value) == ["good", "also"])
        let problem = try #require(reading.summary.problems.first)
        #expect(reading.summary.problemCount == 1)
        #expect(problem.position == .line(3))
        #expect(problem.reason == reason)
        #expect(problem.description == "\(directory.path("posts.jsonl")), line 3: \(reason)")
    }

    /// Programs write these where they know no time; a time to come is nobody's.
    @Test(arguments: ["", "0001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
    func aTimeThatNobodyKnowsCostsTheTimeAlone(time: String) throws {
        let line = Self.line("1").replacing(
            /"created_at":"[^"]*"/, with: #""created_at":"\#(time)""#)
        let reading = try read(line + "\n")
        #expect(reading.posts.map(\.id.value) == ["1"])
        #expect(reading.posts.map(\.isTimeTrusted) == [false])
        #expect(reading.summary.problems.isEmpty)
    }

    @Test func equalKeysDeeperInsideAreNoDuplicates() throws {
        let reading = try read(
            Self.line("1", "a {\\\"id\\\":1}", #""x":{"id":1,"text":[{"id":2}]},"y":["id","id"]"#))
        #expect(reading.summary.problems == [])
        #expect(reading.texts == [#"a {"id":1}"#])
    }

    @Test func reportsInvalidUTF8() throws {
        var data = Data((Self.line("1") + "\n").utf8)
        data += Data(Self.line("2", "caf").utf8).map { $0 == UInt8(ascii: "f") ? 0xE9 : $0 }
        data += Data(("\n" + Self.line("3")).utf8)
        let path = try directory.write(data, to: "latin1.jsonl")
        let reading = try Reading(path)
        #expect(reading.posts.map(\.id.value) == ["1", "3"])
        #expect(reading.summary.problems.map(\.reason) == ["not valid UTF-8"])
    }

    @Test func passesOverALineThatIsTooLong() throws {
        var limits = ImportLimits()
        limits.lineBytes = 200
        let exact = Self.line(
            "2", String(repeating: "x", count: 200 - Self.line("2", "").utf8.count))
        let long = Self.line(
            "3", String(repeating: "x", count: 201 - Self.line("3", "").utf8.count))
        let huge = Self.line("4", String(repeating: "x", count: 600_000))
        let reading = try read(
            [Self.line("1"), exact + "\r", long, huge, Self.line("5")].joined(separator: "\n"),
            limits: limits)
        #expect(reading.posts.map(\.id.value) == ["1", "2", "5"])
        #expect(reading.summary.problems.map(\.position) == [.line(3), .line(4)])
    }

    @Test func keepsNamesAsTheyAreWhereNoHostIsKnown() throws {
        let reading = try read(
            Self.line("1") + "\n" + Self.line("2").replacing("\"me\"", with: "\"me@far.example\""),
            localHost: nil)
        #expect(reading.posts.map(\.author.value) == ["me", "me@far.example"])
        #expect(reading.summary.problems.isEmpty)
    }

    @Test func keepsPostsForFewSoThatTheyAreCounted() throws {
        let reading = try read(
            [
                Self.line("1", "a", #""visibility":"direct""#),
                Self.line("2", "b", #""visibility":"whatever""#),
            ]
            .joined(separator: "\n"))
        #expect(reading.posts.map(\.visibility) == [.direct, .direct])
    }

    @Test func removesControlCharactersFromTexts() throws {
        try expect(read(Self.line("1", "a\\u0000b\\nc")).texts, equals: ["ab\nc"])
    }

    @Test func controlCharactersPartWordsForTheClassifier() throws {
        let lines = [
            Self.line("1", "it\\u0092s a\\u0000b\\u007f\\r\\nc\\td", #""favorite":true"#),
            Self.line("2", "\\u0000\\u0092", #""favorite":true"#),
        ]
        let reading = try read(lines.joined(separator: "\n"), for: .classifier)
        #expect(reading.items == [.favorite(example("1", "it s a b  \nc\td"))])
        #expect(reading.summary.withoutText == 1)
    }

    @Test func readsAPipe() throws {
        let path = directory.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let text = Self.line("1") + "\n" + Self.line("2") + "\n"
        Thread.detachNewThread {
            guard let handle = FileHandle(forWritingAtPath: path) else { return }
            handle.write(Data(text.utf8))
            try? handle.close()
        }
        try expect(Reading(path).posts.map(\.id.value), equals: ["1", "2"])
    }

    @Test func refusesAFileOfWhichNoLineCanBeRead() throws {
        let error = try importError { _ = try read("{}\n{\"id\":1}\n") }
        #expect(error.code == .nothingToRead)
        #expect(error.description.contains("line 1: id is missing"))
    }
}
