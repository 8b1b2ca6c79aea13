package import Archive
import Conduct
package import Networks
package import Posts

/// Filters the posts of others that the classifier may learn from: public posts of people who did
/// not opt out.
package struct Learnable: Sendable {
    let people: People
    /// The accounts of human and bot.
    let own: Set<AccountID>
    /// Called with a person from whom nothing may be learned any more.
    var onOptOut: @Sendable (AccountID, String) async throws -> Void = { _, _ in }

    /// - Parameters:
    ///   - people: The stored stances of people.
    ///   - own: The accounts of human and bot.
    ///   - onOptOut: Called with a person from whom nothing may be learned any more.
    package init(
        people: People, own: Set<AccountID>,
        onOptOut: @escaping @Sendable (AccountID, String) async throws -> Void = { _, _ in }
    ) {
        self.people = people
        self.own = own
        self.onOptOut = onOptOut
    }

    /// - Parameters:
    ///   - items: Posts as a network returned them.
    ///   - known: The stances of their authors, if they were already read.
    /// - Returns: The posts that may be learned.
    /// - Throws: The store's error.
    package func among(
        _ items: [ObservedPost], _ known: [AccountID: People.Stance]? = nil
    ) async throws -> [ObservedPost] {
        let candidates = items.filter { item in
            !item.post.isRepost && item.post.isOpen && !own.contains(item.author.id)
                && !OptOut.isOptedOut(item.author)
        }
        let stances =
            if let known { known } else {
                try await people.stances(of: candidates.map(\.author.id))
            }
        // A denied person may have been learned from before their names were known, or at the same
        // time as the denial.
        for author in items.map(\.author)
        where OptOut.isOptedOut(author) || stances[author.id] == .deny {
            try await onOptOut(author.id, author.handle)
        }
        return candidates.filter { stances[$0.author.id] != .deny }
    }
}
