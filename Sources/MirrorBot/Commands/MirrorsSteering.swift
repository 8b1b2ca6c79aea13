import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot mirrors pause`.
struct MirrorsPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause mirrors, as mirror-bot pause does with one.",
        discussion: """
            All names are checked first. Exit code 78 if one is no mirror's; then none is paused.
            """)

    @Argument(
        help: ArgumentHelp("The mirrors.", valueName: "mirror"),
        completion: .custom(MirrorNames.complete))
    var names: [String]

    @Option(
        help: ArgumentHelp(
            "When the pause ends: 18:30, 2026-11-24, \"2026-11-24 18:30\", or in 45m, 6h, 3d, 2w.",
            valueName: "time")
    )
    var until: String?

    @Option(help: ArgumentHelp("A note for yourself, shown by status.", valueName: "words"))
    var reason: String?

    @Flag(help: "Print JSON, one object on each line.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws { try MirrorArgument.check(names, options) }

    func run() async throws {
        try await options.change(names, PauseMirror(until: until, reason: reason), json: json) {
            change in
            let pauseEnd =
                change.untilLocal.map { "until \($0)" } ?? "until mirror-bot mirrors resume"
            return ["mirror \(change.mirror) pauses \(pauseEnd)"] + change.left.map(\.line)
        }
    }
}

/// `mirror-bot mirrors resume`.
struct MirrorsResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End the pauses of mirrors, as mirror-bot resume does with one.")

    @Argument(
        help: ArgumentHelp("The mirrors.", valueName: "mirror"),
        completion: .custom(MirrorNames.complete))
    var names: [String]

    @Flag(help: "Print JSON, one object on each line.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws { try MirrorArgument.check(names, options) }

    func run() async throws {
        try await options.change(names, ResumeMirror(), json: json) { $0.resumptionLines }
    }
}

/// `mirror-bot mirrors remove`.
struct MirrorsRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a mirror and everything that is stored of it.",
        discussion: """
            What the bot published stays on its network; undo takes it back first. The mirror is paused and loses its \
            logins at once, then its rows are removed in small transactions. If that is interrupted, run the command \
            again: it continues. Exit codes: 64 without a yes; 75 while a worker holds the mirror: pause it with \
            mirror-bot mirrors pause, and wait for the worker to release it, or stop the worker.
            """)

    @Argument(
        help: ArgumentHelp("The mirror.", valueName: "mirror"),
        completion: .custom(MirrorNames.complete))
    var name: String

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws { try MirrorArgument.check([name], options) }

    func run() async throws {
        var options = options
        options.mirror = name
        try await options.withMirror(
            readsAccounts: false, allowsMoved: true,
            opening: { configuration, making in
                var configuration = configuration
                // An invalid setting must not prevent the removal of a mirror.
                configuration.mirror.ignoresStored = true
                return try await HumanMirror.open(configuration, making: making)
            }
        ) { mirror in
            let subject = try await RemovalSubject(mirror)
            let handles = [subject.human, subject.bot].map { handle in
                handle.map { "@" + $0 } ?? "unknown"
            }
            let accounts = handles.joined(separator: " → ")
            try Confirmation.require(
                "Remove mirror \(name), \(Printable.line(accounts)), with everything that is stored of it? [y/N] ",
                unless: yes, or: "nothing was removed")
            let desk = Desk(mirror, zone: nil)
            let removal = try await desk.perform(
                PersonRequest(RemoveMirror(), seen: yes ? nil : subject.seen))
            if json { return try JSONOutput.print(removal) }
            let rows = removal.rows.values.reduce(0, +)
            print("removed mirror \(removal.mirror), \(rows) rows of \(removal.rows.count) tables")
        }
    }
}

/// The names of mirrors as arguments.
enum MirrorArgument {
    /// Refuses invalid and repeated mirror names, and `--mirror` beside them.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ names: [String], _ options: MirrorOptions) throws {
        if options.mirror != nil { throw ValidationError("--mirror has no meaning here") }
        for name in names where !MirrorSettings.isName(name) {
            throw ValidationError(
                "\"\(Printable.line(name, columns: 40))\" is not \(MirrorSettings.nameForm)")
        }
        if let repeatedName = Dictionary(grouping: names, by: \.self).first(where: {
            $0.value.count > 1
        })?
        .key {
            throw ValidationError("\(repeatedName) is given twice")
        }
    }
}

/// A file that a command reads completely.
enum InputFile {
    private static let chunkBytes = 1 << 20

    /// The contents of a file, a pipe, or standard input for `-`.
    ///
    /// - Throws: ``CommandError`` with the code for bad data if it cannot be read or is longer than
    ///   `limit` bytes.
    static func contents(of name: String, atMost limit: Int) throws -> Data {
        let path = Console.current.path(name)
        let shownName = Printable.line(name)
        let handle: FileHandle
        if path == "-" {
            handle = .standardInput
        } else if let opened = FileHandle(forReadingAtPath: path) {
            handle = opened
        } else {
            throw CommandError(.badData, "\(shownName) does not exist, or cannot be read")
        }
        var data = Data()
        do {
            while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
                data.append(chunk)
                guard data.count <= limit else { break }
            }
        } catch {
            throw CommandError(.badData, "\(shownName) cannot be read; expected a file")
        }
        guard data.count <= limit else {
            throw CommandError(.badData, "\(shownName) is longer than \(limit) bytes; divide it")
        }
        return data
    }
}

extension MirrorOptions {
    /// Performs the same operation on several mirrors, one after the other, and prints each result.
    ///
    /// - Throws: `ConfigurationError` for an unknown mirror, before anything is changed; what the
    ///   desks throw.
    fileprivate func change<Operation: PersonOperation>(
        _ names: [String], _ operation: Operation, json: Bool,
        _ lines: (Operation.Outcome) -> [String]
    ) async throws {
        try await withInstallation(readsAccounts: false) { installation in
            for desk in try await MirrorRegister(installation).desks(of: names) {
                let outcome = try await desk.perform(operation)
                if json {
                    try JSONOutput.print(outcome, isOneLine: true)
                } else {
                    for line in lines(outcome) { print(line) }
                }
            }
        }
    }
}
