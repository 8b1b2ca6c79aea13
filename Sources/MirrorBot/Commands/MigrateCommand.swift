import ArgumentParser
import Mirroring
import Settings

/// `mirror-bot migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create or update the tables of the database.",
        discussion: "It may be repeated, also by two processes at once.")

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        // The release step of a deployment migrates the tables, perhaps before the accounts'
        // variables are set.
        let configuration = try await options.configuration(readsAccounts: false)
        try configuration.process.requireLastingStorage()
        let update = try await TablesUpdate(of: configuration.process.storage)
        if output.json { return try JSONOutput.print(update) }
        for id in update.applied { print("applied \(id)") }
        if update.applied.isEmpty { print("nothing to do: \(update.database) is up to date") }
    }
}
