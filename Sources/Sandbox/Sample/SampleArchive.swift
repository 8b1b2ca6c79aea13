package import Foundation
package import Posts

/// A year of posts by the sandbox's human, and her reactions to posts of others.
///
/// The texts were written for this project and contain no real person's data. The same seed and the
/// same day make the same archive on every machine.
package struct SampleArchive: Sendable {
    /// The human's own posts, oldest first, replies included: at least 1,500.
    package let posts: [SamplePost]
    /// Posts of others that the human favorited, oldest first.
    package let favorites: [SamplePost]
    /// Posts of others that the human saw and did not favorite, oldest first.
    package let normals: [SamplePost]

    /// The number of favorites, and of other posts, in an archive.
    package static let exampleCount = 600

    /// The number of answers to each acquaintance in an archive.
    package static let repliesPerAcquaintance = 40

    /// Composes the archive.
    ///
    /// - Parameters:
    ///   - end: The archive covers the 365 local days before the local day of this instant.
    ///   - seed: Another seed makes another year of the same person.
    ///   - people: The number of people the human has answered. Those beyond the sample's own are
    ///     acquaintances; answers to them are added to everything else, which does not change.
    ///   - offset: Seconds east of UTC by which the human lives.
    package init(
        endingAt end: Date, seed: UInt64 = 2026, people: Int = SamplePeople.answered.count,
        offset: Int = SampleArchive.offset
    ) {
        var generator = SampleGenerator(seed: seed)
        let local = end.timeIntervalSince1970 + Double(offset)
        let today = SampleDay(
            day: LocalDay(ordinal: Int((local / 86_400).rounded(.down))), offset: offset)
        let ownPosts = Self.posts(before: today, generator: &generator)
        let acquaintances = SamplePeople.acquaintances(people - SamplePeople.answered.count)
        posts = (ownPosts + Self.replies(to: acquaintances, before: today, seed: seed))
            .sorted { $0.createdAt < $1.createdAt }
        (favorites, normals) = Self.examples(before: today, generator: &generator)
    }

    /// The human's own posts as JSON Lines, for `train scheduler`.
    package var postLines: String { posts.map { $0.jsonLine() + "\n" }.joined() }

    /// The favorites and normals as JSON Lines, oldest first, for `train classifier`.
    package var exampleLines: String {
        let labelledPosts =
            favorites.map { (post: $0, isFavorite: true) }
            + normals.map { (post: $0, isFavorite: false) }
        return labelledPosts.sorted { $0.post.createdAt < $1.post.createdAt }.map { labelled in
            labelled.post.jsonLine(favorite: labelled.isFavorite) + "\n"
        }.joined()
    }

    /// The UTC offset of the human's usual zone, which has no daylight saving time, in seconds.
    package static let offset = 32_400

    // MARK: Own posts

    private static func posts(before today: SampleDay, generator: inout SampleGenerator)
        -> [SamplePost]
    {
        let tripStarts = [60, 210].map { $0 + generator.number(below: 60) }
        var texts = UniqueTexts()
        var friends: [SamplePerson] = []
        var talks: [SamplePerson: Int] = [:]
        var posts: [SamplePost] = []
        for distance in stride(from: 365, through: 1, by: -1) {
            // Twice a year the human is away for five days, without the phone.
            guard !tripStarts.contains(where: { (0..<5).contains($0 - distance) }) else {
                continue
            }
            let day = today.advanced(by: -distance)
            for second in seconds(on: day.day, generator: &generator) {
                let date = day.date(second: second, millisecond: generator.number(below: 1_000))
                let isReply = generator.chance(0.18)
                if isReply, friends.isEmpty { friends = shuffledFriends(&generator) }
                let friend = isReply ? friends.popLast() : nil
                posts.append(
                    ownPost(
                        at: date, on: day.day, second: second,
                        to: friend.map { ($0, Self.nextTalk(with: $0, &talks)) },
                        texts: &texts, generator: &generator))
            }
        }
        return posts
    }

    private static func ownPost(
        at date: Date, on day: LocalDay, second: Int,
        to answered: (friend: SamplePerson, talk: SampleTalk)?,
        texts: inout UniqueTexts, generator: inout SampleGenerator
    ) -> SamplePost {
        let friend = answered?.friend
        let language = friend?.language ?? (generator.chance(0.5) ? .japanese : .english)
        let text = texts.next {
            if let (friend, talk) = answered {
                "@\(friend.handle) "
                    + SampleTexts.reply(about: talk, language: language, generator: &generator)
            } else {
                SampleTexts.ownPost(
                    at: MinuteOfDay(hour: 0, minute: second / 60), isWeekend: day.weekday >= 6,
                    language: language,
                    generator: &generator)
            }
        }
        let draw = generator.uniform()
        let visibility: Visibility =
            if draw < 0.015 && friend == nil {
                .private
            } else if draw < 0.08 {
                .unlisted
            } else {
                .public
            }
        return SamplePost(
            id: SamplePost.id(at: date, sequence: 0), author: SamplePeople.human, text: text,
            createdAt: date,
            language: language, replyTo: friend, visibility: visibility)
    }

    /// Returns the next topic for a person: all topics in turn, so that every person has an answer
    /// on each.
    private static func nextTalk(with person: SamplePerson, _ talks: inout [SamplePerson: Int])
        -> SampleTalk
    {
        let number = talks[person, default: 0]
        talks[person] = number + 1
        return SampleTalk.inTurn(number)
    }

    /// Returns all answered people in random order; a round ends before the next is shuffled, so
    /// that nobody is left out.
    private static func shuffledFriends(_ generator: inout SampleGenerator) -> [SamplePerson] {
        var friends = SamplePeople.answered
        for index in friends.indices.reversed() {
            friends.swapAt(index, generator.number(below: index + 1))
        }
        return friends
    }

    /// Answers to acquaintances, spread over the year, no two with the same words.
    private static func replies(to people: [SamplePerson], before today: SampleDay, seed: UInt64)
        -> [SamplePost]
    {
        var generator = SampleGenerator(seed: seed ^ 0x61_63_71)
        var texts = UniqueTexts()
        var posts: [SamplePost] = []
        for person in people {
            for number in 0..<repliesPerAcquaintance {
                let talk = SampleTalk.inTurn(number)
                let words = texts.next {
                    SampleTexts.reply(about: talk, language: person.language, generator: &generator)
                }
                let date = today.advanced(by: -1 - generator.number(below: 365)).date(
                    second: 25_200 + generator.number(below: 57_600),
                    millisecond: generator.number(below: 1_000))
                posts.append(
                    SamplePost(
                        id: SamplePost.id(at: date, sequence: 0), author: SamplePeople.human,
                        text: "@\(person.handle) \(words)", createdAt: date,
                        language: person.language,
                        replyTo: person, visibility: generator.chance(0.05) ? .unlisted : .public))
            }
        }
        return posts
    }

    // MARK: Posts of others

    private static func examples(
        before today: SampleDay, generator: inout SampleGenerator
    ) -> (favorites: [SamplePost], normals: [SamplePost]) {
        // An archive cannot contain posts of people whose profile opts out of bots.
        let authors = SamplePeople.everyone.filter { !$0.optsOut && !$0.isBot }
        var texts = UniqueTexts()
        var favorites: [SamplePost] = []
        var normals: [SamplePost] = []
        var sequence = 0
        while favorites.count < exampleCount || normals.count < exampleCount {
            guard let author = generator.element(of: authors),
                let topic = generator.element(of: author.topics)
            else { break }
            let isFavorite = topic.wouldBeFavorited(by: author, generator: &generator)
            guard (isFavorite ? favorites : normals).count < exampleCount else { continue }
            let text = texts.next {
                SampleTexts.post(topic: topic, language: author.language, generator: &generator)
            }
            let date = today.advanced(by: -1 - generator.number(below: 150)).date(
                second: generator.number(below: 86_400), millisecond: 0)
            let post = SamplePost(
                id: SamplePost.id(at: date, sequence: sequence), author: author, text: text,
                createdAt: date,
                language: author.language, topic: topic)
            sequence += 1
            if isFavorite { favorites.append(post) } else { normals.append(post) }
        }
        return (
            favorites.sorted { $0.createdAt < $1.createdAt },
            normals.sorted { $0.createdAt < $1.createdAt }
        )
    }
}

