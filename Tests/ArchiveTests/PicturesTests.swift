import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

/// Files of pictures beside their posts.
@Suite struct PicturesTests {
    private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func pictured(
        _ id: String, at minutes: Int = 0, _ pictures: [Picture] = [Picture(alt: "a hill")]
    ) -> Post {
        var post = post(id, at: minutes)
        post.hasMedia = true
        post.pictures = pictures
        return post
    }

    private func pieces(_ test: TestArchive) async throws -> Int {
        try await test.storage.lenient.query("SELECT COUNT(*) AS number FROM pictures").first?.int(
            "number") ?? 0
    }

    @Test func aFileComesBackByteForByte() async throws {
        let test = try await TestArchive()
        try await test.store([pictured("1", [Picture(alt: "a"), Picture(alt: "b")])])
        #expect(try await test.archive.keepPicture(Self.bytes, at: 0, of: postID("1")))
        #expect(try await test.archive.keepPicture([1, 2, 3], at: 1, of: postID("1")))
        try await expect(test.archive.picture(at: 0, of: postID("1")), equals: Self.bytes)
        try await expect(test.archive.picture(at: 1, of: postID("1")), equals: [1, 2, 3])
        try await expect(test.archive.picture(at: 2, of: postID("1")), equals: nil)
        // Another copy of the archive takes the place of the first.
        #expect(try await test.archive.keepPicture([9], at: 0, of: postID("1")))
        try await expect(test.archive.picture(at: 0, of: postID("1")), equals: [9])
        try await expect(pieces(test), equals: 2)
    }

    @Test func thereIsRoomForSoMuchAndForPostsOfTheArchiveAlone() async throws {
        let test = try await TestArchive()
        try await test.store([pictured("1"), pictured("2", at: 1), post("3", at: 2)])
        #expect(try await test.archive.keepPicture([1, 2, 3], at: 0, of: postID("1"), room: 5))
        #expect(try await !test.archive.keepPicture([1, 2, 3], at: 0, of: postID("2"), room: 5))
        #expect(try await !test.archive.keepPicture([1], at: 0, of: postID("3")))
        #expect(try await !test.archive.keepPicture([1], at: 0, of: postID("4")))
        try await expect(pieces(test), equals: 1)
    }

    @Test func aFileLeavesWithItsPost() async throws {
        let test = try await TestArchive()
        for number in 1...5 { try await test.store([pictured("\(number)", at: number)]) }
        for number in 1...5 {
            _ = try await test.archive.keepPicture([1], at: 0, of: postID("\(number)"))
        }
        try await test.archive.forget([postID("5")])
        try await expect(pieces(test), equals: 4)
        try await test.archive.forgetForGood([postID("4")], now: Date())
        try await expect(pieces(test), equals: 3)
        // The oldest goes over the limit.
        try await test.store([pictured("6", at: 6)], limit: 3)
        try await expect(pieces(test), equals: 2)
        var hidden = pictured("3", at: 3)
        hidden.visibility = .private
        try await test.store([hidden])
        try await expect(pieces(test), equals: 1)
        try await test.archive.giveUpPictures(of: postID("2"))
        try await expect(pieces(test), equals: 0)
        try await expect(test.archive.post(postID("2"))?.pictures, equals: [])
        _ = try await test.archive.keepPicture([1], at: 0, of: postID("6"))
        try await test.archive.clear()
        try await expect(pieces(test), equals: 0)
    }

    @Test func anotherSightingTellsOfAQuote() async throws {
        let test = try await TestArchive()
        var quoting = post("1")
        try await test.store([quoting, post("2", at: 1)])
        try await expect(test.archive.post(postID("1"))?.isQuote, equals: false)
        quoting.isQuote = true
        try await test.store([quoting])
        try await expect(test.archive.post(postID("1"))?.isQuote, equals: true)
        quoting.isQuote = false
        try await test.archive.rewrite(quoting)
        try await expect(test.archive.post(postID("1"))?.isQuote, equals: false)
        try await expect(test.archive.post(postID("2"))?.isQuote, equals: false)
    }

    @Test func anotherSightingCompletesWhatIsKnown() async throws {
        let test = try await TestArchive()
        try await test.store([pictured("1"), pictured("2", at: 1, []), pictured("3", at: 2)])
        let shown = Picture(
            url: "https://pictures.example/1.jpg", alt: "what the network says", width: 4, height: 3
        )
        try await test.store([
            pictured("1", [shown]), pictured("2", at: 1, [shown]),
            pictured("3", at: 2, [shown, shown]),
        ])
        let first = try #require(try await test.archive.post(postID("1"))?.pictures.first)
        #expect(first.alt == "a hill")
        #expect(first.url == shown.url)
        #expect(first.width == 4)
        try await expect(test.archive.post(postID("2"))?.pictures, equals: [shown])
        // Which of them would be which, nobody knows.
        try await expect(test.archive.post(postID("3"))?.pictures, equals: [Picture(alt: "a hill")])
    }
}
