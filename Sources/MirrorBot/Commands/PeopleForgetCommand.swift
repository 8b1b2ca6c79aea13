import Archive
import ArgumentParser
import Foundation
import Mirroring
import Control
import Posts
import Web

/// `mirror-bot people forget`.
struct PeopleForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget all there is about somebody, and take in nothing of theirs again.",
        discussion: """
            The human's answers to them and posts that name them go, what was learned from them, what was said to them \
            and is planned for them. What is left is a digest, by which they are left alone. mirror-bot people allow \
            takes that back; what is gone stays gone.

              mirror-bot people report pal@social.example --html pal.html
              mirror-bot people forget pal@social.example
            """)

    @Argument(help: "The account; those that are linked to it are forgotten too.") var account: String

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(making: .database) { mirror in
            let id = try await PeopleBook(mirror: mirror).account(account)
            let all = try await mirror.people.linked(to: id).map { Printable.line($0.reference) }
            try Confirmation.require(
                "Forget all there is about \(all.joined(separator: ", "))? [y/N] ", unless: yes,
                or: "nothing was forgotten")
            // From here on nothing is prepared for them; what is leaving ends before it is forgotten.
            let accounts = try await mirror.beginForgetting(id, now: mirror.clock.now)
            let left = try await mirror.leaving(for: accounts)
            let gone = try await mirror.forget(id, now: mirror.clock.now)
            if json { return try JSONOutput.print(Report(forgotten: gone, left: left)) }
            print("forgotten: \(all.joined(separator: ", "))")
            for (number, what) in [
                (gone.posts, "of the human's posts, which answered or named them"),
                (gone.unlearned, "of their posts, which were learned"),
                (gone.dropped, "of the planned answers and favorites"),
                (gone.ended, "of the notes of what was done or decided"),
            ] where number > 0 { print("  \(number) \(what)") }
            for action in left { print("  \(action.line)") }
            if gone.underWay > 0 {
                print(
                    """
                      \(gone.underWay) being sent or taken back, and not forgotten yet: mirror-bot run does that once it \
                    has ended, or this command again
                    """)
            }
        }
    }

    private struct Report: Encodable {
        let schema = "mirror-bot/people-forget/1"
        let forgotten: PersonForgotten
        /// The actions for these people whose requests were under way.
        let left: [LeftAction]
    }
}

/// `mirror-bot people report`.
struct PeopleReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show everything that was said to somebody or is stored about them, for who asks.",
        discussion: "The HTML file needs nothing else and asks no server, so that it can be sent to them.")

    @Argument(help: "The account; those that are linked to it are theirs too.") var account: String

    @Flag(help: "Print JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write a page for a browser; - prints it.", valueName: "file"))
    var html: String?

    @Flag(help: "With --html: replace a file that is there.")
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

/// The report as text: whole, for it is the answer to somebody's question.
private struct PersonView {
    let report: PersonReport
    let zone: TimeZone

    var lines: [String] {
        accounts + [""] + section("said to them, or favorited", report.deeds.flatMap(deed)) + [""]
            + section("posts of the human that answer or name them", report.mentions.flatMap(mention)) + [""]
            + section("posts of theirs that are learned from", report.learned.flatMap(learned))
    }

    private var accounts: [String] {
        report.accounts.map { account in
            let notes = [
                account.handle.map { "@\($0)" },
                account.isForgotten ? "forgotten: only that is kept, as a digest" : account.stance,
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
        let head = "  \(time(deed.at))  \(deed.kind), \(deed.state)  \(deed.about)"
        return [Printable.line(head)] + said(deed.text) + (deed.why.map { ["    (\(Printable.line($0)))"] } ?? [])
    }

    private func mention(_ mention: PersonReport.Mention) -> [String] {
        [Printable.line("  \(time(mention.written))  \(mention.post)")] + said(mention.text)
    }

    private func learned(_ post: PersonReport.Learned) -> [String] {
        [Printable.line("  \(time(post.noted))  \(post.state)  \(post.post)")] + said(post.text)
    }

    private func said(_ text: String?) -> [String] {
        guard let text else { return [] }
        return Printable.lines(text).split(separator: "\n").map { "    \($0)" }
    }

    private func time(_ date: Date) -> String { LocalTime(date, in: zone).description }
}
