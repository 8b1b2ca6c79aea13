import Archive
import Foundation
import Posts
import Storage
import TestSupport
import Testing

/// What is kept ready for plans, compared with what the posts themselves say.
@Suite struct PreparingTests {
    /// The schedule's rows as the posts give them.
    private func times(_ test: TestArchive, in zone: TimeZone) async throws -> [PostingTime] {
        try await test.archive.standalonePosts().filter(\.isTimeTrusted).map { post in
            let time = LocalTime(post.createdAt, in: zone)
            return PostingTime(day: time.day, minute: time.minute)
        }.sorted()
    }

    @Test func packedDaysFollowEveryChange() async throws {
        let test = try await TestArchive()
        var generator = SeededGenerator(seed: 3)
        func random() -> Post {
            let number = Int.random(in: 0..<600, using: &generator)
            var post = post("p\(number)", at: Int.random(in: 0..<40_000, using: &generator))
            post.isTimeTrusted = number % 7 > 0
            if number % 5 == 0 { post.replyTo = ReplyTarget(author: TestArchive.friend) }
            if number % 31 == 0 { post.visibility = .private }
            return post
        }
        #expect(try await test.archive.scheduleRows().isEmpty)
        for round in 0..<40 {
            let posts = (0..<Int.random(in: 1..<30, using: &generator)).map { _ in random() }
            switch round % 8 {
            case 5: try await test.archive.forget(posts.map(\.id))
            case 6: try await test.store(posts, limit: 100)
            default: try await test.store(posts)
            }
            #expect(try await test.archive.scheduleRows() == times(test, in: .gmt), "round \(round)")
        }
        let tokyo = try zone("Asia/Tokyo")
        try await test.archive.rewriteTimes(in: tokyo)
        #expect(try await test.archive.scheduleRows() == times(test, in: tokyo))
        try await test.archive.clear()
        #expect(try await test.archive.scheduleRows().isEmpty)
    }

    @Test func manyPostsMoveToAnotherZoneInParts() async throws {
        let test = try await TestArchive()
        try await test.store((0..<1_203).map { post("p\($0)", at: $0 * 60) })
        let tokyo = try zone("Asia/Tokyo")
        #expect(try await test.archive.rewriteTimes(in: tokyo) == 1_203)
        #expect(try await test.archive.rewriteTimes(in: tokyo) == 0)
        #expect(try await test.archive.scheduleRows() == times(test, in: tokyo))
    }

    private func prepare(_ test: TestArchive, _ version: String, lastUse: SQL = "CAST(NULL AS BIGINT)") async throws {
        while try await test.archive.prepareSome(
            version: version, lastUse: lastUse,
            { post in
                let isOdd = (Int(post.id.value.dropFirst()) ?? 0) % 2 == 1
                return Archive.Preparation(
                    textKey: "\(version) \(post.text)", unfit: isOdd ? "odd" : nil, length: post.text.count)
            })
        {}
    }

    @Test func everyPostIsPreparedOnceByTheRulesThatHold() async throws {
        let test = try await TestArchive()
        try await test.store((0..<1_101).map { post("p\($0)", at: $0) })
        try await test.store([post("reply", replyTo: TestArchive.friend)])
        for version in ["2", "1", "3"] {
            try await prepare(test, version, lastUse: "CAST(\(5) AS BIGINT)")
            let texts = try await test.archive.texts(in: [0...1_439], longest: 100, before: .distantFuture)
            #expect(texts.count == 551 && texts.allSatisfy { $0.textKey.hasPrefix(version) })
            #expect(try await test.archive.usedTexts(since: Date(milliseconds: 4)).count == 1_101)
            #expect(try await test.archive.usedTexts(since: Date(milliseconds: 5)).isEmpty)
        }
        // A post that turns out to be a reply is no text of its own any more.
        try await test.store([post("p0", replyTo: TestArchive.friend)])
        try await prepare(test, "3")
        #expect(try await test.archive.texts(in: [0...0], longest: 100, before: .distantFuture).isEmpty)
    }

    @Test func textsAreCountedAndFoundByMinuteAgeAndLength() async throws {
        let test = try await TestArchive()
        // Three a minute, of which one reads as another does; odd ones are unfit.
        var posts = (0..<60).map { post("p\($0 * 2)", at: $0 / 3 + 1_440 * ($0 % 3)) }
        for index in posts.indices where index % 3 == 2 { posts[index].text = posts[index - 1].text }
        posts.append(post("p1", at: 3))
        try await test.store(posts)
        try await prepare(test, "1")
        let counts = try await test.archive.textCounts(longest: 100, before: .distantFuture)
        #expect(counts.count == 1_440 && counts[0..<20].allSatisfy { $0 == 3 } && counts.reduce(0, +) == 60)
        let first = Date(timeIntervalSince1970: 86_000)
        #expect(try await test.archive.textCounts(longest: 100, before: first).reduce(0, +) == 20)
        #expect(try await test.archive.textCounts(longest: 5, before: first).reduce(0, +) == 0)
        var found: [String] = []
        for number in 0..<4 {
            let text = try await test.archive.text(at: 7, number: number, longest: 100, before: .distantFuture)
            guard let text else { break }
            found.append(text.id.value)
            let isFirst = try await test.archive.isFirst(text, in: [0...30], longest: 100, before: .distantFuture)
            #expect(isFirst == (number < 2))
            #expect(try await test.archive.isFirst(text, in: [20...30], longest: 100, before: .distantFuture))
        }
        #expect(found == ["p42", "p44", "p46"])
    }
}
