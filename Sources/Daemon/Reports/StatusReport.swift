package import Foundation
package import Outbox
package import Posts

/// What a mirror knows, did and waits for.
package struct StatusReport: Codable, Sendable {
    /// One of the two accounts.
    package struct AccountState: Codable, Sendable {
        package var role: AccountRole
        package var network: NetworkName
        /// As it was when the account was last verified.
        package var handle: String?
        /// Where the credentials come from; nil without any.
        package var credentials: AccountOrigin?
    }

    /// What calls on X have cost this month, in US dollars.
    package struct SpendingState: Codable, Sendable {
        /// As `2026-11`, in UTC.
        package var month: String
        package var budget: Double
        package var spent: Double
        package var left: Double
        /// What it was spent on, such as `home` or `publish`.
        package var byPurpose: [String: Double]
        package var renews: Date

        init(_ spending: Spending) {
            month = spending.month
            (budget, spent, left) = (spending.budget.dollars, spending.total.dollars, spending.left.dollars)
            byPurpose = spending.byPurpose.mapValues(\.dollars)
            renews = spending.renews
        }
    }

    /// The archive of posts.
    package struct ArchiveState: Codable, Sendable {
        package var posts: Int
        package var limit: Int
        package var oldest: Date?
        package var newest: Date?
    }

    /// The classifier's training.
    package struct ClassifierState: Codable, Sendable {
        package var favorites: Int
        package var normals: Int
        package var seen: Int
        /// Counts kept, one for each feature and category; nil if they cannot be read.
        package var counts: Int?
        /// Why favorites wait; nil when they do not.
        package var waiting: String?
    }

    /// One of the last actions.
    package struct Recent: Codable, Sendable {
        package var id: String
        package var kind: ActionKind
        package var state: ActionState
        package var at: Date
        package var reason: String?
        package var text: String?
        package var why: String?
    }

    package var schema = "mirror-bot/status/1"
    package var mirror: String
    package var storage: String
    package var human: String?
    package var bot: String?
    package var accounts: [AccountState] = []
    /// Nil unless one of the accounts is on X.
    package var spending: SpendingState?
    package var timeZone: String?
    package var archive: ArchiveState
    /// Nil when the dictionary or the counts cannot be reached; `idle` says why.
    package var classifier: ClassifierState?
    /// Favorites and other actions that wait for a person.
    package var suggestions = 0
    package var today: LocalDay?
    package var slots: [PlanReport.Slot]
    package var nextSlot: Date?
    package var recent: [Recent]
    /// Whether a worker holds the mirror now.
    package var isRunning: Bool
    /// How well each feed is heard.
    package var feeds: [FeedHealth] = []
    /// Why the bot does not do one of the things it could do, a sentence each.
    package var idle: [String]
}
