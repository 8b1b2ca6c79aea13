import ArgumentParser
import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// `mirror-bot forget`.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Exclude a post, a word or a period for good.",
        discussion: """
            A post is removed from the archive for good. A word removes all posts and replies that contain it, for \
            as long as it is muted. Posts of a day or period are not sent. Planned slots with such a text get \
            another one, or are skipped.

              mirror-bot forget https://social.example/@me/1234
              mirror-bot forget --word "a name"
              mirror-bot forget --day 12-24
              mirror-bot forget --from 2019-03-01 --to 2019-06-30
              mirror-bot forget --undo --word "a name"
              mirror-bot forget list

            To exclude a text but keep its post, use "mirror-bot never"; to forget a person, "mirror-bot people \
            forget".
            """,
        subcommands: [ForgetTextCommand.self, ForgetListCommand.self],
        defaultSubcommand: ForgetTextCommand.self)
}

/// `mirror-bot forget text`.
struct ForgetTextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "text",
        abstract: "Exclude a post, a word or a period; the word text can be left out.")

    @Argument(
        help:
            "The address or id of an archived post; with --undo its id, or the digest that list shows."
    )
    var post: String?

    @Option(
        help: ArgumentHelp(
            "A word or several; case, width and accents are ignored.", valueName: "word"))
    var word: String?

    @Option(
        help: ArgumentHelp(
            "A day of every year (MM-DD), or of one (YYYY-MM-DD).", valueName: "MM-DD"))
    var day: String?

    @Option(help: ArgumentHelp("The first day of a period.", valueName: "YYYY-MM-DD"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Its last day; without it the period has no end.", valueName: "YYYY-MM-DD"))
    var to: String?

    @Flag(help: "Revert it; removed posts return when they are read again.")
    var undo = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard [post, word, day, from].compactMap(\.self).count == 1 else {
            throw ValidationError("name one thing: a post, --word, --day, or --from and --to")
        }
        if to != nil, from == nil { throw ValidationError("--to needs --from") }
    }

    func run() async throws {
        let wish = wish
        guard !undo else {
            return try await options.change(RememberText(wish), output, needsZone: true) { change in
                [
                    change.isUndone
                        ? "reverted; posts return when they are read again"
                        : "nothing to do: that was not forgotten"
                ]
            }
        }
        // What the wish refers to, as `ask` found it before the change.
        var subject: Forgetting.Subject?
        let ask = { (desk: Desk) async throws -> Seen? in
            let forgetting = try await desk.forgetting()
            let foundSubject = try await forgetting.subject(of: wish)
            subject = foundSubject
            // With `--yes` the subject is not shown, so there is no digest to compare.
            let shownDigest = yes ? nil : try await forgetting.seen(foundSubject)
            try await confirm(foundSubject, forgetting)
            return shownDigest
        }
        try await options.change(ForgetText(wish), output, needsZone: true, asking: ask) { report in
            (subject.map { lines($0, report) } ?? []) + report.wayBackLines
        }
    }

    private var wish: ForgettingWish {
        if let post { return .post(post) }
        if let word { return .word(word) }
        if let day { return .day(day) }
        return .days(from: from ?? "", to: to)
    }

    /// Asks for a confirmation before anything is deleted.
    private func confirm(_ subject: Forgetting.Subject, _ forgetting: Forgetting) async throws {
        let question: String
        switch subject {
        case .post(let post):
            question = "Forget for good \"\(Printable.line(post.text, columns: 60))\"? [y/N] "
        case .muted("word", let word):
            let postCount = try await forgetting.reach(of: subject)
            guard postCount > 0 else { return }
            question =
                "Remove \(posts(postCount)) with \"\(Printable.line(word, columns: 40))\"? [y/N] "
        case .gonePost, .muted: return
        }
        try Confirmation.require(question, unless: yes, or: "nothing was forgotten")
    }

    private func lines(_ subject: Forgetting.Subject, _ report: ForgetReport) -> [String] {
        let headline: String
        switch subject {
        case .post(let post): headline = "forgotten: \(Printable.line(post.text, columns: 60))"
        case .gonePost: headline = "that was forgotten already"
        case .muted(let kind, let value):
            let outcome = report.isNew ? "muted" : "that was muted already"
            headline = "\(outcome): \(shownMute(kind, value))"
        }
        var lines = [headline]
        if case .muted("word", _) = subject { lines.append("removed: \(posts(report.removed))") }
        lines += report.slots.map(\.line)
        let replies = report.repliesLeftOut
        if replies > 0 {
            lines.append("\(replies) planned \(replies == 1 ? "reply is" : "replies are") left out")
        }
        return lines + report.left.map(\.line)
    }

    private func posts(_ number: Int) -> String { number == 1 ? "1 post" : "\(number) posts" }
}

/// `mirror-bot forget list`.
struct ForgetListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what is excluded; of posts and people only digests.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let (entries, zone) = try await options.withZone(making: .database) { mirror, zone in
            (try await Forgetting(mirror: mirror, zone: zone).list(), zone)
        }
        if json { return try JSONOutput.print(ForgetList(forgotten: entries)) }
        guard !entries.isEmpty else { return print("nothing is forgotten or muted") }
        for entry in entries {
            let kind = Printable.padded(entry.kind, to: 6)
            let value = shownMute(entry.kind, entry.value)
            print("\(LocalTime(entry.noted, in: zone).day)  \(kind)  \(value)")
        }
    }
}

/// Returns the printed form of a muted or forgotten value.
private func shownMute(_ kind: String, _ value: String) -> String {
    Printable.line(kind == "span" ? value.replacingOccurrences(of: "/", with: " to ") : value)
}
