package import Networks
import Posts

/// What the operator allows on X, where rules are strict and calls cost money.
package struct XConfiguration: Sendable {
    /// The operator knows what the rules of X say about mirrors, and wants to publish.
    package var mayPublish: Bool
    /// What all calls of a calendar month in UTC may cost.
    package var monthlyBudget: Money
    /// Posts of home timelines to pay for on a day in UTC; 0 leaves them alone.
    package var homePostsPerDay: Int
    /// Whose account owns the developer application: it reads its own posts, mentions and favorites for less.
    package var appOwner: AccountRole?
    /// How request parameters are spelled.
    package var fieldNames: XFieldNames

    /// What home timelines may cost on a day.
    var homeShare: Money {
        XPrices.current.price(ofReading: homePostsPerDay, from: .home, fieldNames: fieldNames)
    }

    init(_ values: SettingValues) {
        mayPublish = values.text("X_ACKNOWLEDGE_POLICY") == "yes"
        monthlyBudget = values.text("X_BUDGET_USD_PER_MONTH").flatMap { Money(dollars: $0) } ?? .zero
        homePostsPerDay = values.integer("X_HOME_POSTS_PER_DAY")
        appOwner = values.text("X_APP_OWNER").flatMap { AccountRole(rawValue: $0) }
        fieldNames = values.text("X_FIELD_NAMES").flatMap { XFieldNames(rawValue: $0) } ?? .tweet
    }
}
