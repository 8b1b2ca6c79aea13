import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot texts`.
struct TextsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Show the archived texts, newest first, and which may be posted.",
        discussion: """
            With words: only texts that contain all of them.

              mirror-bot texts coffee
              mirror-bot texts --only unfit --reason time-bound
              mirror-bot texts --only never
            """)

    @Argument(help: "Words to find; case, width and accents are ignored.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only one kind: fit for posting at any time, sometimes, unfit, never (excluded by you), or answers.",
            valueName: "kind"))
    var only = TextList.Search.Kind.all

    @Option(
        help: ArgumentHelp(
            "Only those that one rule decides about, by its code, such as time-bound.", valueName: "code"))
    var reason: String?

    @OptionGroup var list: ListOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withRecord { mirror, record in
            var search = TextList.Search()
            (search.kind, search.reason, search.words) = (only, reason, words.searchWords)
            (search.limit, search.cursor) = (list.limit, list.after)
            let found = try await TextList(of: mirror, search)
            if list.json { return try JSONOutput.print(found) }
            guard !found.texts.isEmpty else { return print("no text of the kind is archived") }
            let zone = mirror.knownTimeZone(record) ?? .gmt
            for text in found.texts { for line in text.lines(in: zone) { print(line) } }
            ListOptions.tell(next: found.next)
        }
    }
}

extension TextList.Search.Kind: ExpressibleByArgument {}

extension TextList.Text {
    fileprivate func lines(in zone: TimeZone) -> [String] {
        let said = [
            isNever ? "never to be sent" : unfitText ?? sometimes,
            planned.map { "planned as \($0.slot)" },
            answers.map { "answers \($0)" },
            uses > 0
                ? "used \(uses == 1 ? "once" : "\(uses) times"), last \(lastUse.map { "\(LocalTime($0, in: zone).day)" } ?? "unknown")"
                : nil,
        ].compactMap(\.self)
        let head = "\(LocalTime(created, in: zone))  \(Printable.line(text, columns: 58))"
        let notes = [Printable.line(post)] + said.map { Printable.line($0) }
        return [head, "    " + notes.joined(separator: "; ")]
    }
}
