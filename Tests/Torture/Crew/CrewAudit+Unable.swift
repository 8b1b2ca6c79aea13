import Foundation
import Posts

/// What the audit says of workers that cannot do their share, and of the looks that they must not
/// cost.
extension CrewAudit {
    /// A process that cannot do the work of mirrors, from its start to its end.
    struct UnableLife: Equatable, Sendable {
        enum Ending: Equatable, Sendable {
            case exited(Int32)
            /// It did not end by itself.
            case killed
        }

        var disability: CrewDisability
        /// Its name, which its sessions have too.
        var process: String
        var interval: DateInterval
        /// Whether it was asked to end.
        var isAsked: Bool
        var ending: Ending
        /// How many of its connections to networks were refused.
        var refusals = 0
    }

    /// What the unable workers of a run did.
    struct UnableFigures: Equatable, Sendable {
        var lives: [CrewDisability: Int] = [:]
        /// How many leases those without network took.
        var holds = 0
        /// The longest time for which one of them held a mirror although an able worker was there,
        /// in seconds.
        var longestHold: Double?
    }

    /// Seconds that a mirror may wait for a look besides its poll and the length of a lease.
    ///
    /// In them the lease is taken and the mirror starts. With leases of 30 seconds the sum is the
    /// poll and 40 seconds.
    private static let lookGrace = 10.0
    /// The beats in which a worker without network notes that it is unable, ends the work and gives
    /// the leases back.
    private static let beatsToHandBack = 3.0
    /// For how long after an outage of the database a worker may give up, in seconds.
    private static let outageMemory = 90.0
    /// `EX_UNAVAILABLE`, `EX_TEMPFAIL` and `EX_CONFIG`.
    private static let givesUp: Set<Int32> = [69, 75]
    private static let isMisconfigured: Int32 = 78

    private func lives(with disability: CrewDisability) -> [String: UnableLife] {
        let lives = unableLives.filter { $0.disability == disability }
        return Dictionary(lives.map { ($0.process, $0) }) { first, _ in first }
    }

    // MARK: Findings

    /// Workers with another key that were let in.
    var admitted: [String] {
        let strangers = lives(with: .wrongKey)
        let held = history.holds.sorted { $0.key < $1.key }.flatMap { mirror, holds in
            holds.compactMap { hold -> String? in
                guard let process = hold.process, strangers[process] != nil else { return nil }
                return "\(mirror) was held by \(process), whose key opens none of the logins"
            }
        }
        // The others would leave it a share.
        let counted = history.processes.filter { strangers[$0] != nil }.sorted().map { process in
            "\(process) was a worker among the others, and its key opens none of the logins"
        }
        return held + counted
    }

    /// Unable workers that did not end as they must.
    var endedOtherwise: [String] {
        unableLives.compactMap { life in
            // One that was asked to end had no time to find out.
            if life.disability == .wrongKey, life.isAsked { return nil }
            let expected = life.disability == .wrongKey ? Self.isMisconfigured : 0
            if life.ending == .exited(expected), life.disability == .wrongKey || life.isAsked {
                return nil
            }
            let isAfterOutage = outages.contains {
                $0.start <= life.interval.end && life.interval.start <= $0.end + Self.outageMemory
            }
            switch life.ending {
            case .exited(let code):
                if isAfterOutage, Self.givesUp.contains(code) { return nil }
                return "\(life.process) ended with \(code) instead of \(expected)"
            case .killed:
                if isAfterOutage, life.disability == .wrongKey { return nil }
                return "\(life.process) did not end by itself with \(expected)"
            }
        }
    }

    /// Mirrors that a worker without network kept, or took again, although an able worker was
    /// there.
    var kept: [String] {
        let firsts = firstHolds
        let able = ableStretches
        return unableHolds.flatMap { hold -> [String] in
            let allowed = unableAllowance(at: hold.interval.start)
            let longest = hold.free.map(\.duration).max() ?? 0
            var findings: [String] = []
            if longest > allowed {
                findings.append(
                    "\(hold.mirror) was kept for \(Self.text(longest)) by \(hold.process), which reaches no network, "
                        + "and \(Self.text(allowed)) is the most")
            }
            if let first = firsts[hold.process], isTakenAgain(hold, after: first, allowed, able) {
                findings.append(
                    "\(hold.mirror) was taken by \(hold.process), which had found that it reaches no network"
                )
            }
            return findings
        } + reached
    }

    /// Workers without network that held mirrors and were refused no connection: the run would not
    /// show what it says.
    private var reached: [String] {
        let holders = Set(unableHolds.map(\.process))
        return lives(with: .noNetwork).values.filter {
            $0.refusals == 0 && holders.contains($0.process)
        }
        .map { "\($0.process) held mirrors, and none of its connections was refused" }.sorted()
    }

    /// Mirrors at which nobody looked for too long.
    var unseen: [String] {
        let usual = usualPeriod
        return unseenStretches(longerThan: { $0.lease + Self.lookGrace + usual }).map {
            mirror, stretch in
            let allowed = phase(at: stretch.start).lease + Self.lookGrace + usual
            return
                "\(mirror) was not looked at for \(Self.text(stretch.duration)) from \(stretch.start.rfc3339) on "
                + "although an able worker was there, and \(Self.text(allowed)) is the most"
        }
    }

    // MARK: Figures

    var unableFigures: UnableFigures {
        let holds = unableHolds
        return UnableFigures(
            lives: Dictionary(unableLives.map { ($0.disability, 1) }, uniquingKeysWith: +),
            holds: holds.count, longestHold: holds.flatMap(\.free).map(\.duration).max())
    }

