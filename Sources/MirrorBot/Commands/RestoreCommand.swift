import ArgumentParser
import Control
import Foundation
import Settings

/// `mirror-bot restore`.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup of the embedded database back.",
        discussion: """
            Stop the worker first. The archive, what was learned, settings and time zones become those of the backup. \
            What the bot did, whom it left alone, what it forgot and what calls have cost is kept where the database that \
            is there can be read. That database is kept beside, under another name.

            Every restored mirror pauses until mirror-bot resume. It answers no mention older than the restore, and sends \
            no slot that has passed.
            """)

    @Argument(help: "A file that mirror-bot backup made; it is only read.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("the file's name is empty") }
    }

    func run() async throws {
        let path = URL(fileURLWithPath: Console.current.path(file)).path
        let configuration = try await options.configuration(readsAccounts: false)
        Console.current.log.follow(configuration)
        let restoration = try Restoration(configuration)
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError(.usage, "there is no file \(Printable.line(file))")
        }
        let report = try await restoration.restore(path)
        if json { return try JSONOutput.print(report) }
        for line in report.lines { print(Printable.line(line)) }
    }
}

extension RestoreReport {
    fileprivate var lines: [String] {
        var lines = mirrors.flatMap { $0.lines(knowsPeople: [.read, .partly].contains(takenOver)) }
        if let before {
            let state = takenOver == .read ? "" : ", which cannot be used,"
            lines.append("the database that was there\(state) is kept as \(before)")
        }
        let sealed = mirrors.flatMap { mirror in
            mirror.sealedLogins.map { (mirror.name, $0.rawValue) }
        }
        if sealed.isEmpty {
            if hasKey { lines.append("\(key) opens the stored logins") }
        } else {
            let cause = hasKey ? "does not open" : "is missing, and nothing else opens"
            for (mirror, role) in sealed {
                lines.append("\(key) \(cause) the login of the \(role) of mirror \(mirror)")
            }
            lines.append(
                "  put the key there that the backup was made with, or log in again: mirror-bot login"
            )
        }
        lines.append("next: mirror-bot status, then mirror-bot resume, and start mirror-bot run")
        return lines
    }
}

extension RestoreReport.Mirror {
    fileprivate func lines(knowsPeople: Bool) -> [String] {
        let timeNote = knownUntil.map { ", as of \($0.formatted(.iso8601))" } ?? ""
        var lines = [
            "restored mirror \(name): \(posts) posts, \(actions) actions, \(people) people\(timeNote)"
        ]
        lines.append("  it pauses until mirror-bot resume")
        if leftOut > 0 {
            lines.append("  \(leftOut) \(leftOut == 1 ? "action" : "actions") that waited left out")
        }
        if !knowsRest {
            lines.append(
                "  its actions since then are not known here: it reads its own posts at the next start"
            )
        }
        if !knowsRest, !knowsPeople {
            lines.append(
                "  requests to deny or forget that were made since then are lost: repeat them before mirror-bot resume"
            )
        }
        return lines
    }
}
