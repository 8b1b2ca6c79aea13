import Archive
import Favorites
import Foundation
import Localization
import Mirroring
import Outbox
package import Posts
import Settings

extension People {
    /// The stored reason of a stance that the operator set.
    fileprivate static let byOperator = "operator"
}

extension PersonOperation where Outcome == StanceChange {
    /// Returns the present stance if an operator has already set `stance` for this very account or
    /// server; `nil` if not.
    ///
    /// - Parameter stance: `deny`, or `allow`, which for a server means that it is not denied.
    fileprivate func outcomeIfSet(_ stance: People.Stance, of text: String, at desk: Desk)
        async throws
        -> StanceChange?
    {
        let mirror = desk.mirror
        switch try await NamedPeople(text, in: mirror) {
        case .person(let person):
            guard let record = try await mirror.people.person(person), record.stance == stance,
                record.reason == People.byOperator
            else { return nil }
            return .person(try await PersonChange(of: person, by: mirror))
        case .server(let server):
            guard try await mirror.people.deniedServers().contains(server) == (stance == .deny)
            else { return nil }
            let count = try await mirror.people.metPeople(on: .usual).filter(server.covers).count
            return .server(
                try await ServerChange(of: server, by: mirror, isNew: false, known: count))
        }
    }
}

/// Denies a person, or all people on a server, and unlearns their posts.
package struct DenyPeople: PersonOperation {
    package static let name = "people-deny"
    /// The origin of a request that is not the operator's.
    package enum Wish: String, Codable, Sendable {
        /// The person's own request, as if they had said "stop" to the bot.
        case stop = "asked-to-stop"
    }

    /// An account as a person types it, or `*@host`.
    package var account: String
    /// The origin of the request; nil for the operator's request, and for a server.
    package var wish: Wish?

    package init(account: String, wish: Wish? = nil) {
        self.account = account
        self.wish = wish
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> StanceChange {
        switch try await NamedPeople(account, in: desk.mirror) {
        case .person(let person): .person(try await deny(person, at: desk, seen: seen))
        case .server(let server): .server(try await deny(server, at: desk, seen: seen))
        }
    }

    package func outcomeIfDone(at desk: Desk) async throws -> StanceChange? {
        try await outcomeIfSet(.deny, of: account, at: desk)
    }

    private func deny(_ person: AccountID, at desk: Desk, seen: Seen?) async throws -> PersonChange
    {
        let mirror = desk.mirror
        let isKnown = try await mirror.knows(person)
        try await mirror.people.set(
            .deny, for: person, reason: wish?.rawValue ?? People.byOperator, seen: seen,
            at: desk.now)
        let unlearned = try await mirror.forgetLearning(of: person, now: desk.now)
        let underWay = try await mirror.waitForRequests(to: [person])
        return try await PersonChange(
            of: person, by: mirror, isKnown: isKnown, unlearned: unlearned, left: underWay,
            wayBack: .allowing(person.reference))
    }

    /// Denies a server; `People.stance(of:)` applies this to each person on it.
    private func deny(_ server: ServerName, at desk: Desk, seen: Seen?) async throws -> ServerChange
    {
        let mirror = desk.mirror
        let people = mirror.people
        try NamedPeople.requireServers(of: mirror)
        let isNew = try await people.deny(server, seen: seen, at: desk.now)
        let peopleOnServer = try await people.metPeople(on: .usual).filter(server.covers)
        let unlearned = try await mirror.unlearn(server, peopleOnServer, now: desk.now)
        let stances = try await people.stances(of: Array(peopleOnServer))
        let allowed = Set(stances.filter { $0.value == .allow }.keys)
        // The server is compared too, because an answer to a person of whom nothing is stored yet
        // may be in flight.
        var denied: Set<AccountID> = []
        for person in peopleOnServer.subtracting(allowed) {
            denied.formUnion(try await people.linked(to: person))
        }
        let underWay = try await InFlightWait(mirror: mirror).wait { [denied] action in
            guard let author = action.target?.author, !allowed.contains(author) else {
                return false
            }
            return denied.contains(author) || server.covers(author)
        }
        return try await ServerChange(
            of: server, by: mirror, isNew: isNew, known: peopleOnServer.count, allowed: allowed,
            unlearned: unlearned,
            left: underWay.map(LeftAction.init),
            wayBack: isNew ? .allowing(server.reference) : nil)
    }
}

extension HumanMirror {
    /// Unlearns the posts of denied people on a server, and of the accounts that are linked to
    /// theirs.
    ///
    /// - Returns: The number of these posts.
    fileprivate func unlearn(_ server: ServerName, _ peopleOnServer: Set<AccountID>, now: Date)
        async throws
        -> Int
    {
        var names: [AccountID: Set<String>] = [:]
        let human = try await humanHost()
        let bot = try await botHost()
        let host = human ?? bot ?? ""
        for author in try await Favorites.authors(on: .usual, of: name, in: storage) {
            guard
                let id = author.id
                    ?? author.name.map({ AccountID(name: $0, localHost: host, on: .usual) }),
                server.covers(id)
            else { continue }
            names[id, default: []].formUnion([author.name].compactMap(\.self))
        }
        let learned = Array(peopleOnServer.union(names.keys))
        let stances = try await people.stances(of: learned)
        var unlearned = 0
        for person in learned where stances[person] == .deny {
            // If no example of the person is stored, only the linked accounts are unlearned.
            for account in try await people.linked(to: person)
            where account != person || names[person] != nil {
                let called = try await self.names(of: account).union(names[account] ?? [])
                unlearned += try await forgetLearning(of: account, called: called, now: now)
            }
        }
        return unlearned
    }
}

/// Allows a person, or lifts the denial of a server; the stances on single people on that server
/// stay.
package struct AllowPeople: PersonOperation {
    package static let name = "people-allow"
    /// An account as a person types it, or `*@host`.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> StanceChange {
        let mirror = desk.mirror
        let people = mirror.people
        switch try await NamedPeople(account, in: mirror) {
        case .person(let person):
            let isKnown = try await mirror.knows(person)
            let before = try await people.person(person)?.stance
            let wasForgotten = try await people.readmit(person, seen: seen)
            try await people.set(.allow, for: person, reason: People.byOperator, at: desk.now)
            return .person(
                try await PersonChange(
                    of: person, by: mirror, isKnown: isKnown, wasForgotten: wasForgotten,
                    wayBack: before == .deny ? .denying(person.reference) : nil))
        case .server(let server):
            let isNew = try await people.lift(server, seen: seen)
            let count = try await people.metPeople(on: .usual).filter(server.covers).count
            return .server(
                try await ServerChange(
                    of: server, by: mirror, isNew: isNew, known: count,
                    wayBack: isNew ? .denying(server.reference) : nil))
        }
    }

    package func outcomeIfDone(at desk: Desk) async throws -> StanceChange? {
        try await outcomeIfSet(.allow, of: account, at: desk)
    }
}

