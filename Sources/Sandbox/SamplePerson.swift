/// Somebody with an account in the sandbox.
package struct SamplePerson: Hashable, Sendable {
    /// The name before the `@` of the handle.
    package var userName: String
    package var displayName: String
    package var bio: String
    package var language: SampleLanguage
    /// What this person writes about.
    package var topics: [SampleTopic]
    package var isBot = false
    /// The human has answered this person many times.
    package var isFriend = false
    /// Asks the bot to stop when it answers.
    package var saysStop = false

    /// `user@host`, in lower case.
    package var handle: String { "\(userName)@\(SamplePeople.host)" }

    /// Whether the profile asks bots to keep away.
    package var optsOut: Bool { bio.lowercased().contains("#nobot") }
}

/// Everybody in the sandbox.
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

    /// Whom the human has answered, each at least 15 times in the sample archive.
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
            userName: "oliver", displayName: "Oliver", bio: "Slow trains, strong coffee. Bristol to anywhere.",
            language: .english, topics: [.trains, .coffee, .gadgets], isFriend: true),
        SamplePerson(
            userName: "freya", displayName: "Freya", bio: "Sourdough, two cats, one very small kitchen.",
            language: .english, topics: [.bread, .cats, .games], isFriend: true),
        SamplePerson(
            userName: "sam", displayName: "Sam", bio: "Touring bicycle, thermos, bad weather.",
            language: .english, topics: [.cycling, .coffee, .finance], isFriend: true),
    ]

    /// Whom the human has never answered.
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
            userName: "redcarpet", displayName: "Red Carpet Rita", bio: "Who wore what, who said what.",
            language: .english, topics: [.celebrities, .fashion]),
        SamplePerson(
            userName: "crema", displayName: "Crema", bio: "Home espresso, mostly calibration.",
            language: .english, topics: [.coffee, .gadgets, .finance]),
        SamplePerson(
            userName: "ninth", displayName: "Ninth Inning", bio: "Box scores and hot dogs.",
            language: .english, topics: [.baseball, .games]),
    ]

    /// An account that says of itself that it is automated.
    package static let bot = SamplePerson(
        userName: "densha_bot", displayName: "電車だより", bio: "An automated account. 自動投稿です。",
        language: .japanese, topics: [.trains], isBot: true)

    /// A person whose profile keeps bots away.
    package static let optedOut = SamplePerson(
        userName: "shizuka", displayName: "しずか", bio: "静かに暮らしたい。#nobot",
        language: .japanese, topics: [.bread, .cats], isFriend: true)

    /// A friend who asks the bot to stop at its first answer.
    package static let weary = SamplePerson(
        userName: "kent", displayName: "Kent", bio: "Timetables. No small talk.",
        language: .english, topics: [.trains, .cycling], isFriend: true, saysStop: true)

    /// Everybody but the human.
    package static let everyone: [SamplePerson] = friends + strangers + [bot, optedOut, weary]

    /// Everybody the human has answered, those who want no bot included.
    package static let answered: [SamplePerson] = everyone.filter(\.isFriend)
}
