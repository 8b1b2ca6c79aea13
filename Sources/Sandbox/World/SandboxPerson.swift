/// Somebody with an account in the sandbox, as the script knows them.
package struct SandboxPerson: Equatable, Sendable {
    /// What the script makes of a person.
    package enum Role: String, CaseIterable, Sendable {
        case human
        case bot
        /// The human has answered this person before the run.
        case friend
        /// The human has never answered this person.
        case stranger
        /// A friend who asks the bot to stop.
        case weary
        /// Asks bots to keep away in the profile.
        case optedOut
        /// An account that says of itself that it is automated.
        case automated
    }

    /// The name before the `@` of the handle.
    package var userName: String
    /// The server the person lives on; most live on the sandbox itself.
    package var host: String
    package var displayName: String
    package var bio: String
    package var language: SampleLanguage
    /// What this person writes about.
    package var topics: [SampleTopic]
    package var role: Role
    /// The human has answered this person, whatever their role.
    package var isAnswered: Bool

    /// `user@host`, in lower case.
    package var handle: String { "\(userName)@\(host)".lowercased() }

    /// Whether the account carries the automated flag.
    package var isBot: Bool { role == .automated || role == .bot }

    /// What the sandbox's own answers call the person: the host is left out when it is the sandbox's.
    package var localName: String { host == SamplePeople.host ? userName : "\(userName)@\(host)" }
}

extension SandboxPerson {
    /// A person of the sample in the role that the sample gives them.
    ///
    /// - Parameters:
    ///   - sample: Who the person is.
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
            userName: sample.userName, host: SamplePeople.host, displayName: sample.displayName, bio: sample.bio,
            language: sample.language, topics: sample.topics, role: role, isAnswered: isAnswered)
    }

    /// The same person as the sample describes people, for its favorite probabilities.
    var sample: SamplePerson {
        SamplePerson(
            userName: userName, displayName: displayName, bio: bio, language: language, topics: topics, isBot: isBot,
            isFriend: isAnswered, saysStop: role == .weary)
    }
}
