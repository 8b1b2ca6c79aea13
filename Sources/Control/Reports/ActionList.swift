import Archive
package import Foundation
import Localization
package import Mirroring
package import Outbox
package import Posts
import Schedule
import Settings

/// A page of a mirror's past and planned actions, the latest change first.
///
/// The pages list all actions, or those that match a search.
package struct ActionList: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/actions/1"
    package let actions: [ReportedAction]
    /// The number of actions on all pages; nil for a search by words, which would have to read all
    /// of them.
    package let totals: ActionTotals?
    /// The cursor of the next page; nil for the last page.
    package let next: String?
}

/// The number of actions that a search finds on all its pages.
package struct ActionTotals: Codable, Equatable, Sendable {
    /// The number of actions of one kind in one state.
    package struct Count: Codable, Equatable, Sendable {
        package let kind: ActionKind
        package let state: ActionState
        package let count: Int
    }

    package let total: Int
    /// The counts other than zero, in the order of kinds and states.
    package let counts: [Count]

    init(_ tallies: [ActionTally]) {
        total = tallies.reduce(0) { $0 + $1.count }
        counts = ActionKind.allCases.flatMap { kind in
            ActionState.allCases.compactMap { state in
                tallies.first { $0.kind == kind && $0.state == state }.map {
                    Count(kind: kind, state: state, count: $0.count)
                }
            }
        }
    }

    /// The number of actions of a kind.
    package func count(of kind: ActionKind) -> Int {
        counts.filter { $0.kind == kind }.reduce(0) { $0 + $1.count }
    }

    /// The number of actions in one of these states.
    package func count(in states: [ActionState]) -> Int {
        counts.filter { states.contains($0.state) }.reduce(0) { $0 + $1.count }
    }
}

extension ActionList {
    /// Search criteria; a result matches all criteria that are given.
    package struct Search: Codable, Equatable, Sendable {
        /// The kinds of actions; empty for all.
        package var kinds: [ActionKind] = []
        /// The states of actions; empty for all.
        package var states: [ActionState] = []
        /// The person of the actions, in the form that people type; nil for any.
        package var person: String?
        /// Words in the text, in the answered or favorited post, or in its author's name; ignores
        /// case, width and accents.
        package var words: String?
        /// The time from which on an action was last changed; nil for no limit.
        package var since: Date?
        /// The time before which an action was last changed; nil for no limit.
        package var until: Date?
        /// The cursor of the page; nil for the newest.
        package var cursor: String?
        /// The most actions to list.
        package var limit = 20

        package init(limit: Int = 20) { self.limit = limit }

        /// Restricts the search to actions last changed on a local day.
        ///
        /// - Returns: False, without a change, for a day that the zone skipped.
        package mutating func restrict(to day: LocalDay, in zone: TimeZone) -> Bool {
            guard let period = day.period(in: zone) else { return false }
            since = max(since ?? period.lowerBound, period.lowerBound)
            until = period.upperBound
            return true
        }
    }

    /// Searches the actions.
    ///
    /// - Throws: `ChangeRefusal` for an invalid person or cursor; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        var filter = ActionFilter(kinds: search.kinds, states: search.states, since: search.since)
        filter.until = search.until
        if let person = search.person {
            filter.people = try await mirror.people.linked(
                to: PeopleBook(mirror: mirror).account(person))
        }
        if let cursor = search.cursor {
            guard let place = ActionFilter.Place(cursor) else {
                throw ChangeRefusal(
                    .unusable,
                    localized("\"\(cursor.prefix(60))\" is no place in the list of actions"))
            }
            filter.place = place
        }
        let searchWords = SearchWords(search.words)
        let outbox = mirror.outbox(lease: nil)
        totals = search.words == nil ? ActionTotals(try await outbox.tallies(of: filter)) : nil
        let matches = try await outbox.history(filter, limit: search.limit + 1) { action in
            let target = action.target
            let names = [target?.text, target?.name, target?.author.value].compactMap(\.self)
            return searchWords.occur(in: action.texts + names)
        }
        let shown = Array(matches.prefix(search.limit))
        let persons = try await mirror.persons(of: shown)
        let network = mirror.configuration.botNetwork
        let posts = shown.filter { $0.kind == .post }
        let dates = try await mirror.archive.dates(of: posts.compactMap(\.wording?.source))
        actions = shown.map { action in
            var reported = ReportedAction(action, persons[action.id], on: network)
            reported.written =
                action.kind == .post ? action.wording.flatMap { dates[$0.source] } : nil
            return reported
        }
        let hasMore = matches.count > shown.count
        next = hasMore ? shown.last.map { ActionFilter.Place($0).text } : nil
    }
}

extension LocalDay {
    /// The period from the first instant of the day to the first of the next day; nil for a day
    /// that the zone skipped.
    func period(in zone: TimeZone) -> Range<Date>? {
        let minutes = LocalDayMinutes(self, in: zone)
        guard let start = minutes.start, let end = minutes.end else { return nil }
        return start..<end
    }
}
