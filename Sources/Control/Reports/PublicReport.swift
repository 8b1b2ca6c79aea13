import Favorites
package import Foundation
package import Mirroring
import Outbox
import Posts
import Schedule
import Settings

/// The public facts of a mirror: its kind, permissions and stored data, but not its current work.
package struct PublicReport: Codable, Equatable, Sendable {
    /// One of the two accounts.
    package struct Face: Codable, Equatable, Sendable {
        /// The handle, with `@`.
        package let name: String
        /// The account's web page; nil if unknown.
        package let page: String?
    }

    /// How favorites are given.
    package enum FavoriteRule: String, Codable, Sendable {
        case none, approved, automatic
    }

    package private(set) var schema = "mirror-bot/public/1"
    package let mirror: String
    /// The human's account; nil while none is known.
    package let human: Face?
    /// The bot's account; nil while none is known.
    package let bot: Face?
    /// The display name of the bot's network.
    package let network: String
    /// Whether the human's profile names the bot, or links to it; nil if it was not checked.
    package let humanNamesBot: Bool?
    /// Whether the bot's profile names the human; nil if it was not checked.
    package let botNamesHuman: Bool?
    /// Whether the human's own account agreed to the mirror.
    package let isAgreedByHuman: Bool
    /// Whether the human stopped the mirror, and no consent was recorded since.
    package let isStopped: Bool
    /// Whether a mention can be visible to the bot only.
    package let hasPrivateMentions: Bool
    /// The interval of polls of the mentions, in seconds.
    package let readsEvery: TimeInterval
    /// The most posts a day; 0 if the bot only answers.
    package let postsPerDay: Int
    /// The least age of a repeated post, in days.
    package let minimumAgeDays: Int
    /// The most replies to one person a day.
    package let repliesPerPerson: Int
    package let areRepliesApproved: Bool
    package let arePostsApproved: Bool
    package let favorites: FavoriteRule
    /// The most favorites a day.
    package let favoritesPerDay: Int
    /// The most posts of the human that are stored.
    package let archiveLimit: Int
    /// The number of days for which posts of others are stored.
    package let exampleDays: Int
    /// The number of days for which decisions are stored.
    package let historyDays: Int
    /// The operator's contact: a mail address, a URL or a handle; nil if none is set.
    package let contact: String?
}

extension PublicReport {
    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - record: The record of the mirror.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, _ record: MirrorRecord) async throws {
        let configuration = mirror.configuration
        let examined = try await mirror.lastFindings()?.findings ?? []
        func hasPassed(_ subject: String) -> Bool? {
            let findings = examined.filter { $0.subject == subject }
            return findings.isEmpty ? nil : findings.contains { $0.verdict == .ok }
        }
        func face(_ handle: String?, _ role: AccountRole) -> Face? {
            handle.map {
                Face(name: "@\($0)", page: configuration.network(of: role).traits.profilePage($0))
            }
        }
        self.mirror = mirror.name
        human = face(record.humanHandle, .human)
        bot = face(record.botHandle, .bot)
        network = configuration.botNetwork.displayName
        humanNamesBot = hasPassed("link")
        botNamesHuman = hasPassed("profile")
        isAgreedByHuman = record.consent?.isByAccount == true
        isStopped = record.stopped != nil
        hasPrivateMentions = configuration.botNetwork.traits.hasPrivateMentions
        readsEvery =
            Cadence(
                poll: configuration.pollInterval, human: configuration.humanNetwork,
                bot: configuration.botNetwork
            ).mentions.timeInterval
        postsPerDay = configuration.schedule.maximumPerDay
        minimumAgeDays = configuration.minimumAgeDays
        repliesPerPerson = configuration.repliesPerPerson
        arePostsApproved = configuration.review.contains(.post)
        areRepliesApproved = configuration.review.contains(.reply)
        let isApproved = configuration.review.contains(.favorite)
        favorites =
            switch configuration.favoriteMode {
            case .off: .none
            case .suggest: .approved
            case .auto: isApproved ? .approved : .automatic
            }
        favoritesPerDay = configuration.favoritesPerDay
        archiveLimit = configuration.archiveLimit
        historyDays = configuration.historyDays
        exampleDays = configuration.favorites.maximumAgeDays
        contact = configuration.operatorContact
    }
}
