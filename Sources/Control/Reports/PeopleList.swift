import Archive
package import Mirroring
package import Posts

/// Whom the human answered, of whom something was said, and which servers are denied: all, or those whom a person looks
/// for.
package struct PeopleList: Codable, Equatable, Sendable {
    /// Somebody.
    package struct Line: Codable, Equatable, Sendable {
        /// As a person types it.
        package let account: String
        /// The last name they were seen under, without `@`.
        package let handle: String?
        /// How often the human answered them.
        package let replies: Int
        /// What was said of this very account; nil if nothing.
        package let stance: String?
        /// Who or what said it, such as `operator`; nil if nothing was said.
        package let reason: String?
        /// The denied server that the account is on, or one above it; nil where another word goes before that.
        package let onDenied: String?
        /// The accounts that are linked to this one.
        package let sameAs: [String]
        /// The digest of what is remembered of the account, for who changes it.
        package let seen: Seen
    }

    /// A server that is denied.
    package struct Server: Codable, Equatable, Sendable {
        /// `*@host`.
        package let server: String
        /// Known people on it.
        package let known: Int
        /// The digest of what is said of it, for who changes it.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/people/1"
    package let people: [Line]
    /// On the first page alone.
    package let servers: [Server]
    /// Where the next page begins; nil where nothing follows.
    package let next: String?
}

extension PeopleList {
    /// Whom a person looks for; every part that is given must hold.
    package struct Search: Codable, Equatable, Sendable {
        /// What was said of them.
        package enum Stance: String, Codable, CaseIterable, Sendable {
            case all
            case allowed
            /// By a word about them, or about their server.
            case denied
            /// Of whom nothing was said.
            case none
        }

        package var stance = Stance.all
        /// Words in the account or the handle; case, width and accents make no difference.
        package var words: String?
        /// Where the page begins; nil for those who were answered most.
        package var cursor: String?
        /// How many of those whom the human answered.
        package var limit = 20

        package init() {}
    }

    /// Looks for people: those whom the human answered most, then, on the last page, those of whom something was said and
    /// whom the human did not answer.
    ///
    /// - Throws: `ChangeRefusal` for a cursor that is none; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        let known = try await mirror.people.all().filter { !$0.isForgotten }
        let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        let denied = try await mirror.people.deniedServers()
        let replies = Dictionary(
            try await mirror.archive.repliedAuthors(limit: .max).map { ($0.author, $0.replies) }
        ) { first, _ in first }
        let noted = known.filter { ($0.stance != .none || $0.link != nil) && replies[$0.id] == nil }.map(\.id)
        // Those who were answered equally often stand in an order of their own, so that a place in it stays one.
        let answered = replies.keys.sorted {
            (replies[$1] ?? 0, $0.reference) < (replies[$0] ?? 0, $1.reference)
        }
        var ids = answered + noted
        let stances =
            denied.isEmpty && search.stance == .all ? [:] : try await mirror.people.stances(of: ids)
        ids = ids.filter { search.stance.includes(byID[$0]?.stance ?? .none, stances[$0] ?? .none) }
        if let words = search.words.map(SearchWords.init) {
            let names = try await mirror.handles(of: ids)
            ids = ids.filter { words.occur(in: [$0.shown, $0.reference, names[$0]].compactMap(\.self)) }
        }
        if let cursor = search.cursor {
            guard let place = ids.firstIndex(where: { $0.reference == cursor }) else {
                throw ChangeRefusal(.unusable, "\"\(cursor.prefix(60))\" is no place in the list of people")
            }
            ids.removeFirst(place)
        }
        let shown = ids.prefix { replies[$0] != nil }.prefix(search.limit)
        let isLast = shown.count == ids.prefix { replies[$0] != nil }.count
        next = isLast ? nil : ids[shown.count].reference
        ids = Array(shown) + (isLast ? ids.dropFirst(shown.count) : [])
        let nameless = ids.filter { byID[$0]?.handle == nil && !$0.network.traits.namesAreIdentities }
        let names = try await mirror.handles(of: nameless)
        people = ids.map { id in
            let person = byID[id]
            let same = person?.link.map { link in known.filter { $0.link == link && $0.id != id } } ?? []
            let server = ServerName.covering(id).first(where: denied.contains)
            let isSaid = person.map { $0.stance != .none } ?? false
            return Line(
                account: id.reference, handle: person?.handle ?? names[id], replies: replies[id] ?? 0,
                stance: isSaid ? person?.stance.rawValue : nil, reason: isSaid ? person?.reason : nil,
                onDenied: stances[id] == .deny ? server?.reference : nil, sameAs: same.map(\.id.reference),
                seen: person?.seen ?? People.Person.seen(id))
        }
        let listsServers = search.cursor == nil && search.words == nil && [.all, .denied].contains(search.stance)
        let met = denied.isEmpty || !listsServers ? [] : try await mirror.people.known(on: .usual)
        var servers: [Server] = []
        for server in listsServers ? denied : [] {
            servers.append(
                Server(
                    server: server.reference, known: met.count(where: server.covers),
                    seen: try await mirror.people.seen(of: server)))
        }
        self.servers = servers
    }
}

extension PeopleList.Search.Stance {
    /// - Parameters:
    ///   - said: What was said of the account itself.
    ///   - holds: What holds for it, by all that was said.
    fileprivate func includes(_ said: People.Stance, _ holds: People.Stance) -> Bool {
        switch self {
        case .all: true
        case .allowed: holds == .allow
        case .denied: holds == .deny
        case .none: said == .none && holds == .none
        }
    }
}
