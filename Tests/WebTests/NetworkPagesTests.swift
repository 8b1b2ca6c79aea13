import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Schedule
import Storage
import TestSupport
import Testing

@testable import Web

/// On each network the pages offer what the desk does, and nothing else.
///
/// `CrawlTests` presses what is offered in every state, and reads what every page says.
@Suite(.timeLimit(.minutes(30)), .serialized) struct NetworkPagesTests {
    /// A control of a row.
    enum Verb: String, CaseIterable, Sendable {
        case approve, done, decline, skip, restore, move, keep
    }

    private static let pairs = NetworkName.known.flatMap { network in
        Verb.allCases.map { (network, $0) }
    }

    /// Each row of each page, beside the same wish at the desk: both know the same rows.
    @Test(arguments: pairs) func aPageOffersWhatTheDeskDoes(_ network: NetworkName, _ verb: Verb)
        async throws
    {
        try await with(network) { stand, slots in
            let mirror = try await stand.mirror()
            let rows: [String]
            switch verb {
            case .approve, .done, .decline:
                rows = try await SuggestionList(of: mirror, SuggestionList.Search()).suggestions
                    .map(\.id)
            // A slot that is kept already stays as it is.
            case .keep: rows = slots.filter { !$0.isPinned }.map(\.id)
            case .skip, .restore, .move: rows = slots.map(\.id)
            }
            try #require(!rows.isEmpty)
            let offered = try await offered(verb, rows, stand)
            let desk = Desk(mirror, zone: TimeZone(identifier: WebStand.zone))
            for row in rows {
                let isDone = try await perform(verb, row, at: desk)
                #expect(isDone == offered.contains(row), "\(network), \(verb): \(row)")
            }
        }
    }

    /// Taking back is offered where a request would have an effect.
    ///
    /// What is planned or waits has other controls.
    @Test(arguments: NetworkName.known) func takingBackIsOfferedWhereItHelps(
        _ network: NetworkName
    ) async throws {
        try await with(network) { stand, _ in
            let mirror = try await stand.mirror()
            let list = try await ActionList(of: mirror, .init(limit: 200)).actions
            let stored = try await mirror.outbox(lease: nil).actions(withIDs: list.map(\.id))
            var states: Set<ActionState> = []
            for action in stored.values {
                guard ![.planned, .claimed, .suggested].contains(action.state) else { continue }
                states.insert(action.state)
                let helps = [.withheld, .asked, .remembered].contains(action.undoAnswer)
                let page = try await stand.client.send("/m/mika/actions/\(action.id)")
                let isOffered = page.body.contains("/confirm/undo?id=\(action.id)\"")
                #expect(isOffered == helps, "\(network): \(action.kind) \(action.state)")
            }
            #expect(states.isSuperset(of: [.done, .sending, .failed, .expired, .undone, .skipped]))
        }
    }

    /// A mirror with a life, and with slots of today in every state that a person may find.
    private func with(
        _ network: NetworkName, _ body: (WebStand, [Action]) async throws -> Void
    ) async throws {
        let settings = try #require(NetworkSentencesTests.accounts[network])
        try await WebStand.with(variables: settings) { stand in
            _ = try await PageState.fill(stand)
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            let day = LocalTime(WebStand.now, in: zone).day
            let states: [(ActionState, ReasonCode?, isPinned: Bool)] = [
                (.planned, nil, false), (.planned, nil, true),
                (.skipped, .outbox(.byPerson), false), (.skipped, "no-text", false),
                (.expired, nil, false), (.failed, "rejected", false), (.done, nil, false),
                (.undone, .outbox(.byPerson), false),
            ]
            let slots = states.indices.map { index in
                let due = WebStand.now + Double(index + 1) * 1_800
                let wording = Action.Wording(
                    source: PostID(
                        network: .mastodon, value: "https://social.example/@mika/\(index)"),
                    text: "Post number \(index).", language: nil, visibility: .unlisted)
                var intent = Intent(
                    .post(Slot.Name(day: day, number: index + 1), wording), due: due,
                    expires: due + 3_600)
                intent.isPinned = states[index].isPinned
                return intent
            }
            let plan = StoredPlan(
                day: day, timeZone: WebStand.zone, seed: "s", made: WebStand.now,
                model: DayPlanner.modelVersion)
            let outbox = mirror.outbox(lease: nil)
            let isStored = try await outbox.store(plan, slots: slots)
            try #require(isStored)
            for (slot, wanted) in zip(try await outbox.slots(of: day), states) {
                try await mirror.storage.execute(
                    """
                    UPDATE actions SET state = \(wanted.0.rawValue), reason = \(wanted.1?.rawValue)
                    WHERE mirror = 'mika' AND id = \(slot.id)
                    """)
            }
            try await body(stand, try await outbox.slots(of: day))
        }
    }

    /// The rows for which a page has the control.
    private func offered(_ verb: Verb, _ rows: [String], _ stand: WebStand) async throws
        -> Set<String>
    {
        func page(_ path: String) async throws -> String {
            let answer = try await stand.client.send("/m/mika\(path)")
            try #require(answer.status == 200, "\(path)")
            return answer.body
        }
        var offered: Set<String> = []
        switch verb {
        case .approve, .done, .decline:
            let body = try await page("/waiting")
            for row in rows where body.contains("name=\"\(verb.rawValue)\" value=\"\(row)\"") {
                offered.insert(row)
            }
        case .skip, .restore:
            let body = try await page("")
            for row in rows where body.contains("action=\"/m/mika/slots/\(row)/\(verb.rawValue)\"")
            {
                offered.insert(row)
            }
        case .move, .keep:
            for row in rows {
                let body = try await page("/slots/\(row)")
                let sign = verb == .move ? "/slots/\(row)/move\"" : "name=\"keep\""
                if body.contains(sign) { offered.insert(row) }
            }
        }
        return offered
    }

    /// Whether the desk changes something by it.
    private func perform(_ verb: Verb, _ row: String, at desk: Desk) async throws -> Bool {
        do {
            switch verb {
            case .approve:
                return try await desk.perform(PersonRequest(ApproveSuggestion(id: row))).isNew
            case .done:
                return try await desk.perform(PersonRequest(NoteSuggestionDone(id: row))).isNew
            case .decline:
                return try await desk.perform(PersonRequest(DismissSuggestion(id: row))).isNew
            case .skip: return try await desk.perform(PersonRequest(SkipSlot(slot: row))).isNew
            case .restore:
                return try await desk.perform(PersonRequest(RestoreSlot(slot: row))).isNew
            case .move:
                return try await desk.perform(
                    PersonRequest(MoveSlot(slot: row, time: "23:17"))
                ).isNew
            case .keep: return try await desk.perform(PersonRequest(PinSlot(slot: row))).isNew
            }
        } catch is ChangeRefusal {
            return false
        }
    }
}
