package import Foundation
import Localization
import Mirroring
package import Outbox
import Posts

// The presentation of a mirror's health in reports, commands and watchdogs. It only formats and
// selects, and does not judge.

extension Health {
    /// The party that can end the leading obstacle; `nil` if the verdict is well.
    ///
    /// Decides the exit code of `status --check`, which is 0 for `nil`.
    package var failure: Finding.Cause? { verdict.isWell ? nil : leading?.mender ?? .unavailable }

    /// The time of a post: `20:13 (in 2 h)`, or `2026-11-21 08:13 (in 20 h)` for another day.
    static func words(for date: Date, now: Date, in zone: TimeZone) -> String {
        let minutes = Int((date.timeIntervalSince(now) / 60).rounded(.up))
        let time = LocalTime(date, in: zone)
        let today = LocalTime(now, in: zone).day
        let clock = time.day == today ? "\(time.minute)" : "\(time)"
        let hours = Int((Double(minutes) / 60).rounded())
        return minutes < 90
            ? localized("\(clock) (in \(minutes) min)") : localized("\(clock) (in \(hours) h)")
    }

    /// The line of `status --check`.
    ///
    /// - Parameter mirror: The mirror's name.
    /// - Returns: One line, which may contain a server's answer.
    package func checkLine(of mirror: String) -> String {
        switch verdict.state {
        case .healthy: localized("mirror \(mirror) does its work")
        case .hindered:
            leading.map { localized("mirror \(mirror) does its work, but \($0.sentence)") }
                ?? localized("mirror \(mirror) does its work, but not all of it")
        case .paused where verdict.code == .retired: localized("mirror \(mirror) has retired")
        case .paused: localized("mirror \(mirror) pauses, as it was told")
        case .unset: localized("mirror \(mirror), setup: \(verdict.text)")
        case .failing:
            leading.map {
                let subject = Finding.words(ofSubject: $0.code.subject)
                return localized("mirror \(mirror), \(subject): \(verdict.text)")
            }
                ?? localized("mirror \(mirror), state: \(verdict.text)")
        }
    }

    /// Returns the obstacles to sending waiting actions of a kind; empty if there are none.
    ///
    /// - Parameter kind: The action's kind. Favorites need neither the human's past nor an
    ///   acknowledged policy of the network, so the obstacles about these do not apply to
    ///   favorites.
    /// - Returns: The obstacles to that kind of work, the leading one first.
    package func sendingObstacles(to kind: ActionKind) -> [Obstacle] {
        let work: Obstacle.Work = kind == .favorite ? .favorites : .sending
        return obstacles.filter { $0.weight != .note && $0.stops.contains(work) }
    }

    // MARK: Doctor

    /// The obstacles as findings of an examination.
    package var findings: [Finding] {
        obstacles.map { obstacle -> Finding in
            let subject = obstacle.code.subject
            guard obstacle.weight != .wanted else { return .ok(subject, obstacle.sentence) }
            let fix =
                obstacle.remedy?.text ?? obstacle.remedy?.command
                ?? obstacle.remedy?.setting.map { localized("set \($0)") }
            // An obstacle that ends with time, or with another process, is no deficiency of the
            // mirror: for example a missing worker, or a limit of the network.
            guard obstacle.isFatal, obstacle.mender != .later else {
                return .warn(subject, obstacle.findingText, fix: fix)
            }
            return .fail(subject, obstacle.findingText, cause: obstacle.mender, fix: fix)
        }
    }

    // MARK: Notices

    /// Returns the state of each cause of a notice, as far as the facts decide it.
    ///
    /// A worker's own process makes its notices from these states.
    ///
    /// - Parameters:
    ///   - knowsFaults: Whether the process knows the faults from before its start.
    ///   - knowsClock: Whether this machine's clock was compared with the network's.
    ///   - now: The present; stands for the beginning of a condition whose beginning is unknown.
    /// - Returns: The findings by cause; an unknown cause is missing.
    package func notices(knowsFaults: Bool, knowsClock: Bool, now: Date) -> [NoticeCause:
        NoticeFinding]
    {
        var findings: [NoticeCause: NoticeFinding] = [:]
        // The process that ends reports the end of its worker. That notice is resolved when another
        // worker has worked.
        for cause in NoticeCause.allCases where cause != .stopped {
            let holding = obstacles.filter { $0.code.notice == cause }
            guard !holding.isEmpty else {
                // Without an obstacle the cause is over, unless this process does not know it yet.
                let isKnown = (cause != .failing || knowsFaults) && (cause != .clock || knowsClock)
                if isKnown { findings[cause] = .isOver }
                continue
            }
            let since = holding.compactMap(\.since).min() ?? now
            let briefs = holding.map(\.brief).reduce(into: [String]()) {
                if !$0.contains($1) { $0.append($1) }
            }
            // Most details of this cause are names of feeds; the others are clauses.
            let joint: Joint = cause == .unreachable ? .comma : .semicolon
            findings[cause] = .holds(since: since, detail: briefs.joined(by: joint))
        }
        return findings
    }
}

extension Obstacle {
    /// The text of a finding: the cause alone, if the finding's subject makes the rest clear.
    fileprivate var findingText: String {
        let clearSubjects = ["worker", "silence", "database", "bot", "human", "time zone"]
        let isSubjectEnough = clearSubjects.contains(code.subject)
        return isSubjectEnough ? cause : sentenceWithoutRemedy
    }
}
