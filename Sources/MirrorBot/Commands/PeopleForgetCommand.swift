import Archive
import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Web

/// `mirror-bot people forget`.
struct PeopleForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove everything about a person, for good.",
        discussion: """
            Removes the human's posts that answer or name them, what was learned from them, what was said to them \
            and what is planned for them. A digest of their name remains, so that nothing of theirs is read or \
            learned again. mirror-bot people allow removes the digest; the rest stays removed.

              mirror-bot people report pal@social.example --html pal.html
              mirror-bot people forget pal@social.example
            """)

    @Argument(help: "The account; accounts linked to it are forgotten too.") var account: String

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let ask = { (desk: Desk) async throws -> Seen? in
            if !yes { try await confirm(desk.mirror) }
            return nil
        }
        try await options.change(ForgetPerson(account: account), output, asking: ask) { change in
            let forgotten = change.forgotten
            let counts = [
                (forgotten.posts, "of the human's posts, which answered or named them"),
                (forgotten.unlearned, "of their posts, which were learned"),
                (forgotten.dropped, "of the planned answers and favorites"),
                (forgotten.ended, "of the notes of what was done or decided"),
            ]
            var lines = [
                "forgotten: \(forgotten.accounts.map { Printable.line($0) }.joined(separator: ", "))"
            ]
            lines +=
                counts.filter { count, _ in count > 0 }
                .map { count, text in "  \(count) \(text)" }
                + change.left.map { "  \($0.line)" }
            if forgotten.underWay > 0 {
                lines.append(
                    """
                      \(forgotten.underWay) being sent or taken back, and not forgotten yet: mirror-bot run does that once it \
                    has ended, or this command again
                    """)
            }
            return lines
        }
    }

    private func confirm(_ mirror: HumanMirror) async throws {
        let holding = try await PersonHolding(
            of: PeopleBook(mirror: mirror).account(account), in: mirror)
        let accounts = holding.accounts.map { Printable.line($0) }.joined(separator: ", ")
        let parts = holding.parts.isEmpty ? "" : " (\(holding.parts.joined(separator: ", ")))"
        try Confirmation.require(
            "Remove everything about \(accounts)\(parts)? [y/N] ", unless: false,
            or: "nothing was forgotten")
    }
}

/// `mirror-bot people report`.
struct PeopleReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show everything that is stored about a person.",
        discussion: "The HTML file makes no request, so you can send it to them.")

    @Argument(help: "The account; accounts linked to it are included.") var account: String

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write a page for a browser; - prints it.", valueName: "file"))
    var html: String?

    @Flag(help: "With --html: overwrite an existing file.")
    var force = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if html != nil, json { throw ValidationError("--html and --json do not go together") }
        if html == "" { throw ValidationError("--html is empty") }
        if force, html == nil { throw ValidationError("--force needs --html") }
    }

    func run() async throws {
        let file = html.map { OutputFile($0, isForced: force) }
        try file?.check()
        try await options.withMirror { mirror in
            let now = mirror.clock.now
            let zone = try await mirror.knownTimeZone() ?? .gmt
            let id = try await PeopleBook(mirror: mirror).account(account)
            let report = try await PersonReport(on: id, in: mirror, zone: zone, now: now)
            if let file { return try file.write(PersonPage(report).html) }
            if json { return try JSONOutput.print(report) }
            for line in PersonView(report: report, zone: zone).lines { print(line) }
        }
    }
}

/// The report as text.
///
/// It shows everything that is stored, because it answers a person's request for their data.
private struct PersonView {
    let report: PersonReport
    let zone: TimeZone

    var lines: [String] {
        accounts + [""] + section("said to them, or favorited", report.deeds.flatMap(deed))
            + [""]
            + section(
                "posts of the human that answer or name them", report.mentions.flatMap(mention)) + [
                ""
            ]
            + section("posts of theirs that are learned from", report.learned.flatMap(learned))
    }

    private var accounts: [String] {
        report.accounts.map { account in
            let notes = [
                account.handle.map { "@\($0)" },
                account.isForgotten ? "forgotten: only a digest is kept" : account.stance,
                account.reason.map { "by \($0)" },
                account.onDenied.map { "on the denied server \($0)" },
                account.lastContact.map { "last answered \(time($0))" },
            ].compactMap(\.self)
            return Printable.line(([account.account] + notes).joined(separator: ", "))
        }
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        [title] + (lines.isEmpty ? ["  nothing"] : lines)
    }

    private func deed(_ deed: PersonReport.Deed) -> [String] {
        let title = "  \(time(deed.at))  \(deed.kind), \(deed.state)  \(deed.about)"
        return [Printable.line(title)] + indentedLines(deed.text)
            + (deed.why.map { ["    (\(Printable.line($0)))"] } ?? [])
    }

    private func mention(_ mention: PersonReport.Mention) -> [String] {
        [Printable.line("  \(time(mention.written))  \(mention.post)")]
            + indentedLines(mention.text)
    }

    private func learned(_ post: PersonReport.Learned) -> [String] {
        [Printable.line("  \(time(post.noted))  \(post.state)  \(post.post)")]
            + indentedLines(post.text)
    }

    private func indentedLines(_ text: String?) -> [String] {
        guard let text else { return [] }
        return Printable.lines(text).split(separator: "\n").map { "    \($0)" }
    }

    private func time(_ date: Date) -> String { LocalTime(date, in: zone).description }
}
