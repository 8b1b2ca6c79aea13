package import Archive
import Favorites
package import Foundation
package import Mirroring
package import Outbox
package import Posts
import Settings

/// What holds for a person after something was said of them.
package struct PersonChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/person-change/1"
    /// As a person types it.
    package let account: String
    /// Without `@`; nil where it is not known, or is the account.
    package let handle: String?
    /// Nil where nothing is said.
    package let stance: String?
    /// The accounts that are linked to this one.
    package let sameAs: [String]
    /// The denied server that the account is on, or one above it: the narrowest.
    package let onDenied: String?
    /// Whether the account was forgotten until now.
    package let wasForgotten: Bool
    /// Whether the mirror met the person, or the human answered them.
    package let isKnown: Bool
    /// Posts of theirs that were unlearned.
    package let unlearned: Int
    /// The actions for this person whose requests were under way.
    package let left: [LeftAction]
    /// The digest of what is remembered of the account, for who changes it.
    package let seen: Seen
    package let wayBack: WayBack?
}

/// What holds for everybody on a server after something was said of it.
package struct ServerChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/server-change/1"
    /// `*@host`.
    package let server: String
    /// `deny` if the server is denied now, be it as one below another; nil if it is not.
    package let stance: String?
    /// False if that was so already.
    package let isNew: Bool
    /// The denied servers above this one.
    package let below: [String]
    /// Known people on it: whom the mirror met or the human answered.
    package let known: Int
    /// Those among them for whom another word goes before: they are not left alone.
    package let allowed: [String]
    /// Posts of people on it that were unlearned.
    package let unlearned: Int
    /// The actions for people on it whose requests were under way.
    package let left: [LeftAction]
    /// The digest of what is said of the server, for who changes it.
    package let seen: Seen
    package let wayBack: WayBack?
}

