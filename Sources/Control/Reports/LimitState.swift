import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Schedule
import Settings

/// A limit of the bot's actions, and its present use.
package struct LimitState: Codable, Equatable, Sendable {
    /// The kind of action that is limited.
    package enum What: String, Codable, CaseIterable, Sendable {
        /// The number of favorites on the local day.
        case favorites
        /// The highest number of replies to one person on the local day.
        case repliesToOnePerson = "replies-to-one-person"
        /// The number of posts on the local day.
        case posts
        /// The number of deletions of posts and replies within a period of the network.
        case deletions
        /// The number of withdrawals of favorites within a period of the network.
        case withdrawals
    }

    package let what: What
    package let used: Int
    package let limit: Int
    /// The length of the period, in seconds; nil for the local day.
    package let period: Int?
    /// The person who got the most replies; `nil` for nobody, and for other limits.
    package let person: ReportedPerson?
    /// The setting of the limit; nil for a limit of the network.
    package let setting: String?
}

extension HumanMirror {
    /// Returns the limits of the bot's actions with their present use.
    ///
    /// - Parameters:
    ///   - account: The bot's account; nil if there is none, so that its network's limits are
    ///     unknown.
    ///   - posts: The number of posts that were sent today.
    /// - Throws: The store's error.
    func limits(of account: AccountConfiguration?, posts: Int, since midnight: Date, now: Date)
        async throws
        -> [LimitState]
    {
        // For an unusable account or server, the limits of the network are unknown.
        let capabilities = account.flatMap { try? network(for: $0) }?.capabilities
        let deletions = capabilities?.deletionPace
        let withdrawals = capabilities?.unfavoritePace
        let used = try await outbox(lease: nil).limitUses(
            since: midnight, deletedSince: deletions.map { now - $0.period } ?? now,
            withdrawnSince: withdrawals.map { now - $0.period } ?? now)
        var person: ReportedPerson?
        if let mostAnswered = used.mostAnswered, !mostAnswered.isForgotten {
            person = ReportedPerson(
                account: mostAnswered.reference,
                name: try await names(of: [mostAnswered])[mostAnswered] ?? mostAnswered.value)
        }
        func daily(_ what: LimitState.What, used: Int, limit: Int, setting: String)
            -> LimitState
        {
            LimitState(
                what: what, used: used, limit: limit, period: nil,
                person: what == .repliesToOnePerson ? person : nil, setting: setting)
        }
        func paced(_ what: LimitState.What, used: Int, pace: Pace?) -> LimitState? {
            pace.map {
                LimitState(
                    what: what, used: used, limit: $0.count, period: Int($0.period), person: nil,
                    setting: nil)
            }
        }
        return [
            daily(
                .favorites, used: used.favorites, limit: configuration.favoritesPerDay,
                setting: Setting.favoritesPerDay.name),
            daily(
                .repliesToOnePerson, used: used.repliesToOnePerson,
                limit: configuration.repliesPerPerson, setting: Setting.repliesPerPerson.name),
            daily(
                .posts, used: posts, limit: configuration.schedule.maximumPerDay,
                setting: Setting.maxPerDay.name),
        ]
            + [
                paced(.deletions, used: used.deletions, pace: deletions),
                paced(.withdrawals, used: used.withdrawals, pace: withdrawals),
            ].compactMap(\.self)
    }
}
