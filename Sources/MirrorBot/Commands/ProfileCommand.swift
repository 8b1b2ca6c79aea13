import ArgumentParser
import Control
import Foundation
import Localization
import Mirroring
import Networks
import Posts
import Settings

/// `mirror-bot profile`.
struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Make the bot's profile say whose mirror it is.",
        discussion: """
            Shows the profile as it is and as proposed, and asks before it writes: a line of the bio that says whose \
            mirror it is, who runs it (\(Setting.operatorContact.name)) and how to stop it, and a row of the table. Everything else \
            stays. On X it prints the line for you to paste.
            """)

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON; write only with --yes.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror { mirror in
            let offer = ProfileOffer(of: mirror)
            guard !json else { return try await offer.printJSON(writing: yes) }
            guard try await offer.make(if: { yes || Confirmation.ask("\($0) [y/N] ") }) else {
                throw CommandError(.usage, "nothing was changed; answer y, or pass --yes")
            }
        }
    }
}

/// Shows the proposed profile of the bot, and writes it if the person agrees.
struct ProfileOffer {
    private let mirror: HumanMirror

    init(of mirror: HumanMirror) { self.mirror = mirror }

    /// Shows the proposal, and writes it if the person agrees.
    ///
    /// - Parameter agrees: Puts a question to the person, and returns whether the answer is yes.
    /// - Returns: True if the profile was written or needs no change, or if the person was told
    ///   what to write into it; false if they declined.
    /// - Throws: ``CommandError`` if the profile was changed meanwhile; as
    ///   `HumanMirror.profileProposal()`; what `agrees` throws.
    func make(if agrees: (String) throws -> Bool) async throws -> Bool {
        let proposal = try await mirror.profileProposal()
        try await mirror.dropProfileChanges()
        show(proposal)
        guard proposal.proposed != nil else {
            try await mirror.settleProfile()
            return true
        }
        guard
            try agrees(
                localized("Write this into the profile of @\(Printable.line(proposal.bot))?"))
        else {
            return false
        }
        try await write(proposal)
        print(localized("written"))
        return true
    }

    /// Prints the proposal as JSON, and writes it on request.
    func printJSON(writing: Bool) async throws {
        let proposal = try await mirror.profileProposal()
        try JSONOutput.print(proposal)
        guard writing else { return }
        try await mirror.dropProfileChanges()
        if proposal.proposed != nil { try await write(proposal) }
    }

    private func write(_ proposal: ProfileProposal) async throws {
        guard try await mirror.writeProfile(proposal) else {
            throw CommandError(
                .tryLater,
                localized(
                    "could not write the profile: somebody changed it meanwhile; look at it again"))
        }
    }

    private func show(_ proposal: ProfileProposal) {
        let name = localized(
            "@\(Printable.line(proposal.bot)) on \(proposal.network.displayName)")
        if let present = proposal.present {
            print(localized("\(name) says now:"))
            for line in Self.lines(present) { print(line) }
        } else {
            print(localized("\(name): paste this line into its profile:"))
            print("  \(Printable.line(proposal.line))")
        }
        if let proposed = proposal.proposed {
            print(localized("and would say:"))
            for line in Self.lines(proposed) { print(line) }
        } else if proposal.present != nil, proposal.notes.isEmpty {
            print(localized("nothing to do: it says whose mirror it is"))
        }
        for note in proposal.notes { print("! \(Printable.line(note))") }
    }

    private static func lines(_ text: ProfileProposal.Text) -> [String] {
        let bio = text.bio.split(separator: "\n", omittingEmptySubsequences: false)
        let rows = text.fields.map {
            "\($0.name): \($0.value)" + ($0.verified == nil ? "" : " " + localized("(verified)"))
        }
        return (bio.map(String.init) + rows).map { "  | " + Printable.line($0) }
    }
}
