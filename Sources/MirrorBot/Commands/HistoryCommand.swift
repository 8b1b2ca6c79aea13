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

              mirror-bot history --since 7d --state done
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

    @OptionGroup var list: ListOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withRecord { mirror, record in
            let zone = mirror.knownTimeZone(record) ?? .gmt
            let found = try await ActionList(of: mirror, try search(in: zone, now: mirror.clock.now))
            if list.json { return try JSONOutput.print(found) }
            guard !found.actions.isEmpty else { return print("nothing of the kind is stored") }
            for line in found.actions.flatMap({ StatusView.lines(of: $0, zone, .output) }) { print(line) }
            ListOptions.tell(next: found.next)
        }
    }

    private func search(in zone: TimeZone, now: Date) throws -> ActionList.Search {
        var search = ActionList.Search()
        (search.kinds, search.states, search.person) = (kind, state, person)
        (search.words, search.limit, search.cursor) = (words.searchWords, list.limit, list.after)
        search.since = try since.map { try PersonTime(zone: zone).since($0, now: now) }
        return search
    }
}

extension ActionKind: ExpressibleByArgument {}
extension ActionState: ExpressibleByArgument {}
