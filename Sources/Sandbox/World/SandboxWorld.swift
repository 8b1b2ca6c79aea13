package import Foundation
package import Posts

/// Everybody in the sandbox and everything they do, except for the bot.
///
/// The whole script follows from the configuration: the same seed gives the
/// same world. It begins some weeks before `origin`, so that an account has a
/// past to read back, and ends `days` days after it. Only what answers the
/// bot depends on what the bot does.
package struct SandboxWorld: Sendable {
    /// The values that a world is made from.
    package struct Configuration: Sendable {
        package var seed: UInt64
        /// When the run begins; what happens before is the past.
        package var origin: Date
        /// How long the run lasts; at least one day.
        package var days: Int
        /// Where the human lives: people are awake in its daytime, and a day of the caps is a day
        /// of it.
        package var timeZone: TimeZone
        /// Where the bot lives; the people who mention it keep to what that network has.
        package var botNetwork = NetworkName.mastodon
        /// How many mentions of the bot friends write on a full day, besides the few conversations
        /// that run into the caps; nil for the few that each friend writes by chance.
        ///
        /// They take turns, so that the caps silence hardly any of them as long as there are half
        /// as many friends. Every friend also writes three posts a day.
        package var mentionsPerDay: Double?
        /// People mention the bot and post at any hour, where otherwise they sleep at night.
        package var isAwakeAtNight = false
        /// How many answers a person may get on one day before more are too many.
        package var repliesPerPersonAndDay = 3
        /// How many answers a conversation may get before more are too many.
        package var repliesPerThread = 5
        /// `user@host`, or `user` of the sandbox, of those the human has answered before.
        package var friends: [String]
        /// The human's posts before the run; nil stands for the sample archive of as many people as
        /// there are friends.
        ///
        /// A reply is kept where its author is the Mastodon account of somebody in the sandbox;
        /// other replies and reposts are left out. An archive of another network therefore needs
        /// its people renamed to `friends` first.
        package var humanPosts: [Post]?
        /// Posts of the human's from before ``humanPosts``, which are shown to who asks for one of
        /// them and are in no list, so that lists stay short.
        package var olderPosts: [Post] = []
        /// Seconds east of UTC by which the human of the sample archive lives.
        package var sampleOffset = SampleArchive.offset
        /// False for a human whose past is only known from elsewhere: here they wrote nothing,
        /// write nothing, and favorite nothing.
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
    /// In the order of time; events of the same instant in the order they were written.
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

    /// When the run ends.
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
    /// A world in which much is said to the bot, at any hour.
    ///
    /// The human's past is `SampleArchive(endingAt: origin, people: people)`: that archive's lines
    /// are what a mirror of this world is trained with.
    ///
    /// - Parameters:
    ///   - seed: Another seed makes another world.
    ///   - origin: When the run begins.
    ///   - days: How long it lasts.
    ///   - timeZone: Where the human lives.
    ///   - network: Where the bot lives.
    ///   - people: How many people the human has answered, those of the sample included.
    ///   - mentionsPerDay: How often they mention the bot.
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

    /// When the run ends.
    package var end: Date { origin.addingTimeInterval(Double(days) * 86_400) }
}

/// Something that happens in the sandbox without the bot's doing.
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

    /// Names the post within the script.
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
    /// The number of the post that this one repeats.
    var repostOf: Int?
    /// Whether the human favorites posts like this; decided once for each post.
    var isLoved = false
    var mention: SandboxMention?
    /// The id that the post must get, where an archive already names it.
    var id: Int64?
}

/// How a post calls on the bot.
package struct SandboxMention: Equatable, Sendable {
    /// Why a mention deserves an answer or not.
    package enum Kind: String, CaseIterable, Sendable {
        /// By somebody the human has answered.
        case friend
        /// By somebody the human has never answered.
        case stranger
        case automated
        case optedOut
        /// The request to be left alone.
        case stop
        /// By somebody who has asked the bot to stop.
        case afterStop
        /// From before the run began.
        case past
    }

    package var kind: Kind
    /// The conversation that the mention belongs to.
    package var thread: Int
    /// Whether the bot owes an answer: a friend's mention within the caps.
    package var deservesReply = false
}
