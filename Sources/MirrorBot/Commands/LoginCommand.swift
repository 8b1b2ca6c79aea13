import ArgumentParser
import Control
import Foundation
import Mirroring
import Networks
import Posts
import Settings
import Storage

/// `mirror-bot login`.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Connect the human's or the bot's account, step by step.",
        discussion: """
            Mastodon and servers like it: an address to open and a code to copy. X: your app's key, an address to open \
            and a PIN. Bluesky: a handle and an app password, which the human's account does not need.

            The login is kept sealed in the database; its key is SECRET_KEY, or a file beside the embedded database. \
            With --print nothing is kept, and the variables to set are printed: for Heroku, heroku config:set \
            NAME=value.
            """)

    @Argument(help: "mastodon, x or bluesky.", transform: NetworkArgument.network)
    var network: NetworkName

    @Option(
        name: .customLong("as"), help: ArgumentHelp("human or bot.", valueName: "role"),
        transform: RoleArgument.role)
    var role: AccountRole

    @Option(
        help: ArgumentHelp("Mastodon: the account's server, as https://host.", valueName: "address")
    )
    var server: String?

    @Option(help: ArgumentHelp("Bluesky: the account's handle.", valueName: "handle"))
    var handle: String?

    @Flag(help: "Mastodon: paste an access token made in the server's settings.")
    var token = false

    @Option(
        help: ArgumentHelp(
            "A file with the Mastodon access token or Bluesky app password, which is then not asked for; - is standard "
                + "input.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Bluesky: log the human in without an app password, which is enough.")
    var noPassword = false

    @Option(
        help: ArgumentHelp(
            "Where the network's interface is, if not at its usual host.", valueName: "address"))
    var apiBaseURL: String?

    @Flag(help: "Print the variables to set, and keep nothing.")
    var print = false

    @Flag(
        help:
            "Let the mirror change to another account than the one of which it learned, or as which it sent."
    )
    var rebind = false

    @Flag(
        name: .shortAndLong, help: "Do not ask whether the account takes the place of another one.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard noPassword else { return }
        if tokenFile != nil {
            throw ValidationError("--no-password and --token-file do not go together")
        }
        guard network.descriptor.required(by: role).allSatisfy({ !$0.isSecret }) else {
            throw ValidationError(
                "the \(role.rawValue) on \(network.displayName) needs more than --no-password")
        }
    }

    func run() async throws {
        try await options.withMirror(readsAccounts: false, keepsNothing: print, making: .mirror) {
            mirror in
            // What is only printed changes nothing here, not even whose mirror this is.
            guard print else { return try await logIn(to: mirror) }
            try await mirror.scratch().closing(after: logIn)
        }
    }

    private func logIn(to mirror: HumanMirror) async throws {
        if !print { try mirror.vault.requireKey() }
        let login = try await conversation(mirror)
        let outcome: LoggedIn
        do {
            outcome = try await keep(login, for: mirror)
        } catch {
            // Nobody has the token that the network has issued.
            await login.withdraw()
            throw error
        }
        try tell(outcome)
        if !output.json {
            for line in outcome.rules { StandardError.write(Printable.line(line) + "\n") }
        }
        if outcome.isKept { await NextStep.print(for: try await mirror.withCurrentSettings()) }
    }

    /// Verifies whose account a login opens, and stores it, unless it is only printed.
    private func keep(_ login: LoginOutcome, for mirror: HumanMirror) async throws -> LoggedIn {
        let account = login.account
        let opened =
            if let known = login.verified { known } else {
                try await VerifiedLogin(account, for: mirror)
            }
        let network = opened.network
        let verified = opened.account
        if role == .bot { try network.requireAudiences() }
        if let replaced = try await replaced(by: verified, mirror) {
            guard try await mirror.rebind([replaced], openedBy: account, now: mirror.clock.now)
            else {
                throw CommandError(
                    .tryLater,
                    "could not change the account of mirror \(mirror.name): a worker holds it; stop it first"
                )
            }
        } else {
            try await mirror.bind(verified, openedBy: account, now: mirror.clock.now)
        }
        let rules = await rules(of: network, verified, mirror)
        let outcome = LoggedIn(
            verified, openedBy: account, mirror: mirror.name, isKept: !print,
            warnings: login.warnings + warnings(verified, network, account, mirror.configuration)
                + rules.warnings,
            rules: rules.lines)
        for warning in outcome.warnings { StandardError.tell("warning: \(warning)") }
        if outcome.isKept {
            try await mirror.vault.store(
                StoredLogin(account), session: try await opened.session.load(), for: role,
                at: mirror.clock.now)
        }
        return outcome
    }

    /// Returns the rules of the bot's server about bots; a server that does not tell them is no
    /// obstacle to the login.
    private func rules(
        of network: any SocialNetwork, _ verified: Account, _ mirror: HumanMirror
    ) async -> (lines: [String], warnings: [String]) {
        guard role == .bot else { return ([], []) }
        do {
            let report = try await mirror.showServerRules(
                of: network, account: verified.id, now: mirror.clock.now)
            return (report.lines, [])
        } catch {
            return (
                [],
                [
                    "the rules of \(network.host) for bots are not known here: \(error); read them there"
                ]
            )
        }
    }

    /// The account that gives way to the one of this login, after the person agreed; nil if none
    /// has to.
    ///
    /// - Throws: ``CommandError`` for an account of which something was learned, or as which
    ///   something was sent, unless the person wants that, and for a person who does not agree.
    private func replaced(by found: Account, _ mirror: HumanMirror) async throws -> Rebinding? {
        let other = role == .human ? AccountRole.bot : .human
        if try await mirror.isAccount(found, of: other) {
            let login = command("login \(found.id.network.rawValue) --as \(other.rawValue)", mirror)
            throw CommandError(
                .configuration,
                "this login belongs to the \(other.rawValue)'s own account, @\(BoundAccount(found).name()); the "
                    + "\(role.rawValue) needs another. If it is the \(other.rawValue)'s login that is wrong: \(login)"
            )
        }
        guard let rebinding = try await mirror.rebinding(of: role, to: found),
            let bound = rebinding.bound
        else {
            return nil
        }
        let isElsewhere = bound.id.network != found.id.network
        let before = "@" + bound.name(withNetwork: isElsewhere)
        let after = "@" + BoundAccount(found).name(withNetwork: isElsewhere)
        let question =
            "Take \(Printable.line(after)) as the \(role.rawValue) in the place of \(Printable.line(before))?"
        guard try await mirror.table.isBound(role) else {
            StandardError.tell("Nothing was learned of \(before) yet, and nothing was sent.")
            if try !yes && !Question.confirm("\(question) [Y/n] ", default: true) {
                throw CommandError(
                    .usage, "the \(role.rawValue) is \(before) as before; nothing was changed")
            }
            return rebinding
        }
        guard rebind else {
            let again = command(
                "login \(found.id.network.rawValue) --as \(role.rawValue) --rebind", mirror)
            throw CommandError(
                .configuration,
                "this login belongs to \(after), but this mirror belongs to \(before), of whom it has learned or as whom "
                    + "it has sent. A mirror of its own for \(after): --mirror NAME. To go on with \(after) here: \(again)"
            )
        }
        for line in RebindCommand.lines(rebinding) { StandardError.write(line + "\n") }
        try Confirmation.require("\(question) [y/N] ", unless: yes)
        return rebinding
    }

    /// A command as a person types it for this mirror.
    private func command(_ words: String, _ mirror: HumanMirror) -> String {
        (["mirror-bot", words] + mirror.configuration.flagWords).joined(separator: " ")
    }

    private func tell(_ outcome: LoggedIn) throws {
        if output.json { return try JSONOutput.print(outcome) }
        let name = "@\(Printable.line(outcome.handle)) on \(outcome.network.displayName)"
        guard !outcome.isKept else {
            return show("the \(role.rawValue) of mirror \(outcome.mirror) is \(name)")
        }
        for variable in outcome.variables { show("\(variable.name)=\(variable.value)") }
        StandardError.write("set these for the \(role.rawValue), \(name); nothing was kept here\n")
    }

    /// The flag `print` hides the function of that name.
    private func show(_ line: String) { Console.current.output.writeLine(line) }

    private func conversation(_ mirror: HumanMirror) async throws -> LoginOutcome {
        let typed = try apiBaseURL.map { address in
            try Question.checked(address) {
                try ServerURL.normalized($0, setting: "--api-base-url")
            }
        }
        let apiBaseURL = typed ?? mirror.configuration.apiBaseURL(of: role)
        let request = LoginRequest(
            role: role, network: network, server: server, handle: handle, apiBaseURL: apiBaseURL,
            pastesToken: token,
            token: noPassword ? Secret("") : try tokenFile.map(TokenFile.secret), mirror: mirror)
        return try await (LoginConversations.own[network] ?? LoginConversations.questions)(request)
    }

    private func warnings(
        _ verified: Account, _ network: any SocialNetwork, _ account: AccountConfiguration,
        _ configuration: MirrorSettings
    ) -> [String] {
        var warnings = print ? [] : configuration.obstacles(toLoginOf: role, on: account.network)
        if print, account.credentials.expiresAt != nil {
            warnings.append(
                "this token expires, and only a login that is kept can be renewed: log in without --print, where "
                    + "SECRET_KEY and DATABASE_URL are those of the worker")
        }
        if role == .human, (network as? XNetwork)?.canWrite == true {
            warnings.append(
                "the human's keys can write, which mirror-bot never needs; log in again with an app that reads"
            )
        }
        // Where the interface has no such mark, another warning says so.
        if role == .bot, !verified.isBot, network.name.traits.tellsBots {
            warnings.append(
                "the account does not say that it is automated; the first run marks it, where the network lets it"
            )
        }
        return warnings
    }
}

