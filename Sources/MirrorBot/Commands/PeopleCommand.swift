import Archive
import ArgumentParser
import Foundation
import Mirroring
import Control
import Posts
import Settings

/// `mirror-bot people`.
struct PeopleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people",
        abstract: "Say who is who on another network, and who may be answered.",
        discussion: """
            An account is written as user@host for Mastodon, x:12345 for X (the number, or a screen name that is known \
            here) and did:plc:… for Bluesky; "people list" shows those that the human answered most. "*@host" is \
            everybody on a Mastodon-compatible server and on those below it, for "people deny" and "people allow".

              mirror-bot people deny pal@social.example
              mirror-bot people deny '*@social.example'
              mirror-bot people allow '*@social.example'
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
            let list = try await PeopleChanges(mirror: mirror).list(limit: limit)
            if json { return try JSONOutput.print(list) }
            guard !list.people.isEmpty || !list.servers.isEmpty else {
                return print("nobody yet: the archive holds no replies")
            }
            let rows = list.servers.map(\.row) + list.people.map(\.row)
            let width = rows.map { Printable.width($0.name) }.max() ?? 0
            for (name, notes) in rows {
                print(
                    Printable.padded(Printable.line(name), to: width) + "  "
                        + Printable.line(notes.compactMap(\.self).joined(separator: ", ")))
            }
        }
    }
}

extension PeopleList.Line {
    /// The account with the letters that its host's name has, and what there is to say of it.
    fileprivate var row: (name: String, notes: [String?]) {
        (
            AccountID(reference: account, localHost: nil)?.shown ?? account,
            [
                handle.map { "@\($0)" }, replies > 0 ? "\(replies) replies" : nil, stance,
                onDenied.map { "left alone with \($0)" },
                sameAs.isEmpty ? nil : "same as \(sameAs.joined(separator: ", "))",
            ]
        )
    }
}

extension PeopleList.Server {
    fileprivate var row: (name: String, notes: [String?]) {
        (
            ServerName(reference: server)?.shown ?? server,
            ["everybody on it is left alone", "\(known) known"]
        )
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
            if json { return try JSONOutput.print(await PeopleChanges(mirror: mirror).change(of: accounts[0])) }
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
                if json { return try JSONOutput.print(await PeopleChanges(mirror: mirror).change(of: id)) }
                return print("nothing to do: \(Printable.line(id.shown)) was linked to nobody")
            }
            try await mirror.people.unlink(id)
            if json { return try JSONOutput.print(await PeopleChanges(mirror: mirror).change(of: id)) }
            print("on its own: \(Printable.line(id.shown))")
        }
    }
}

/// `mirror-bot people allow`.
struct PeopleAllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Note that somebody agreed, also to automatic favorites on Bluesky.",
        discussion: """
            With *@host the denial of that server is lifted. Somebody who is allowed is not left alone with a server that \
            is denied.
            """)

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The account, or *@host.") var account: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.note(.allow, account, json: json)
    }
}

/// `mirror-bot people deny`.
struct PeopleDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Never answer, favorite or learn from somebody, and unlearn what was learned from them.",
        discussion: "With *@host everybody on that server, and on those below it, but for people who are allowed.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The account, or *@host.") var account: String
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.note(.deny, account, json: json)
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
        if ServerName(reference: text) != nil {
            throw ValidationError(
                "\"\(Printable.line(text, columns: 60))\" is a server; only people deny and people allow take one")
        }
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
}

extension MirrorOptions {
    /// Records what a person says of an account or a server, and tells what holds now.
    fileprivate func note(_ stance: People.Stance, _ text: String, json: Bool) async throws {
        try await withMirror(making: .database) { mirror in
            let changes = PeopleChanges(mirror: mirror)
            if text.contains("*") {
                let change = try await said(stance, ofServer: text, changes, now: mirror.clock.now)
                return try json ? JSONOutput.print(change) : change.lines(after: stance).forEach { print($0) }
            }
            let id = try await PeopleBook(mirror: mirror).account(text)
            let change = try await changes.say(stance, of: id, now: mirror.clock.now)
            try json ? JSONOutput.print(change) : change.lines(after: stance).forEach { print($0) }
        }
    }

    private func said(
        _ stance: People.Stance, ofServer text: String, _ changes: PeopleChanges, now: Date
    ) async throws -> ServerChange {
        do {
            guard let server = ServerName(reference: text) else { throw changes.obstacle(to: text) }
            return try await stance == .deny ? changes.deny(server, now: now) : changes.lift(server)
        } catch let error as PlanChanges.Obstacle {
            throw ValidationError(Printable.line(error.description))
        }
    }
}

extension PersonChange {
    fileprivate func lines(after said: People.Stance) -> [String] {
        let id = AccountID(reference: account, localHost: nil)?.shown ?? account
        let shown = Printable.line(handle.map { "@\($0) (\(id))" } ?? id)
        var lines = wasForgotten ? ["no longer forgotten: \(shown)"] : []
        lines.append("\(said == .deny ? "left alone from now on" : "allowed"): \(shown)")
        if said == .allow, let onDenied { lines.append("this goes before the denial of \(Printable.line(onDenied))") }
        if said == .deny, unlearned == 0, !isKnown {
            lines.append(
                "nobody called so was met yet: if they have written to the bot, compare with mirror-bot people list")
        }
        return lines + unlearnedLine(unlearned) + left.map(\.line)
    }
}

extension ServerChange {
    fileprivate func lines(after said: People.Stance) -> [String] {
        let shown = Printable.line(ServerName(reference: server)?.shown ?? server)
        guard said == .deny else {
            let above = below.map { Printable.line($0) }.joined(separator: ", ")
            return [isNew ? "no longer denied: \(shown)" : "nothing to do: \(shown) was not denied"]
                + (below.isEmpty ? [] : ["it stays denied by \(above)"])
        }
        var lines = ["left alone \(isNew ? "from now on" : "already"): everybody on \(shown)"]
        if known > 0 {
            lines.append("known people on it: \(known)")
        } else if unlearned == 0 {
            lines.append("nobody known is on it: compare the host with those of mirror-bot people list")
        }
        if !allowed.isEmpty {
            let names = allowed.map { Printable.line($0) }.joined(separator: ", ")
            lines.append("not left alone, for they were allowed: \(names)")
        }
        return lines + unlearnedLine(unlearned) + left.map(\.line)
    }
}

private func unlearnedLine(_ number: Int) -> [String] {
    number > 0 ? ["unlearned: \(number) \(number == 1 ? "post" : "posts") of theirs"] : []
}
