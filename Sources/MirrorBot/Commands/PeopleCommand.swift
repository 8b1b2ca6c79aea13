import Archive
import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings

/// `mirror-bot people`.
struct PeopleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "people",
        abstract: "List people, link their accounts, deny or allow them.",
        discussion: """
            An account is user@host on Mastodon, x:12345 on X (the number, or a known screen name) and a DID such as \
            did:plc:abc on Bluesky; "people list" shows them. For "people deny" and "people allow", "*@host" is \
            everybody on a Mastodon-compatible server and its subdomains.

              mirror-bot people deny pal@social.example
              mirror-bot people deny '*@social.example'
              mirror-bot people allow '*@social.example'
            """,
        subcommands: [
            PeopleListCommand.self, PeopleLinkCommand.self, PeopleUnlinkCommand.self,
            PeopleAllowCommand.self,
            PeopleDenyCommand.self, PeopleForgetCommand.self, PeopleReportCommand.self,
        ])
}

/// `mirror-bot people list`.
struct PeopleListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract:
            "Show whom the human answered most, and everybody who is denied, allowed or linked.")

    @OptionGroup var options: MirrorOptions

    @Argument(help: "Only accounts or handles that contain these words.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only people who are allowed, denied, none of it or forgotten; all by default.",
            valueName: "word"))
    var stance = "all"

    @Option(help: ArgumentHelp("Maximum of people to show.", valueName: "number"))
    var limit = 20

    @OptionGroup var page: PageOptions

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 10000")
        }
        guard PeopleList.Search.Stance(rawValue: stance) != nil else {
            let stanceNames = PeopleList.Search.Stance.allCases.map(\.rawValue).joined(
                separator: ", ")
            throw ValidationError("--stance is \"\(stance)\"; expected one of \(stanceNames)")
        }
    }

    private var search: PeopleList.Search {
        var search = PeopleList.Search()
        search.stance = PeopleList.Search.Stance(rawValue: stance) ?? .all
        search.words = words.searchWords
        search.limit = limit
        search.cursor = page.after
        return search
    }

    func run() async throws {
        try await options.withMirror { mirror in
            let list = try await PeopleList(of: mirror, search)
            if page.json { return try JSONOutput.print(list) }
            guard !list.people.isEmpty || !list.servers.isEmpty else {
                return print(
                    words.isEmpty && stance == "all"
                        ? "nobody yet: the archive holds no replies" : "nobody")
            }
            let rows = list.servers.map(\.row) + list.people.map(\.row)
            let width = rows.map { Printable.width($0.name) }.max() ?? 0
            for (name, notes) in rows {
                print(
                    Printable.padded(Printable.line(name), to: width) + "  "
                        + Printable.line(notes.compactMap(\.self).joined(separator: ", ")))
            }
            ListOptions.tell(next: list.next)
        }
    }
}

extension PeopleList.Line {
    /// The account, its host in Unicode letters and not in Punycode, and notes about the account.
    fileprivate var row: (name: String, notes: [String?]) {
        (
            AccountID(reference: account, localHost: nil)?.shown ?? account,
            [
                isForgotten ? "forgotten: only this digest is kept" : nil, handle.map { "@\($0)" },
                replies > 0 ? "\(replies) replies" : nil, isForgotten ? nil : stance,
                onDenied.map { "denied with \($0)" },
                sameAs.isEmpty ? nil : "same as \(sameAs.joined(separator: ", "))",
            ]
        )
    }
}

extension PeopleList.Server {
    fileprivate var row: (name: String, notes: [String?]) {
        (
            ServerName(reference: server)?.shown ?? server,
            ["everybody on it is denied", "\(known) known"]
        )
    }
}

/// `mirror-bot people link`.
struct PeopleLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract:
            "Note that two accounts are one person, so that old replies to one may answer the other.",
        discussion: """
            X lets an account be matched to one elsewhere only with the person's express consent: ask them, and say so \
            with --consented.
            """)

    @Argument(help: "An account.") var first: String
    @Argument(help: "Another account of the same person.") var second: String
    @Flag(help: "The person agreed that these accounts are matched.") var consented = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(
            LinkPeople(first: first, second: second, consented: consented), output
        ) { change in
            let accounts = [change.account] + change.sameAs
            return ["one person: \(accounts.map(shownAccount).joined(separator: ", "))"]
                + unlearnedLine(change.unlearned)
        }
    }
}

