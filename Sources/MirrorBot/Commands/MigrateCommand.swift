import ArgumentParser
import Mirroring
import Storage

/// `mirror-bot migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's tables up to date.",
        discussion: "Safe to repeat, and safe when two processes do it at once.")

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        // A release migrates before anybody has set an account's last variable.
        let (configuration, _) = try await options.configuration(readsAccounts: false)
        try configuration.requireLastingStorage()
        let applied = try await Storage.open(configuration.storage).closing { try await AccountSpelling.migrate($0) }
        for id in applied { print("applied \(id)") }
        if applied.isEmpty { print("nothing to do: \(configuration.storage) is up to date") }
    }
}
