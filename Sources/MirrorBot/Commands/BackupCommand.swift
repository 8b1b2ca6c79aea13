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
            Copying the database's file by hand loses what is still in the log beside it. mirror-bot restore puts a \
            backup back. Logins in it are sealed; the command says which key opens them: keep that too, at another place. A \
            database on a server is copied with pg_dump.

            For cron and timers, --keep writes a dated file into a folder, checks it, and then removes the oldest of \
            its own:

              mirror-bot backup --keep 7 /var/backups/mirror-bot
            """)

    @Argument(help: "The file to make, which must not exist yet; with --keep the folder.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "How many dated backups of this database stay in the folder, the new one among them.",
            valueName: "number"))
    var keep: Int?

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("the file's name is empty") }
        if let keep, !(1...10_000).contains(keep) {
            throw ValidationError("--keep is \(keep); expected a number from 1 to 10000")
        }
    }

    func run() async throws {
        let path = URL(fileURLWithPath: Console.current.path(file)).path
        try check(path)
        try await options.withMirror(readsAccounts: false, allowsMoved: true, opening: Self.open) {
            mirror in
            let backup = try await make(of: mirror, at: path)
            if output.json { return try JSONOutput.print(backup) }
            print("copied the database to \(Printable.line(keep == nil ? file : backup.file))")
            for path in backup.removed ?? [] { print("removed \(Printable.line(path))") }
            if let key = backup.key {
                print(
                    "keep \(Printable.line(key)) too, at another place: nothing else opens the logins in the copy"
                )
            }
        }
    }

    private func check(_ path: String) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if keep != nil {
            guard exists, !isFolder.boolValue else { return }
            throw CommandError(
                .usage, "\(Printable.line(file)) is a file; with --keep, name a folder")
        }
        guard !exists else {
            throw CommandError(
                .usage,
                isFolder.boolValue
                    ? "\(Printable.line(file)) is a folder; name a file in it, or say with --keep how many backups stay there"
                    : "\(Printable.line(file)) exists already, and is not overwritten; name another file"
            )
        }
    }

    private func make(of mirror: HumanMirror, at path: String) async throws -> Backup {
        guard let keep else { return try await mirror.backUp(to: path) }
        do {
            return try await mirror.backUp(into: path, keeping: keep, now: mirror.clock.now)
        } catch let error as ScheduledBackupError {
            throw CommandError(.unavailable, error.description)
        }
    }

    private static func open(
        _ configuration: MirrorConfiguration, _ making: HumanMirror.Making
    ) async throws -> HumanMirror {
        guard case .sqlite = configuration.process.storage else {
            throw ConfigurationError(
                Setting.databaseURL.name,
                "names a server, whose data is copied with pg_dump and not with this")
        }
        return try await MirrorOptions.openUnchecked(configuration, making)
    }
}
