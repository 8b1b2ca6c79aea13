import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings
import Storage

/// `mirror-bot backup`.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the embedded database into one file, also while a worker runs.",
        discussion: """
            Copying the database's file by hand loses what is still in the log beside it. To go back, stop the worker \
            and put the copy in the place of mirror-bot.sqlite, without -wal and -shm files beside it. Logins in the \
            copy are sealed; what opens them is said, and is to be kept too, at another place. A database on a server \
            is copied with pg_dump.
            """)

    @Argument(help: "The file to make; it must not exist yet.")
    var file: String

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("the file's name is empty") }
    }

    func run() async throws {
        let path = URL(fileURLWithPath: Console.current.path(file)).path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandError(
                .usage, "\(Printable.line(file)) exists already, and is not overwritten; name another file")
        }
        try await options.withMirror(readsAccounts: false, looksOnly: true, opening: Self.open) { mirror in
            let backup = try await mirror.backUp(to: path)
            if output.json { return try JSONOutput.print(backup) }
            print("copied the database to \(Printable.line(file))")
            if let key = backup.key {
                print("keep \(Printable.line(key)) too, at another place: nothing else opens the logins in the copy")
            }
        }
    }

    private static func open(
        _ configuration: MirrorConfiguration, _ making: HumanMirror.Making
    ) async throws -> HumanMirror {
        guard case .sqlite = configuration.process.storage else {
            throw ConfigurationError(
                Setting.databaseURL.name, "names a server, whose data is copied with pg_dump and not with this")
        }
        return try await MirrorOptions.openWhicheverThereAre(configuration, making)
    }
}
