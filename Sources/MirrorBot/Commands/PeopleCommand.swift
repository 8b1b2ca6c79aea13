import Archive
import ArgumentParser
import Foundation
import Mirroring
import Posts

/// `mirror-bot people`.
struct PeopleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people",
        abstract: "Say who is who on another network, and who may be answered.",
        discussion: """
            An account is written as user@host for Mastodon, x:12345 for X (the number, or a screen name that is known \
            here) and did:plc:… for Bluesky; "people list" shows those that the human answered most.
            """,
        subcommands: [
            PeopleListCommand.self, PeopleLinkCommand.self, PeopleUnlinkCommand.self, PeopleAllowCommand.self,
            PeopleDenyCommand.self, PeopleForgetCommand.self, PeopleReportCommand.self,
        ])
}

/// `mirror-bot people list`.
struct PeopleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show whom the human answered most, and everybody about whom something was said.")

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("How many of those whom the human answered.", valueName: "number"))
    var limit = 20

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (0...10_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 0 to 10000")
        }
    }

    func run() async throws {
        try await options.withMirror { mirror in
            let lines = try await PeopleList(mirror: mirror, limit: limit).lines()
            if json { return try JSONOutput.print(PeopleList.Report(people: lines)) }
            guard !lines.isEmpty else { return print("nobody yet: the archive holds no replies") }
            let width = lines.map { Printable.width($0.shown) }.max() ?? 0
            for line in lines {
                let notes = [
                    line.handle.map { "@\($0)" }, line.replies > 0 ? "\(line.replies) replies" : nil, line.stance,
                    line.sameAs.isEmpty ? nil : "same as \(line.sameAs.joined(separator: ", "))",
                ]
                print(
                    Printable.padded(Printable.line(line.shown), to: width) + "  "
                        + Printable.line(notes.compactMap(\.self).joined(separator: ", ")))
            }
        }
    }
}

/// `mirror-bot people link`.
struct PeopleLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Say that two accounts are one person, so that old replies to one may answer the other.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "An account.") var first: String
    @Argument(help: "Another account of the same person.") var second: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.withMirror(making: .database) { mirror in
            let people = try await PeopleBook(mirror: mirror)
            let accounts = [try people.account(first), try people.account(second)]
            guard accounts[0] != accounts[1] else { throw ValidationError("both are the same account") }
            try await mirror.people.link(accounts[0], accounts[1])
            let all = try await mirror.people.linked(to: accounts[0])
            // What one of them said now holds for all.
            if try await mirror.people.stance(of: accounts[0]) == .deny {
                try await mirror.forgetLearning(of: accounts[0], now: mirror.clock.now)
            }
            if json { return try await PersonChange.print(accounts[0], mirror) }
            print("one person: \(all.map { Printable.line($0.shown) }.joined(separator: ", "))")
        }
    }
}

/// `mirror-bot people unlink`.
struct PeopleUnlinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "Take an account out of those that are one person.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The account.") var account: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.withMirror { mirror in
            let id = try await PeopleBook(mirror: mirror).account(account)
            guard try await mirror.people.linked(to: id).count > 1 else {
                if json { return try await PersonChange.print(id, mirror) }
                return print("nothing to do: \(Printable.line(id.shown)) was linked to nobody")
            }
            try await mirror.people.unlink(id)
            if json { return try await PersonChange.print(id, mirror) }
            print("on its own: \(Printable.line(id.shown))")
        }
    }
}

/// `mirror-bot people allow`.
struct PeopleAllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Note that somebody agreed, also to automatic favorites on Bluesky.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The account.") var account: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await PeopleBook.note(.allow, account, options, json: json)
    }
}

/// `mirror-bot people deny`.
struct PeopleDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Never answer, favorite or learn from somebody, and unlearn what was learned from them.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The account.") var account: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await PeopleBook.note(.deny, account, options, json: json)
    }
}

/// The people a mirror knows, by the names that a person types.
struct PeopleBook {
    private let known: [People.Person]
    private let localHost: String?
    private let network: NetworkName

    init(mirror: HumanMirror) async throws {
        known = try await mirror.people.all()
        localHost = try await mirror.botHost()
        network = mirror.configuration.botNetwork
    }

    /// The author that `text` names, who need not be known, with the name that the bot's network gives them.
    ///
    /// - Throws: `ValidationError` for what is no account.
    func author(_ text: String) throws -> (id: AccountID, handle: String) {
        let name = String(text.drop { $0 == "@" })
        let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !name.contains(":")
        guard !network.traits.namesAreIdentities, isPlain, !name.isEmpty else {
            let id = try account(text)
            return (id, known.first { $0.id == id }?.handle ?? id.value)
        }
        let named = known.first { $0.id.network == network && $0.handle?.lowercased() == name.lowercased() }
        return (named?.id ?? AccountID(network: network, value: name), name)
    }