    /// The longest time for which nobody looked at some mirror although an able worker was there,
    /// in seconds, by the length of leases.
    var longestUnseen: [Double: Double] {
        var longest: [Double: Double] = [:]
        let usual = usualPeriod
        for (_, stretch) in unseenStretches(longerThan: { _ in usual }) {
            let lease = phase(at: stretch.start).lease
            longest[lease] = max(longest[lease] ?? 0, stretch.duration)
        }
        return longest
    }

    // MARK: Mirrors held without network

    /// A lease that a worker without network had.
    private struct UnableHold {
        var mirror: String
        var process: String
        var interval: DateInterval
        /// The parts of it in which an able worker was there and nothing hindered anybody.
        var free: [DateInterval]
    }

    private var unableHolds: [UnableHold] {
        let unable = lives(with: .noNetwork)
        let able = ableStretches
        return history.holds.sorted { $0.key < $1.key }.flatMap { mirror, holds in
            holds.compactMap { hold -> UnableHold? in
                guard let process = hold.process, let life = unable[process] else { return nil }
                let last = min(hold.end ?? end, life.interval.end)
                let interval = DateInterval(start: hold.start, end: max(hold.start, last))
                return UnableHold(
                    mirror: mirror, process: process, interval: interval,
                    free: able.compactMap { $0.intersection(with: interval) })
            }
        }
    }

    /// When each worker without network took its first mirror.
    private var firstHolds: [String: Date] {
        Dictionary(unableHolds.map { ($0.process, $0.interval.start) }, uniquingKeysWith: min)
    }

    /// The stretches in which some able worker was there, and nothing hindered the workers.
    private var ableStretches: [DateInterval] {
        let obstacles = (hindrances + starvation).sortedAndMerged
        return unhindered(for: nil).sortedAndMerged.flatMap {
            Self.gaps(in: obstacles, within: $0)
        }
    }

    /// How long a worker without network may hold a mirror, in seconds.
    ///
    /// It is unable once three requests have failed and none was answered for 15 seconds of the
    /// networks' clock; the time between two polls is longer than that, and than the tries for a
    /// third request where it has one mirror.
    private func unableAllowance(at date: Date) -> Double {
        lookPeriod + Self.beatsToHandBack * phase(at: date).beat + CrewSettings.grace
    }

    /// Whether a worker took a mirror long after it must have known that it is unable, while an
    /// able one was there.
    private func isTakenAgain(
        _ hold: UnableHold, after first: Date, _ allowed: Double, _ able: [DateInterval]
    ) -> Bool {
        let start = hold.interval.start
        let patience = phase(at: start).lease + CrewSettings.grace
        guard start > first,
            able.contains(where: { $0.start <= start - patience && start <= $0.end })
        else { return false }
        let since = DateInterval(start: first, end: start)
        let known = able.compactMap { $0.intersection(with: since)?.duration }
        return known.reduce(0, +) > allowed
    }

    // MARK: Looks

    /// The time between two looks at a mirror that is usual under the load of the run, in seconds.
    private var usualPeriod: Double {
        let periods = mirrors.flatMap { mirror in
            let all = (looks[mirror] ?? []).sorted()
            return zip(all, all.dropFirst()).map { $1.timeIntervalSince($0) }
        }.sorted()
        return max(lookPeriod, periods.isEmpty ? 0 : periods[periods.count / 2])
    }

    /// The stretches in which nobody looked at a mirror although one able worker was there the
    /// whole time.
    ///
    /// One loss of the mirror's worker, or one worker without network that takes the mirror, is
    /// part of what may happen between two looks. A second one before the next look begins the wait
    /// anew.
    ///
    /// - Parameter limit: How long a stretch that begins in a phase is more than, besides the time
    ///   in which the machine let somebody wait.
    private func unseenStretches(
        longerThan limit: (Phase) -> Double
    ) -> [(mirror: String, stretch: DateInterval)] {
        let losses = lossesByProcess
        let least = phases.map(limit).min() ?? 0
        let unable = Set(unableLives.map(\.process))
        return mirrors.flatMap { mirror -> [(mirror: String, stretch: DateInterval)] in
            let all = (looks[mirror] ?? []).filter { $0 < end }.sorted()
            let workers = unhindered(for: mirror)
            let lost = (history.holds[mirror] ?? []).flatMap { hold in
                Self.losses(in: hold, of: losses, unable: unable)
            }.sorted()
            return zip(all, all.dropFirst() + [end]).flatMap { look, next in
                let between = lost.filter { look <= $0 && $0 < next }
                let starts = [look] + between.dropFirst()
                return zip(starts, starts.dropFirst() + [next]).compactMap {
                    start, stop -> DateInterval? in
                    guard stop.timeIntervalSince(start) > least else { return nil }
                    let whole = DateInterval(start: start, end: stop)
                    return workers.compactMap { $0.intersection(with: whole) }
                        .filter {
                            $0.duration > limit(phase(at: $0.start)) + overlap($0, starvation)
                        }
                        .max { $0.duration < $1.duration }
                }
            }.map { (mirror, $0) }
        }
    }

    /// When the processes of able workers were held, or ended.
    private var lossesByProcess: [String: [Date]] {
        let losses = lives.compactMap { life in
            life.process.map { ($0, life.pauses.map(\.start) + [life.interval.end]) }
        }
        return Dictionary(losses, uniquingKeysWith: +)
    }

    /// When a mirror lost the worker of a lease, which it had not released; and when an unable one
    /// took it.
    private static func losses(
        in hold: LeaseHistory.Hold, of losses: [String: [Date]], unable: Set<String>
    ) -> [Date] {
        guard let process = hold.process else { return [] }
        if unable.contains(process) { return [hold.start] }
        return (losses[process] ?? []).filter { date in
            hold.start <= date && hold.end.map { date < $0 } != false
        }
    }
}
