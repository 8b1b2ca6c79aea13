import ArgumentParser
import Control
import Foundation
import Mirroring
import Networks
import Posts

/// `mirror-bot profile`.
struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Make the bot's profile say whose mirror it is.",
        discussion: """
            Shows the profile as it is and as proposed, and asks before it writes: a line of the bio that says whose \
            mirror it is, who runs it (OPERATOR_CONTACT) and how to stop it, and a row of the table. Everything else \
            stays. On X it prints the line for you to paste.
            """)

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON; write only with --yes.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror { mirror in
            try await mirror.tellContact()
            let proposal = try await mirror.profileProposal()
            if json { try JSONOutput.print(proposal) } else { show(proposal) }
            guard proposal.proposed != nil else { return }
            if json, !yes { return }
            try Confirmation.require(
                "Write this into the profile of @\(Printable.line(proposal.bot))? [y/N] ", unless: yes)
            guard try await mirror.writeProfile(proposal) else {
                throw CommandError(
                    .tryLater, "could not write the profile: it was changed meanwhile; run the command again")
            }
            if !json { print("written") }
        }
    }

    private func show(_ proposal: ProfileProposal) {
        let name = "@\(Printable.line(proposal.bot)) on \(proposal.network.displayName)"
        if let present = proposal.present {
            print("\(name) says now:")
            for line in Self.lines(present) { print(line) }
        } else {
            print("\(name): paste this line into its profile:")
            print("  \(Printable.line(proposal.line))")
        }
        if let proposed = proposal.proposed {
            print("and would say:")
            for line in Self.lines(proposed) { print(line) }
        } else if proposal.present != nil, proposal.notes.isEmpty {
            print("nothing to do: it says whose mirror it is")
        }
        for note in proposal.notes { print("! \(Printable.line(note))") }
    }

    private static func lines(_ text: ProfileProposal.Text) -> [String] {
        let bio = text.bio.split(separator: "\n", omittingEmptySubsequences: false)
        let rows = text.fields.map { "\($0.name): \($0.value)" + ($0.verified == nil ? "" : " (verified)") }
        return (bio.map(String.init) + rows).map { "  | " + Printable.line($0) }
    }
}
