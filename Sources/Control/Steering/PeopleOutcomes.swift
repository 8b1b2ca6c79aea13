import Archive
import Foundation
import Mirroring
package import Posts
import Settings

/// The stance on a person after a change.
package struct PersonChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/person-change/1"
    /// The account in the form that people type.
    package let account: String
    /// The handle without `@`; nil if unknown, or if it equals the account.
    package let handle: String?
    /// The stance; nil for none.
    package let stance: String?
    /// The accounts that are linked to this one.
    package let sameAs: [String]
    /// The narrowest denied server that contains the account; nil if there is none.
    package let onDenied: String?
    /// Whether the account was forgotten until now.
    package let wasForgotten: Bool
    /// Whether the bot had contact with the person, or the human answered them.
    package let isKnown: Bool
    /// The number of the person's posts that were unlearned.
    package let unlearned: Int
    /// The actions for this person whose requests were under way.
    package let left: [LeftAction]
    /// The digest of the account's record, to be sent with a change.
    package let seen: Seen
    package let wayBack: WayBack?
}

/// The stance on all people on a server after a change.
package struct ServerChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/server-change/1"
    /// The server in the form `*@host`.
    package let server: String
    /// `deny` if the server, or a server above it, is denied now; nil if not.
    package let stance: String?
    /// False if nothing was changed.
    package let isNew: Bool
    /// The denied servers above this one.
    package let below: [String]
    /// The number of known people on the server: those in contact with the bot, or answered by the
    /// human.
    package let known: Int
    /// The people on the server for whom another stance has precedence, so that they are not
    /// denied.
    package let allowed: [String]
    /// The number of posts of people on the server that were unlearned.
    package let unlearned: Int
    /// The actions for people on the server whose requests were under way.
    package let left: [LeftAction]
    /// The digest of the server's stance, to be sent with a change.
    package let seen: Seen
    package let wayBack: WayBack?
}

extension PersonChange {
    /// Reads the present stance on a person.
    ///
    /// - Parameter isKnown: Whether the person was known before the change; nil to read whether the
    ///   person is known now.
    /// - Throws: The store's error.
    init(
        of person: AccountID, by mirror: HumanMirror, isKnown: Bool? = nil,
        wasForgotten: Bool = false,
        unlearned: Int = 0, left: [LeftAction] = [], wayBack: WayBack? = nil
    ) async throws {
        let people = mirror.people
        let stance = try await people.stance(of: person)
        let servers = Set(try await people.deniedServers())
        account = person.reference
        handle = try await mirror.handles(of: [person])[person].flatMap {
            $0 == person.value ? nil : $0
        }
        self.stance = stance == .none ? nil : stance.rawValue
        sameAs = try await people.linked(to: person).filter { $0 != person }.map(\.reference)
        onDenied = ServerName.covering(person).first(where: servers.contains)?.reference
        self.wasForgotten = wasForgotten
        if let isKnown {
            self.isKnown = isKnown
        } else {
            self.isKnown = try await mirror.knows(person)
        }
        self.unlearned = unlearned
        self.left = left
        seen = try await people.person(person)?.seen ?? People.Person.seen(person)
        self.wayBack = wayBack
    }
}

extension ServerChange {
    /// Reads the present stance on a server.
    ///
    /// - Parameters:
    ///   - known: The number of known people on the server.
    ///   - allowed: The people on the server for whom another stance has precedence.
    /// - Throws: The store's error.
    init(
        of server: ServerName, by mirror: HumanMirror, isNew: Bool, known: Int,
        allowed: Set<AccountID> = [],
        unlearned: Int = 0, left: [LeftAction] = [], wayBack: WayBack? = nil
    ) async throws {
        let denied = try await mirror.people.deniedServers().filter { $0.covers(server) }
        self.server = server.reference
        stance = denied.isEmpty ? nil : People.Stance.deny.rawValue
        self.isNew = isNew
        below = denied.filter { $0 != server }.map(\.reference)
        self.known = known
        self.allowed = allowed.map(\.reference).sorted()
        self.unlearned = unlearned
        self.left = left
        seen = try await mirror.people.seen(of: server)
        self.wayBack = wayBack
    }
}

/// The stance on a person or a server after a change; in JSON the associated value alone.
package enum StanceChange: PersonOutcome {
    case person(PersonChange)
    case server(ServerChange)

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
        // An object that is no change of a server is a change of a person.
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

extension HumanMirror {
    /// Whether the bot had contact with a person, or the human answered them.
    func knows(_ person: AccountID) async throws -> Bool {
        if try await people.person(person) != nil { return true }
        return try await !archive.replies(to: person).isEmpty
    }
}