/// A local day of the human.
private struct SampleDay {
    let day: LocalDay
    /// Seconds east of UTC.
    let offset: Int

    func advanced(by days: Int) -> SampleDay {
        SampleDay(day: day.advanced(by: days), offset: offset)
    }

    func date(second: Int, millisecond: Int) -> Date {
        Date(milliseconds: Int64((day.ordinal * 86_400 + second - offset) * 1_000 + millisecond))
    }
}

/// Draws a text again if it occurred before, up to a limit of tries.
private struct UniqueTexts {
    private var seen: Set<String> = []

    mutating func next(_ compose: () -> String) -> String {
        var text = compose()
        for _ in 0..<40 where seen.contains(text) { text = compose() }
        seen.insert(text)
        return text
    }
}

/// The times at which the human of the sandbox posts: early, at noon and in the evening, later on
/// weekends, in bursts, or not at all.
extension SampleArchive {
    /// A time of day around which posts gather, in minutes.
    private typealias Habit = (center: Double, spread: Double, weight: Double)

    private static let weekday: [Habit] = [
        (center: 465, spread: 28, weight: 0.34),
        (center: 745, spread: 22, weight: 0.22),
        (center: 930, spread: 50, weight: 0.08),
        (center: 1_120, spread: 35, weight: 0.12),
        (center: 1_300, spread: 50, weight: 0.24),
    ]

