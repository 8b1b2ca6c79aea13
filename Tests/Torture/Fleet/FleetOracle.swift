import Foundation
import Posts
import Sandbox

/// Compares what a town received with what the database says.
struct FleetOracle: Sendable {
    /// A row of `actions`.
    struct ActionRow: Sendable {
        var mirror: String
        var kind: String
        var state: String
        var due: Date
        var remoteID: String
        var reason: String
    }

    /// How far from its time a slot may be published.
    static let slotTolerance: TimeInterval = 180
    /// How long after a poll a mention may be answered.
    static let answerTolerance: TimeInterval = 30
    /// How long after midnight a plan may be made.
    static let planTolerance: TimeInterval = 300

    let ledger: TownLedger
    let actions: [ActionRow]
    /// When the workers ended, by the mirrors' clock.
    let end: Date
    /// Seconds between two polls of a mirror.
    let poll: Int

    /// Reads the actions of all mirrors.
    static func read(_ stage: FleetStage, end: Date, poll: Int) async throws -> FleetOracle {
        let rows = try await stage.database.rows(
            """
            SELECT mirror, kind, state, due_ms, COALESCE(remote_id, ''), COALESCE(reason, '') FROM actions
            WHERE kind IN ('post', 'reply')
            """)
        let actions = rows.compactMap { fields in
            fields.count < 6
                ? nil
                : ActionRow(
                    mirror: fields[0], kind: fields[1], state: fields[2],
                    due: Date(milliseconds: Int64(fields[3]) ?? 0), remoteID: fields[4],
                    reason: fields[5])
        }
        return FleetOracle(ledger: stage.town.ledger, actions: actions, end: end, poll: poll)
    }

    /// What no fleet may do, whatever its size.
    func rows(_ name: String, _ title: String) -> [FleetRow] {
        let known = Set(actions.filter { !$0.remoteID.isEmpty }.map(\.remoteID))
        let received = Set(ledger.deliveries.map(\.uri))
        let lost = actions.filter { $0.state == "done" && !received.contains($0.remoteID) }
        return [
            .oracle(
                "\(name)_duplicates", "\(title): something done twice", ledger.count(.duplicate)),
            .oracle(
                "\(name)_strangers", "\(title): somebody told who had not asked",
                ledger.count(.stranger)),
            .oracle(
                "\(name)_refusals", "\(title): requests that a server refused",
                ledger.count(.refusal)),
            .oracle(
                "\(name)_lost", "\(title): rows that say done of what no server received",
                lost.count),
            .oracle(
                "\(name)_unexplained", "\(title): posts that no row knows",
                received.subtracting(known).count),
        ]
    }

    /// The first incidents of each kind, in words.
    var complaints: [String] {
        TownLedger.Incident.Kind.allCases.flatMap { kind in
            ledger.incidents.filter { $0.kind == kind }.prefix(3).map { incident in
                "\(kind.rawValue): \(FleetPast.mirror(incident.household)), \(incident.date.rfc3339): \(incident.words)"
            }
        }
    }

    /// Whether mirrors kept their times over a day.
    ///
    /// - Parameter plans: The number of mirrors, and how long after its midnight each plan was
    ///   made, in seconds.
    func timeRows(plans: (mirrors: Int, made: [TimeInterval])) -> [FleetRow] {
        let dates = Dictionary(ledger.deliveries.map { ($0.uri, $0.date) }) { first, _ in first }
        let slots = actions.filter { $0.kind == "post" }
        let late = slots.compactMap { slot in
            dates[slot.remoteID].map { abs($0.timeIntervalSince(slot.due)) }
        }.sorted()
        let open = slots.count {
            ["planned", "claimed", "sending"].contains($0.state)
                && $0.due < end - Self.slotTolerance
        }
        let failed = slots.count { ["failed", "expired"].contains($0.state) }
        let patience = TimeInterval(poll) + Self.answerTolerance
        let waits = ledger.mentions.compactMap { mention in
            mention.deservesReply ? mention.answered?.timeIntervalSince(mention.date) : nil
        }.sorted()
        var rows = [
            FleetRow(
                name: "day_posts", title: "day: posts published", value: Double(late.count),
                unit: ""),
            FleetRow(
                name: "day_slot_median", title: "day: post to its time, median",
                value: late.quantile(0.5), unit: "s"),
            FleetRow(
                name: "day_slot_worst", title: "day: post to its time, worst",
                value: late.last ?? 0, unit: "s",
                limit: Self.slotTolerance),
            FleetRow(
                name: "day_slots_open", title: "day: posts still not sent", value: Double(open),
                unit: "", limit: 0),
            FleetRow(
                name: "day_slots_failed", title: "day: posts that failed or expired",
                value: Double(failed), unit: "",
                limit: 0),
            FleetRow(
                name: "day_answers", title: "day: mentions answered", value: Double(waits.count),
                unit: ""),
            FleetRow(
                name: "day_answer_median", title: "day: mention to answer, median",
                value: waits.quantile(0.5),
                unit: "s"),
            FleetRow(
                name: "day_answer_worst", title: "day: mention to answer, worst",
                value: waits.last ?? 0, unit: "s",
                limit: patience),
            FleetRow(
                name: "day_unanswered", title: "day: mentions without their answer",
                value: Double(ledger.unanswered(before: end - patience).count), unit: "", limit: 0),
        ]
        if let last = plans.made.max() {
            rows += [
                FleetRow(
                    name: "day_plan_worst", title: "day: plan after its midnight, worst",
                    value: max(0, last),
                    unit: "s", limit: Self.planTolerance),
                FleetRow(
                    name: "day_plans_missing", title: "day: mirrors without the new day's plan",
                    value: Double(plans.mirrors - plans.made.count), unit: "", limit: 0),
            ]
        }
        return rows
    }
}

extension [TimeInterval] {
    /// The value below which a share of the sorted values lies; 0 without any.
    func quantile(_ share: Double) -> TimeInterval {
        isEmpty ? 0 : self[Swift.min(count - 1, Int(Double(count) * share))]
    }
}
