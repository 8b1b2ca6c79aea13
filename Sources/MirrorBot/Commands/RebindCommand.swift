import ArgumentParser
import Control
import Mirroring
import Posts
import Settings

/// `mirror-bot rebind`.
struct RebindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebind",
        abstract: "Bind the mirror to the accounts that its credentials open now.",
        discussion: """
            A mirror belongs to the accounts that it began with, and refuses others. This shows whose it is and whose \
            the credentials are, asks, and binds it anew: for an account that moved, or where a wrong one was noted. \
            What the bot did, people and what was learned stay.
            """)

    @Option(
        help: ArgumentHelp("human or bot; both if it is not given.", valueName: "role"), transform: RoleArgument.role)
    var role: AccountRole?

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(making: .database) { mirror in
            let name = mirror.name
            try await mirror.tellContact()
            let rebindings = try await mirror.rebindings(of: role)
            let outcome = Rebound(rebindings, of: name)
            guard !rebindings.isEmpty else {
                if output.json { return try JSONOutput.print(outcome) }
                return print("nothing to do: mirror \(name) is bound to what its credentials open")
            }
            for line in rebindings.flatMap(Self.lines) { StandardError.write(line + "\n") }
            try Confirmation.require("Bind mirror \(name) anew? [y/N] ", unless: yes)
            guard try await mirror.rebind(rebindings, now: mirror.clock.now) else {
                throw CommandError(
                    .tryLater, "could not bind mirror \(name) anew: a worker holds it; stop that one first")
            }
            if output.json { return try JSONOutput.print(outcome) }
            for line in outcome.accounts {
                print("the \(line.role.rawValue) of mirror \(name) is \(Printable.line(line.now))")
            }
        }
    }

    /// Whose the mirror is, whose the credentials are, and what follows.
    private static func lines(_ rebinding: Rebinding) -> [String] {
        let bound = rebinding.bound.map { "bound to \(Printable.line($0.reference))" } ?? "bound to nobody yet"
        let start = "\(rebinding.role.rawValue): \(bound); the credentials open "
        let consequences =
            switch rebinding.role {
            case .bot:
                [
                    "what the bot did stays in the history, and so do people and what was learned",
                    "answers and favorites that were not sent yet are dropped; nothing older than now gets any",
                ]
            case .human:
                [
                    "archived posts of the human and what was learned stay; mirror-bot train clear removes them",
                    "the human's feeds are read from their newest posts on",
                ]
            }
        return [start + Printable.line(rebinding.found.id.reference)] + consequences.map { "  " + $0 }
    }
}