/// What a person says about people: who is left alone, who agreed.
package struct PeopleChanges: Sendable {
    /// The reason of what an operator said.
    private static let byOperator = "operator"

    private let mirror: HumanMirror

    package init(mirror: HumanMirror) { self.mirror = mirror }

    private var people: People { mirror.people }

    /// The network that lets two accounts be matched only with the person's consent; nil for two on one network.
    static func networkThatWantsConsent(_ first: AccountID, _ second: AccountID) -> NetworkName? {
        guard first.network != second.network else { return nil }
        return [first.network, second.network].first { $0.descriptor.dataRule?.matchingNeedsConsent == true }
    }

    // MARK: One person

    /// Records what an operator says of a person, or a person of themselves.
    ///
    /// A denial unlearns what was learned from them, and waits for what is just leaving for them.
    ///
    /// - Throws: The store's error; as `HumanMirror.favorites()` where something is unlearned.
    ///
    /// - Parameters:
    ///   - reason: The stable code of why a person is denied; nil for an operator's word.
    ///   - seen: `People.Person.seen` that the operator was shown; nil to change without comparing.
    package func say(
        _ stance: People.Stance, of person: AccountID, reason: String? = nil, seen: Seen? = nil, now: Date
    ) async throws -> PersonChange {
        let isKnown = try await isKnown(person)
        let before = try await people.person(person)?.stance
        guard stance == .deny else {
            let wasForgotten = try await people.readmit(person, seen: seen)
            try await people.set(stance, for: person, reason: Self.byOperator, at: now)
            let wayBack = before == .deny ? WayBack(DenyPeople.self, "people", "deny", person.reference) : nil
            return try await change(of: person, isKnown, wasForgotten, wayBack: wayBack)
        }
        try await people.set(.deny, for: person, reason: reason ?? Self.byOperator, seen: seen, at: now)
        let unlearned = try await mirror.forgetLearning(of: person, now: now)
        let left = try await mirror.leaving(for: [person])
        return try await change(
            of: person, isKnown, unlearned: unlearned, left: left,
            wayBack: WayBack(AllowPeople.self, "people", "allow", person.reference))
    }

    /// What holds for a person if an operator said that of this very account; nil if not.
    ///
    /// - Throws: The store's error.
    func holding(_ stance: People.Stance, of person: AccountID) async throws -> PersonChange? {
        guard let known = try await people.person(person), known.stance == stance, known.reason == Self.byOperator
        else {
            return nil
        }
        return try await standing(of: person)
    }

    /// What holds for a person, without any change.
    ///
    /// - Throws: The store's error.
    func standing(of person: AccountID) async throws -> PersonChange {
        try await change(of: person, try await isKnown(person))
    }

    /// Says that two accounts are one person; what was said of one of them then holds for all.
    ///
    /// - Parameter seen: `People.Person.seen` of the first; nil to change without comparing.
    /// - Throws: The store's error; as `HumanMirror.favorites()` where something is unlearned.
    package func link(
        _ first: AccountID, _ second: AccountID, seen: Seen? = nil, now: Date
    ) async throws -> PersonChange {
        try await people.link(first, second, seen: seen)
        var unlearned = 0
        if try await people.stance(of: first) == .deny {
            unlearned = try await mirror.forgetLearning(of: first, now: now)
        }
        return try await change(
            of: first, try await isKnown(first), unlearned: unlearned,
            wayBack: WayBack(UnlinkPerson.self, "people", "unlink", second.reference))
    }

    /// Takes an account out of those that are one person.
    ///
    /// - Parameter seen: `People.Person.seen` of it; nil to change without comparing.
    /// - Returns: What holds then, and whether it was linked to others.
    /// - Throws: The store's error.
    package func unlink(_ account: AccountID, seen: Seen? = nil) async throws -> PersonChange {
        let others = try await people.linked(to: account).filter { $0 != account }
        try await people.unlink(account, seen: seen)
        let arguments = others.first.map { other in
            // Their consent stays given.
            let consent = Self.networkThatWantsConsent(other, account) == nil ? [] : ["--consented"]
            return ["people", "link"] + consent + [other.reference, account.reference]
        }
        return try await change(
            of: account, try await isKnown(account),
            wayBack: arguments.map { WayBack(LinkPeople.self, $0) })
    }

    private func change(
        of person: AccountID, _ isKnown: Bool, _ wasForgotten: Bool = false, unlearned: Int = 0,
        left: [LeftAction] = [], wayBack: WayBack? = nil
    ) async throws -> PersonChange {
        let stance = try await people.stance(of: person)
        let same = try await people.linked(to: person).filter { $0 != person }.map(\.reference)
        let servers = Set(try await people.deniedServers())
        return PersonChange(
            account: person.reference,
            handle: try await mirror.handles(of: [person])[person].flatMap { $0 == person.value ? nil : $0 },
            stance: stance == .none ? nil : stance.rawValue, sameAs: same,
            onDenied: ServerName.covering(person).first(where: servers.contains)?.reference, wasForgotten: wasForgotten,
            isKnown: isKnown, unlearned: unlearned, left: left,
            seen: try await people.person(person)?.seen ?? People.Person.seen(person), wayBack: wayBack)
    }

    private func isKnown(_ person: AccountID) async throws -> Bool {
        if try await people.person(person) != nil { return true }
        return try await !mirror.archive.replies(to: person).isEmpty
    }

    // MARK: A server

    /// Leaves everybody on a server alone, as a denial of each of them would; see `People.stance(of:)`.
    ///
    /// - Throws: `ChangeRefusal` if neither account of the mirror is on a network where names tell servers; the
    ///   store's error; as `HumanMirror.favorites()` where something is unlearned.
    package func deny(_ server: ServerName, seen: Seen? = nil, now: Date) async throws -> ServerChange {
        let networks = [mirror.configuration.botNetwork, mirror.configuration.humanNetwork]
        guard networks.contains(where: \.traits.namesAreIdentities) else { throw Self.noServers(networks[0]) }
        let isNew = try await people.deny(server, seen: seen, at: now)
        let known = try await people.known(on: .usual).filter(server.covers)
        let unlearned = try await unlearn(server, known, now: now)
        let stances = try await people.stances(of: Array(known))
        let allowed = Set(stances.filter { $0.value == .allow }.keys)
        // Somebody new may be answered at this moment, of whom nothing is stored yet.
        var denied: Set<AccountID> = []
        for person in known.subtracting(allowed) { denied.formUnion(try await people.linked(to: person)) }
        let left = try await LastWord(mirror: mirror).wait { [denied] action in
            guard let author = action.target?.author, !allowed.contains(author) else { return false }
            return denied.contains(author) || server.covers(author)
        }
        return try await change(
            of: server, isNew, known.count, allowed, unlearned: unlearned, left: left.map(LeftAction.init),
            wayBack: isNew ? WayBack(AllowPeople.self, "people", "allow", server.reference) : nil)
    }

    /// Takes back that a server is denied; what was said of people stays.
    ///
    /// - Throws: The store's error.
    package func lift(_ server: ServerName, seen: Seen? = nil) async throws -> ServerChange {
        let isNew = try await people.lift(server, seen: seen)
        return try await change(
            of: server, isNew, try await people.known(on: .usual).filter(server.covers).count, [],
            wayBack: isNew ? WayBack(DenyPeople.self, "people", "deny", server.reference) : nil)
    }

    /// What holds for a server if that was said of it; nil if not.
    ///
    /// - Parameter stance: `deny`, or `allow` for a server that is not denied.
    /// - Throws: The store's error.
    func holding(_ stance: People.Stance, of server: ServerName) async throws -> ServerChange? {
        guard try await people.deniedServers().contains(server) == (stance == .deny) else { return nil }
        let known = try await people.known(on: .usual).filter(server.covers).count
        return try await change(of: server, false, known, [], wayBack: nil)
    }

    /// Why a text with an asterisk is no server that this mirror can deny.
    package func obstacle(to text: String) -> ChangeRefusal {
        let configuration = mirror.configuration
        let networks = [configuration.botNetwork, configuration.humanNetwork]
        guard networks.contains(where: \.traits.namesAreIdentities) else { return Self.noServers(networks[0]) }
        return ChangeRefusal(
            .unusable,
            """
            "\(text.prefix(60))" is no server; expected *@host with the host of people's names, such as \
            *@social.example, which stands for the servers below it too
            """)
    }

    private static func noServers(_ network: NetworkName) -> ChangeRefusal {
        ChangeRefusal(
            .unusable,
            """
            no server or domain can be denied on \(network.displayName): names there change hands, and what tells \
            people apart says nothing of a server; deny each account, which mirror-bot people list shows
            """)
    }

    private func change(
        of server: ServerName, _ isNew: Bool, _ known: Int, _ allowed: Set<AccountID>, unlearned: Int = 0,
        left: [LeftAction] = [], wayBack: WayBack?
    ) async throws -> ServerChange {
        let denied = try await people.deniedServers().filter { $0.covers(server) }
        return ServerChange(
            server: server.reference, stance: denied.isEmpty ? nil : People.Stance.deny.rawValue, isNew: isNew,
            below: denied.filter { $0 != server }.map(\.reference), known: known,
            allowed: allowed.map(\.reference).sorted(), unlearned: unlearned, left: left,
            seen: try await people.seen(of: server), wayBack: wayBack)
    }

    /// Unlearns what was learned from those on a server who are denied, and from the accounts that are linked to theirs.
    private func unlearn(_ server: ServerName, _ known: Set<AccountID>, now: Date) async throws -> Int {
        var names: [AccountID: Set<String>] = [:]
        let (human, bot) = (try await mirror.humanHost(), try await mirror.botHost())
        let host = human ?? bot ?? ""
        for author in try await Favorites.authors(on: .usual, of: mirror.name, in: mirror.storage) {
            guard let id = author.id ?? author.name.map({ AccountID(name: $0, localHost: host, on: .usual) }),
                server.covers(id)
            else {
                continue
            }
            names[id, default: []].formUnion([author.name].compactMap(\.self))
        }
        let people = Array(known.union(names.keys))
        let stances = try await mirror.people.stances(of: people)
        var unlearned = 0
        for person in people where stances[person] == .deny {
            for account in try await mirror.people.linked(to: person) where account != person || names[person] != nil {
                let called = try await mirror.names(of: account).union(names[account] ?? [])
                unlearned += try await mirror.forgetLearning(of: account, called: called, now: now)
            }
        }
        return unlearned
    }
}

/// An action whose request was under way when a person forbade it, and how it ended.
package struct LeftAction: Codable, Equatable, Sendable {
    package let id: String
    package let kind: ActionKind
    package let subject: String
    package let state: ActionState
    package let text: String?

    package init(_ action: Action) {
        (id, kind, subject, state, text) = (action.id, action.kind, action.subject, action.state, action.text)
    }
}

extension HumanMirror {
    /// Waits for what is leaving for some accounts and those that are linked to them.
    ///
    /// - Throws: The store's error; `CancellationError`.
    package func leaving(for accounts: [AccountID]) async throws -> [LeftAction] {
        var all: Set<AccountID> = []
        for account in accounts { all.formUnion(try await people.linked(to: account)) }
        return try await LastWord(mirror: self).wait { [all] in $0.target.map { all.contains($0.author) } ?? false }
            .map(LeftAction.init)
    }
}
