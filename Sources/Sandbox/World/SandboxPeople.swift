/// All people in the sandbox, and the follows that concern the two mirrored accounts.
///
/// People are referred to by their index in `people`.
package struct SandboxPopulation: Sendable {
    /// The people: the human first, the bot second, then all others.
    package let people: [SandboxPerson]
    /// The people whose posts reach the human's home.
    package let followedByHuman: Set<Int>
    /// The people whose posts reach the bot's home; the human is among them.
    package let followedByBot: Set<Int>

    /// The index of the human.
    package static let human = 0
    /// The index of the bot.
    package static let bot = 1

    /// The name of the bot's account.
    package static let botName = "mirror"

    private let indices: [String: Int]

    /// - Parameters:
    ///   - friends: `user@host` (or `user` for the sandbox's own host) of the people whom the human
    ///     has answered.
    ///   - language: The language of friends who are not in the sample.
    ///   - generator: Draws the topics of such friends.
    init(friends: [String], language: SampleLanguage, generator: inout SampleGenerator) {
        var people = [Self.humanPerson, Self.botPerson]
        people += Self.friends(friends, language: language, generator: &generator)
        let addedHandles = Set(people.map(\.handle))
        people += SamplePeople.everyone.map { SandboxPerson($0, isAnswered: false) }
            .filter { !addedHandles.contains($0.handle) }
        people += Self.travellers.filter { !addedHandles.contains($0.handle) }
        self.people = people
        self.indices = Dictionary(
            people.enumerated().map { ($1.handle, $0) }, uniquingKeysWith: { first, _ in first })
        let strangers = people.indices.filter { people[$0].role == .stranger }
        let others = Set(people.indices.dropFirst(2))
        // Some strangers are followed by only one of the two, so that the bot does not see exactly
        // the posts it learned from.
        self.followedByHuman = others.subtracting(Self.everyFourth(of: strangers, from: 1))
        self.followedByBot = others.subtracting(Self.everyFourth(of: strangers, from: 0)).union([
            Self.human
        ])
    }

    /// The index of the person with the handle; a name without a host has the sandbox's.
    ///
    /// - Parameter handle: `user` or `user@host`, in any case, without a leading `@`.
    /// - Returns: An index into `people`; nil if there is no such person.
    package func index(of handle: some StringProtocol) -> Int? {
        let lower = handle.lowercased()
        return indices[lower.contains("@") ? lower : "\(lower)@\(SamplePeople.host)"]
    }

    /// The indices of all people with the role, in order.
    package func indices(of role: SandboxPerson.Role) -> [Int] {
        people.indices.filter { people[$0].role == role }
    }

    /// Whether `follower`, the human or the bot, follows `person`.
    func isFollowed(_ person: Int, by follower: Int) -> Bool {
        switch follower {
        case Self.human: followedByHuman.contains(person)
        case Self.bot: followedByBot.contains(person)
        default: false
        }
    }

    private static func everyFourth(of indices: [Int], from first: Int) -> Set<Int> {
        Set(indices.enumerated().filter { $0.offset % 4 == first }.map(\.element))
    }

    private static var humanPerson: SandboxPerson {
        var person = SandboxPerson(SamplePeople.human, isAnswered: false)
        person.role = .human
        return person
    }

    private static let botPerson = SandboxPerson(
        userName: botName, host: SamplePeople.host, displayName: "Mirror",
        bio: "Automated mirror of @\(SamplePeople.human.userName).",
        language: SamplePeople.human.language,
        topics: [], role: .bot, isAnswered: false)

    /// Strangers from another server, whose names have a host in every answer.
    private static let travellers = [
        SandboxPerson(
            userName: "ferry", host: "elsewhere.example", displayName: "Ferry & Tram",
            bio: "Timetables > plans.",
            language: .english, topics: [.trains, .finance], role: .stranger, isAnswered: false),
        SandboxPerson(
            userName: "umi", host: "elsewhere.example", displayName: "うみ", bio: "海と服と猫。",
            language: .japanese, topics: [.fashion, .cats, .games], role: .stranger,
            isAnswered: false),
    ]
}

