import Archive
package import Foundation
import Localization
package import Mirroring
package import Posts

/// A page of the people whom the human answered or who have a stance, and the denied servers: all,
/// or those that match a search.
package struct PeopleList: Codable, Equatable, Sendable {
    /// A person in the list.
    package struct Line: Codable, Equatable, Sendable {
        /// The account in the form that people type.
        package let account: String
        /// The last handle they were seen with, without `@`.
        package let handle: String?
        /// The number of the human's replies to them.
        package let replies: Int
        /// The stance of this account itself; `nil` if none.
        package let stance: String?
        /// The source of the stance, such as `operator`; `nil` if none was set.
        package let reason: String?
        /// The denied server of the account, or one above it; nil if another stance has precedence.
        package let onDenied: String?
        /// The bot's last contact with them; nil if there was none, or if unknown.
        package let lastContact: Date?
        /// Whether only a digest is stored, which then replaces the account.
        package let isForgotten: Bool
        /// The accounts that are linked to this one.
        package let sameAs: [String]
        /// The digest of the account's record, to be sent with a change.
        package let seen: Seen
    }

    /// A denied server.
    package struct Server: Codable, Equatable, Sendable {
        /// The server, as `*@host`.
        package let server: String
        /// The number of known people on it.
        package let known: Int
        /// The digest of the server's stance, to be sent with a change.
        package let seen: Seen
    }

    /// The numbers of people by stance, regardless of the search; a person may count in several.
    package struct Counts: Codable, Equatable, Sendable {
        /// People whom the human answered or who have a stance.
        package let all: Int
        package let allowed: Int
        package let denied: Int
        /// People of whom only a digest is kept.
        package let forgotten: Int
    }

    package private(set) var schema = "mirror-bot/people/1"
    package let counts: Counts
    package let people: [Line]
    /// The denied servers; empty on all pages but the first.
    package let servers: [Server]
    /// The cursor of the next page; nil for the last page.
    package let next: String?
}

extension PeopleList {
    /// Search criteria; a result matches all criteria that are given.
    package struct Search: Codable, Equatable, Sendable {
        /// The stances by which people are found.
        package enum Stance: String, Codable, CaseIterable, Sendable {
            case all
            case allowed
            /// People who are denied, themselves or through their server.
            case denied
            /// People without a stance.
            case none
            /// People of whom only a digest is kept.
            case forgotten
        }

        package var stance = Stance.all
        /// Words in the account or the handle; case, width and accents make no difference.
        package var words: String?
        /// The cursor of the page; nil for the first, which begins with the people who were
        /// answered most.
        package var cursor: String?
        /// The most people to list.
        package var limit = 20

        package init() {}
    }

