package import Networks
import Posts
import X

/// The operator's permissions and limits for X, where rules are strict and calls cost money.
package struct XConfiguration: Sendable {
    /// Whether the operator confirms that they know X's rules about mirrors and want to publish.
    package var mayPublish: Bool
    /// The budget for all calls of a calendar month in UTC.
    package var monthlyBudget: Money
    /// The budget of home timeline posts for a day in UTC; 0 for none.
    package var homePostsPerDay: Int
    /// The role whose account owns the developer application, which reads its own posts, mentions
    /// and favorites at a lower price.
    package var appOwner: AccountRole?

    /// The maximum cost of home timelines per day.
    package var homeShare: Money {
        XPrices.current.price(ofReading: homePostsPerDay, from: .home)
    }

    /// The settings that the costs depend on, apart from the number of posts, as `NAME=value`.
    package var assumptions: [String] {
        [
            "\(Setting.xHomePosts.name)=\(homePostsPerDay)",
            "\(Setting.xAppOwner.name)=\(appOwner?.rawValue ?? "none")",
        ]
    }

    init(_ values: SettingValues) {
        mayPublish = values[.acknowledgeXPolicy]
        monthlyBudget = values[.xBudget]
        homePostsPerDay = values[.xHomePosts]
        appOwner = values[.xAppOwner]
    }
}
