import Archive
import Favorites
package import Mirroring
package import Outbox
package import Posts

extension HumanMirror {
    /// The handles of accounts, without `@`, as far as the mirror knows them.
    ///
    /// Networks identify people by numbers and DIDs. Handles are known from people in contact, from
    /// decisions, from learned posts and from the human's own posts, in this order; later sources
    /// are read only if needed.
    ///
    /// - Returns: The handles by account; no entry for an account without a known handle.
    /// - Throws: The store's error.
    package func handles(of accounts: [AccountID]) async throws -> [AccountID: String] {
        var handles: [AccountID: String] = [:]
        var unknown: [AccountID] = []
        // The identity of a forgotten account begins with `#`, and has no handle.
        for account in Set(accounts) where !account.value.hasPrefix("#") {
            if account.network.traits.namesAreIdentities {
                handles[account] = account.value
            } else {
                unknown.append(account)
            }
        }
        func take(_ newHandles: [AccountID: String]) {
            handles.merge(newHandles) { known, _ in known }
            unknown.removeAll { handles[$0] != nil }
        }
        if !unknown.isEmpty { take(try await people.handles(of: unknown)) }
        if !unknown.isEmpty { take(try await outbox(lease: nil).handles(of: unknown)) }
        if !unknown.isEmpty {
            take(try await Favorites.handles(of: unknown, learnedBy: name, in: storage))
        }
        for account in unknown { handles[account] = try await archive.nameInAnswers(to: account) }
        return handles
    }

    /// Returns the handle of each person, with `@`; the identity if no handle is known.
    ///
    /// - Throws: The store's error.
    func names(of people: [AccountID]) async throws -> [AccountID: String] {
        let handles = try await handles(of: people)
        return Dictionary(people.map { id in (id, handles[id].map { "@\($0)" } ?? id.value) }) {
            first, _ in first
        }
    }

    /// Returns the person of each action, by the action's id; no entry for an action without a
    /// person, or for a forgotten one.
    ///
    /// - Throws: The store's error.
    package func persons(of actions: [Action]) async throws -> [String: ReportedPerson] {
        let names = try await names(
            of: actions.compactMap { $0.target?.name == nil ? $0.target?.author : nil })
        return Dictionary(
            actions.compactMap { action in
                guard let target = action.target, !target.author.isForgotten else { return nil }
                let name =
                    target.name.map { "@\($0)" } ?? names[target.author] ?? target.author.value
                return (action.id, ReportedPerson(account: target.author.reference, name: name))
            }
        ) { first, _ in first }
    }
}