    /// Searches people: those whom the human answered most, then those who only have a stance.
    ///
    /// - Throws: `ChangeRefusal` for an invalid cursor; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        let everybody = try await mirror.people.all()
        let remembered = everybody.filter { !$0.isForgotten }
        let byID = Dictionary(everybody.map { ($0.id, $0) }) { first, _ in first }
        let denied = try await mirror.people.deniedServers()
        let replies = Dictionary(
            try await mirror.archive.repliedAuthors(limit: .max).map { ($0.author, $0.replies) }
        ) { first, _ in first }
        let peopleWithoutReplies = remembered.filter {
            ($0.stance != .none || $0.link != nil) && replies[$0.id] == nil
        }
        .map(\.id)
        let standing = try await PeopleStanding(
            replies: replies, peopleWithoutReplies: peopleWithoutReplies,
            isAnyServerDenied: !denied.isEmpty, records: byID, mirror)
        let forgotten = everybody.filter(\.isForgotten).map(\.id).sorted {
            $0.reference < $1.reference
        }
        counts = Counts(
            all: standing.ids.count, allowed: standing.count(.allowed),
            denied: standing.count(.denied),
            forgotten: forgotten.count)
        var ids =
            search.stance == .forgotten
            ? forgotten : standing.ids.filter { standing.includes($0, search.stance) }
        if let searchWords = search.words.map({ SearchWords($0) }) {
            let names = try await mirror.handles(of: ids)
            ids = ids.filter {
                searchWords.occur(in: [$0.shown, $0.reference, names[$0]].compactMap(\.self))
            }
        }
        if let cursor = search.cursor {
            guard let place = PeoplePlace(cursor) else {
                throw ChangeRefusal(
                    .unusable,
                    localized("\"\(cursor.prefix(60))\" is no place in the list of people"))
            }
            ids = ids.filter { place < PeoplePlace($0, replies) }
        }
        let shownIDs = Array(ids.prefix(search.limit))
        let hasMore = ids.count > shownIDs.count
        next = hasMore ? shownIDs.last.map { PeoplePlace($0, replies).text } : nil
        let nameless = shownIDs.filter {
            byID[$0]?.handle == nil && !$0.network.traits.namesAreIdentities
        }
        let names = try await mirror.handles(of: nameless)
        people = shownIDs.map { id in
            let person = byID[id]
            let otherAccounts =
                person?.link.map { link in remembered.filter { $0.link == link && $0.id != id } }
                ?? []
            let server = ServerName.covering(id).first(where: denied.contains)
            let hasStance = person.map { $0.stance != .none } ?? false
            return Line(
                account: id.reference, handle: person?.handle ?? names[id],
                replies: replies[id] ?? 0,
                stance: hasStance ? person?.stance.rawValue : nil,
                reason: hasStance ? person?.reason : nil,
                onDenied: standing.effectiveStance(of: id) == .deny ? server?.reference : nil,
                lastContact: person?.lastContact,
                isForgotten: person?.isForgotten ?? false,
                sameAs: otherAccounts.map(\.id.reference),
                seen: person?.seen ?? People.Person.seen(id))
        }
        let listsServers =
            search.cursor == nil && search.words == nil && [.all, .denied].contains(search.stance)
        let knownPeople =
            denied.isEmpty || !listsServers ? [] : try await mirror.people.metPeople(on: .usual)
        var servers: [Server] = []
        for server in listsServers ? denied : [] {
            servers.append(
                Server(
                    server: server.reference, known: knownPeople.count(where: server.covers),
                    seen: try await mirror.people.seen(of: server)))
        }
        self.servers = servers
    }
}

/// A place in the order of people: by the number of replies, the most first, then by reference.
///
/// A place remains valid when the person there is answered again, or forgotten.
private struct PeoplePlace: Comparable {
    private let replies: Int
    private let reference: String

    init(_ person: AccountID, _ replies: [AccountID: Int]) {
        self.replies = replies[person] ?? 0
        reference = person.reference
    }

    /// Parses a place from a cursor; nil if it is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let replies = Int(parts[0]), replies >= 0, !parts[1].isEmpty else {
            return nil
        }
        self.replies = replies
        reference = String(parts[1])
    }

    var text: String { "\(replies)-\(reference)" }

    static func < (left: PeoplePlace, right: PeoplePlace) -> Bool {
        left.replies == right.replies
            ? left.reference < right.reference : left.replies > right.replies
    }
}

/// The people of a list in its order, with their stances.
private struct PeopleStanding {
    let ids: [AccountID]
    private let records: [AccountID: People.Person]
    /// The effective stance of each account, by links and servers too; a missing account has none.
    private let stances: [AccountID: People.Stance]

    /// - Parameters:
    ///   - replies: For each answered person, the number of the human's replies.
    ///   - peopleWithoutReplies: The people whom the human never answered, and who have a stance
    ///     or a link.
    init(
        replies: [AccountID: Int], peopleWithoutReplies: [AccountID], isAnyServerDenied: Bool,
        records: [AccountID: People.Person],
        _ mirror: HumanMirror
    ) async throws {
        let places = (Array(replies.keys) + peopleWithoutReplies).map {
            ($0, PeoplePlace($0, replies))
        }
        ids = places.sorted { $0.1 < $1.1 }.map(\.0)
        self.records = records
        // A stance affects other accounts only through a link or a server.
        var affectedIDs = ids
        if !isAnyServerDenied {
            affectedIDs = ids.filter { id in
                guard let person = records[id] else { return false }
                return person.stance != .none || person.link != nil
            }
        }
        stances = try await mirror.people.stances(of: affectedIDs)
    }

    func effectiveStance(of id: AccountID) -> People.Stance { stances[id] ?? .none }

    func includes(_ id: AccountID, _ stance: PeopleList.Search.Stance) -> Bool {
        switch stance {
        case .all: true
        case .allowed: effectiveStance(of: id) == .allow
        case .denied: effectiveStance(of: id) == .deny
        case .none:
            records[id].map { $0.stance == People.Stance.none } ?? true
                && effectiveStance(of: id) == People.Stance.none
        case .forgotten: false
        }
    }

    func count(_ stance: PeopleList.Search.Stance) -> Int { ids.count { includes($0, stance) } }
}
