package import Posts

/// Somebody's posts in two parts: those to learn from, and the later ones that what was learned must tell.
///
/// The cut is where four fifths of the posts, in the order of time, are
/// over. No day is split: the day of the first post of the last fifth is
/// held out as a whole, so that the last day to learn from is a complete one.
package struct HeldOutSplit: Equatable, Sendable {
    /// With fewer posts every measure is chance.
    package static let minimumPosts = 20
    /// More days than this between two posts are not believed; as many are looked at when posts of a day are counted.
    package static let maximumDays = 36_524

    /// The posts of the days before ``firstDay``, in the given order.
    package let training: [PostingTime]
    /// All other posts.
    package let testing: [PostingTime]
    /// The first day that is held out.
    package let firstDay: LocalDay
    /// The day of the last post.
    package let lastDay: LocalDay

    /// - Parameter times: The posts in the order in which they were made.
    /// - Throws: ``TooFewPosts`` if one of the two parts would tell nothing.
    package init(_ times: [PostingTime]) throws(TooFewPosts) {
        guard times.count >= Self.minimumPosts, let first = times.map(\.day).min(), let last = times.map(\.day).max()
        else {
            let posts = times.count == 1 ? "there is 1 post" : "there are \(times.count) posts"
            throw TooFewPosts("\(posts); at least \(Self.minimumPosts) are needed")
        }
        guard last.days(since: first) <= Self.maximumDays else {
            throw TooFewPosts("\(first) and \(last) are more than a hundred years apart; one of them must be wrong")
        }
        let cut = times[times.count * 4 / 5].day
        training = times.filter { $0.day < cut }
        testing = times.filter { $0.day >= cut }
        firstDay = cut
        lastDay = last
        guard !training.isEmpty else {
            throw TooFewPosts(
                "four fifths of the posts are of the first day, \(first), so there is no day to learn from")
        }
    }

    /// The last day to learn from: what is planned for a held-out day knows nothing of later ones.
    package var asOf: LocalDay { firstDay.advanced(by: -1) }

    /// The number of days that are held out, those without posts included.
    package var dayCount: Int { lastDay.days(since: firstDay) + 1 }

    /// The days of the period before the held-out days: as many of them, or as many as there are.
    package var precedingDays: [LocalDay] {
        let known = training.map(\.day).min().map(firstDay.days(since:)) ?? 0
        return (1...max(1, min(dayCount, known))).reversed().map { firstDay.advanced(by: -$0) }
    }
}
