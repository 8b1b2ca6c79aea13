import Archive
package import Foundation
import Localization
package import Outbox
package import Posts
import Schedule
import Settings

/// Fixes the plan of a day in advance, and draws a plan anew, on a person's request and after a
/// training.
package struct PlanRedraw: Sendable {
    /// Tries of a change that conflicts with another one.
    package static let attempts = 5
    /// Days ahead for which a plan may be fixed.
    private static let furthest = 366

    private let mirror: HumanMirror
    private let zone: TimeZone
    private let store: OutboxStore
    /// Made only when a text is chosen or judged, because that opens the dictionary, which most
    /// changes do not need.
    private var planner: PlanMaker { mirror.planMaker(zone: zone, store: store) }

    /// - Parameter zone: The human's time zone.
    package init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
        store = mirror.outbox(lease: nil)
    }

    /// Stores the plan of a day unless it has one, as `plan` would show it.
    ///
    /// - Throws: ``ChangeRefusal`` for a day that has passed or is too far away, and if nothing is
    ///   learned to plan from; the store's error.
    package func settle(_ day: LocalDay, now: Date) async throws {
        let today = LocalTime(now, in: zone).day
        guard day >= today else { throw ChangeRefusal(.outOfTime, localized("\(day) has passed")) }
        guard day <= today.advanced(by: Self.furthest) else {
            throw ChangeRefusal(
                .outOfTime, localized("\(day) is more than \(Self.furthest) days away"))
        }
        guard try await store.plan(for: day) == nil else { return }
        _ = try await planner.make(day, now: now, watching: try await mirror.watchesHuman())
        guard try await store.plan(for: day) != nil else { throw emptyArchive }
    }

    /// Draws a day anew: waiting slots that are not pinned are removed, and new slots get new
    /// numbers.
    ///
    /// The day then has as many posts as the new draw, including those that are sent or pinned.
    ///
    /// - Parameters:
    ///   - day: Today or a later day.
    ///   - seed: Makes one draw differ from the one before.
    ///   - seen: The digest of the day's slots that the person was shown; nil to change without
    ///     comparing.
    ///   - now: Earlier minutes are not drawn.
    /// - Returns: The number of removed slots, and of new ones.
    /// - Throws: ``ChangeRefusal``; `SeenChanged`; the store's error.
    package func redraw(
        _ day: LocalDay, seed: String, seen: Seen? = nil, now: Date
    ) async throws -> (taken: Int, added: Int) {
        try await settle(day, now: now)
        for attempt in 0..<Self.attempts {
            let slots = try await store.slots(of: day)
            let keptSlots = slots.filter {
                $0.isPinned || ![.planned, .claimed, .suggested, .skipped].contains($0.state)
            }
            let drawn = try await planner.preview(
                day, now: now, watching: try await mirror.watchesHuman(), seed: seed,
                firstNumber: Self.nextNumber(slots) + attempt, besides: keptSlots)
            guard var (plan, newSlots) = drawn else { throw emptyArchive }
            // The drawn times nearest to the kept slots are left out.
            let times = keptSlots.map(\.due)
            for _ in 0..<min(keptSlots.filter { $0.due > now }.count, newSlots.count) {
                let nearest = newSlots.indices.min {
                    distance(newSlots[$0].due, times) < distance(newSlots[$1].due, times)
                }
                if let nearest { newSlots.remove(at: nearest) }
            }
            newSlots.removeAll { $0.due <= now }
            plan.made = now
            if let removedCount = try await store.replan(
                plan, slots: newSlots, besides: keptSlots.count, seen: seen, now: now)
            {
                return (removedCount, newSlots.count)
            }
        }
        throw Self.busy(day)
    }

    /// The number of a further slot of a day.
    package static func nextNumber(_ slots: [Action]) -> Int {
        let numbers = slots.compactMap { action in
            if case .post(let name, _) = action.payload { name.number } else { nil }
        }
        guard let largest = numbers.max() else { return 1 }
        return largest + 1
    }

    /// The refusal of a change that repeatedly conflicted with another one.
    package static func busy(_ day: LocalDay) -> ChangeRefusal {
        ChangeRefusal(.busy, localized("\(day) is being changed by another process; try again"))
    }

    private func distance(_ date: Date, _ times: [Date]) -> TimeInterval {
        times.map { abs($0.timeIntervalSince(date)) }.min() ?? .greatestFiniteMagnitude
    }

    private var emptyArchive: ChangeRefusal {
        ChangeRefusal(
            .nothingLearned,
            saying: localized(
                "there is nothing to plan from: the human's past has not been read; \(control: .training)"
            )
        )
    }
}
