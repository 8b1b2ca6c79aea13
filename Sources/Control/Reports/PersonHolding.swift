import Archive
import Favorites
import Localization
package import Mirroring
import Outbox
package import Posts

/// The amount of data about a person, or about people on a server, that a denial unlearns or that
/// forgetting removes.
package struct PersonHolding: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/person-holding/1"
    /// All their accounts, in the form that people type; for a server, its `*@host`.
    package let accounts: [String]
    /// The handle with `@`; the account if no handle is known, or for a server its `*@host`.
    package let name: String
    /// The human's posts that answer or mention them; nil for a server.
    package let mentions: Int?
    /// Replies to them, and favorites of their posts, sent or decided; nil for a server.
    package let deeds: Int?
    /// The number of these actions that wait, and would be cancelled; nil for a server.
    package let waiting: Int?
    /// The number of the person's learned posts; nil for a server.
    package let learned: Int?
    /// The number of known people on a server; nil for a person.
    package let known: Int?
    /// Whether the person was forgotten before.
    package let isForgotten: Bool
    /// The digest of the record of the account or the server, to be sent with a change.
    package let seen: Seen
}

extension PersonHolding {
    /// - Parameters:
    ///   - text: A typed account, or `*@host`.
    ///   - mirror: The mirror whose data is counted.
    /// - Throws: `ChangeRefusal` for any other text; the store's error.
    package init(of text: String, in mirror: HumanMirror) async throws {
        switch try await NamedPeople(text, in: mirror) {
        case .person(let person): try await self.init(of: person, in: mirror)
        case .server(let server): try await self.init(of: server, in: mirror)
        }
    }

    private init(of server: ServerName, in mirror: HumanMirror) async throws {
        accounts = [server.reference]
        name = server.reference
        mentions = nil
        deeds = nil
        waiting = nil
        learned = nil
        known = try await mirror.people.metPeople(on: .usual).filter(server.covers).count
        isForgotten = false
        seen = try await mirror.people.seen(of: server)
    }

    /// - Parameter person: One of their accounts; linked accounts are included.
    /// - Throws: The store's error.
    package init(of person: AccountID, in mirror: HumanMirror) async throws {
        let ids = try await mirror.people.linked(to: person)
        var posts: Set<PostID> = []
        var learned: Int = 0
        for id in ids {
            posts.formUnion(try await mirror.people.posts(about: id).map(\.id))
            learned += try await Favorites.learned(
                from: id, called: try await mirror.names(of: id), of: mirror.name,
                in: mirror.storage
            ).count
        }
        let actions = try await mirror.outbox(lease: nil).actions(about: ids)
        accounts = ids.map(\.reference)
        name = try await mirror.names(of: [person])[person] ?? person.reference
        mentions = posts.count
        deeds = actions.count
        self.learned = learned
        waiting = actions.count { [.planned, .claimed, .suggested].contains($0.state) }
        known = nil
        isForgotten = try await mirror.people.forgotten(among: [person]).contains(person)
        seen = try await mirror.people.person(person)?.seen ?? People.Person.seen(person)
    }

    /// The data that forgetting them removes, in words; empty if nothing is stored.
    package var parts: [String] {
        func part(_ number: Int?, _ words: (Int) -> String) -> String? {
            number.flatMap { $0 == 0 ? nil : words($0) }
        }
        return [
            part(mentions) { count in
                localized(
                    count == 1
                        ? "\(count) post of the human that answers or names them"
                        : "\(count) posts of the human that answer or name them")
            },
            part(deeds) { count in
                localized(
                    count == 1
                        ? "\(count) answer or favorite of the bot"
                        : "\(count) answers and favorites of the bot")
            },
            part(learned) { count in
                localized(
                    count == 1
                        ? "\(count) post that was learned from"
                        : "\(count) posts that were learned from")
            },
        ].compactMap(\.self)
    }
}
