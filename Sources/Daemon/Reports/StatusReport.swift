import Archive
import Conduct
import Favorites
package import Foundation
package import Outbox
package import Posts

/// What a mirror knows, did and waits for.
package struct StatusReport: Codable, Sendable {
    /// The archive of posts.
    package struct ArchiveState: Codable, Sendable {
        package var posts: Int
        package var limit: Int
        package var oldest: Date?
        package var newest: Date?
    }

    /// The classifier's training.
    package struct ClassifierState: Codable, Sendable {
        package var favorites: Int
        package var normals: Int
        package var seen: Int
        /// Counts kept, one for each feature and category; nil if they cannot be read.
        package var counts: Int?
        /// Why favorites wait; nil when they do not.
        package var waiting: String?
    }

    /// One of the last actions.
    package struct Recent: Codable, Sendable {
        package var id: String
        package var kind: ActionKind
        package var state: ActionState
        package var at: Date
        package var reason: String?
        package var text: String?
        package var why: String?
    }

    package var schema = "mirror-bot/status/1"
    package var mirror: String
    package var storage: String
    package var human: String?
    package var bot: String?
    package var timeZone: String?
    package var archive: ArchiveState
    /// Nil when the dictionary or the counts cannot be reached; `idle` says why.
    package var classifier: ClassifierState?
    package var today: LocalDay?
    package var slots: [PlanReport.Slot]
    package var nextSlot: Date?
    package var recent: [Recent]
    /// Whether a worker holds the mirror now.
    package var isRunning: Bool
    /// Why the bot does not do one of the things it could do, a sentence each.
    package var idle: [String]
}

/// Gathers the state of a mirror.
package struct StatusReporter: Sendable {
    private static let recentShown = 10
    /// A worker that has not beaten for so long, in milliseconds, is gone.
    private static let silence: Int64 = 60_000

    let stores: MirrorStores

    /// - Parameter stores: The mirror's data.
    package init(stores: MirrorStores) { self.stores = stores }

    /// The state at `now`.
    ///
    /// A classifier that cannot be reached is reported, not thrown.
    package func report(now: Date) async throws -> StatusReport {
        let record = try await stores.table.record()
        let zone = stores.configuration.timeZone ?? record.timeZone.flatMap(TimeZone.init(identifier:))
        let outbox = stores.outbox(lease: nil)
        let posts = try await stores.archive.count()
        let span = try await stores.archive.span()
        let today = zone.map { LocalTime(now, in: $0).day }
        let plan = try await plan(today, zone, now: now)
        let lease = try await LeaseTable(storage: stores.storage, mirror: stores.configuration.mirror).record()
        let isRunning =
            lease.map { !$0.isReleased && now.milliseconds - $0.updatedMilliseconds < Self.silence } ?? false
        let (classifier, problem) = await classifier()
        let idle = IdleReasons(
            configuration: stores.configuration, zone: zone, posts: posts, plan: plan, isRunning: isRunning,
            classifier: classifier, classifierProblem: problem)
        return StatusReport(
            mirror: stores.configuration.mirror, storage: "\(stores.configuration.storage)",
            human: record.humanHandle, bot: record.botHandle, timeZone: zone?.identifier,
            archive: .init(
                posts: posts, limit: stores.configuration.archiveLimit, oldest: span?.oldest, newest: span?.newest),
            classifier: classifier, today: today, slots: plan?.slots ?? [],
            nextSlot: plan?.slots.first { $0.due > now && ["planned", "preview"].contains($0.state) }?.due,
            recent: try await outbox.recent(Self.recentShown).map { action in
                StatusReport.Recent(
                    id: action.id, kind: action.kind, state: action.state, at: action.updated, reason: action.reason,
                    text: action.text, why: Explanation(json: action.explanation)?.summary)
            },
            isRunning: isRunning, idle: idle.sentences)
    }

    private func plan(_ today: LocalDay?, _ zone: TimeZone?, now: Date) async throws -> PlanReport? {
        guard let today, let zone else { return nil }
        return try await PlanReporter(stores: stores, zone: zone).report(on: today, now: now)
    }

    private func classifier() async -> (StatusReport.ClassifierState?, String?) {
        do {
            let status = try await stores.favorites().status()
            return (
                StatusReport.ClassifierState(
                    favorites: Int(status.favorites), normals: Int(status.normals), seen: Int(status.seen),
                    counts: status.features, waiting: waiting(status)), nil
            )
        } catch {
            return (nil, "\(error)")
        }
    }
}

/// Why favorites wait, or nil.
private func waiting(_ status: TrainingStatus) -> String? {
    if case .unavailable(let error) = status.counts { return error.description }
    return status.waiting.map { "\($0) learned" }
}

/// Why a mirror does not do one of the things it could do.
struct IdleReasons {
    let configuration: MirrorConfiguration
    let zone: TimeZone?
    let posts: Int
    let plan: PlanReport?
    let isRunning: Bool
    let classifier: StatusReport.ClassifierState?
    let classifierProblem: String?

    var sentences: [String] {
        var sentences: [String] = []
        if configuration.bot == nil {
            sentences.append("nothing is sent: BOT_SERVER and BOT_ACCESS_TOKEN are not set")
        } else if !isRunning {
            sentences.append("nothing is sent: no worker is running; start one with mirror-bot run")
        }
        if zone == nil { sentences.append("no plan is made: TIME_ZONE is not set") }
        if posts == 0 {
            sentences.append("no posts and no replies: the archive is empty; run mirror-bot train scheduler")
        } else if let plan, plan.isStored, plan.slots.isEmpty {
            sentences.append("no posts today: the plan drew a day of silence, as the human has them")
        }
        if configuration.favoriteMode == .off {
            sentences.append("no favorites: FAVORITE_MODE is off")
        } else if let classifierProblem {
            sentences.append("no favorites: \(classifierProblem)")
        } else if let waiting = classifier?.waiting {
            sentences.append("no favorites yet: \(waiting)")
        }
        if configuration.human == nil {
            sentences.append("nothing new is learned: HUMAN_SERVER and HUMAN_ACCESS_TOKEN are not set")
        }
        return sentences
    }
}
