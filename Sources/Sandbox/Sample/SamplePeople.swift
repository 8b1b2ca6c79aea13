/// A person with an account in the sandbox.
package struct SamplePerson: Hashable, Sendable {
    /// The name before the `@` of the handle.
    package var userName: String
    package var displayName: String
    package var bio: String
    package var language: SampleLanguage
    /// The topics that this person writes about.
    package var topics: [SampleTopic]
    package var isBot = false
    /// Whether the human has answered this person many times.
    package var isFriend = false
    /// Whether the person asks the bot to stop when it answers.
    package var saysStop = false

    /// `user@host`, in lower case.
    package var handle: String { "\(userName)@\(SamplePeople.host)" }

    /// Whether the profile opts out of bots.
    package var optsOut: Bool { bio.lowercased().contains("#nobot") }
}

/// The people in the sandbox.
package enum SamplePeople {
    /// The only server of the sandbox.
    package static let host = "sandbox.example"

    /// The time zone the human lives in.
    package static let timeZoneIdentifier = "Asia/Tokyo"

    /// The person whose past the sample archive holds.
    package static let human = SamplePerson(
        userName: "haruka", displayName: "はるか Haruka",
        bio: "京都の翻訳者。電車、猫、パン、珈琲、自転車。Translator in Kyoto, mostly bread and trains.",
        language: .japanese, topics: [.trains, .cats, .bread, .coffee, .cycling])

    /// The people whom the human has answered, each at least 15 times in the sample archive.
    package static let friends: [SamplePerson] = [
        SamplePerson(
            userName: "aoi", displayName: "あおい", bio: "叡電沿線の猫二匹と人間一人。",
            language: .japanese, topics: [.cats, .trains, .fashion], isFriend: true),
        SamplePerson(
            userName: "daichi", displayName: "だいち", bio: "輪行と峠とおにぎり。ときどき野球。",
            language: .japanese, topics: [.cycling, .trains, .baseball], isFriend: true),
        SamplePerson(
            userName: "mio", displayName: "みお", bio: "粉と酵母のことばかり考えています。",
            language: .japanese, topics: [.bread, .coffee, .celebrities], isFriend: true),
        SamplePerson(
            userName: "oliver", displayName: "Oliver",
            bio: "Slow trains, strong coffee. Bristol to anywhere.",
            language: .english, topics: [.trains, .coffee, .gadgets], isFriend: true),
        SamplePerson(
            userName: "freya", displayName: "Freya",
            bio: "Sourdough, two cats, one very small kitchen.",
            language: .english, topics: [.bread, .cats, .games], isFriend: true),
        SamplePerson(
            userName: "sam", displayName: "Sam", bio: "Touring bicycle, thermos, bad weather.",
            language: .english, topics: [.cycling, .coffee, .finance], isFriend: true),
    ]

    /// The people whom the human has never answered.
    package static let strangers: [SamplePerson] = [
        SamplePerson(
            userName: "tetsuo", displayName: "鉄夫", bio: "駅と時刻表。", language: .japanese,
            topics: [.trains, .gadgets, .baseball]),
        SamplePerson(
            userName: "nyanko", displayName: "にゃんこ日和", bio: "保護猫と暮らす。", language: .japanese,
            topics: [.cats, .celebrities, .fashion]),
        SamplePerson(
            userName: "kabu", displayName: "株太郎", bio: "相場の話だけします。", language: .japanese,
            topics: [.finance]),
        SamplePerson(
            userName: "yakyu", displayName: "外野席", bio: "今年こそ優勝。", language: .japanese,
            topics: [.baseball]),
        SamplePerson(
            userName: "gamebu", displayName: "深夜ゲーム部", bio: "積みゲー八十本。", language: .japanese,
            topics: [.games, .gadgets]),
        SamplePerson(
            userName: "mode", displayName: "装い帖", bio: "毎日の服。", language: .japanese,
            topics: [.fashion, .celebrities]),
        SamplePerson(
            userName: "gizmo", displayName: "Gizmo Grace", bio: "I review things with batteries.",
            language: .english, topics: [.gadgets, .games]),
        SamplePerson(
            userName: "bull", displayName: "Morning Bull", bio: "Markets before breakfast.",
            language: .english, topics: [.finance]),
        SamplePerson(
            userName: "redcarpet", displayName: "Red Carpet Rita",
            bio: "Who wore what, who said what.",
            language: .english, topics: [.celebrities, .fashion]),
        SamplePerson(
            userName: "crema", displayName: "Crema", bio: "Home espresso, mostly calibration.",
            language: .english, topics: [.coffee, .gadgets, .finance]),
        SamplePerson(
            userName: "ninth", displayName: "Ninth Inning", bio: "Box scores and hot dogs.",
            language: .english, topics: [.baseball, .games]),
    ]

    /// An account that is labelled as automated.
    package static let bot = SamplePerson(
        userName: "densha_bot", displayName: "電車だより", bio: "An automated account. 自動投稿です。",
        language: .japanese, topics: [.trains], isBot: true)

    /// A person whose profile opts out of bots.
    package static let optedOut = SamplePerson(
        userName: "shizuka", displayName: "しずか", bio: "静かに暮らしたい。#nobot",
        language: .japanese, topics: [.bread, .cats], isFriend: true)

    /// A friend who asks the bot to stop at its first answer.
    package static let weary = SamplePerson(
        userName: "kent", displayName: "Kent", bio: "Timetables. No small talk.",
        language: .english, topics: [.trains, .cycling], isFriend: true, saysStop: true)

    /// All people except the human.
    package static let everyone: [SamplePerson] = friends + strangers + [bot, optedOut, weary]

    /// All people whom the human has answered, including those who want no bot.
    package static let answered: [SamplePerson] = everyone.filter(\.isFriend)
}

