import Foundation
import Localization
import Mirroring

/// The health of a mirror: the obstacles that follow from the facts, and the verdict that follows
/// from the obstacles.
///
/// Every report, exit code, notice and metric about a mirror's state is made from this value. It
/// makes no request.
package struct Health: Codable, Equatable, Sendable {
    /// The state of a mirror in one word and one line.
    package struct Verdict: Codable, Equatable, Sendable {
        package enum State: String, CaseIterable, Codable, Sendable {
            case healthy
            /// A person has paused the mirror, or retired it.
            case paused
            /// The mirror sends and reads mentions, but another part of its work is lost or
            /// incomplete.
            case hindered
            /// The mirror has not worked yet, and a setup step is left.
            case unset
            /// Nothing is sent, or no mention is read, until the leading obstacle ends.
            case failing

            /// Whether a mirror in this state does its work, or pauses as a person wants.
            var isWell: Bool { self != .failing && self != .unset }
        }

        package var state: State
        package var text: String
        /// The obstacle that determines the state; nil for a healthy mirror.
        package var code: Obstacle.Code?

        /// Whether watchdogs get the answer that the mirror does its work.
        package var isWell: Bool { state.isWell }
    }

    /// The mirror's obstacles, in the order of ``Obstacle/Code``.
    package let obstacles: [Obstacle]
    package let verdict: Verdict

    /// - Parameters:
    ///   - facts: The facts about the mirror.
    ///   - next: The time of the next post, in words; nil if none is planned.
    package init(_ facts: HealthFacts, next: String? = nil) {
        obstacles = facts.obstacles
        verdict = Self.verdict(on: obstacles, setup: facts.setup, next: next)
    }

    /// - Parameter next: When the next post is due; nil if none is planned or foreseen.
    init(_ facts: HealthFacts, next: Date?, now: Date) {
        self.init(facts, next: next.map { Self.words(for: $0, now: now, in: facts.zone ?? .gmt) })
    }

    /// The obstacle of the verdict; nil for a healthy mirror.
    package var leading: Obstacle? {
        verdict.code.flatMap { code in obstacles.first { $0.code == code } }
    }

    /// The kinds of work that are lost as a whole, by a failure or because a person wants it so.
    package var stopped: Set<Obstacle.Work> {
        Set(obstacles.filter { [.stops, .wanted].contains($0.weight) }.flatMap(\.stops))
    }

    /// The conditions that determine the verdict even while the mirror pauses.
    ///
    /// Under these conditions the mirror does not continue when the pause ends, or a person has to
    /// end the pause.
    private static let outranksPause: Set<Obstacle.Code> = [.moved, .arriving, .firstPostHidden]

    /// Conditions of a mirror that nobody has set up yet.
    private static let setupConditions: Set<Obstacle.Code> = [
        .noConsent, .noBotAccount, .noTimeZone, .noWorker, .policyUnacknowledged, .pastUnknown,
        .archiveEmpty,
        .postsUnverified,
    ]

    /// The conditions that a worker causes if it is started before the training ends.
    private static let earlyStartConditions: Set<Obstacle.Code> = [
        .workerEnded, .workerLate, .passLate, .startFails, .publisherFails,
    ]

    private static func verdict(on obstacles: [Obstacle], setup: [SetupStep], next: String?)
        -> Verdict
    {
        // A retired mirror has no work any more.
        if let end = obstacles.first(where: { $0.code == .retired }) {
            return Verdict(state: .paused, text: end.reason, code: .retired)
        }
        let fatal = obstacles.first(where: \.isFatal)
        if let fatal, outranksPause.contains(fatal.code) { return failing(fatal) }
        if let pause = obstacles.first(where: { $0.code == .paused }) {
            // The text also names an obstacle that would prevent the work after the pause, so that
            // a person can remove it in the meantime.
            let text =
                fatal.map { localized("\(pause.cause); and then not sending: \($0.reason)") }
                ?? pause.cause
            return Verdict(state: .paused, text: text, code: .paused)
        }
        if let fatal {
            // Only conditions of an unfinished setup are reported as its next step. Others are
            // failures.
            let isTraining = setup.contains {
                [.posts, .favorites].contains($0.kind) && !$0.isDone
            }
            guard
                setupConditions.contains(fatal.code)
                    || isTraining && earlyStartConditions.contains(fatal.code)
            else {
                return failing(fatal)
            }
            guard let step = setup.first(where: { !$0.isDone }) else { return failing(fatal) }
            let done = setup.count(where: \.isDone)
            let text = localized(
                "not set up yet: \(done) of \(setup.count) steps are done; \(step.next)")
            return Verdict(state: .unset, text: text, code: fatal.code)
        }
        // Conditions of this process alone are left out, so that all processes have the same
        // verdict.
        let mirrorObstacles = obstacles.filter { !$0.code.isOfThisProcess }
        let hindering =
            mirrorObstacles.filter { $0.weight == .stops }
            + mirrorObstacles.filter { $0.weight == .hinders }
        if let first = hindering.first {
            return Verdict(
                state: .hindered, text: localized("working, but \(first.sentence)"),
                code: first.code)
        }
        return Verdict(
            state: .healthy,
            text: next.map { localized("healthy, next post \($0)") }
                ?? localized("healthy, no post planned"))
    }

    private static func failing(_ obstacle: Obstacle) -> Verdict {
        let text =
            obstacle.stops.contains(.sending)
            ? localized("not sending: \(obstacle.reason)")
            : localized("not hearing: \(obstacle.reason)")
        return Verdict(state: .failing, text: text, code: obstacle.code)
    }
}
