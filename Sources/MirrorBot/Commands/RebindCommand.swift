import ArgumentParser
import Control
import Localization
import Mirroring
import Posts
import Settings

/// `mirror-bot rebind`.
struct RebindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebind",
        abstract: "Accept the logged-in accounts as this mirror's.",
        discussion: """
            A mirror belongs to the accounts with which it began, and refuses others. This command shows both the \
            mirror's accounts and the logged-in ones, asks, and accepts the latter: for an account that moved, or \
            that was wrong from the start. History, people and what was learned stay. An account that is logged in with \
            mirror-bot login is changed by that command, with --rebind.
            """)

    @Option(
        help: ArgumentHelp("human or bot; both by default.", valueName: "role"),
        transform: RoleArgument.role)
    var role: AccountRole?

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(making: .database) { mirror in
            let name = mirror.name
            let rebindings = try await mirror.rebindings(of: role)
            let outcome = Rebound(rebindings, of: name)
            guard !rebindings.isEmpty else {
                if output.json { return try JSONOutput.print(outcome) }
                return print(
                    "nothing to do: mirror \(name) belongs to the accounts that are logged in")
            }
            for line in rebindings.flatMap(Self.lines) { StandardError.write(line + "\n") }
            try Confirmation.require(
                "Accept these accounts for mirror \(name)? [y/N] ", unless: yes)
            guard try await mirror.rebind(rebindings, now: mirror.clock.now) else {
                throw CommandError(
                    .tryLater, "could not rebind mirror \(name): a worker holds it; stop it first")
            }
            if output.json { return try JSONOutput.print(outcome) }
            for rebinding in rebindings {
                let newName = BoundAccount(rebinding.found).name()
                print(
                    "the \(rebinding.role.rawValue) of mirror \(name) is \(Printable.line(newName))"
                )
            }
        }
    }

    /// Returns lines with the mirror's present account, the logged-in one, and the consequences of
    /// the change.
    static func lines(_ rebinding: Rebinding) -> [String] {
        let bound = rebinding.bound.map { Printable.line($0.name()) } ?? localized("none yet")
        let newName = Printable.line(BoundAccount(rebinding.found).name())
        let start =
            switch rebinding.role {
            case .human: localized("human: now \(bound); logged in is \(newName)")
            case .bot: localized("bot: now \(bound); logged in is \(newName)")
            }
        let consequences =
            switch rebinding.role {
            case .bot:
                [
                    localized("the history, people and what was learned stay"),
                    localized(
                        "waiting replies and favorites are dropped; nothing older than now is answered or favorited"
                    ),
                ]
            case .human:
                [
                    localized(
                        "archived posts of the human and what was learned stay; mirror-bot train clear removes them"
                    ),
                    localized("the human's feeds are read from their newest posts on"),
                ]
            }
        return [start] + consequences.map { "  " + $0 }
    }
}