/// More people whom the human has answered, for a sandbox with many mentions of the bot.
extension SamplePeople {
    /// Returns a number of people, the same in every sample and always in the same order.
    ///
    /// - Parameter count: The number of people; the first are from a list of names, further ones
    ///   have numbers.
    /// - Returns: People who do not object to bots, each with topics that the human loves.
    package static func acquaintances(_ count: Int) -> [SamplePerson] {
        (0..<max(0, count)).map(acquaintance)
    }

    /// The answered people of the sample, followed by acquaintances up to `count`.
    package static func answered(_ count: Int) -> [SamplePerson] {
        answered + acquaintances(count - answered.count)
    }

    /// The person of the sample or the acquaintance with the user name; nil if there is none.
    static func person(named name: String) -> SamplePerson? {
        if let person = everyone.first(where: { $0.userName == name }) { return person }
        let plain = name.prefix { !$0.isNumber }
        guard let index = names.firstIndex(of: String(plain)) else { return nil }
        let round = Int(name.dropFirst(plain.count)) ?? 1
        guard (1...1_000).contains(round) else { return nil }
        let person = acquaintance(index + (round - 1) * names.count)
        return person.userName == name ? person : nil
    }

    private static func acquaintance(_ index: Int) -> SamplePerson {
        let name = names[index % names.count]
        let round = index / names.count + 1
        let userName = round == 1 ? name : "\(name)\(round)"
        let loved = SampleTopic.loved.count
        // Two different loved topics, in another combination for each person, and one other.
        let topics = [
            SampleTopic.loved[index % loved],
            SampleTopic.loved[(index / loved + index + 1) % loved],
            SampleTopic.others[index % SampleTopic.others.count],
        ]
        let isJapanese = index % 2 == 0
        return SamplePerson(
            userName: userName, displayName: userName.prefix(1).uppercased() + userName.dropFirst(),
            bio: isJapanese ? "\(name)です。よく歩きます。" : "\(topics[0]), \(topics[1]), and long walks.",
            language: isJapanese ? .japanese : .english, topics: topics, isFriend: true)
    }

    /// The names, alternating between Japanese and English.
    private static let names = [
        "akari", "alice", "chihiro", "ben", "eita", "clara", "fumi", "dylan", "ginji", "edith",
        "hina", "felix",
        "itsuki", "grace", "jun", "henry", "kaede", "ivy", "kenta", "jonas", "mayu", "keira",
        "nagi", "leo", "riku",
        "martha", "sakura", "noah", "shota", "olive", "takumi", "peter", "tsubasa", "quinn",
        "wakana", "rosa",
        "yamato", "simon", "yuna", "tilda", "yoshio", "ursula", "kohei", "victor", "misaki",
        "wendy", "ryota",
        "xander", "hotaru", "yvonne", "satoru", "zachary",
    ]
}

/// A topic that the people of the sandbox write about.
package enum SampleTopic: String, CaseIterable, Sendable {
    case trains, cats, bread, coffee, cycling
    case finance, baseball, gadgets, games, fashion, celebrities

    /// Whether the human tends to favorite posts about the topic.
    package var isLoved: Bool {
        switch self {
        case .trains, .cats, .bread, .coffee, .cycling: true
        case .finance, .baseball, .gadgets, .games, .fashion, .celebrities: false
        }
    }

    package static let loved: [SampleTopic] = allCases.filter(\.isLoved)
    package static let others: [SampleTopic] = allCases.filter { !$0.isLoved }

    /// The probability that the human favorites a post about the topic by `author`.
    ///
    /// The topic decides most, and a friend counts for more than a stranger.
    private func favoriteProbability(by author: SamplePerson) -> Double {
        switch (isLoved, author.isFriend) {
        case (true, true): 0.95
        case (true, false): 0.8
        case (false, true): 0.06
        case (false, false): 0.01
        }
    }

    /// Draws whether the human favorites one post about the topic by `author`.
    package func wouldBeFavorited(by author: SamplePerson, generator: inout SampleGenerator) -> Bool
    {
        generator.chance(favoriteProbability(by: author))
    }
}

/// The two languages of the sample; the raw value is the BCP 47 tag.
package enum SampleLanguage: String, CaseIterable, Sendable {
    case japanese = "ja"
    case english = "en"
}
