import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct SampleArchiveTests {
    private static let end = Date(milliseconds: 1_795_130_130_000)
    private static let archive = SampleArchive(endingAt: end)

    private func localTime(_ post: SamplePost) throws -> LocalTime {
        LocalTime(
            post.createdAt, in: try #require(TimeZone(identifier: SamplePeople.timeZoneIdentifier)))
    }

    @Test(arguments: [1, 2, 3, 2026] as [UInt64])
    func holdsAYearOfOnePerson(seed: UInt64) throws {
        let archive = SampleArchive(endingAt: Self.end, seed: seed)
        let posts = archive.posts
        #expect(posts.count >= 1_500)
        #expect(Double(Set(posts.map(\.text)).count) >= 0.95 * Double(posts.count))
        let japanese = Double(posts.count { $0.language == .japanese }) / Double(posts.count)
        #expect((0.4...0.6).contains(japanese))
        let replies = Dictionary(grouping: posts.filter { $0.replyTo != nil }) {
            $0.replyTo?.handle ?? ""
        }
        #expect(replies.values.reduce(0) { $0 + $1.count } >= 250)
        #expect(Set(replies.keys) == Set(SamplePeople.answered.map(\.handle)))
        expect(replies.values) { $0.allSatisfy { $0.count >= 15 } }
        #expect(Set(posts.map(\.id)).count == posts.count)
        #expect(posts.map(\.createdAt) == posts.map(\.createdAt).sorted())
        #expect(archive.favorites.count >= 400)
        #expect(archive.normals.count >= 400)
    }

    @Test func hasDaysOfSilenceAndBurstsAndEndsBeforeToday() throws {
        let times = try Self.archive.posts.map(localTime)
        let today = LocalTime(
            Self.end, in: try #require(TimeZone(identifier: SamplePeople.timeZoneIdentifier))
        ).day
        let days = Set(times.map(\.day))
        expect(days) { $0.allSatisfy { $0 < today && $0 >= today.advanced(by: -365) } }
        #expect((280...345).contains(days.count))
        let gaps = zip(Self.archive.posts.dropFirst(), Self.archive.posts).map {
            $0.createdAt.timeIntervalSince($1.createdAt)
        }
        #expect(gaps.count { $0 < 900 } > 100)
    }

    @Test func postsEarlyOnWeekdaysAndLaterOnWeekends() throws {
        let times = try Self.archive.posts.map(localTime)
        func share(_ minutes: Range<Int>, weekend: Bool) -> Double {
            let all = times.filter { ($0.day.weekday >= 6) == weekend }
            return Double(all.count { minutes.contains($0.minute.value) }) / Double(all.count)
        }
        #expect(share(420..<540, weekend: false) > 0.25)
        #expect(share(420..<540, weekend: true) < 0.15)
        #expect(share(60..<300, weekend: false) < 0.01)
    }

    @Test func isTheSameOnEveryRun() {
        let again = SampleArchive(endingAt: Self.end)
        #expect(again.posts == Self.archive.posts)
        #expect(again.favorites == Self.archive.favorites)
        #expect(again.normals == Self.archive.normals)
        #expect(SampleArchive(endingAt: Self.end, seed: 7).posts != again.posts)
    }

    @Test func favoritesAreMostlyAboutWhatIsLoved() {
        func share(_ posts: [SamplePost]) -> Double {
            Double(posts.count { $0.topic?.isLoved ?? false }) / Double(posts.count)
        }
        #expect(share(Self.archive.favorites) > 0.85)
        #expect(share(Self.archive.normals) < 0.3)
    }

    @Test func writesLinesThatAreJSON() throws {
        struct Line: Decodable {
            var id: String
            var author: String
            var text: String
            var createdAt: String
            var favorite: Bool?

            enum CodingKeys: String, CodingKey {
                case id, author, text, favorite
                case createdAt = "created_at"
            }
        }
        let lines = Self.archive.exampleLines.split(separator: "\n")
        #expect(lines.count == Self.archive.favorites.count + Self.archive.normals.count)
        let decoded = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(decoded.count { $0.favorite == true } == Self.archive.favorites.count)
        expect(decoded) { $0.allSatisfy { Date(rfc3339: $0.createdAt) != nil } }
        #expect(Self.archive.postLines.split(separator: "\n").count == Self.archive.posts.count)
    }

    @Test func escapesTextsInLines() throws {
        let post = SamplePost(
            id: "1", author: SamplePeople.human, text: "\"quoted\" \\ and\nbroken\u{1}",
            createdAt: Self.end,
            language: .english)
        let object = try JSONDecoder().decode(
            [String: String].self, from: Data(post.jsonLine().utf8))
        #expect(object["text"] == "\"quoted\" \\ and\nbroken ")
        #expect(object["id"] == "https://sandbox.example/users/haruka/statuses/1")
    }

    @Test func keepsPostsOfPeopleWhoWantNoBotOut() {
        #expect(SamplePeople.optedOut.optsOut)
        let authors = Set((Self.archive.favorites + Self.archive.normals).map(\.author))
        expect(authors) { $0.allSatisfy { !$0.optsOut && !$0.isBot && $0 != SamplePeople.human } }
    }

    @Test(arguments: SampleLanguage.allCases)
    func everyFileIsABookAndEveryTopicHasSentences(language: SampleLanguage) throws {
        let topics = try SampleTexts.Books(language).topics
        #expect(Set(topics.themes) == Set(SampleTopic.allCases.map(\.rawValue)))
        expect(SampleTopic.allCases) { $0.allSatisfy { topics.count($0.rawValue) >= 10 } }
    }

    @Test(arguments: SampleLanguage.allCases)
    func postsAboutATopicRarelyRepeat(language: SampleLanguage) {
        var generator = SampleGenerator(seed: 5)
        for topic in SampleTopic.allCases {
            let posts = (0..<60).map { _ in
                SampleTexts.post(topic: topic, language: language, generator: &generator)
            }
            #expect(Set(posts).count >= 42)
            expect(posts) { $0.allSatisfy { !$0.contains("{") && $0.count >= 5 && $0.count < 200 } }
        }
    }
}
