import Foundation
import Posts

/// What the requests cost by X's price list of April 2026.
struct XBilling: Sendable {
    /// In millionths of a US dollar.
    enum Price {
        static let postRead = 5_000
        static let userRead = 10_000
        static let favoriteRead = 1_000
        static let ownedRead = 1_000
        static let post = 15_000
        static let postWithLink = 200_000
        static let summonedReply = 10_000
        static let interaction = 15_000
        static let removal = 10_000
    }

    /// What has been paid for on the present day; the same thing is billed once a day.
    private var billed: Set<String> = []
    private var day = 0
    private var month = ""
    private(set) var postReadsThisMonth = 0
    /// When a person was last told that credits or the month's reads are used up.
    private var told: [Int: Date] = [:]

    /// How long somebody who was told must not ask again, in seconds.
    private static let patience = 3_600.0
    /// Requests that were on their way already, in seconds.
    private static let grace = 60.0

    /// Begins a new day or month of the server's clock, in UTC.
    mutating func begin(_ clock: Date) {
        let today = Int((clock.timeIntervalSince1970 / 86_400).rounded(.down))
        if today != day {
            day = today
            billed = []
        }
        let thisMonth = String(clock.rfc3339.prefix(7))
        if thisMonth != month {
            month = thisMonth
            postReadsThisMonth = 0
        }
    }

    /// The price of things that were read, without those already paid for today.
    mutating func read(posts: [SandboxPost], users: [Int], price: Int) -> Int {
        var sum = 0
        for post in posts where billed.insert("post \(post.id)").inserted {
            sum += price
            postReadsThisMonth += 1
        }
        for user in users where billed.insert("user \(user)").inserted { sum += Price.userRead }
        return sum
    }

    /// Whether somebody who is told that there is no more could not know it yet.
    mutating func tell(_ person: Int, at clock: Date) -> Bool {
        guard let first = told[person], clock.timeIntervalSince(first) < Self.patience else {
            told[person] = clock
            return true
        }
        return clock.timeIntervalSince(first) <= Self.grace
    }
}
