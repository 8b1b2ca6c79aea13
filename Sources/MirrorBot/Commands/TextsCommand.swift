import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot texts`.
struct TextsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Show the human's archived texts, the newest first, and which the bot may post.",
        discussion: """
            With words only texts that hold all of these.

              mirror-bot texts coffee
              mirror-bot texts --only unfit
              mirror-bot texts --only never
            """)

    @Argument(help: "Words to look for; case, width and accents make no difference.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only texts of a kind: fit or unfit to be posted, never to be sent, or answers.", valueName: "kind"))
    var only = TextList.Search.Kind.all

    @Option(help: ArgumentHelp("The most to show.", valueName: "number"))
    var limit = 20

    @Option(
        help: ArgumentHelp("Go on at this place: the value of next in the JSON of the page before.", valueName: "place")
    )
    var after: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 10000")
        }
    }

    func run() async throws {
        try await options.withRecord { mirror, record in
            var search = TextList.Search()
            (search.kind, search.limit) = (only, limit)
            search.words = words.isEmpty ? nil : words.joined(separator: " ")
            search.cursor = after
            let list = try await TextList(of: mirror, search)
            if json { return try JSONOutput.print(list) }
            guard !list.texts.isEmpty else { return print("no text of the kind is archived") }
            let zone = mirror.knownTimeZone(record) ?? .gmt
            for text in list.texts { for line in text.lines(in: zone) { print(line) } }
            if let next = list.next { print("and more: --after \"\(Printable.line(next))\"") }
        }
    }
}

extension TextList.Search.Kind: ExpressibleByArgument {}

extension TextList.Text {
    fileprivate func lines(in zone: TimeZone) -> [String] {
        let said = [
            isNever ? "never to be sent" : unfitText,
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
