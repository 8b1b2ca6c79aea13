import NetworkNames
import Posts
import Sandbox

/// What people say to the bot in an episode besides what the world's script has them say.
struct Outcry: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Known people who answer others in conversations of thousands of posts.
        case crowds = "conversations-of-thousands"
        /// Posts of a megabyte, more of them than any answer may hold.
        case megabytes = "posts-of-a-megabyte"
        /// A post that no answer may hold.
        case tooLarge = "post-beyond-all-limits"
        /// Items that are not as documented, between sound ones.
        case broken = "broken-items"
        /// Those whom the bot must not answer.
        case unwelcome = "strangers-and-bots"
        case stop = "request-to-stop"
        /// Mentions of which the network tells hours later.
        case late = "late-notifications"
        /// Mentions of which the network never tells.
        case unnoticed = "missing-notifications"
        /// Hundreds at once: while no worker is there, unless another moment is given.
        case burst
        /// The same while the server answers 503 to whoever reads mentions.
        case burstWhileUnavailable = "burst-while-unavailable"
        /// The same, and whoever then goes on from where they were is refused with 400.
        case burstAndLostPlace = "burst-and-lost-place"
    }

    var kind: Kind
    /// Real seconds after the episode's beginning.
    var after: Double
    /// Decides who speaks.
    var seed: UInt64
}

extension Outcry.Kind {
    /// How many people speak in a burst.
    static let burstSize = 300

    /// Those that can be on a network.
    static func all(on network: NetworkName) -> [Outcry.Kind] {
        allCases.filter { kind in
            switch (network, kind) {
            // X has neither long posts of that length nor conversations to read, and tells of
            // everything.
            case (.x, .crowds), (.x, .megabytes), (.x, .tooLarge), (.x, .late), (.x, .unnoticed):
                false
            // A record has a megabyte at most.
            case (.bluesky, .tooLarge): false
            default: true
            }
        }
    }

    /// How often it has its turn while all have theirs.
    var turns: Int {
        switch self {
        case .crowds, .broken, .unwelcome: 4
        case .late, .unnoticed: 3
        case .megabytes: 2
        case .tooLarge, .stop, .burst, .burstWhileUnavailable, .burstAndLostPlace: 1
        }
    }

    /// Whether it is said before a worker is there to hear it.
    var isFirst: Bool { self == .burst || self == .burstAndLostPlace }
}

/// Who says what.
extension Outcry {
    private static let megabyte = 1 << 20
    /// So many of the known people may come to ask the bot to stop; the others stay to be answered.
    private static let weary = 8

    func utterances(in population: SandboxPopulation, on network: NetworkName = .mastodon)
        -> [SandboxUtterance]
    {
        var voices = Voices(population, seed: seed)
        let friends: [SandboxUtterance]
        switch kind {
        case .crowds:
            friends = (0..<2).map { _ in
                voices.say(.friend) {
                    $0.burden = .crowd(posts: 4_300)
                    $0.answered = .another
                }
            }
        case .megabytes:
            friends = (0..<10).map { number in
                voices.say(number < 6 ? .friend : .stranger) {
                    $0.burden = .padding(bytes: Self.megabyte)
                }
            }
        case .tooLarge:
            friends = (0..<3).map { number in
                voices.say(.friend) {
                    if number == 1 { $0.burden = .padding(bytes: 9 * Self.megabyte) }
                }
            }
        case .broken:
            friends = SandboxFlaw.allCases.flatMap { flaw in
                [
                    voices.say(.friend) { $0.burden = .flaw(flaw) },
                    voices.say(.friend) { $0.answered = .another },
                ]
            }
        case .unwelcome:
            let roles: [SandboxPerson.Role] = [
                .stranger, .stranger, .stranger, .automated, .automated, .optedOut,
            ]
            friends = roles.map { voices.say($0) }
        case .stop: friends = [voices.stop(amongLast: Self.weary)]
        case .late:
            friends = (1...3).map { number in
                voices.say(.friend) { $0.notice = .late(Double(number) * 3_600) }
            }
        case .unnoticed:
            friends = (0..<2).map { _ in
                voices.say(.friend) {
                    $0.notice = .never
                    $0.answered = .bot
                }
            }
        case .burst, .burstWhileUnavailable, .burstAndLostPlace:
            friends = (0..<Kind.burstSize).map { number in
                let role: SandboxPerson.Role =
                    if number % 4 == 0 {
                        .friend
                    } else if number % 20 == 1 {
                        .automated
                    } else {
                        .stranger
                    }
                return voices.say(role) {
                    // For every other known person the network is asked what they talk about.
                    if number % 8 == 0 { $0.answered = .another }
                }
            }
        }
        return friends
    }
}

/// Gives people words.
private struct Voices {
    private let people: [SandboxPerson]
    private let roles: [SandboxPerson.Role: [Int]]
    private var generator: SampleGenerator

    init(_ population: SandboxPopulation, seed: UInt64) {
        people = population.people
        roles = Dictionary(grouping: population.people.indices) { population.people[$0].role }
        generator = SampleGenerator(seed: seed)
    }

    /// A mention by somebody in a role.
    mutating func say(
        _ role: SandboxPerson.Role, change: (inout SandboxUtterance) -> Void = { _ in }
    ) -> SandboxUtterance {
        let person = people[generator.element(of: roles[role] ?? []) ?? people.count - 1]
        let words = SampleTexts.mention(language: person.language, generator: &generator)
        var utterance = SandboxUtterance(person.handle, words)
        change(&utterance)
        return utterance
    }

    /// One of the last known people asks the bot to stop.
    mutating func stop(amongLast count: Int) -> SandboxUtterance {
        let friends = Array((roles[.friend] ?? []).suffix(count))
        let person = people[generator.element(of: friends) ?? people.count - 1]
        var utterance = SandboxUtterance(person.handle, SampleTexts.stop(language: person.language))
        utterance.asksToStop = true
        return utterance
    }
}
