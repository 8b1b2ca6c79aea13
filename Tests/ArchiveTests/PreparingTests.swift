import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

/// What is kept ready for plans, compared with what the posts themselves say.
@Suite struct PreparingTests {
    /// The schedule's rows as the posts give them.
    private func times(_ test: TestArchive, in zone: TimeZone) async throws -> [LocalTime] {
        try await test.archive.standalonePosts().filter(\.isTimeTrusted).map {
            LocalTime($0.createdAt, in: zone)
        }
        .sorted()
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
        try await expect(test.archive.scheduleRows()) { $0.isEmpty }
        for round in 0..<40 {
            let posts = (0..<Int.random(in: 1..<30, using: &generator)).map { _ in random() }
            switch round % 8 {
            case 5: try await test.archive.forget(posts.map(\.id))
            case 6: try await test.store(posts, limit: 100)
            default: try await test.store(posts)
            }
            try await expect(
                test.archive.scheduleRows(), equals: times(test, in: .gmt), "round \(round)")
        }
        let tokyo = try zone("Asia/Tokyo")
        try await test.archive.rewriteTimes(in: tokyo)
        try await expect(test.archive.scheduleRows(), equals: times(test, in: tokyo))
        try await test.archive.clear()
        try await expect(test.archive.scheduleRows()) { $0.isEmpty }
    }

    @Test func manyPostsMoveToAnotherZoneInParts() async throws {
        let test = try await TestArchive()
        try await test.store((0..<1_203).map { post("p\($0)", at: $0 * 60) })
        let tokyo = try zone("Asia/Tokyo")
        try await expect(test.archive.rewriteTimes(in: tokyo), equals: 1_203)
        try await expect(test.archive.rewriteTimes(in: tokyo), equals: 0)
        try await expect(test.archive.scheduleRows(), equals: times(test, in: tokyo))
    }

    private func prepare(
        _ test: TestArchive, _ version: String, lastUse: SQL = "CAST(NULL AS BIGINT)"
    ) async throws {
        try await test.prepare(version, lastUse: lastUse) { post, _ in
            let isOdd = (Int(post.id.value.dropFirst()) ?? 0) % 2 == 1
            return Archive.Preparation(
                textKey: "\(version) \(post.text)", unfit: isOdd ? "odd" : nil,
                length: post.text.count)
        }
    }

    @Test func everyPostIsPreparedOnceByTheRulesThatHold() async throws {
        let test = try await TestArchive()
        try await test.store((0..<1_101).map { post("p\($0)", at: $0) })
        try await test.store([post("reply", replyTo: TestArchive.friend)])
        for version in ["2", "1", "3"] {
            try await prepare(test, version, lastUse: "CAST(\(5) AS BIGINT)")
            let texts = try await test.archive.texts(
                in: [0...1_439], Archive.TextFilter(longest: 100))
            #expect(texts.count == 551)
            expect(texts) { $0.allSatisfy { $0.textKey.hasPrefix(version) } }
            try await expect(
                test.archive.usedTexts(since: Date(milliseconds: 4)).count, equals: 1_101)
            try await expect(test.archive.usedTexts(since: Date(milliseconds: 5))) { $0.isEmpty }
        }
        // A post that turns out to be a reply is no text of its own any more.
        try await test.store([post("p0", replyTo: TestArchive.friend)])
        try await prepare(test, "3")
        try await expect(test.archive.texts(in: [0...0], Archive.TextFilter(longest: 100))) {
            $0.isEmpty
        }
    }

    /// What is stored about a text is about the text that was judged.
    @Test func aPostThatChangesWhileItIsJudgedIsJudgedAgain() async throws {
        let test = try await TestArchive()
        try await test.store([post("p1"), post("p2", at: 1)])
        func preparation(_ post: Post) -> Archive.Preparation {
            Archive.Preparation(textKey: post.text, unfit: nil, length: 1)
        }
        try await test.prepare("1") { post, _ in preparation(post) }
        let posts = try await test.archive.unprepared(by: "2", atMost: 10)
        #expect(posts.count == 2)
        var changed = posts[0].post
        changed.text = "another text"
        try await test.archive.rewrite(changed)
        try await test.archive.store(
            posts.map { ($0, preparation($0.post)) }, by: "2", lastUse: "CAST(NULL AS BIGINT)")
        try await expect(
            test.archive.unprepared(by: "2", atMost: 10).map(\.post.text), equals: ["another text"])
        try await expect(test.archive.unprepared(.unjudged, by: "3", atMost: 10).count, equals: 1)
        try await expect(test.archive.unprepared(by: "3", atMost: 10).count, equals: 2)
    }