/// `mirror-bot people unlink`.
struct PeopleUnlinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "Remove an account from those of a person.")

    @Argument(help: "The account.") var account: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(UnlinkPerson(account: account), output, making: .nothing) {
            change in
            let shownName = shownAccount(change.account)
            return [
                change.wayBack == nil
                    ? "nothing to do: \(shownName) was not linked"
                    : "not linked any more: \(shownName)"
            ]
        }
    }
}

/// `mirror-bot people allow`.
struct PeopleAllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Revert deny and \"stop\"; on Bluesky also permit automatic favorites.",
        discussion: """
            *@host reverts the denial of that server. A person who is allowed stays allowed if their server is \
            denied.
            """)

    @Argument(help: "The account, or *@host.") var account: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(AllowPeople(account: account), output) { $0.lines(after: .allow) }
    }
}

/// `mirror-bot people deny`.
struct PeopleDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract:
            "Never answer, favorite or learn from a person, and unlearn what was learned from them.",
        discussion:
            "*@host denies everybody on that server and its subdomains, except people who are allowed."
    )

    @Argument(help: "The account, or *@host.") var account: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(DenyPeople(account: account), output) {
            $0.lines(after: .deny) + $0.wayBackLines
        }
    }
}

/// Returns an account for people, its host in Unicode letters and not in Punycode.
private func shownAccount(_ account: String) -> String {
    Printable.line(AccountID(reference: account, localHost: nil)?.shown ?? account)
}

extension StanceChange {
    fileprivate func lines(after newStance: People.Stance) -> [String] {
        switch self {
        case .person(let change): change.lines(after: newStance)
        case .server(let change): change.lines(after: newStance)
        }
    }
}

extension PersonChange {
    fileprivate func lines(after newStance: People.Stance) -> [String] {
        let id = AccountID(reference: account, localHost: nil)?.shown ?? account
        let shownName = Printable.line(handle.map { "@\($0) (\(id))" } ?? id)
        var lines = wasForgotten ? ["no longer forgotten: \(shownName)"] : []
        lines.append("\(newStance == .deny ? "denied" : "allowed"): \(shownName)")
        if newStance == .allow, let onDenied {
            lines.append("this overrides the denial of \(Printable.line(onDenied))")
        }
        if newStance == .deny, unlearned == 0, !isKnown {
            lines.append(
                "nobody known has this name; if they have written to the bot, compare with mirror-bot people list"
            )
        }
        return lines + unlearnedLine(unlearned) + left.map(\.line)
    }
}

extension ServerChange {
    fileprivate func lines(after newStance: People.Stance) -> [String] {
        let shownName = Printable.line(ServerName(reference: server)?.shown ?? server)
        guard newStance == .deny else {
            // `below` has the denied servers of which this one is a subdomain.
            let parentServers = below.map { Printable.line($0) }.joined(separator: ", ")
            return [
                isNew
                    ? "no longer denied: \(shownName)"
                    : "nothing to do: \(shownName) was not denied"
            ]
                + (below.isEmpty ? [] : ["it stays denied by \(parentServers)"])
        }
        var lines = ["denied\(isNew ? "" : " already"): everybody on \(shownName)"]
        if known > 0 {
            lines.append("known people on it: \(known)")
        } else if unlearned == 0 {
            lines.append(
                "nobody known is on it; compare the host with those of mirror-bot people list")
        }
        if !allowed.isEmpty {
            let names = allowed.map { Printable.line($0) }.joined(separator: ", ")
            lines.append("not denied, because they are allowed: \(names)")
        }
        return lines + unlearnedLine(unlearned) + left.map(\.line)
    }
}

private func unlearnedLine(_ number: Int) -> [String] {
    number > 0 ? ["unlearned: \(number) \(number == 1 ? "post" : "posts") of theirs"] : []
}
