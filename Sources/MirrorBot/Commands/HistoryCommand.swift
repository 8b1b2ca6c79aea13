import ArgumentParser
import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// `mirror-bot history`.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what the bot did, decided and plans, the last change first.",
        discussion: """
            With words only actions whose text, or the post they answer or favorite, holds all of these.

              mirror-bot history --since 7d --kind reply
              mirror-bot history --person pal@social.example
              mirror-bot history --state done coffee
            """)

    @Argument(help: "Words to look for; case, width and accents make no difference.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only what changed from then on: 18:30, 2026-11-24, \"2026-11-24 18:30\"; 45m, 6h, 3d or 2w count back.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only post, reply or favorite; may be given more than once.", valueName: "kind"))
    var kind: [ActionKind] = []

    @Option(
        help: ArgumentHelp("Only this state, such as done or skipped; may be given more than once.", valueName: "state")
    )
    var state: [ActionState] = []

    @Option(help: ArgumentHelp("Only what is for somebody, and for accounts linked to theirs.", valueName: "account"))
    var person: String?

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
            let zone = mirror.knownTimeZone(record) ?? .gmt
            let list = try await ActionList(of: mirror, try search(in: zone, now: mirror.clock.now))
            if json { return try JSONOutput.print(list) }
            guard !list.actions.isEmpty else { return print("nothing of the kind is stored") }
            for action in list.actions { print(StatusView.line(of: action, zone, .output)) }
            if let next = list.next { print("and more: --after \(Printable.line(next))") }
        }
    }

    private func search(in zone: TimeZone, now: Date) throws -> ActionList.Search {
        var search = ActionList.Search()
        (search.kinds, search.states, search.person) = (kind, state, person)
        search.words = words.isEmpty ? nil : words.joined(separator: " ")
        (search.limit, search.cursor) = (limit, after)
        search.since = try since.map { text in
            guard let start = PersonTime(zone: zone).pastInstant(text, now: now) else {
                throw ValidationError(
                    "--since is \"\(text)\"; expected a time such as 18:30, 2026-11-24, \"2026-11-24 18:30\" or 6h")
            }
            return start
        }
        return search
    }
}

extension ActionKind: ExpressibleByArgument {}
extension ActionState: ExpressibleByArgument {}
