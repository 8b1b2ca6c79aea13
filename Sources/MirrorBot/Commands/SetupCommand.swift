import ArgumentParser
import Control
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// `mirror-bot setup`.
struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Lead from nothing to the first post, step by step.",
        discussion: """
            Asks for what is missing and does it: the human's account or archive, who agreed where no login says so, the \
            bot's account, training, the time zone, the bot's profile, a look at twenty of the texts, a preview of \
            tomorrow, the start. Ctrl-C stops it at any point, the end of the input ends it with 78; called again, it goes \
            on with the first open step.

            Every answer is also an option; one that does not work is asked for. Without a terminal nothing is asked: \
            what the options allow is done, what is missing is listed with the command for each, and the exit code is \
            78. A token is never an option, since other users see the options of a process: it is read from a file, or \
            from the variables of mirror-bot config, such as BOT_ACCESS_TOKEN.
            """)

    @Option(
        help: "The network of both accounts: mastodon, x or bluesky.",
        transform: NetworkArgument.network)
    var network: NetworkName?

    @Option(
        help: ArgumentHelp("The human's network, if it is another one.", valueName: "network"),
        transform: NetworkArgument.network)
    var human: NetworkName?

    @Option(
        help: ArgumentHelp("The bot's network, if it is another one.", valueName: "network"),
        transform: NetworkArgument.network)
    var bot: NetworkName?

    @Option(
        help: ArgumentHelp(
            "Mastodon: the server of both accounts, as https://host.", valueName: "address"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Mastodon: the human's server, if it is another one.", valueName: "address"))
    var humanServer: String?

    @Option(
        help: ArgumentHelp(
            "Mastodon: the bot's server, if it is another one.", valueName: "address"))
    var botServer: String?

    @Option(help: ArgumentHelp("Bluesky: the human's handle.", valueName: "handle"))
    var humanHandle: String?

    @Option(help: ArgumentHelp("Bluesky: the bot's handle.", valueName: "handle"))
    var botHandle: String?

    @Option(
        help: ArgumentHelp(
            "A file with the human's Mastodon access token or Bluesky app password.",
            valueName: "file"))
    var humanTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "A file with the bot's Mastodon access token or Bluesky app password.",
            valueName: "file"))
    var botTokenFile: String?

    @Flag(help: "Mastodon: ask for access tokens made in the server's settings.")
    var token = false

    @Option(
        help: ArgumentHelp(
            "Where the networks' interface is, if not at its usual host.", valueName: "address"))
    var apiBaseURL: String?

    @Option(
        help: ArgumentHelp(
            "The human's downloaded archive, read for their posts.", valueName: "path"))
    var archive: String?

    @Option(
        help: ArgumentHelp(
            "Who agreed that the human is mirrored, without a login: \(HumanConsent.Ground.choices).",
            valueName: "who"),
        transform: ConsentArgument.ground)
    var consent: HumanConsent.Ground?

    @Flag(help: "You have read what the bot's network asks of bots, and agree (X).")
    var acknowledgePolicy = false

    @Flag(
        help:
            "Publish posts of the archive although nobody can be asked whether they are still there."
    )
    var trustArchive = false

    @Flag(
        inversion: .prefixedNo,
        help: "Learn what the human favorites, or let the bot favorite nothing.")
    var favorites: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Write whose mirror it is into the bot's profile, or leave the profile alone.")
    var profile: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Start the work at the end, as mirror-bot run does, or end there.")
    var start: Bool?

    @Flag(
        name: .shortAndLong,
        help:
            "Take what is offered without asking: the guess of the time zone, the profile, what reading costs."
    )
    var yes = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if apiBaseURL?.isEmpty == true { throw ValidationError("--api-base-url is empty") }
    }

    func run() async throws {
        var walk = SetupWalk(self)
        try await NextStep.$isGuided.withValue(true) { try await walk.run() }
    }

    // MARK: Answers

    /// Returns the network of an account as the options of this command give it.
    func network(of role: AccountRole) -> NetworkName? { (role == .human ? human : bot) ?? network }

    /// Returns the options of `mirror-bot login` for an account, as the options of this command
    /// give them.
    ///
    /// - Parameter isFirstTry: Whether to include the server, the handle and the token file. After
    ///   a first attempt the person is asked for them instead.
    func loginWords(of role: AccountRole, isFirstTry: Bool = true) -> [String] {
        var options: [(String, String?)] = [("--api-base-url", apiBaseURL)]
        if isFirstTry {
            options += [
                ("--server", server(of: role)), ("--handle", handle(of: role)),
                ("--token-file", tokenFile(of: role)),
            ]
        }
        return options.compactMap { name, value in value.map { "\(name)=\($0)" } }
            + (token ? ["--token"] : [])
    }

    /// Whether an account on that network can be used without a secret, and none was given.
    func needsNoSecret(of role: AccountRole, on network: NetworkName) -> Bool {
        tokenFile(of: role) == nil
            && network.descriptor.required(by: role).allSatisfy { !$0.isSecret }
    }

    private func server(of role: AccountRole) -> String? {
        (role == .human ? humanServer : botServer) ?? server
    }

    private func handle(of role: AccountRole) -> String? {
        role == .human ? humanHandle : botHandle
    }

    private func tokenFile(of role: AccountRole) -> String? {
        role == .human ? humanTokenFile : botTokenFile
    }

    /// Whether a login to an account on that network needs no further input.
    func isLoginComplete(of role: AccountRole, on network: NetworkName) -> Bool {
        let required = network.descriptor.required(by: role)
        // A file can contain only one secret. For an account with several, a person must log in, or
        // settings must give the secrets.
        guard required.count(where: \.isSecret) <= (tokenFile(of: role) == nil ? 0 : 1) else {
            return false
        }
        return required.allSatisfy { field -> Bool in
            if field == .server { return server(of: role) != nil }
            if field == .handle { return handle(of: role) != nil }
            return field.isSecret
        }
    }
}

/// Reads the operator's statement that the human agreed.
enum ConsentArgument {
    static func ground(_ text: String) throws -> HumanConsent.Ground {
        guard
            let ground = HumanConsent.Ground.statements.first(where: {
                $0.rawValue == text.lowercased()
            })
        else {
            let names = HumanConsent.Ground.statements.map(\.rawValue).joined(by: .comma)
            throw ValidationError(
                localized("\"\(text.prefix(40))\" is no statement; expected one of \(names)"))
        }
        return ground
    }

    /// Parses an answer; nil for `later`.
    static func answer(_ text: String) throws -> HumanConsent.Ground? {
        try text.lowercased() == "later" ? nil : ground(text)
    }
}
