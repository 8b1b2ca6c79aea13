import Foundation
import Outbox
import Posts
import Sandbox

/// What a person wanted and did not get.
extension Audit {
    var overwritings: [AuditFinding] {
        let bySubject = Dictionary(
            actions.filter { $0.kind == .post }.map { ($0.subject, $0) },
            uniquingKeysWith: { first, _ in first })
        let wishes = input.person.wishes.sorted { $0.key < $1.key }.flatMap {
            subject, wish -> [AuditFinding] in
            guard let wish, let action = bySubject[subject] else { return [] }
            return objections(to: action, against: wish)
        }
        return wishes + takingBack + actions.flatMap(neverObjections)
            + actions.flatMap(beginningsInPauses)
            + pauseObjections
    }

    private func objections(to action: Action, against wish: PersonLedger.Wish) -> [AuditFinding] {
        var why: [String] = []
        switch wish {
        case .skipped:
            if action.state != .skipped {
                why.append("was skipped by a person, and is \(action.state.rawValue)")
            }
            if !things(of: action).isEmpty {
                why.append("was skipped by a person, and the network has it")
            }
        case .pinned(let due, let text):
            if !action.isPinned { why.append("was pinned by a person, and is not") }
            if let due, due != action.due {
                why.append("was moved to \(due) by a person, and is due at \(action.due)")
            }
            if text != action.text {
                why.append("has another text than the one that a person kept")
            }
            if action.reason == .outbox(.rerolled) {
                why.append("was pinned by a person, and drawn anew")
            }
        }
        return why.map { AuditFinding(.overwritten, action, $0) }
    }

    /// A request that begins after a person has said never.
    private func neverObjections(_ action: Action) -> [AuditFinding] {
        guard let text = action.text, let since = input.person.never[text],
            let sending = action.sending,
            // The worker's clock may be ahead of the person's.
            sending > since + input.skew, !isFromAhead(sending)
        else { return [] }
        return [
            AuditFinding(
                .overwritten, action, "has a text that a person never wanted to be sent again")
        ]
    }

    /// A first request that was begun while the mirror paused, by a worker whose clock was right.
    private func beginningsInPauses(_ action: Action) -> [AuditFinding] {
        guard let sending = action.sending,
            !input.wrongClocks.contains(where: { shows($0, sending) })
        else {
            return []
        }
        return input.person.pauses.filter { pause in
            pause.start + input.skew < sending && sending < pause.end - input.skew
        }.map { _ in
            AuditFinding(.overwritten, action, "was sent while a person had the mirror pause")
        }
    }

    /// Requests that arrived after `pause` had returned.
    private var pauseObjections: [AuditFinding] {
        input.person.pauses.flatMap { pause -> [AuditFinding] in
            ledger.writes.filter { pause.start < $0.arrived && $0.arrived < pause.end }.filter {
                write in
                // One that was held in the instant before its request cannot be called back.
                !input.stoppedWorkers.contains {
                    $0.stopped < pause.start && $0.woken + input.patience > write.arrived
                }
            }.map {
                AuditFinding(
                    .overwritten, $0.summary, "arrived while a person had the mirror pause")
            }
        }
    }

    // MARK: What was taken back

    /// What is still there although a person took it back, and what is gone although nobody did.
    ///
    /// That something comes again is a duplicate: what the network had once counts, whatever became
    /// of it.
    private var takingBack: [AuditFinding] {
        let gone = actions.filter { !removals(of: $0).isEmpty }
        let unasked = gone.filter { action in
            !input.person.unwanted.contains(action.id)
                && !input.person.perhapsUnwanted.contains(action.id)
        }
        // Of some commands nobody knows what they were about.
        let excess = unasked.dropFirst(input.person.lostWords).map {
            AuditFinding(.overwritten, $0, "is gone from the network, and nobody took it back")
        }
        let strays = attribution.strayRemovals.map {
            AuditFinding(
                .overwritten, "\($0.kind.rawValue) \($0.postID)",
                "is gone, and no action is about it")
        }
        return excess + strays + actions.compactMap(leftover)
    }

    /// Why something of an action should not be on the network any more; nil if that is right, or
    /// nothing is.
    private func leftover(_ action: Action) -> AuditFinding? {
        let isUnwanted = input.person.unwanted.contains(action.id)
        guard isUnwanted || action.state == .undone,
            things(of: action).count > removals(of: action).count
        else {
            return nil
        }
        // A network that was made to say no may have done so for good.
        if action.state == .done, action.undo?.outcome != nil, action.undo?.next == nil,
            !failures.isEmpty
        {
            return nil
        }
        return AuditFinding(
            .overwritten, action,
            isUnwanted
                ? "was taken back by a person, and the network still has it"
                : "counts as taken back, and the network still has it")
    }
}