    /// Stretches of time hold every post once, those of one instant in the same stretch.
    @Test func habitsAreReadStretchByStretch() async throws {
        let test = try await TestArchive()
        var posts = (0..<25).map { post("p\($0)", at: $0 / 3) }
        for index in posts.indices {
            posts[index].text = index % 2 == 0 ? "about #tea \(index)" : "about tea \(index)"
        }
        posts[1].client = "Pocket Client"
        posts[4].replyTo = ReplyTarget(
            author: AccountID(network: .mastodon, value: "ben@b.example"))
        try await test.store(posts)
        var place: Int64? = nil
        var texts: [String] = []
        var stretches: Int = 0
        var answers: [String] = []
        repeat {
            let (found, end) = try await test.archive.postsWithHabits(after: place, atMost: 4)
            texts += found.map(\.text)
            answers += found.filter(\.isReply).map(\.text)
            place = end
            stretches = stretches + 1
        } while place != nil
        #expect(stretches == 5)
        #expect(answers == [posts[4].text])
        #expect(
            texts.sorted()
                == posts.filter { $0.client != nil || $0.text.contains("#") }.map(\.text).sorted())
    }

    @Test func textsAreCountedAndFoundByMinuteAgeAndLength() async throws {
        let test = try await TestArchive()
        // Three a minute, of which one reads as another does; odd ones are unfit.
        var posts = (0..<60).map { post("p\($0 * 2)", at: $0 / 3 + 1_440 * ($0 % 3)) }
        for index in posts.indices where index % 3 == 2 {
            posts[index].text = posts[index - 1].text
        }
        posts.append(post("p1", at: 3))
        try await test.store(posts)
        try await prepare(test, "1")
        func counts(_ filter: Archive.TextFilter) async throws -> [Int] {
            let counts = try await test.archive.textCounts(filter)
            #expect(counts.count <= 1)
            return counts.first?.minutes ?? []
        }
        let all = try await counts(Archive.TextFilter(longest: 100))
        #expect(all.count == 1_440 && all[0..<20].allSatisfy { $0 == 3 } && all.reduce(0, +) == 60)
        let first = Date(timeIntervalSince1970: 86_000)
        try await expect(
            counts(Archive.TextFilter(longest: 100, before: first)).reduce(0, +), equals: 20)
        try await expect(
            counts(Archive.TextFilter(longest: 5, before: first)).reduce(0, +), equals: 0)
        var found: [String] = []
        for number in 0..<4 {
            let text = try await test.archive.text(
                at: 7, number: number, Archive.TextFilter(longest: 100))
            guard let text else { break }
            found.append(text.id.value)
            let isFirst = try await test.archive.isFirst(
                text, in: [0...30], Archive.TextFilter(longest: 100))
            #expect(isFirst == (number < 2))
            #expect(
                try await test.archive.isFirst(
                    text, in: [20...30], Archive.TextFilter(longest: 100)))
        }
        #expect(found == ["p42", "p44", "p46"])
    }

    /// Texts of every grade and window, one of whose time of day was lost.
    @Test func textsAreFoundByHowFitTheyAre() async throws {
        let test = try await TestArchive()
        var posts = (0..<8).map { post("p\($0)", at: 600) }
        posts[7].isTimeTrusted = false
        posts[0].client = "Pocket Client"
        try await test.store(posts)
        let windows = ["", "months 12", "weekdays 5", ""]
        try await test.prepare("1") { post, _ in
            let number = Int(post.id.value.dropFirst()) ?? 0
            return Archive.Preparation(
                textKey: post.id.value, unfit: nil, length: 5,
                fitness: Archive.StoredFitness(
                    grade: number / 4 * 2, window: windows[number % 4],
                    reason: number > 0 ? "dated" : nil))
        }
        func names(_ filter: Archive.TextFilter) async throws -> [String] {
            try await test.archive.texts(in: [600...600], filter).map(\.id.value).sorted()
        }
        var filter = Archive.TextFilter(longest: 9)
        try await expect(names(filter), equals: ["p0", "p1", "p2", "p3", "p4", "p5", "p6"])
        try await expect(test.archive.textsOfLostTimes(filter).map(\.id.value), equals: ["p7"])
        try await expect(test.archive.textsOfLostTimes(filter).first?.minute, equals: nil)
        filter.grade = 1
        try await expect(names(filter), equals: ["p0", "p1", "p2", "p3"])
        filter.windows = ["months 12"]
        try await expect(names(filter), equals: ["p0", "p1", "p3"])
        filter.windows = []
        let counts = try await test.archive.textCounts(filter)
        #expect(
            counts.map(\.grade) == [0] && counts.map(\.window) == [""]
                && counts[0].minutes[600] == 2)
        try await expect(test.archive.text(at: 600, number: 1, filter)?.id.value, equals: "p3")
        let unsent = try await test.archive.unsent(filter)
        #expect(unsent.fit == 2)
        #expect(unsent.sometimes == ["dated": 2])
        #expect(unsent.unfit == ["dated": 4])
        try await expect(test.archive.fitness(of: posts[5].id)?.window, equals: "months 12")
        try await expect(test.archive.preparedBy()?.first, equals: "1")
        try await expect(test.archive.preparedBy()?.last, equals: "1")
        try await expect(test.archive.post(posts[0].id)?.client, equals: "Pocket Client")
    }
}
