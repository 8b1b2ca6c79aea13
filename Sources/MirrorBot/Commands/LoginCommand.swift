import ArgumentParser
import Control
import Foundation
import Localization
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

            The login is kept sealed in the database; its key is \(Setting.secretKey.name), or a file beside the embedded database. \
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
            // A login that is only printed changes a copy of the mirror's data, so the mirror keeps
            // its accounts.
            guard print else { return try await logIn(to: mirror) }
            try await mirror.scratch().closing(after: logIn)
        }
    }

    private func logIn(to mirror: HumanMirror) async throws {
        if !print { try mirror.vault.requireKey() }
        let login = try await grantedLogin(of: mirror)
        let outcome: LoggedIn
        do {
            let opened = try await mirror.opened(login)
            try agree(to: opened.replacement)
            outcome = try await mirror.keep(opened, isKept: !print)
        } catch {
            // The network has issued a token that is not used, so it is revoked.
            if let problem = await login.withdraw() {
                StandardError.tell(localized("warning: \(problem)"))
            }
            throw error
        }
        for warning in outcome.warnings { StandardError.tell(localized("warning: \(warning)")) }
        try tell(outcome)
        if !output.json {
            for line in outcome.rules { StandardError.write(Printable.line(line) + "\n") }
        }
        if outcome.isKept { await NextStep.print(for: try await mirror.withCurrentSettings()) }
    }

    /// Asks whether the account of this login may replace the mirror's present one.
    ///
    /// - Throws: `LoginRefusal` for an account that was already used for learning or sending,
    ///   unless the person confirms; ``CommandError`` if the person declines.
    private func agree(to replacement: OpenedLogin.Replacement?) throws {
        guard let replacement else { return }
        let before = replacement.before
        let after = replacement.after
        let question = localized(
            "Take \(Printable.line(after)) as \(role.words) in the place of \(Printable.line(before))?"
        )
        guard let refusal = replacement.refusal else {
            StandardError.tell(
                localized("Nothing was learned of \(before) yet, and nothing was sent."))
            if try !yes && !Question.confirm("\(question) [Y/n] ", default: true) {
                throw CommandError(
                    .usage, localized("\(role.words) is \(before) as before; nothing was changed"))
            }
            return
        }
        guard rebind else { throw refusal }
        for line in RebindCommand.lines(replacement.rebinding) { StandardError.write(line + "\n") }
        try Confirmation.require("\(question) [y/N] ", unless: yes)
    }

    private func tell(_ outcome: LoggedIn) throws {
        if output.json { return try JSONOutput.print(outcome) }
        let name = localized(
            "@\(Printable.line(outcome.handle)) on \(outcome.network.displayName)")
        guard !outcome.isKept else {
            return show(localized("\(role.words) of mirror \(outcome.mirror) is \(name)"))
        }
        for variable in outcome.variables { show("\(variable.name)=\(variable.value)") }
        StandardError.write(
            localized("set these for \(role.words), \(name); nothing was kept here") + "\n")
    }

    /// Prints a line; the flag `print` hides the function of that name.
    private func show(_ line: String) { Console.current.output.writeLine(line) }

    private func grantedLogin(of mirror: HumanMirror) async throws -> GrantedLogin {
        let apiBaseURL = try apiBaseURL.map { address in
            try Question.checked(address) {
                try ServerURL.normalized($0, setting: "--api-base-url")
            }
        }
        let secret = noPassword ? Secret("") : try tokenFile.map(TokenFile.secret)
        let steps = LoginSteps(
            for: role, on: network, of: mirror, at: apiBaseURL, hasToken: token || secret != nil)
        let questions = try await steps.questions()
        let hasGivenSecret = secret.map { !$0.isEmpty } ?? false
        guard !hasGivenSecret || questions.contains(where: \.isToken) else {
            throw CommandError(
                .usage,
                localized(
                    "--token-file is of no use on \(network.displayName), where other values open an account; log in without it"
                ))
        }
        return try await LoginConversation(
            steps: steps, questions: questions, given: [.server: server, .handle: handle],
            token: secret
        ).outcome()
    }
}

/// A file with a secret.
private enum TokenFile {
    private static let mostBytes = 4_096

    /// The secret, without surrounding white space.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read, is empty, or has several lines.
    static func secret(_ name: String) throws -> Secret {
        if name == "-" { return try Question.secret("") }
        let path = Console.current.path(name)
        let data: Data?
        do throws(FileTrust.Problem) {
            data = try FileTrust.contents(of: path, atMost: mostBytes, refusing: .none)
        } catch {
            throw CommandError(
                .badData,
                localized("--token-file \(Printable.line(name)) \(error.text(following: path))"))
        }
        guard let data else {
            throw CommandError(
                .badData, localized("--token-file \(Printable.line(name)) does not exist"))
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines)
        guard !text.isEmpty,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw CommandError(
                .badData,
                localized("--token-file \(Printable.line(name)) is not a line with one secret"))
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
    static var names: String {
        NetworkName.known.map(\.rawValue).joined(by: .comma)
    }

    static func network(_ text: String) throws -> NetworkName {
        guard let network = NetworkName(rawValue: text.lowercased()) else {
            throw ValidationError(
                localized("\"\(text.prefix(40))\" is no network; expected \(names)"))
        }
        return network
    }
}