    private static let weekend: [Habit] = [
        (center: 575, spread: 55, weight: 0.3),
        (center: 840, spread: 110, weight: 0.36),
        (center: 1_335, spread: 45, weight: 0.34),
    ]

    /// Seconds since local midnight of the posts of one day, in order.
    static func seconds(on day: LocalDay, generator: inout SampleGenerator) -> [Int] {
        let isWeekend = day.weekday >= 6
        guard !generator.chance(isWeekend ? 0.18 : 0.1) else { return [] }
        let count = 1 + generator.number(below: 6) + generator.number(below: isWeekend ? 5 : 7)
        var seconds = (0..<count).map { _ in
            second(from: isWeekend ? weekend : weekday, generator: &generator)
        }
        if generator.chance(0.25), let start = generator.element(of: seconds) {
            seconds += burst(after: start, generator: &generator)
        }
        return Set(seconds.filter { (0..<86_400).contains($0) }).sorted()
    }

    private static func second(from habits: [Habit], generator: inout SampleGenerator) -> Int {
        var draw = generator.uniform()
        var chosen = habits[0]
        for habit in habits {
            chosen = habit
            draw -= habit.weight
            if draw < 0 { break }
        }
        let minute = chosen.center + chosen.spread * generator.normal()
        return Int(minute * 60) + generator.number(below: 60)
    }

    private static func burst(after start: Int, generator: inout SampleGenerator) -> [Int] {
        var second = start
        return (0..<1 + generator.number(below: 4)).map { _ in
            second += 90 + generator.number(below: 700)
            return second
        }
    }
}

/// One post of the sample, by the human or by another person.
package struct SamplePost: Equatable, Sendable {
    /// The id on the sandbox's server, in decimal: milliseconds since 1970 times 65,536, plus a
    /// number that distinguishes posts of the same millisecond.
    package var id: String
    package var author: SamplePerson
    package var text: String
    package var createdAt: Date
    package var language: SampleLanguage
    /// The topic of a post by another person.
    package var topic: SampleTopic?
    package var replyTo: SamplePerson?
    package var visibility: Visibility = .public

    /// The worldwide id of the post.
    package var uri: String { Self.uri(id: id, author: author) }

    /// The worldwide id of a post that the sandbox's server keeps under `id`.
    package static func uri(id: String, author: SamplePerson) -> String {
        "https://\(SamplePeople.host)/users/\(author.userName)/statuses/\(id)"
    }

    /// The server id of a post made at `date`.
    ///
    /// - Parameters:
    ///   - date: The time at which the post was made.
    ///   - sequence: Distinguishes posts of the same millisecond, 0 through 65,535.
    /// - Returns: The id in decimal.
    package static func id(at date: Date, sequence: Int) -> String {
        String(UInt64(max(0, date.milliseconds)) << 16 | UInt64(sequence & 0xFFFF))
    }

    /// The post as one line of JSON Lines, without the line break; `favorite` states whether the
    /// human favorited it, and nil omits that field.
    package func jsonLine(favorite: Bool? = nil) -> String {
        var fields: [(String, String)] = [
            ("id", Self.quoted(uri)),
            ("author", Self.quoted(author.handle)),
            ("text", Self.quoted(text)),
            ("created_at", Self.quoted(createdAt.rfc3339)),
            ("visibility", Self.quoted(visibility.rawValue)),
            ("language", Self.quoted(language.rawValue)),
        ]
        if let favorite { fields.append(("favorite", favorite ? "true" : "false")) }
        if let replyTo {
            let answeredID = Self.id(at: createdAt.addingTimeInterval(-600), sequence: 0)
            fields.append(("reply_to_author", Self.quoted(replyTo.handle)))
            fields.append(("reply_to_post", Self.quoted(Self.uri(id: answeredID, author: replyTo))))
        }
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case let control where control.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