    /// The account that `text` names.
    ///
    /// - Throws: `ValidationError` for what is no account, or a screen name that nobody here has.
    func account(_ text: String) throws -> AccountID {
        guard let id = AccountID(reference: text, localHost: localHost) else {
            throw ValidationError(
                "\"\(Printable.line(text, columns: 60))\" is no account; expected user@host, x:12345 or did:plc:…")
        }
        guard !id.network.traits.namesAreIdentities, !id.network.traits.isIdentity(id.value) else { return id }
        let named = known.first { $0.id.network == id.network && $0.handle?.lowercased() == id.value.lowercased() }
        guard let named else {
            throw ValidationError(
                "\"\(Printable.line(text, columns: 60))\" is not known here; give the account's number or DID, which "
                    + "mirror-bot people list shows")
        }
        return named.id
    }

    /// Whether the mirror knows anything of somebody: as a person, or because the human answered them.
    func hasMet(_ id: AccountID, _ mirror: HumanMirror) async throws -> Bool {
        if known.contains(where: { $0.id == id }) { return true }
        return try await !mirror.archive.replies(to: id).isEmpty
    }

    static func note(
        _ stance: People.Stance, _ text: String, _ options: MirrorOptions, json: Bool
    ) async throws {
        try await options.withMirror(making: .database) { mirror in
            let book = try await PeopleBook(mirror: mirror)
            let id = try book.account(text)
            if stance == .allow, try await mirror.people.readmit(id), !json {
                print("no longer forgotten: \(Printable.line(id.shown))")
            }
            try await mirror.people.set(stance, for: id, reason: "operator", at: mirror.clock.now)
            let unlearned = stance == .deny ? try await mirror.forgetLearning(of: id, now: mirror.clock.now) : 0
            let left = stance == .deny ? try await mirror.leaving(for: [id]) : []
            if json { return try await PersonChange.print(id, mirror, unlearned: unlearned, left: left) }
            print("\(stance == .deny ? "left alone from now on" : "allowed"): \(Printable.line(id.shown))")
            if stance == .deny, unlearned == 0, try await !book.hasMet(id, mirror) {
                print(
                    "nobody called so was met yet: if they have written to the bot, compare with mirror-bot people list"
                )
            }
            if unlearned > 0 { print("unlearned: \(unlearned) \(unlearned == 1 ? "post" : "posts") of theirs") }
            for action in left { print(action.line) }
        }
    }
}

/// What is said of somebody after a change, for programs.
private struct PersonChange: Encodable {
    let schema = "mirror-bot/person-change/1"
    let account: String
    /// Nil where nothing is said.
    let stance: String?
    let sameAs: [String]
    let unlearned: Int
    /// The actions for this person whose requests were under way.
    let left: [LeftAction]

    static func print(
        _ id: AccountID, _ mirror: HumanMirror, unlearned: Int = 0, left: [LeftAction] = []
    ) async throws {
        let stance = try await mirror.people.stance(of: id)
        let same = try await mirror.people.linked(to: id).filter { $0 != id }.map(\.reference)
        try JSONOutput.print(
            PersonChange(
                account: id.reference, stance: stance == .none ? nil : stance.rawValue, sameAs: same,
                unlearned: unlearned, left: left))
    }
}

/// Whom the human answered, and of whom something was said.
private struct PeopleList {
    /// The answer for programs.
    struct Report: Encodable {
        let schema = "mirror-bot/people/1"
        let people: [Line]
    }

    struct Line: Encodable {
        let account: String
        let handle: String?
        let replies: Int
        let stance: String?
        let sameAs: [String]

        /// The account with the letters that its host's name has.
        var shown: String { AccountID(reference: account, localHost: nil)?.shown ?? account }
    }

    let mirror: HumanMirror
    let limit: Int

    func lines() async throws -> [Line] {
        let answered = try await mirror.archive.repliedAuthors(limit: limit)
        let known = try await mirror.people.all().filter { !$0.isForgotten }
        let byID = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let noted = known.filter { $0.stance != .none || $0.link != nil }.map(\.id)
        let others = noted.filter { id in !answered.contains { $0.author == id } }
        let replies = Dictionary(answered.map { ($0.author, $0.replies) }, uniquingKeysWith: { first, _ in first })
        var names: [AccountID: String] = [:]
        for id in answered.map(\.author) + others where byID[id]?.handle == nil {
            names[id] = try await mirror.archive.nameInAnswers(to: id)
        }
        return (answered.map(\.author) + others).map { id in
            let person = byID[id]
            let same = person?.link.map { link in known.filter { $0.link == link && $0.id != id } } ?? []
            return Line(
                account: id.reference, handle: person?.handle ?? names[id], replies: replies[id] ?? 0,
                stance: person.flatMap { $0.stance == .none ? nil : $0.stance.rawValue },
                sameAs: same.map(\.id.reference))
        }
    }
}
