import ArgumentParser
import Control
import Favorites
import Foundation
import Localization
import Mirroring
import Posts

/// `mirror-bot texts`.
struct TextsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Show the archived texts, and say which fit.",
        discussion: """
              mirror-bot texts coffee
              mirror-bot texts --only unfit --reason time-bound
              mirror-bot texts review
            """,
        subcommands: [TextsListCommand.self, TextsReviewCommand.self, TextsKeepCommand.self],
        defaultSubcommand: TextsListCommand.self)
}

/// `mirror-bot texts list`.
struct TextsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract:
            "Show the archived texts, newest first, and which may be posted; the word list can be left out.",
        discussion: """
            With words: only texts that contain all of them.

              mirror-bot texts coffee
              mirror-bot texts --only unfit --reason time-bound
              mirror-bot texts --only never
              mirror-bot texts list review
            """)

    @Argument(help: "Words to find; case, width and accents are ignored.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only one kind: fit for posting at any time, sometimes, unfit, never (excluded by you), or answers.",
            valueName: "kind"))
    var only = TextList.Search.Kind.all

    @Option(
        help: ArgumentHelp(
            "Only those that one rule decides about, by its code, such as time-bound.",
            valueName: "code"))
    var reason: String?

    @OptionGroup var list: ListOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withRecord { mirror, record in
            var search = TextList.Search()
            search.kind = only
            search.reason = reason
            search.words = words.searchWords
            search.limit = list.limit
            search.cursor = list.after
            let textList = try await TextList(of: mirror, search)
            if list.json { return try JSONOutput.print(textList) }
            guard !textList.texts.isEmpty else { return print("no text of the kind is archived") }
            let zone = mirror.knownTimeZone(record) ?? .gmt
            for text in textList.texts { for line in text.lines(in: zone) { print(line) } }
            ListOptions.tell(next: textList.next)
        }
    }
}

extension TextList.Search.Kind: ExpressibleByArgument {}

extension TextList.Text {
    fileprivate func lines(in zone: TimeZone) -> [String] {
        let useCount = uses == 1 ? "once" : "\(uses) times"
        let lastUseDay = lastUse.map { "\(LocalTime($0, in: zone).day)" } ?? "unknown"
        let facts = [
            isNever ? "never to be sent" : unfitText ?? sometimes,
            demoted, planned.map { "planned as \($0.slot)" },
            answers.map { "answers \($0)" },
            uses > 0 ? "used \(useCount), last \(lastUseDay)" : nil,
        ].compactMap(\.self)
        let title = "\(LocalTime(created, in: zone))  \(Printable.line(text, columns: 58))"
        let notes = [Printable.line(post)] + facts.map { Printable.line($0) }
        return [title, "    " + notes.joined(separator: "; ")]
    }
}

/// `mirror-bot texts keep`.
struct TextsKeepCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Note that a text may be posted.",
        discussion: """
            The text never comes after others for what was learned of texts that you left out, and teaches what you keep. \
            A text that was excluded by "never" may be sent again.
            """)

    @Argument(help: "The address or id of an archived post.") var post: String
    @Flag(help: "Revert that: nothing is learned from the text.") var undo = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        guard undo else {
            return try await options.change(KeepText(post: post), output, needsZone: true) {
                change in
                change.lines(change.isNew ? "kept" : "kept already") + change.wayBackLines
            }
        }
        try await options.change(UnkeepText(post: post), output, needsZone: true) { change in
            change.lines(change.isNew ? "not kept any more" : "nothing to do, it was not kept")
                + change.wayBackLines
        }
    }
}

extension KeepChange {
    fileprivate func lines(_ outcome: String) -> [String] {
        ["\(outcome): \(Printable.line(text, columns: 60))"]
    }
}

/// `mirror-bot texts review`.
struct TextsReviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "review",
        abstract: "Say of some texts whether the bot may post them; it learns from that.",
        discussion: """
            One key for each text: k keeps it, n never sends it, Enter leaves it for later, q ends. Without a terminal \
            an answer is a line. Each answer counts at once, and the next review goes on with the texts that are left.

            From \(TextTaste.fewestLabels) answers on, some of each kind, texts that read like those you left out come after \
            others. "mirror-bot explain" and "mirror-bot texts" say which, and why.
            """)

    @Option(help: ArgumentHelp("Maximum of texts to ask for.", valueName: "number"))
    var limit = TextReview.firstReviewSize

    @Flag(help: "Print the texts as JSON and ask nothing.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard (1...1_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 1000")
        }
    }

    func run() async throws {
        try await options.withZone { mirror, zone in
            let review = try await TextReview(of: mirror, atMost: limit)
            if json { return try JSONOutput.print(review) }
            guard !review.texts.isEmpty else { return print("no text is left to ask for") }
            let answers = try await TextConversation(Desk(mirror, zone: zone), zone: zone).ask(
                review.texts)
            print(answers.summary)
        }
    }
}

/// Asks a person about texts, one after the other.
struct TextConversation {
    /// The person's answers, counted.
    struct Answers {
        var kept = 0
        var excluded = 0
        var isEnded = false

        var summary: String {
            let counts = localized(
                kept + excluded > 0 ? "\(kept) kept, \(excluded) never sent" : "nothing was said")
            return isEnded ? localized("\(counts); mirror-bot texts review goes on") : counts
        }
    }

    private let desk: Desk
    private let zone: TimeZone

    init(_ desk: Desk, zone: TimeZone) {
        self.desk = desk
        self.zone = zone
    }

    /// Asks until there are no more texts, or the person stops; each answer is stored at once.
    ///
    /// - Throws: The error of the desk; ``CommandError`` if no key can be read.
    func ask(_ texts: [TextList.Text]) async throws -> Answers {
        var answers = Answers()
        for (number, text) in texts.enumerated() {
            let time = LocalTime(text.created, in: zone)
            let heading = localized("\(number + 1) of \(texts.count), \(time)")
            StandardError.write("\n\(heading)\n  \(Printable.lines(text.text))\n")
            switch try Question.key(
                localized("k keep, n never, Enter later, q quit: "), among: ["k", "n", "", "q"])
            {
            case "k":
                if try await store(KeepText(post: text.post), text) { answers.kept += 1 }
            case "n":
                if try await store(NeverSend(post: text.post), text) { answers.excluded += 1 }
            case "": break
            default:
                answers.isEnded = true
                return answers
            }
        }
        return answers
    }

    /// Stores an answer, or prints why it cannot be stored.
    ///
    /// - Returns: False if the answer does not count, because the desk refused it. It does so for a
    ///   text that was changed or removed meanwhile.
    private func store<Operation: PersonOperation>(_ operation: Operation, _ text: TextList.Text)
        async throws -> Bool
    {
        do {
            _ = try await desk.perform(PersonRequest(operation, seen: text.seen))
            return true
        } catch let refusal as ChangeRefusal {
            StandardError.write("\(Printable.lines("\(refusal)"))\n")
            return false
        }
    }
}
