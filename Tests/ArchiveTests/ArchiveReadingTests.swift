import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@Suite struct ArchiveReadingTests {
    @Test func repliesToAPersonComeNewestFirstAndStandaloneOldestFirst() async throws {
        let test = try await TestArchive()
        let stranger = AccountID(network: .mastodon, value: "kent@far.example")
        try await test.store([
            post("b", at: 2, replyTo: TestArchive.friend),
            post("a", at: 1, replyTo: TestArchive.friend),
            post("c", at: 3, replyTo: stranger), post("e", at: 5), post("d", at: 4),
        ])
        try await expect(
            test.archive.replies(to: TestArchive.friend).map(\.id.value), equals: ["b", "a"])
        try await expect(test.archive.replies(to: stranger).map(\.id.value), equals: ["c"])
        try await expect(test.archive.replies(to: TestArchive.human)) { $0.isEmpty }
        try await expect(test.ids(), equals: ["d", "e"])
    }

    @Test func tellsWhereTheHumanAnswered() async throws {
        let test = try await TestArchive()
        try await expect(test.archive.networksOfReplies()) { $0.isEmpty }
        var selfReply = post("s", at: 3, replyTo: TestArchive.human)
        selfReply.author = TestArchive.human
        var elsewhere = post("x", at: 9, replyTo: AccountID(network: .x, value: "12345"))
        elsewhere.id = postID("99", .x)
        try await test.store([post("a", at: 1), selfReply])
        try await expect(test.archive.networksOfReplies()) { $0.isEmpty }
        try await test.store([elsewhere])
        try await expect(test.archive.networksOfReplies(), equals: [.x])
        try await test.store([post("b", at: 2, replyTo: TestArchive.friend)])
        try await expect(test.archive.networksOfReplies(), equals: [.x, .mastodon])
    }

    @Test func repliesFollowTheLinksOfAPerson() async throws {
        let test = try await TestArchive()
        let onX = AccountID(network: .x, value: "12345")
        var elsewhere = post("x", at: 9)
        elsewhere.id = postID("99", .x)
        elsewhere.replyTo = ReplyTarget(author: onX)
        try await test.store([elsewhere, post("a", at: 1, replyTo: TestArchive.friend)])
        try await expect(
            test.archive.replies(to: TestArchive.friend).map(\.id.value), equals: ["a"])
        try await test.people.link(TestArchive.friend, onX)
        try await expect(
            test.archive.replies(to: TestArchive.friend).map(\.id.value), equals: ["99", "a"])
        try await expect(test.archive.replies(to: onX).map(\.id.value), equals: ["99", "a"])
        // The same letters on another network are another person.
        try await expect(test.archive.replies(to: AccountID(network: .bluesky, value: "12345"))) {
            $0.isEmpty
        }
    }

    @Test func thePeopleAnsweredMostComeFirstWithoutTheHuman() async throws {
        let test = try await TestArchive()
        let rare = AccountID(network: .mastodon, value: "kent@far.example")
        try await test.store([
            post("1", replyTo: TestArchive.friend), post("2", replyTo: TestArchive.friend),
            post("3", replyTo: rare),
            post("4", replyTo: TestArchive.human), post("5", replyTo: TestArchive.human),
            post("6", replyTo: TestArchive.human), post("7"),
        ])
        let answered = try await test.archive.repliedAuthors(limit: 10)
        #expect(answered.map(\.author) == [TestArchive.friend, rare])
        #expect(answered.map(\.replies) == [2, 1])
        try await expect(test.archive.repliedAuthors(limit: 1).count, equals: 1)
        try await expect(test.archive.repliedAuthors(limit: -1)) { $0.isEmpty }
    }

    @Test func theSpanTellsTheEnds() async throws {
        let test = try await TestArchive()
        try await expect(test.archive.span()) { $0 == nil }
        try await test.store([post("a", at: 3), post("b", at: 9), post("c", at: 6)])
        let span = try #require(try await test.archive.span())
        #expect(span.oldest == Date(timeIntervalSince1970: 180))
        #expect(span.newest == Date(timeIntervalSince1970: 540))
    }

    @Test func aRowOfAnUnknownKindIsAnErrorThatSaysWhatToDo() async throws {
        let test = try await TestArchive()
        try await test.store([post("a")])
        try await test.storage.lenient.execute("UPDATE posts SET visibility = 'everyone'")
        let error = try await #require(throws: ArchiveError.self) {
            try await test.archive.standalonePosts()
        }
        #expect("\(error)".contains("visibility"))
        #expect("\(error)".contains("--again"))
    }

    /// Learning anew mends what was learned, and would only delete it for the sake of what a person
    /// noted.
    @Test func aRowThatAPersonMadeIsNotMendedByLearningAnew() async throws {
        let test = try await TestArchive()
        try await test.storage.execute(
            """
            INSERT INTO zones (mirror, first_day, last_day, time_zone, noted_ms)
            VALUES ('default', '2020-01-01', '2020-02-01', 'Mars/Olympus', 0)
            """)
        let error = try await #require(throws: ArchiveError.self) {
            try await test.archive.zones(home: .gmt)
        }
        #expect("\(error)".contains("time_zone of table zones"))
        #expect(!"\(error)".contains("--again"))
    }

    @Test(arguments: ["", "?", "??", "/", "?a=b", "https://"])
    func aWordWithoutANameNamesNoPost(word: String) async throws {
        let test = try await TestArchive()
        try await test.store([post("a")])
        try await expect(test.archive.posts(named: word)) { $0.isEmpty }
    }
}
