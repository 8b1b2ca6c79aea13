import Foundation
import Posts

/// A post of the town: its text follows from ``seed``, unless the bot wrote it.
struct TownPost: Sendable {
    enum Kind: UInt8, Sendable {
        /// A post that is not a reply.
        case own
        /// An answer of the human to a friend, in the past.
        case answer
        /// A mention of the bot.
        case mention
        /// A post of the bot, whose text is stored.
        case written
    }

    var id: Int64
    var author: TownPart
    var kind: Kind
    /// The member of the household whom it mentions.
    var mentioned: TownPart?
    var isFavoritedByHuman = false
    var isFavoritedByBot = false
    /// The seed of the text.
    var seed: UInt32
    /// The id of the answered post; 0 for none.
    var replyTo: Int64 = 0

    var date: Date { Date(milliseconds: id / 100_000) }
}

/// An action of a person other than the bot.
struct TownEvent: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        case post(TownPart)
        case mention(TownPart)
        /// The human favorites the newest post of a friend.
        case favorite(TownPart)
    }

    var milliseconds: Int64
    var action: Action
    var seed: UInt32
}

extension TownPlan {
    /// Returns the events of a household on a local day, in the order of time.
    func events(of household: Int, onDay day: Int) -> [TownEvent] {
        guard pace == .lively else { return [] }
        var generator = generator(ofHousehold: household, purpose: day)
        let start = Self.midnight(ofDay: day).milliseconds
        var events: [TownEvent] = []
        func add(_ action: TownEvent.Action, from first: Int, below limit: Int) {
            let second = first + generator.number(below: limit - first)
            events.append(
                TownEvent(
                    milliseconds: start + Int64(second) * 1_000
                        + Int64(generator.number(below: 1_000)), action: action,
                    seed: UInt32(truncatingIfNeeded: generator.next())))
        }
        for _ in 0..<(1 + generator.number(below: 3)) {
            add(.post(.human), from: 25_200, below: 86_400)
        }
        for friend in TownPart.friends {
            for _ in 0..<(1 + generator.number(below: 2)) {
                add(.post(friend), from: 21_600, below: 86_400)
            }
            if generator.chance(0.3) { add(.favorite(friend), from: 28_800, below: 86_400) }
        }
        let first = generator.number(below: 3)
        let count = min(9, generator.number(below: 2 * mentionsPerDay + 1))
        // Friends take turns, so that none of them gets more than three answers a day.
        for number in 0..<count {
            add(.mention(TownPart.friends[(first + number) % 3]), from: 0, below: 86_400)
        }
        if generator.chance(0.2) { add(.mention(.stranger), from: 0, below: 86_400) }
        return events.sorted { ($0.milliseconds, $0.seed) < ($1.milliseconds, $1.seed) }
    }

    /// The posts of the human before the run, oldest first: the same in every household except for
    /// the names.
    func past(of household: Int) -> [TownPost] {
        var generator = SampleGenerator(seed: seed ^ 0x70_61_73_74)
        let today = Self.day(of: origin)
        var posts: [TownPost] = []
        let days = max(1, pastDays)
        for distance in 1...days {
            let midnight = Self.midnight(ofDay: today - distance)
            for _ in 0..<2 {
                let date = midnight + Double(25_200 + generator.number(below: 57_600))
                posts.append(
                    TownPost(
                        id: Self.id(at: date, in: household), author: .human, kind: .own,
                        seed: UInt32(truncatingIfNeeded: generator.next())))
            }
        }
        for (index, friend) in TownPart.friends.enumerated() {
            for (number, _) in SampleTalk.allCases.enumerated() {
                let midnight = Self.midnight(ofDay: today - 1 - generator.number(below: days))
                let date =
                    midnight + Double(32_400 + generator.number(below: 43_200)) + 0.1
                    * Double(index + 1)
                // The remainder of the seed determines the theme of an answer.
                let round = UInt32(truncatingIfNeeded: generator.next() >> 40) / 10 * 10
                posts.append(
                    TownPost(
                        id: Self.id(at: date, in: household), author: .human, kind: .answer,
                        mentioned: friend,
                        seed: round + UInt32(number),
                        replyTo: Self.id(at: date - 600, in: household)))
            }
        }
        posts.sort { $0.id < $1.id }
        // Equal ids are increased, because ids are unique.
        for index in posts.indices.dropFirst() where posts[index].id <= posts[index - 1].id {
            posts[index].id = posts[index - 1].id + 100_000
        }
        return posts
    }

    /// The text of a post that the bot did not write.
    func text(of post: TownPost, in household: Int) -> String {
        var generator = SampleGenerator(seed: UInt64(post.seed) ^ seed)
        switch post.kind {
        case .own, .written:
            let day = Self.day(of: post.date)
            guard post.author == .human else {
                let topic = generator.element(of: SampleTopic.loved + SampleTopic.others) ?? .bread
                return SampleTexts.post(topic: topic, language: .english, generator: &generator)
            }
            let minute = Int(post.date.timeIntervalSince(Self.midnight(ofDay: day)) / 60)
            return SampleTexts.ownPost(
                at: MinuteOfDay(hour: 0, minute: minute),
                isWeekend: LocalDay(ordinal: day).weekday >= 6,
                language: .english, generator: &generator)
        case .answer:
            let words = SampleTexts.reply(
                about: SampleTalk.inTurn(Int(post.seed % 10)), language: .english,
                generator: &generator)
            return "@\(handle(of: TownPerson(household, post.mentioned ?? .firstFriend))) \(words)"
        case .mention:
            let words = SampleTexts.mention(language: .english, generator: &generator)
            return "@\(TownPerson(household, .bot).userName) \(words)"
        }
    }

    /// The human's past of a household as JSON Lines, for `mirror-bot train scheduler`.
    package func pastLines(of household: Int) -> String {
        past(of: household).map { post in
            let author = TownPerson(household, .human)
            var fields: [(String, WireJSON)] = [
                ("id", .string(uri(of: post, in: household))),
                ("author", .string(handle(of: author))),
                ("text", .string(text(of: post, in: household))),
                ("created_at", .string(post.date.rfc3339)),
                ("visibility", "public"), ("language", "en"),
            ]
            if let mentioned = post.mentioned {
                fields.append(
                    ("reply_to_author", .string(handle(of: TownPerson(household, mentioned)))))
            }
            return String(decoding: WireJSON.object(fields).bytes, as: UTF8.self) + "\n"
        }.joined()
    }

    /// The worldwide id of a post.
    func uri(of post: TownPost, in household: Int) -> String {
        let author = TownPerson(household, post.author)
        return "https://\(domain(of: household))/users/\(author.userName)/statuses/\(post.id)"
    }
}
