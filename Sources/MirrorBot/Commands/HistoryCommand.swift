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
        abstract: "Show what the bot did, decided and plans, newest change first.",
        discussion: """
            With words: only actions whose text, or the post that they answer or favorite, contains all of them.

              mirror-bot history --since 7d --state done
              mirror-bot history --day 2026-11-24 --kind reply
              mirror-bot history --person pal@social.example
              mirror-bot history --state done coffee
            """)

    @Argument(help: "Words to find; case, width and accents are ignored.") var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only changes since then: 18:30, 2026-11-24, \"2026-11-24 18:30\", or 45m, 6h, 3d, 2w ago.",
            valueName: "time"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Only changes of that day on the human's clock, as 2026-11-24.", valueName: "date"))
    var day: String?

    @Option(help: ArgumentHelp("Only post, reply or favorite; repeatable.", valueName: "kind"))
    var kind: [ActionKind] = []

    @Option(
        help: ArgumentHelp(
            "Only this state, such as done or skipped; repeatable.", valueName: "state")
    )
    var state: [ActionState] = []

    @Option(
        help: ArgumentHelp(
            "Only actions for this person, including linked accounts.", valueName: "account"))
    var person: String?

    @OptionGroup var list: ListOptions
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if day != nil, since != nil {
            throw ValidationError("--day and --since do not go together")
        }
    }

    func run() async throws {
        try await options.withRecord { mirror, record in
            let zone = mirror.knownTimeZone(record) ?? .gmt
            let actionList = try await ActionList(
                of: mirror, try search(in: zone, now: mirror.clock.now))
            if list.json { return try JSONOutput.print(actionList) }
            guard !actionList.actions.isEmpty else { return print("nothing of the kind is stored") }
            for line in actionList.actions.flatMap({ StatusView.lines(of: $0, zone, .output) }) {
                print(line)
            }
            if let totals = actionList.totals, totals.total > actionList.actions.count {
                print(Self.line(totals))
            }
            ListOptions.tell(next: actionList.next)
        }
    }

    /// Returns the totals in words, as `in all: 3 posts done, 1 reply skipped`, for a page that
    /// does not list all actions.
    private static func line(_ totals: ActionTotals) -> String {
        let counts = totals.counts.map { count in
            let plural = count.kind == .reply ? "replies" : "\(count.kind.rawValue)s"
            return
                "\(count.count) \(count.count == 1 ? count.kind.rawValue : plural) \(count.state.rawValue)"
        }
        return "in all: \(counts.joined(separator: ", "))"
    }

    private func search(in zone: TimeZone, now: Date) throws -> ActionList.Search {
        var search = ActionList.Search()
        search.kinds = kind
        search.states = state
        search.person = person
        search.words = words.searchWords
        search.limit = list.limit
        search.cursor = list.after
        if let day {
            guard let localDay = LocalDay(day), search.restrict(to: localDay, in: zone) else {
                throw ValidationError("--day is \"\(day)\"; expected a date such as 2026-11-24")
            }
            return search
        }
        search.since = try since.map { try PersonTime(zone: zone).since($0, now: now) }
        return search
    }
}

extension ActionKind: ExpressibleByArgument {}
extension ActionState: ExpressibleByArgument {}
