/// More people whom the human has answered, for a sandbox in which much is said to the bot.
extension SamplePeople {
    /// As many people as asked for, in an order that never changes; the same for every sample.
    ///
    /// - Parameter count: The first come from a list of names, further ones carry numbers.
    /// - Returns: People without an objection to bots, each with topics that the human loves.
    package static func acquaintances(_ count: Int) -> [SamplePerson] {
        (0..<max(0, count)).map(acquaintance)
    }

    /// The answered people of the sample, and acquaintances until there are `count`.
    package static func answered(_ count: Int) -> [SamplePerson] {
        answered + acquaintances(count - answered.count)
    }

    /// The person of the sample or the acquaintance with the user name; nil for anybody else.
    static func person(named name: String) -> SamplePerson? {
        if let person = everyone.first(where: { $0.userName == name }) { return person }
        let plain = name.prefix { !$0.isNumber }
        guard let place = names.firstIndex(of: String(plain)) else { return nil }
        let round = Int(name.dropFirst(plain.count)) ?? 1
        guard (1...1_000).contains(round) else { return nil }
        let person = acquaintance(place + (round - 1) * names.count)
        return person.userName == name ? person : nil
    }

    private static func acquaintance(_ index: Int) -> SamplePerson {
        let name = names[index % names.count]
        let round = index / names.count + 1
        let userName = round == 1 ? name : "\(name)\(round)"
        let loved = SampleTopic.loved.count
        let topics = [
            SampleTopic.loved[index % loved], SampleTopic.loved[(index / loved + index + 1) % loved],
            SampleTopic.others[index % SampleTopic.others.count],
        ]
        let isJapanese = index % 2 == 0
        return SamplePerson(
            userName: userName, displayName: userName.prefix(1).uppercased() + userName.dropFirst(),
            bio: isJapanese ? "\(name)です。よく歩きます。" : "\(topics[0]), \(topics[1]), and long walks.",
            language: isJapanese ? .japanese : .english, topics: topics, isFriend: true)
    }

    /// In turn Japanese and English.
    private static let names = [
        "akari", "alice", "chihiro", "ben", "eita", "clara", "fumi", "dylan", "ginji", "edith", "hina", "felix",
        "itsuki", "grace", "jun", "henry", "kaede", "ivy", "kenta", "jonas", "mayu", "keira", "nagi", "leo", "riku",
        "martha", "sakura", "noah", "shota", "olive", "takumi", "peter", "tsubasa", "quinn", "wakana", "rosa",
        "yamato", "simon", "yuna", "tilda", "yoshio", "ursula", "kohei", "victor", "misaki", "wendy", "ryota",
        "xander", "hotaru", "yvonne", "satoru", "zachary",
    ]
}
