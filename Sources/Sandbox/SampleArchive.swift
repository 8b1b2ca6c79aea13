package import Foundation
import Posts

/// A year in the life of the sandbox's human, and what she liked and did not like of others.
///
/// Written for this project; nobody's data. The same seed and the same day make
/// the same archive on every machine.
package struct SampleArchive: Sendable {
    /// The human's own posts, oldest first, replies included: at least 1,500.
    package let posts: [SamplePost]
    /// Posts of others that the human favorited, oldest first.
    package let favorites: [SamplePost]
    /// Posts of others that the human saw and did not favorite, oldest first.
    package let normals: [SamplePost]

    /// How many favorites and how many normals an archive holds.
    package static let exampleCount = 600

    /// How many answers to each acquaintance an archive holds.
    package static let repliesPerAcquaintance = 40

    /// Composes the archive.
    ///
    /// - Parameters:
    ///   - end: The archive holds the 365 local days before the local day of this instant.
    ///   - seed: Another seed makes another year of the same person.
    ///   - people: How many people the human has answered. Those beyond the sample's own are acquaintances; answers to
    ///     them come on top of everything else, which stays as it is.
    package init(endingAt end: Date, seed: UInt64 = 2026, people: Int = SamplePeople.answered.count) {
        var generator = SampleGenerator(seed: seed)
        let today = LocalDay(ordinal: Int(((end.timeIntervalSince1970 + Self.offset) / 86_400).rounded(.down)))
        let own = Self.posts(before: today, generator: &generator)
        let acquaintances = SamplePeople.acquaintances(people - SamplePeople.answered.count)
        posts = (own + Self.replies(to: acquaintances, before: today, seed: seed))
            .sorted { $0.createdAt < $1.createdAt }
        (favorites, normals) = Self.examples(before: today, generator: &generator)
    }

    /// The human's own posts as JSON Lines, for `train scheduler`.
    package var postLines: String { posts.map { $0.jsonLine() + "\n" }.joined() }

    /// The favorites and normals as JSON Lines, oldest first, for `train classifier`.
    package var exampleLines: String {
        let all = favorites.map { ($0, true) } + normals.map { ($0, false) }
        return all.sorted { $0.0.createdAt < $1.0.createdAt }.map { $0.jsonLine(favorite: $1) + "\n" }.joined()
    }

    /// Seconds east of UTC in the human's zone, which has no daylight saving time.
    static let offset: Double = 32_400

    private static func date(_ day: LocalDay, second: Int, millisecond: Int) -> Date {
        Date(milliseconds: Int64((day.ordinal * 86_400 + second - Int(offset)) * 1_000 + millisecond))
    }

    // MARK: Own posts

    private static func posts(before today: LocalDay, generator: inout SampleGenerator) -> [SamplePost] {
        let travels = [60, 210].map { $0 + generator.number(below: 60) }
        var texts = UniqueTexts()
        var friends: [SamplePerson] = []
        var posts: [SamplePost] = []
        for distance in stride(from: 365, through: 1, by: -1) {
            // Away twice a year, without the phone.
            guard !travels.contains(where: { $0 - distance >= 0 && $0 - distance < 5 }) else { continue }
            let day = today.advanced(by: -distance)
            for second in SampleRhythm.seconds(on: day, generator: &generator) {
                let date = date(day, second: second, millisecond: generator.number(below: 1_000))
                let isReply = generator.chance(0.18)
                if isReply, friends.isEmpty { friends = shuffledFriends(&generator) }
                posts.append(
                    ownPost(
                        at: date, on: day, second: second, to: isReply ? friends.popLast() : nil, texts: &texts,
                        generator: &generator))
            }
        }
        return posts
    }

    private static func ownPost(
        at date: Date, on day: LocalDay, second: Int, to friend: SamplePerson?, texts: inout UniqueTexts,
        generator: inout SampleGenerator
    ) -> SamplePost {
        let language = friend?.language ?? (generator.chance(0.5) ? .japanese : .english)
        let text = texts.next {
            if let friend {
                "@\(friend.handle) " + SampleOwn.reply(language: language, generator: &generator)
            } else {
                SampleOwn.post(
                    at: MinuteOfDay(hour: 0, minute: second / 60), isWeekend: day.weekday >= 6, language: language,
                    generator: &generator)
            }
        }
        let draw = generator.uniform()
        return SamplePost(
            id: SamplePost.id(at: date, sequence: 0), author: SamplePeople.human, text: text, createdAt: date,
            language: language, replyTo: friend,
            visibility: draw < 0.015 && friend == nil ? .private : draw < 0.08 ? .unlisted : .public)
    }

    /// Every answered person once, in random order; drawn to the end before the next round, so that nobody is left out.
    private static func shuffledFriends(_ generator: inout SampleGenerator) -> [SamplePerson] {
        var friends = SamplePeople.answered
        for index in friends.indices.reversed() {
            friends.swapAt(index, generator.number(below: index + 1))
        }
        return friends
    }

    /// Answers to acquaintances, spread over the year; no two of them have the same words.
    private static func replies(to people: [SamplePerson], before today: LocalDay, seed: UInt64) -> [SamplePost] {
        var generator = SampleGenerator(seed: seed ^ 0x61_63_71)
        var texts = UniqueTexts()
        var posts: [SamplePost] = []
        for person in people {
            for _ in 0..<repliesPerAcquaintance {
                let words = texts.next {
                    SampleOwn.longReply(language: person.language, generator: &generator)
                }
                let date = date(
                    today.advanced(by: -1 - generator.number(below: 365)),
                    second: 25_200 + generator.number(below: 57_600), millisecond: generator.number(below: 1_000))
                posts.append(
                    SamplePost(
                        id: SamplePost.id(at: date, sequence: 0), author: SamplePeople.human,
                        text: "@\(person.handle) \(words)", createdAt: date, language: person.language,
                        replyTo: person, visibility: generator.chance(0.05) ? .unlisted : .public))
            }
        }
        return posts
    }

    // MARK: Posts of others

    private static func examples(
        before today: LocalDay, generator: inout SampleGenerator
    ) -> (favorites: [SamplePost], normals: [SamplePost]) {
        // The archive cannot hold what a profile keeps from bots.
        let authors = SamplePeople.everyone.filter { !$0.optsOut && !$0.isBot }
        var texts = UniqueTexts()
        var favorites: [SamplePost] = []
        var normals: [SamplePost] = []
        var sequence = 0
        while favorites.count < exampleCount || normals.count < exampleCount {
            guard let author = generator.element(of: authors), let topic = generator.element(of: author.topics)
            else { break }
            let isFavorite = SampleTopics.wouldFavorite(topic: topic, by: author, generator: &generator)
            guard (isFavorite ? favorites : normals).count < exampleCount else { continue }
            let text = texts.next {
                SampleTopics.post(topic: topic, language: author.language, generator: &generator)
            }
            let date = date(
                today.advanced(by: -1 - generator.number(below: 150)), second: generator.number(below: 86_400),
                millisecond: 0)
            let post = SamplePost(
                id: SamplePost.id(at: date, sequence: sequence), author: author, text: text, createdAt: date,
                language: author.language, topic: topic)
            sequence += 1
            if isFavorite { favorites.append(post) } else { normals.append(post) }
        }
        return (favorites.sorted { $0.createdAt < $1.createdAt }, normals.sorted { $0.createdAt < $1.createdAt })
    }
}

/// Composes again what it has seen before, up to a limit.
private struct UniqueTexts {
    private var seen: Set<String> = []

    mutating func next(_ compose: () -> String) -> String {
        var text = compose()
        for _ in 0..<40 where seen.contains(text) { text = compose() }
        seen.insert(text)
        return text
    }
}
