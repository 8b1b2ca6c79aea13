package import Networks
import Posts

/// The operator's permissions and limits for X, where rules are strict and calls cost money.
package struct XConfiguration: Sendable {
    /// The operator knows what the rules of X say about mirrors, and wants to publish.
    package var mayPublish: Bool
    /// The budget for all calls of a calendar month in UTC.
    package var monthlyBudget: Money
    /// Posts of home timelines to pay for on a day in UTC; 0 leaves them alone.
    package var homePostsPerDay: Int
    /// The role whose account owns the developer application: that account reads its own posts,
    /// mentions and favorites for less.
    package var appOwner: AccountRole?
    /// How request parameters are spelled.
    package var fieldNames: XFieldNames

    /// The maximum cost of home timelines per day.
    package var homeShare: Money {
        XPrices.current.price(ofReading: homePostsPerDay, from: .home, fieldNames: fieldNames)
    }

    /// The settings that the costs depend on, beside how much is posted, as `NAME=value`.
    package var assumptions: [String] {
        [
            "\(Setting.xHomePosts.name)=\(homePostsPerDay)",
            "\(Setting.xAppOwner.name)=\(appOwner?.rawValue ?? "none")",
        ]
    }

    init(_ values: SettingValues) {
        mayPublish = values.text(.acknowledgeXPolicy) == "yes"
        monthlyBudget = values.text(.xBudget).flatMap { Money(dollars: $0) } ?? .zero
        homePostsPerDay = values.integer(.xHomePosts)
        appOwner = values.text(.xAppOwner).flatMap { AccountRole(rawValue: $0) }
        fieldNames = values.text(.xFieldNames).flatMap { XFieldNames(rawValue: $0) } ?? .tweet
    }
}