/// A file that a person put a secret into.
private enum TokenFile {
    private static let mostBytes = 4_096

    /// The secret, without white space around it.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read, or holds nothing or more than one
    ///   line.
    static func secret(_ name: String) throws -> Secret {
        if name == "-" { return try Question.secret("") }
        let path = Console.current.path(name)
        let data: Data?
        do throws(FileTrust.Problem) {
            data = try FileTrust.contents(of: path, atMost: mostBytes, .none)
        } catch {
            throw CommandError(
                .badData, "--token-file \(Printable.line(name)) \(error.text(behind: path))")
        }
        guard let data else {
            throw CommandError(.badData, "--token-file \(Printable.line(name)) does not exist")
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines)
        guard !text.isEmpty,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw CommandError(
                .badData, "--token-file \(Printable.line(name)) is not a line with one secret")
        }
        return Secret(text)
    }
}

/// `mirror-bot logout`.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Forget a login that was kept by mirror-bot login.")

    @Option(
        name: .customLong("as"), help: ArgumentHelp("human or bot.", valueName: "role"),
        transform: RoleArgument.role)
    var role: AccountRole

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(readsAccounts: false) { mirror in
            let outcome = try await mirror.logOut(role)
            if output.json { return try JSONOutput.print(outcome) }
            guard outcome.wasKept else {
                return print(
                    "nothing to do: mirror \(outcome.mirror) keeps no login of the \(role.rawValue)"
                )
            }
            print("forgot the \(role.rawValue)'s login; revoke it in the account's settings too")
        }
    }
}

/// Reads one of the two roles from the command line.
enum RoleArgument {
    static func role(_ text: String) throws -> AccountRole {
        guard let role = AccountRole(rawValue: text.lowercased()) else {
            throw ValidationError("\"\(text.prefix(40))\" is no role; expected human or bot")
        }
        return role
    }
}

/// Reads the name of a network from the command line.
enum NetworkArgument {
    /// The names of all networks, separated by commas.
    static let names = NetworkName.known.map(\.rawValue).joined(separator: ", ")

    static func network(_ text: String) throws -> NetworkName {
        guard let network = NetworkName(rawValue: text.lowercased()) else {
            throw ValidationError("\"\(text.prefix(40))\" is no network; expected \(names)")
        }
        return network
    }
}