/// Links two accounts as one person; the stance on one of them then applies to all.
package struct LinkPeople: PersonOperation {
    package static let name = "people-link"
    package var first: String
    package var second: String
    /// Whether the person agreed to the link; nil for no.
    package var consented: Bool?

    package init(first: String, second: String, consented: Bool? = nil) {
        self.first = first
        self.second = second
        self.consented = consented
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonChange {
        let mirror = desk.mirror
        let book = try await PeopleBook(mirror: mirror)
        let first = try book.account(first)
        let second = try book.account(second)
        guard first != second else {
            throw ChangeRefusal(.unusable, localized("both are the same account"))
        }
        if consented != true, let network = Self.networkThatWantsConsent(first, second) {
            throw ChangeRefusal(
                .notAllowed,
                saying: localized(
                    "could not link \(first.reference) and \(second.reference): \(network.displayName) \(network.descriptor.dataRule?.summary ?? ""); ask the person, and \(control: .matchingConsent)"
                ))
        }
        try await mirror.people.link(first, second, seen: seen)
        var unlearned = 0
        if try await mirror.people.stance(of: first) == .deny {
            unlearned = try await mirror.forgetLearning(of: first, now: desk.now)
        }
        return try await PersonChange(
            of: first, by: mirror, unlearned: unlearned, wayBack: .unlinking(second))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonChange? {
        let book = try await PeopleBook(mirror: desk.mirror)
        let first = try book.account(first)
        let second = try book.account(second)
        guard try await desk.mirror.people.linked(to: first).contains(second) else { return nil }
        // A form that was sent twice gets the same answer as the first time.
        return try await PersonChange(of: first, by: desk.mirror, wayBack: .unlinking(second))
    }

    /// Returns the network that allows to link two accounts only with the person's consent; nil for
    /// two accounts on one network.
    fileprivate static func networkThatWantsConsent(_ first: AccountID, _ second: AccountID)
        -> NetworkName?
    {
        guard first.network != second.network else { return nil }
        return [first.network, second.network].first {
            $0.descriptor.dataRule?.matchingNeedsConsent == true
        }
    }
}

/// Unlinks an account from the other accounts of its person.
package struct UnlinkPerson: PersonOperation {
    package static let name = "people-unlink"
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonChange {
        let people = desk.mirror.people
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        let linked = try await people.linked(to: id).filter { $0 != id }
        try await people.unlink(id, seen: seen)
        return try await PersonChange(
            of: id, by: desk.mirror, wayBack: linked.first.map { .linking($0, id) })
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonChange? {
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await desk.mirror.people.linked(to: id).count == 1 else { return nil }
        return try await PersonChange(of: id, by: desk.mirror)
    }
}

extension WayBack {
    /// - Parameter account: An account or a server, as a person types it.
    fileprivate static func allowing(_ account: String) -> WayBack {
        WayBack(AllowPeople(account: account), "people", "allow", account)
    }

    /// - Parameter account: An account or a server, as a person types it.
    fileprivate static func denying(_ account: String) -> WayBack {
        WayBack(DenyPeople(account: account), "people", "deny", account)
    }

    fileprivate static func unlinking(_ account: AccountID) -> WayBack {
        let account = account.reference
        return WayBack(UnlinkPerson(account: account), "people", "unlink", account)
    }

    fileprivate static func linking(_ first: AccountID, _ second: AccountID) -> WayBack {
        // The person's consent to the link stays valid.
        let consented = LinkPeople.networkThatWantsConsent(first, second) != nil
        let link = LinkPeople(
            first: first.reference, second: second.reference, consented: consented ? true : nil)
        let consent = consented ? ["--consented"] : []
        return WayBack(link, ["people", "link"] + consent + [link.first, link.second])
    }
}
