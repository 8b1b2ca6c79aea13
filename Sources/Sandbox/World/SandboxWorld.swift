package import Foundation
import NetworkNames
package import Posts

/// All people in the sandbox and their actions, except for the bot's.
///
/// The whole script follows from the configuration: the same seed gives the same world. It begins
/// some weeks before `origin`, so that an account has a past to read, and ends `days` days after
/// it. Only reactions to the bot depend on the bot.
package struct SandboxWorld: Sendable {
    /// The values that a world is made from.
    package struct Configuration: Sendable {
        package var seed: UInt64
        /// The beginning of the run; earlier events are the past.
        package var origin: Date
        /// The length of the run in days; at least one.
        package var days: Int
        /// The human's time zone: people are awake in its daytime, and its days count for the caps.
        package var timeZone: TimeZone
        /// The bot's network; people who mention it keep to that network's features.
        package var botNetwork = NetworkName.mastodon
        /// The number of mentions of the bot by friends on a full day, besides the few
        /// conversations that reach the caps; nil for the few that each friend writes by chance.
        ///
        /// Friends take turns, so that the caps hardly apply to any of them if there are at least
        /// half as many friends. Every friend also writes three posts a day.
        package var mentionsPerDay: Double?
        /// Whether people mention the bot and post at any hour, instead of sleeping at night.
        package var isAwakeAtNight = false
        /// The cap of answers to a person on one day.
        package var repliesPerPersonAndDay = 3
        /// The cap of answers in a conversation.
        package var repliesPerThread = 5
        /// `user@host`, or `user` of the sandbox, of the people whom the human has answered before.
        package var friends: [String]
        /// The human's posts before the run; nil for the sample archive with as many people as
        /// there are friends.
        ///
        /// A reply is kept if it answers the Mastodon account of a person in the sandbox; other
        /// replies and reposts are left out. So the people in an archive of another network must be
        /// renamed to `friends` first.
        package var humanPosts: [Post]?
        /// Posts of the human from before ``humanPosts``, which can be requested individually and
        /// are in no list, so that lists stay short.
        package var olderPosts: [Post] = []
        /// Seconds east of UTC by which the human of the sample archive lives.
        package var sampleOffset = SampleArchive.offset
        /// Whether the human has an account in the sandbox; false for a human whose past is only
        /// known from another source, and who writes and favorites nothing here.
        package var isHumanPresent = true

        package init(
            seed: UInt64, origin: Date, days: Int, timeZone: TimeZone,
            friends: [String] = SamplePeople.answered.map(\.handle), humanPosts: [Post]? = nil
        ) {
            self.seed = seed
            self.origin = origin
            self.days = max(1, days)
            self.timeZone = timeZone
            self.friends = friends
            self.humanPosts = humanPosts
        }
    }

    package let configuration: Configuration
    package let population: SandboxPopulation
    /// The events, sorted by time; those of the same instant in the order in which they were
    /// written.
    let events: [SandboxEvent]

    /// Writes the script.
    package init(configuration: Configuration) {
        var script = SandboxScript(configuration: configuration)
        script.writePast()
        script.writeRun()
        script.writeMentions()
        self.configuration = configuration
        self.population = script.population
        self.events = script.events()
    }

    /// The time when the run ends.
    package var end: Date { configuration.end }

    /// The human's handle, `user@host`.
    package var humanHandle: String { population.people[SandboxPopulation.human].handle }

    /// The bot's handle, `user@host`.
    package var botHandle: String { population.people[SandboxPopulation.bot].handle }

    /// The mentions of the bot, in the order of time.
    package var mentions: [(date: Date, handle: String, mention: SandboxMention)] {
        events.compactMap { event in
            guard case .post(let post) = event.action, let mention = post.mention else {
                return nil
            }
            return (event.date, population.people[post.author].handle, mention)
        }
    }

    /// The number of mentions during the whole run that deserve an answer.
    package var expectedReplies: Int { mentions.count { $0.mention.deservesReply } }
}

extension SandboxWorld.Configuration {
    /// A world with many mentions of the bot, at any hour.
    ///
    /// The human's past is `SampleArchive(endingAt: origin, people: people)`: a mirror of this
    /// world is trained with the lines of that archive.
    ///
    /// - Parameters:
    ///   - seed: Another seed makes another world.
    ///   - origin: The time at which the run begins.
    ///   - days: The length of the run.
    ///   - timeZone: The human's time zone.
    ///   - network: The bot's network.
    ///   - people: The number of people the human has answered, including those of the sample.
    ///   - mentionsPerDay: The number of their mentions of the bot.
    /// - Returns: A configuration that may be changed further.
    package static func busy(
        seed: UInt64, origin: Date, days: Int, timeZone: TimeZone, network: NetworkName,
        people: Int = 60,
        mentionsPerDay: Double = 100
    ) -> SandboxWorld.Configuration {
        var configuration = SandboxWorld.Configuration(
            seed: seed, origin: origin, days: days, timeZone: timeZone,
            friends: SamplePeople.answered(people).map(\.handle))
        configuration.botNetwork = network
        configuration.mentionsPerDay = mentionsPerDay
        configuration.isAwakeAtNight = true
        return configuration
    }

    /// The time when the run ends.
    package var end: Date { origin.addingTimeInterval(Double(days) * 86_400) }
}

/// An event in the sandbox that the bot does not cause.
struct SandboxEvent: Sendable {
    enum Action: Sendable {
        case post(ScriptedPost)
        /// The human favorites the post with this number.
        case favorite(Int)
        /// The person with this index follows the bot.
        case follow(Int)
    }

    var date: Date
    var action: Action
}

/// A post of the script.
struct ScriptedPost: Sendable {
    /// The post that a scripted post answers.
    enum Target: Sendable {
        /// The scripted post with this number.
        case post(Int)
        /// The bot's answer to the mention with this number, or that mention while it has none.
        case answer(to: Int)
    }

    /// The content of a post besides its text.
    enum Attachment: Sendable {
        case image
        case poll
    }

    /// The number by which the script names the post.
    var number: Int
    /// The index of the person who writes it.
    var author: Int
    var text: String
    var language: SampleLanguage
    var visibility = Visibility.public
    /// The content warning; empty for none.
    var warning = ""
    var attachment: Attachment?
    var target: Target?
    /// The number of the reposted post.
    var repostOf: Int?
    /// Whether the human favorites posts like this; decided once for each post.
    var isLoved = false
    var mention: SandboxMention?
    /// The id that the post must get, if an archive already names it.
    var id: Int64?
}

/// The kind and circumstances of a mention of the bot.
package struct SandboxMention: Equatable, Sendable {
    /// The kind of a mention, which determines whether it deserves an answer.
    package enum Kind: String, CaseIterable, Sendable {
        /// The mention is by a person whom the human has answered.
        case friend
        /// The mention is by a person whom the human has never answered.
        case stranger
        case automated
        case optedOut
        /// The mention asks the bot to stop.
        case stop
        /// The mention is by a person who has asked the bot to stop.
        case afterStop
        /// The mention is from before the run began.
        case past
    }

    package var kind: Kind
    /// The conversation that the mention belongs to.
    package var thread: Int
    /// Whether the bot owes an answer: a friend's mention within the caps.
    package var deservesReply = false
}
