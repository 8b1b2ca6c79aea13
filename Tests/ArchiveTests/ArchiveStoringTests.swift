import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@Suite struct ArchiveStoringTests {
    @Test func aPostComesBackAsItWasStored() async throws {
        let test = try await TestArchive()
        var full = Post(
            id: postID("https://home.example/1"), author: TestArchive.human,
            text: "今日は🚃 \"quoted\" it's",
            createdAt: Date(milliseconds: 1_795_000_000_123), isTimeTrusted: false,
            replyTo: ReplyTarget(
                author: TestArchive.friend, post: postID("https://home.example/0")),
            visibility: .unlisted, language: "ja", hasMedia: true, isSensitive: true,
            mentions: [TestArchive.friend, AccountID(network: .mastodon, value: "b@c.example")],
            address: "109")
        try await test.store([full, post("plain")])
        try await expect(test.archive.post(full.id), equals: full)
        try await expect(test.archive.post(postID("plain")), equals: post("plain"))
        try await expect(test.archive.post(postID("https://home.example/1", .x)), equals: nil)

        // An answer of which neither person nor post is known is still an answer.
        full.id = postID("2")
        full.replyTo = ReplyTarget(author: nil)
        try await test.store([full])
        try await expect(test.archive.post(full.id), equals: full)
    }

    @Test func aPostSeenTwiceIsStoredOnce() async throws {
        let test = try await TestArchive()
        try await expect(test.store([post("a"), post("b"), post("a")]).alreadyKnown, equals: 1)
        let again = try await test.store([post("b"), post("c")])
        #expect(again.stored == 1)
        #expect(again.alreadyKnown == 1)
        try await expect(test.archive.count(), equals: 3)

        // The same id on another network is another post.
        var elsewhere = post("a")
        elsewhere.id = postID("a", .x)
        try await expect(test.store([elsewhere]).stored, equals: 1)
    }

    @Test func repostsAndPostsForSomeAreNeverStored() async throws {
        let test = try await TestArchive()
        let posts = [Visibility.public, .unlisted, .private, .direct].map { visibility in
            var post = post(visibility.rawValue)
            post.visibility = visibility
            return post
        }
        var repost = post("repost")
        repost.isRepost = true
        let summary = try await test.store(posts + [repost])
        #expect(summary.stored == 2)
        #expect(summary.notOpen == 2)
        #expect(summary.reposts == 1)
        try await expect(Set(test.ids()), equals: ["public", "unlisted"])
    }

    @Test func aKnownPostThatIsNoLongerOpenLeaves() async throws {
        let test = try await TestArchive()
        try await test.store([post("a"), post("b")])
        var hidden = post("a")
        hidden.visibility = .private
        try await expect(test.store([hidden]).notOpen, equals: 1)
        try await expect(test.ids(), equals: ["b"])
    }

    @Test func theNewestPostsStayByTimeOfPosting() async throws {
        let test = try await TestArchive()
        try await test.store([post("c", at: 30), post("a", at: 10), post("b", at: 20)], limit: 2)
        try await expect(test.ids(), equals: ["b", "c"])

        // An older post that is imported later does not push out a newer one.
        let late = try await test.store([post("old", at: 5), post("mid", at: 25)], limit: 2)
        #expect(late.stored == 2)
        #expect(late.pruned == 2)
        try await expect(test.ids(), equals: ["mid", "c"])
        try await expect(test.store([post("d", at: 31)], limit: 5).pruned, equals: 0)
        try await expect(test.store([], limit: 1).pruned, equals: 2)
        try await expect(test.ids(), equals: ["d"])
        try await expect(test.store([], limit: 0).pruned, equals: 1)
    }

    @Test func ofTheSameTimeTheHigherIdsStay() async throws {
        let test = try await TestArchive()
        try await test.store(["d", "a", "c", "b"].map { post($0, at: 1) }, limit: 2)
        try await expect(test.ids(), equals: ["c", "d"])
    }

    @Test func seeingAPostAgainFillsInOnlyWhatWasMissing() async throws {
        let test = try await TestArchive()
        var poor = post("a", at: 10, replyTo: TestArchive.friend)
        poor.isTimeTrusted = false
        try await test.store([poor])
        var rich = poor
        rich.text = "edited"
        rich.address = "109"
        rich.language = "ja"
        rich.replyTo?.post = postID("0")
        rich.createdAt = Date(timeIntervalSince1970: 3_600)
        rich.isTimeTrusted = true
        try await test.store([rich])

        var expected = rich
        expected.text = poor.text
        try await expect(test.archive.post(poor.id), equals: expected)
        let minutes = try await test.storage.lenient.query("SELECT minute FROM posts")
        try expect(minutes.map { try $0.int("minute") }, equals: [60])

        var poorer = rich
        poorer.address = "110"
        poorer.language = nil
        poorer.createdAt = Date(timeIntervalSince1970: 0)
        try await test.store([poorer])
        try await expect(test.archive.post(poor.id), equals: expected)
    }

    @Test func whatADatabaseRefusesIsCleanedNotLost() async throws {
        let test = try await TestArchive()
        var odd = post("a\u{0}b")
        odd.text = "x\u{0}y"
        odd.language = "\u{0}"
        odd.mentions = [AccountID(network: .mastodon, value: "a b"), TestArchive.friend]
        var distant = post("far")
        distant.createdAt = Date(timeIntervalSince1970: .infinity)
        var ancient = post("past")
        ancient.createdAt = Date(timeIntervalSince1970: -1e300)
        var lost = post("lost")
        lost.createdAt = Date(timeIntervalSince1970: .nan)
        try await expect(test.store([odd, distant, ancient, lost]).stored, equals: 4)
        let cleaned = try #require(try await test.archive.post(postID("ab")))
        #expect(cleaned.text == "xy")
        #expect(cleaned.mentions == [TestArchive.friend])
        try await expect(test.archive.scheduleRows().count, equals: 1)
    }

    @Test func mirrorsInOneDatabaseDoNotTouchEachOther() async throws {
        let test = try await TestArchive()
        let other = Archive(storage: test.storage, mirror: "other")
        try await test.store([post("a", at: 1), post("b", at: 2)])
        _ = try await other.store(
            [post("a", at: 1), post("z", at: 3)], timeZone: .gmt, limit: 1)
        try await expect(test.archive.count(), equals: 2)
        try await expect(other.count(), equals: 1)
        try await test.archive.forget([postID("a"), postID("z")])
        try await expect(test.ids(), equals: ["b"])
        try await expect(other.count(), equals: 1)
        try await test.archive.clear()
        try await expect(test.archive.count(), equals: 0)
        try await expect(test.archive.span()) { $0 == nil }
        try await expect(other.standalonePosts().map(\.id.value), equals: ["z"])
    }

    @Test func tenThousandPostsGoInAtOnceAndMayBeForgotten() async throws {
        let test = try await TestArchive()
        let posts = (0..<10_500).map { post("id\($0)", at: $0) }
        let summary = try await test.store(posts)
        #expect(summary.stored == 10_500)
        #expect(summary.pruned == 500)
        try await expect(test.archive.count(), equals: 10_000)
        try await expect(test.store(posts).stored, equals: 500)
        try await test.archive.forget((0..<9_999).map { postID("id\($0)") })
        try await expect(test.archive.count(), equals: 501)
    }

    @Test func theSameOnPostgres() async throws {
        let storage = try await Storage.open(.postgres(url: PostgresServer.shared().makeDatabase()))
        try await Migrations.apply(to: storage)
        let archive = Archive(storage: storage, mirror: "default")
        func store(_ posts: [Post], limit: Int) async throws -> Archive.StoreSummary {
            try await archive.store(posts, timeZone: .gmt, limit: limit)
        }
        let posts = (0..<2_500).map {
            post("id\($0)", at: $0, replyTo: $0 % 2 == 0 ? TestArchive.friend : nil)
        }
        let summary = try await store(posts + [posts[0]], limit: 2_000)
        #expect(summary.stored == 2_500)
        #expect(summary.alreadyKnown == 1)
        #expect(summary.pruned == 500)
        var richer = posts[2_000]
        richer.address = "7"
        try await expect(store([richer], limit: 2_000).alreadyKnown, equals: 1)
        try await expect(archive.post(richer.id), equals: richer)
        try await expect(archive.span()?.oldest, equals: posts[500].createdAt)
        try await expect(archive.replies(to: TestArchive.friend).first, equals: posts[2_498])
        try await expect(archive.repliedAuthors(limit: 3).map(\.replies), equals: [1_000])
        try await expect(archive.rewriteTimes(in: zone("Asia/Tokyo")), equals: 2_000)
        try await expect(archive.scheduleRows().first?.minute.value, equals: (501 + 540) % 1_440)
        await storage.close()
    }

    /// Postgres knows the number of posts before it would count them by itself.
    ///
    /// Otherwise each batch of an import would scan all posts before it.
    @Test func postsAreAskedByTheirKeyWhileAnArchiveComesIn() async throws {
        let storage = try await Storage.open(.postgres(url: PostgresServer.shared().makeDatabase()))
        try await Migrations.apply(to: storage)
        for mirror in ["default", "second"] {
            let archive = Archive(storage: storage, mirror: mirror)
            for batch in 0..<3 {
                let posts = (batch * 1_000..<(batch + 1) * 1_000).map { post("id\($0)", at: $0) }
                _ = try await archive.store(posts, timeZone: .gmt, limit: nil)
            }
            let plan = try await storage.query(
                """
                EXPLAIN SELECT local_day FROM posts
                WHERE mirror = \(mirror) AND network = 'mastodon' AND post_id IN \(list: (0..<10).map { "id\($0)" })
                """
            ).map { try $0.text("QUERY PLAN") }
            #expect(
                plan.contains { $0.contains("Index Cond") && $0.contains("post_id = ") },
                "\(mirror): \(plan)")
        }
        await storage.close()
    }

    // MARK: What was forgotten

    @Test func whatWasForgottenDoesNotComeInAgain() async throws {
        let test = try await TestArchive()
        let posts = (0..<900).map { post("p\($0)", at: $0) }
        try await test.store(posts)
        _ = try await test.archive.scheduleRows()
        let gone = (0..<600).map { postID("p\($0)") }
        try await test.archive.forgetForGood(gone, now: Date(milliseconds: 7))
        let summary = try await test.store(posts)
        #expect(summary.unwanted == 600)
        #expect(summary.stored == 0)
        #expect(summary.alreadyKnown == 300)
        try await expect(test.archive.scheduleRows().count, equals: 300)
        #expect(try await test.archive.isForgotten(gone[0]))
        #expect(try await !test.archive.isForgotten(postID("p0", .x)))
        // Nothing leads back from what is kept.
        let notes = try await test.archive.forgotten()
        #expect(notes.count == 600)
        expect(notes) { $0.allSatisfy { $0.kind == "post" && $0.value.count == 32 } }
        // Another mirror of the database forgets for itself.
        let other = Archive(storage: test.storage, mirror: "other")
        try await expect(other.store(posts, timeZone: .gmt, limit: nil).stored, equals: 900)
        for digest in ["", "%", "p0", "0", gone[0].forgottenDigest + "0"] {
            #expect(try await !test.archive.readmit(digest), "\(digest)")
        }
        #expect(try await test.archive.readmit(gone[0].forgottenDigest))
        try await expect(test.store(posts).stored, equals: 1)
    }

    @Test func whatTheHumanDidLastIsNeverEarlier() async throws {
        let test = try await TestArchive()
        try await expect(test.archive.circumstances(home: .gmt).lastActivity, equals: nil)
        for milliseconds: Int64 in [5_000, 3_000, 9_000, 8_000] {
            try await test.archive.noteActivity(at: Date(milliseconds: milliseconds))
        }
        try await expect(
            test.archive.circumstances(home: .gmt).lastActivity, equals: Date(milliseconds: 9_000))
    }
}
