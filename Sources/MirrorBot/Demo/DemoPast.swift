import Archive
import Foundation
import Mirroring
import Posts
import Sandbox
import Schedule

/// The past of the demo's human, before the first day of the demo.
struct DemoPast {
    let posts: Int
    let oldest: Date
    let newest: Date
    var zone: DemoZone
    /// The first instant of the first day.
    let origin: Date
    /// The handles of the people whom the human has answered most.
    let friends: [String]
    /// The human's own posts, from which the sandbox chooses the language of its people; nil for
    /// the sample.
    let humanPosts: [Post]?
}

extension DemoPast {
    /// - Parameters:
    ///   - archive: The human's posts.
    ///   - posts: The number of posts read.
    ///   - zone: The human's time zone.
    ///   - isSample: Whether the archive is the sample's, and not a download.
    ///   - origin: The first instant of the run; nil for the day after the newest post.
    ///   - friendsAtMost: The most people from the archive who live in the sandbox.
    /// - Throws: ``CommandError`` for an archive without public posts; the store's error.
    init(
        archive: Archive, posts: Int, zone: DemoZone, isSample: Bool, origin: Date?,
        friendsAtMost: Int
    ) async throws {
        guard let span = try await archive.span() else {
            throw CommandError(
                .badData, "could not run the demo: the archive holds no public posts")
        }
        self.posts = posts
        self.zone = zone
        oldest = span.oldest
        newest = span.newest
        let nextDay = LocalTime(span.newest, in: zone.zone).day.advanced(by: 1)
        self.origin = origin ?? LocalDayMinutes(nextDay, in: zone.zone).start ?? span.newest
        friends = try await archive.repliedAuthors(limit: friendsAtMost).map(\.author.value)
        humanPosts = isSample ? nil : try await archive.standalonePosts().suffix(400)
    }

    /// Returns the world of the sandbox in which the demo takes place.
    ///
    /// The sample's human lives in this world. The owner of a downloaded archive does not, because
    /// the posts and likes that the sandbox invents are not theirs.
    func world(seed: UInt64, days: Int, network: NetworkName) -> SandboxWorld {
        var configuration = SandboxWorld.Configuration(
            seed: seed, origin: origin, days: days, timeZone: zone.zone, friends: friends,
            humanPosts: humanPosts)
        configuration.botNetwork = network
        configuration.sampleOffset = zone.zone.offset(at: origin)
        configuration.isHumanPresent = humanPosts == nil
        return SandboxWorld(configuration: configuration)
    }

    /// The human's name for a downloaded past; no person in the sandbox has it.
    private static let ownName = "you@\(SamplePeople.host)"

    /// Moves a post of a downloaded archive into the sandbox, with pseudonyms made from the ids of
    /// its people.
    @Sendable static func adopt(_ post: Post) -> Post {
        var adopted = post
        adopted.id = PostID(
            network: .usual, value: "https://\(SamplePeople.host)/archive/\(post.id.value)")
        adopted.author = AccountID(network: .usual, value: ownName)
        adopted.replyTo = post.replyTo.map { target in
            ReplyTarget(
                author: target.author.map { author in Self.adopt(author, human: post.author) })
        }
        adopted.mentions = []
        adopted.address = nil
        return adopted
    }

    private static func adopt(_ author: AccountID, human: AccountID) -> AccountID {
        guard author != human else { return AccountID(network: .usual, value: ownName) }
        let name = author.value.split(separator: "@").first.map(String.init) ?? author.value
        let plainName = name.lowercased().filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")
        }
        return AccountID(network: .usual, value: "friend_\(plainName)@\(SamplePeople.host)")
    }
}

/// The time zone of a demo, and why it was chosen.
struct DemoZone {
    let zone: TimeZone
    /// The reason why the zone is only assumed; nil if it was given.
    var assumption: String?

    /// Zones without daylight saving time, from 11 hours west to 12 hours east.
    private static let zones = [
        "Pacific/Pago_Pago", "Pacific/Honolulu", "Pacific/Gambier", "Pacific/Pitcairn",
        "America/Phoenix",
        "America/Costa_Rica", "America/Panama", "America/Puerto_Rico", "America/Sao_Paulo",
        "Atlantic/South_Georgia",
        "Atlantic/Cape_Verde", "Atlantic/Reykjavik", "Africa/Lagos", "Africa/Johannesburg",
        "Africa/Nairobi",
        "Asia/Dubai", "Asia/Karachi", "Asia/Dhaka", "Asia/Bangkok", "Asia/Singapore", "Asia/Tokyo",
        "Australia/Brisbane", "Pacific/Noumea", "Pacific/Tarawa",
    ]
    /// The local hour at which a demo is tried, so that most of the day is still to come.
    private static let morningHour = 6

    /// Returns the zone in which it is between six and seven in the morning.
    static func earlyMorning(at now: Date) -> TimeZone {
        let hour = LocalTime(now, in: .gmt).minute.value / 60
        // 11 is the index of the zone with the offset of UTC; 24 prevents a negative remainder.
        let index = (morningHour - hour + 11 + 24) % 24
        return TimeZone(identifier: zones[index]) ?? .gmt
    }

    /// Returns a zone for an archive that names none: a guess from its quiet hours, or else this
    /// machine's zone.
    ///
    /// - Throws: The store's error.
    static func assumed(from archive: Archive) async throws -> DemoZone {
        let guess = TimeZoneGuess(minuteCounts: try await archive.quietHoursGuess())?.candidates
            .first
        guard let example = guess?.example, let zone = TimeZone(identifier: example) else {
            return DemoZone(zone: .current, assumption: "this machine's")
        }
        return DemoZone(zone: zone, assumption: "from the hours without posts")
    }
}