extension SandboxPopulation {
    /// Returns the people with these handles.
    ///
    /// If there are three or more, and none of them asks the bot to stop in the sample, the last
    /// friend does.
    private static func friends(
        _ handles: [String], language: SampleLanguage, generator: inout SampleGenerator
    ) -> [SandboxPerson] {
        var people: [SandboxPerson] = []
        for handle in handles {
            guard let person = friend(handle, language: language, generator: &generator),
                !people.contains(where: { $0.handle == person.handle }),
                person.handle != humanPerson.handle, person.handle != botPerson.handle
            else { continue }
            people.append(person)
        }
        if people.count >= 3, !people.contains(where: { $0.role == .weary }),
            let last = people.lastIndex(where: { $0.role == .friend })
        {
            people[last].role = .weary
        }
        return people
    }

    private static func friend(
        _ handle: String, language: SampleLanguage, generator: inout SampleGenerator
    ) -> SandboxPerson? {
        let parts = handle.lowercased().split(separator: "@", maxSplits: 1)
        guard let name = parts.first, StatusText.isUserName(name) else { return nil }
        let host = parts.count > 1 ? String(parts[1]) : SamplePeople.host
        guard StatusText.isHost(host) else { return nil }
        if host == SamplePeople.host, let sample = SamplePeople.person(named: String(name)) {
            return SandboxPerson(sample, isAnswered: true)
        }
        let topics = [SampleTopic.loved, SampleTopic.loved, SampleTopic.others].compactMap {
            generator.element(of: $0)
        }
        return SandboxPerson(
            userName: String(name), host: host, displayName: String(name), bio: "",
            language: language,
            topics: topics, role: .friend, isAnswered: true)
    }
}

/// A person with an account in the sandbox, as the script knows them.
package struct SandboxPerson: Equatable, Sendable {
    /// The role of a person in the script.
    package enum Role: String, CaseIterable, Sendable {
        case human
        case bot
        /// The human has answered this person before the run.
        case friend
        /// The human has never answered this person.
        case stranger
        /// A friend who asks the bot to stop.
        case weary
        /// A person whose profile opts out of bots.
        case optedOut
        /// An account that is labelled as automated.
        case automated
    }

    /// The name before the `@` of the handle.
    package var userName: String
    /// The server the person lives on; most live on the sandbox itself.
    package var host: String
    package var displayName: String
    package var bio: String
    package var language: SampleLanguage
    /// The topics that this person writes about.
    package var topics: [SampleTopic]
    package var role: Role
    /// Whether the human has answered this person, whatever their role.
    package var isAnswered: Bool

    /// `user@host`, in lower case.
    package var handle: String { "\(userName)@\(host)".lowercased() }

    /// Whether the account carries the automated flag.
    package var isBot: Bool { role == .automated || role == .bot }

    /// The person's name in the sandbox's own answers, without the host if it is the sandbox's.
    package var localName: String { host == SamplePeople.host ? userName : "\(userName)@\(host)" }
}

extension SandboxPerson {
    /// A person of the sample in the role that the sample gives them.
    ///
    /// - Parameters:
    ///   - sample: The person in the sample.
    ///   - isAnswered: Whether the human has answered them before the run.
    package init(_ sample: SamplePerson, isAnswered: Bool) {
        let role: Role =
            if sample.isBot {
                .automated
            } else if sample.optsOut {
                .optedOut
            } else if isAnswered {
                sample.saysStop ? .weary : .friend
            } else {
                .stranger
            }
        self.init(
            userName: sample.userName, host: SamplePeople.host, displayName: sample.displayName,
            bio: sample.bio,
            language: sample.language, topics: sample.topics, role: role, isAnswered: isAnswered)
    }

    /// The person of the sample who is this person, for the probabilities of favorites.
    var sample: SamplePerson {
        SamplePerson(
            userName: userName, displayName: displayName, bio: bio, language: language,
            topics: topics, isBot: isBot,
            isFriend: isAnswered, saysStop: role == .weary)
    }
}
