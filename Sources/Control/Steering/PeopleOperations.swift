import Archive
import Mirroring
package import Posts
import Settings

/// Leaves somebody, or everybody on a server, alone, and unlearns what was learned from them.
package struct DenyPeople: PersonOperation {
    package static let name = "people-deny"
    /// Whose wish it is where it is not the operator's.
    package enum Wish: String, Codable, Sendable {
        /// The person's own, as if they had said "stop" to the bot.
        case stop = "asked-to-stop"
    }

    /// An account as a person types it, or `*@host`.
    package var account: String
    /// Nil for the operator's wish, and for a server.
    package var wish: Wish?

    package init(account: String, wish: Wish? = nil) { (self.account, self.wish) = (account, wish) }

    package func perform(at desk: Desk, seen: Seen?) async throws -> StanceChange {
        try await StanceChange(.deny, account, reason: wish?.rawValue, at: desk, seen: seen)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> StanceChange? {
        try await StanceChange(ifHolding: .deny, account, at: desk)
    }
}

/// Notes that somebody agreed, or lifts the denial of a server.
package struct AllowPeople: PersonOperation {
    package static let name = "people-allow"
    /// An account as a person types it, or `*@host`.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> StanceChange {
        try await StanceChange(.allow, account, at: desk, seen: seen)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> StanceChange? {
        try await StanceChange(ifHolding: .allow, account, at: desk)
    }
}

/// What holds for a person or a server after something was said of them; in JSON the value that is in it.
package enum StanceChange: PersonOutcome {
    case person(PersonChange)
    case server(ServerChange)

    init(_ stance: People.Stance, _ text: String, reason: String? = nil, at desk: Desk, seen: Seen?) async throws {
        let changes = PeopleChanges(mirror: desk.mirror)
        guard text.contains("*") else {
            let id = try await PeopleBook(mirror: desk.mirror).account(text)
            self = .person(try await changes.say(stance, of: id, reason: reason, seen: seen, now: desk.now))
            return
        }
        guard let server = ServerName(reference: text) else { throw changes.obstacle(to: text) }
        self = .server(
            try await stance == .deny
                ? changes.deny(server, seen: seen, now: desk.now) : changes.lift(server, seen: seen))
    }

    /// What holds for a person or a server if that was said before; nil if it was not.
    init?(ifHolding stance: People.Stance, _ text: String, at desk: Desk) async throws {
        let changes = PeopleChanges(mirror: desk.mirror)
        if text.contains("*") {
            guard let server = ServerName(reference: text), let change = try await changes.holding(stance, of: server)
            else { return nil }
            self = .server(change)
        } else {
            let id = try await PeopleBook(mirror: desk.mirror).account(text)
            guard let change = try await changes.holding(stance, of: id) else { return nil }
            self = .person(change)
        }
    }

    package var schema: String {
        switch self {
        case .person(let change): change.schema
        case .server(let change): change.schema
        }
    }

    package var wayBack: WayBack? {
        switch self {
        case .person(let change): change.wayBack
        case .server(let change): change.wayBack
        }
    }

    package init(from decoder: any Decoder) throws {
        if let change = try? ServerChange(from: decoder) {
            self = .server(change)
        } else {
            self = .person(try PersonChange(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .person(let change): try change.encode(to: encoder)
        case .server(let change): try change.encode(to: encoder)
        }
    }
}

/// Says that two accounts are one person.
package struct LinkPeople: PersonOperation {
    package static let name = "people-link"
    package var first: String
    package var second: String
    /// Whether the person agreed that the accounts are matched; nil for no.
    package var consented: Bool?

    package init(first: String, second: String, consented: Bool? = nil) {
        self.first = first
        self.second = second
        self.consented = consented
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonChange {
        let book = try await PeopleBook(mirror: desk.mirror)
        let accounts = (try book.account(first), try book.account(second))
        guard accounts.0 != accounts.1 else { throw ChangeRefusal(.unusable, "both are the same account") }
        if consented != true, let network = PeopleChanges.networkThatWantsConsent(accounts.0, accounts.1) {
            throw ChangeRefusal(
                .notAllowed,
                "could not link \(accounts.0.reference) and \(accounts.1.reference): \(network.displayName) "
                    + "\(network.descriptor.dataRule?.summary ?? ""); ask the person, and say that they agreed "
                    + "(--consented)")
        }
        return try await PeopleChanges(mirror: desk.mirror).link(accounts.0, accounts.1, seen: seen, now: desk.now)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonChange? {
        let book = try await PeopleBook(mirror: desk.mirror)
        let (first, second) = (try book.account(first), try book.account(second))
        guard try await desk.mirror.people.linked(to: first).contains(second) else { return nil }
        return try await PeopleChanges(mirror: desk.mirror).standing(of: first)
    }
}

/// Takes an account out of those that are one person.
package struct UnlinkPerson: PersonOperation {
    package static let name = "people-unlink"
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonChange {
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        return try await PeopleChanges(mirror: desk.mirror).unlink(id, seen: seen)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonChange? {
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await desk.mirror.people.linked(to: id).count == 1 else { return nil }
        return try await PeopleChanges(mirror: desk.mirror).standing(of: id)
    }
}

/// Forgets everything about somebody, but for a digest by which nothing of theirs is taken in again.
package struct ForgetPerson: PersonOperation {
    package static let name = "people-forget"
    /// One of their accounts; those that are linked to it are theirs too.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonForgetting {
        let (mirror, now) = (desk.mirror, desk.now)
        let id = try await PeopleBook(mirror: mirror).account(account)
        // From here on nothing is prepared for them; what is leaving ends before it is forgotten.
        let accounts = try await mirror.beginForgetting(id, seen: seen, now: now)
        let left = try await mirror.leaving(for: accounts)
        return PersonForgetting(forgotten: try await mirror.forget(id, now: now), left: left)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonForgetting? {
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await desk.mirror.people.forgotten(among: [id]).contains(id) else { return nil }
        return PersonForgetting(
            forgotten: PersonForgotten(
                accounts: [id.reference], posts: 0, unlearned: 0, dropped: 0, ended: 0, underWay: 0), left: [])
    }
}

/// What was forgotten of a person.
package struct PersonForgetting: PersonOutcome {
    package private(set) var schema = "mirror-bot/people-forget/1"
    package let forgotten: PersonForgotten
    /// The actions for these people whose requests were under way.
    package let left: [LeftAction]

    init(forgotten: PersonForgotten, left: [LeftAction]) { (self.forgotten, self.left) = (forgotten, left) }
}
