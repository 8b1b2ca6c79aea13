import Archive
import Conduct
import Foundation
import Mirroring
import Outbox
import Posts

/// Replaces the texts of waiting slots that may no longer be sent.
struct TextReplacement: Sendable {
    private let mirror: HumanMirror
    private let zone: TimeZone
    private let store: OutboxStore
    /// Created only when a text is chosen or judged, because that opens the dictionary.
    private var planner: PlanMaker { mirror.planMaker(zone: zone, store: store) }

    /// - Parameter zone: The human's time zone.
    init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
        store = mirror.outbox(lease: nil)
    }

    /// Gives a slot another text; skips it if there is none, or if it continues another slot.
    ///
    /// A slot whose text a person chose keeps its time, and waits until a person chooses another
    /// text. A slot that a person only moved waits in the same way if there is no other text.
    ///
    /// - Returns: The slot after the change.
    /// - Throws: The store's error.
    func replaceText(of slot: Action, reason: ReasonCode, now: Date) async throws -> [Action] {
        let changed: Action?
        if slot.keepsText, slot.parent == nil {
            changed = try await store.withdrawText(of: slot.id, reason: reason, now: now)
        } else if slot.parent == nil,
            let replacement = try await planner.replacement(for: slot, now: now),
            let wording = replacement.wording
        {
            changed = try await store.pin(
                slot.id, wording, explanation: replacement.explanation, isPinned: slot.isPinned,
                now: now)
        } else if slot.isPinned, slot.parent == nil {
            changed = try await store.withdrawText(of: slot.id, reason: reason, now: now)
        } else {
            changed = try await store.skip(slot.id, reason: reason, now: now)
        }
        if let changed { return [changed] }
        return [try await store.action(.post, subject: slot.subject)].compactMap(\.self)
    }

    /// Gives other texts to the unpinned slots that share a text with an action.
    ///
    /// - Returns: These slots after the change.
    /// - Throws: The store's error.
    @discardableResult
    func replaceTexts(sharedWith action: Action, now: Date) async throws -> [Action] {
        let keys = Set(action.texts.map(TextRules.textKey))
        var changed: [Action] = []
        for waiting in try await store.waitingPosts()
        where waiting.id != action.id && !waiting.isPinned {
            guard waiting.texts.contains(where: { keys.contains(TextRules.textKey($0)) }) else {
                continue
            }
            changed += try await replaceText(
                of: waiting, reason: .outbox(.saidMeanwhile), now: now)
        }
        return changed
    }

    /// Changes the waiting actions with a text that may no longer be used: posts get another text
    /// or wait for one, and replies are skipped.
    ///
    /// - Returns: The changed actions after the change.
    /// - Throws: The store's error.
    func replaceUnwanted(now: Date) async throws -> [Action] {
        var changed: [Action] = []
        for waiting in try await store.waitingPosts() + store.waitingReplies() {
            guard let reason = try await objection(to: waiting) else { continue }
            if waiting.kind == .post {
                changed += try await replaceText(of: waiting, reason: reason, now: now)
            } else if let skipped = try await store.skip(waiting.id, reason: reason, now: now) {
                changed.append(skipped)
            }
        }
        return changed
    }

    /// The reason why a part of a waiting action may no longer be said; nil if there is none.
    private func objection(to waiting: Action) async throws -> ReasonCode? {
        guard let wording = waiting.wording else { return nil }
        let parts = [(wording.source, wording.text)] + wording.rest.map { ($0.source, $0.text) }
        for (source, text) in parts {
            let post = try await mirror.archive.post(source)
            if let reason = try await planner.objection(to: post, from: source, text: text) {
                return reason
            }
        }
        return nil
    }
}

extension Desk {
    /// The replacement of texts at this desk.
    ///
    /// - Throws: `ConfigurationError` without a time zone.
    func replacement() async throws -> TextReplacement {
        TextReplacement(mirror: mirror, zone: try await zone())
    }
}
