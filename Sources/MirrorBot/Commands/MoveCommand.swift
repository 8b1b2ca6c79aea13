import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings
import Storage

/// `mirror-bot move`.
struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move a mirror to another database, from a file to a server or back.",
        discussion: """
            Copies everything including the history, so that nothing happens twice, and compares every row. Stop the \
            worker first. Run an interrupted move again to continue it. The old copy stays, but workers refuse it. \
            Keep the password out of the URL: libpq finds it in PGPASSWORD or ~/.pgpass.
            """)

    @Option(
        help: ArgumentHelp(
            "A postgres:// URL, or a folder as for \(Setting.home.name); its tables are created.",
            valueName: "place"))
    var to: String?

    @Flag(help: "Move every mirror of the database.")
    var all = false

    @Flag(help: "The new place is lost: use the mirror here again.")
    var stay = false

    @Flag(name: .shortAndLong, help: "Do not ask before an older copy is overwritten.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard (to == nil) == stay else { throw ValidationError("give either --to or --stay") }
        if all, options.mirror != nil {
            throw ValidationError("--all and --mirror do not go together")
        }
        if stay, all || json { throw ValidationError("--stay goes with neither --all nor --json") }
        if to?.isEmpty == true { throw ValidationError("--to is empty") }
    }

    func run() async throws {
        try await options.withMirror(readsAccounts: false, allowsMoved: true, opening: open) {
            mirror in
            guard let to else { return try await stay(mirror) }
            let location = try Self.location(to)
            if case .sqlite = location, mirror.process.isDyno {
                throw ConfigurationError(
                    "--to", "is a folder, and a dyno's disk is forgotten daily")
            }
            let names = all ? try await MirrorTable.names(in: mirror.storage) : [mirror.name]
            try await Self.open(location).closing { target in
                try await MirrorMove.announce(
                    names, from: .init(mirror.storage, name: mirror.process.storage.place),
                    to: .init(target, name: location.place), now: mirror.clock.now)
                try await move(names, from: mirror, to: target, location)
            }
        }
    }

    /// Opens the database, for all of its mirrors or for a single one.
    private func open(
        _ configuration: MirrorConfiguration, _ making: HumanMirror.Making
    ) async throws -> HumanMirror {
        all
            ? try await MirrorOptions.openUnchecked(configuration, making)
            : try await HumanMirror.open(configuration, making: making)
    }

    private func move(
        _ names: [String], from mirror: HumanMirror, to target: any StorageEngine,
        _ location: StorageLocation
    ) async throws {
        let progress = MoveProgress()
        var receipts: [MirrorMove.Receipt] = []
        for name in names {
            let move = MirrorMove(
                of: name, from: .init(mirror.storage, name: mirror.process.storage.place),
                to: .init(target, name: location.place), replaces: true, clock: mirror.clock,
                timing: mirror.rehearsal.leaseTiming, report: progress.show)
            try await mirror.requireOpenLogins(of: name)
            try await confirm(move, name, at: location)
            let outcome = try await move.run()
            progress.finish()
            switch outcome {
            case .moved(let receipt): receipts.append(receipt)
            case .held:
                throw CommandError(
                    .tryLater,
                    "could not move mirror \(name): a worker holds it; stop it first. Nothing was changed"
                )
            case .keepsChanging:
                throw CommandError(
                    .tryLater,
                    "could not move mirror \(name): another process keeps changing it; wait until training has ended, and "
                        + "run this again")
            }
            if !json, let receipt = receipts.last { Self.print(receipt) }
        }
        let key = receipts.contains { $0.rows["credentials"] != nil } ? mirror.vault.keyPlace : nil
        if json { return try JSONOutput.print(MoveReport(moved: receipts, keyPlace: key)) }
        for line in Self.nextSteps(at: location, key: key) { Self.print(line) }
    }

    /// Asks before an older copy is overwritten.
    private func confirm(_ move: MirrorMove, _ name: String, at location: StorageLocation)
        async throws
    {
        guard let leftover = try await move.leftover(), !yes else { return }
        let age = leftover.since.map { " of \($0.rfc3339)" } ?? ""
        let stateOfCopy =
            leftover.state == .left ? "as it was when it was moved away" : "not complete"
        StandardError.write(
            "\(Printable.line(location.place)) has a copy of mirror \(name)\(age), \(stateOfCopy)\n"
        )
        try Confirmation.require("Overwrite it? [y/N] ", unless: yes)
    }

    private func stay(_ mirror: HumanMirror) async throws {
        guard let move = try await mirror.table.record().move, move.state == .left else {
            return Self.print("nothing to do: mirror \(mirror.name) was not moved away from here")
        }
        StandardError.write(
            """
            mirror \(mirror.name) lives at \(Printable.line(move.place)). What it did there is unknown here: if it \
            still runs there, both answer, and what it did there may happen again.

            """)
        try Confirmation.require("Let it live here again? [y/N] ", unless: yes)
        _ = try await mirror.table.stay()
        Self.print("mirror \(mirror.name) lives here again")
    }

    // MARK: Places

    private static func location(_ text: String) throws -> StorageLocation {
        if text.contains("://") {
            guard let problem = StorageLocation.problem(ofURL: text) else {
                return .postgres(url: text)
            }
            throw ValidationError("--to \(problem)")
        }
        let url = URL(
            fileURLWithPath: Console.current.path((text as NSString).expandingTildeInPath)
        )
        .standardizedFileURL
        let file = ProcessSettings.databaseFile
        return .sqlite(path: url.lastPathComponent == file ? url.path : url.path + "/" + file)
    }

    private static func open(_ location: StorageLocation) async throws -> any StorageEngine {
        do {
            try location.check()
            return try await Storage.open(location)
        } catch var error as StorageError {
            // The message names the setting of the database, but this place was given as `--to`.
            error.operation = error.operation.replacing(Setting.databaseURL.name, with: "--to")
            error.cause = error.cause.replacing(Setting.databaseURL.name, with: "--to")
                .replacing("\(Setting.home.name) or --home names", with: "--to names")
            throw error
        }
    }

    // MARK: Words

    /// A method named `print` would hide the module's function.
    private static func print(_ line: String) { Console.current.output.writeLine(line) }

    private static func print(_ receipt: MirrorMove.Receipt) {
        let names = [
            ("posts", "post"), ("people", "person"), ("examples", "example"), ("actions", "action"),
            ("plans", "plan"),
        ]
        let rowCounts = names.compactMap { table, singular in
            receipt.rows[table].map { "\($0) \($0 == 1 ? singular : table)" }
        }
        let total = receipt.rows.values.reduce(0, +)
        let list = rowCounts.isEmpty ? "" : ": " + rowCounts.joined(separator: ", ")
        print("mirror \(receipt.mirror) lives at \(Printable.line(receipt.to)) now\(list)")
        print("  all \(total) rows were compared; \(receipt.written) were written")
    }

    /// Returns the steps to start the mirror at its new place.
    ///
    /// - Parameter key: The place of the key that opens the logins: the name `SECRET_KEY`, or the
    ///   path of a file; nil if there are no logins.
    private static func nextSteps(at location: StorageLocation, key: String?) -> [String] {
        var lines: [String] = []
        switch (key, location) {
        case (Setting.secretKey.name?, _):
            lines.append("keep \(Setting.secretKey.name) as it is: it opens the logins there too")
        case (let file?, .postgres):
            lines.append(
                "set SECRET_KEY_FILE=\(Printable.line(file)) there, or \(Setting.secretKey.name) to its content:"
            )
            lines.append("  nothing else opens the logins")
        case (let file?, .sqlite(let path)):
            lines.append(
                "copy \(Printable.line(file)) to \(Printable.line(path)).key: nothing else opens the logins"
            )
        case (nil, _): break
        }
        switch location {
        case .postgres:
            lines.append("set \(Setting.databaseURL.name) to it, and start mirror-bot run")
        case .sqlite(let path):
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            lines.append(
                "unset \(Setting.databaseURL.name), set \(Setting.home.name)=\(Printable.line(folder)), and start mirror-bot run"
            )
        }
        return lines
    }
}

/// The moved mirrors, for programs.
private struct MoveReport: Encodable {
    let schema = "mirror-bot/move/1"
    let moved: [MirrorMove.Receipt]
    /// The place of the key that opens the logins there: `SECRET_KEY`, or a file; `nil` if there
    /// are no logins.
    let keyPlace: String?
}

/// Shows the progress of a move on a terminal.
private final class MoveProgress: @unchecked Sendable {
    // Sendable because `isShown` is only touched under `lock`.
    private let lock = NSLock()
    private let stream = Console.current.error
    private var isShown = false

    func show(_ table: String, rows: Int) {
        guard stream.terminal.isInteractive else { return }
        lock.withLock {
            isShown = true
            // A carriage return, and the control sequence that erases the line.
            stream.write("\r\u{1B}[K\(table) \(rows)")
        }
    }

    func finish() {
        lock.withLock {
            if isShown { stream.write("\r\u{1B}[K") }
            isShown = false
        }
    }
}
