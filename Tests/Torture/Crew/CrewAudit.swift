import Foundation
import Posts

/// What a run of a crew is judged by besides the ledgers of its mirrors: leases, and who was looked
/// after how often.
///
/// Every instant is one of the system's clock, for leases live in real time.
struct CrewAudit: Sendable {
    /// A stretch of the run in which leases lasted equally long.
    struct Phase: Equatable, Sendable {
        var interval: DateInterval
        /// For how many seconds a worker must not beat before others take its mirrors.
        var lease: Double

        /// The time between two beats.
        var beat: Double { lease / 6 }
    }

    /// A process of a worker: from its start to its end, but for the time in which it was held.
    struct Life: Equatable, Sendable {
        /// The one mirror that it works for; nil for all.
        var mirror: String?
        var interval: DateInterval
        var pauses: [DateInterval] = []
        /// Its name, which its sessions have too; nil if that is not known.
        var process: String?
    }

    var history: LeaseHistory
    var phases: [Phase]
    /// Those of workers that can do their share.
    var lives: [Life]
    /// Those of workers that cannot.
    var unableLives: [UnableLife] = []
    /// When workers were killed or began to be held.
    var losses: [Date]
    /// The stretches in which the database could not be used.
    var outages: [DateInterval]
    /// The stretches in which the machine let somebody wait.
    var starvation: [DateInterval] = []
    /// When the bot's mentions were asked for, by mirror.
    var looks: [String: [Date]]
    /// The mirrors that nobody can work for.
    var excused: Set<String> = []
    /// How many seconds pass between two looks for mentions.
    var lookPeriod: Double

    /// How long a process takes until it looks at the leases, in seconds.
    private static let startup = 5.0
    /// For how long after an outage a worker may wait before it tries again, in seconds.
    private static let aftermath = 5.0
    /// How many times as long as the time between two beats a worker that lives may be silent.
    private static let silence = 2.5

    /// What the statements of a look take at most, in seconds.
    private static let tolerance = 0.5

    var end: Date { phases.map(\.interval.end).max() ?? .distantPast }

    func phase(at date: Date) -> Phase {
        phases.first { $0.interval.contains(date) } ?? phases.last
            ?? Phase(interval: DateInterval(start: date, end: date), lease: CrewSettings.usualLease)
    }

    /// The longest time between two beats of a worker that lives.
    var silence: Double { Self.silence * (phases.map(\.beat).max() ?? 5) }

    // MARK: Findings

    /// A line for everything that is wrong.
    var findings: [String] {
        sluggish + stolen + left + neglected + driven + unseen + admitted + kept + endedOtherwise
    }

    /// Workers that beat as rarely as with much longer leases: the run would not show what it says.
    private var sluggish: [String] {
        phases.compactMap { phase in
            let beats = history.beats.values.flatMap { beats in
                zip(beats, beats.dropFirst()).filter {
                    phase.interval.contains($0) && phase.interval.contains($1)
                }
                .map { $1.timeIntervalSince($0) }
            }.sorted()
            guard !beats.isEmpty, case let usual = beats[beats.count / 2], usual > 2 * phase.beat
            else { return nil }
            return
                "workers beat every \(Self.text(usual)), as they do not with leases of \(Self.text(phase.lease))"
        }
    }

    /// Mirrors that were looked after much more often than their settings say.
    private var driven: [String] {
        mirrors.compactMap { mirror in
            guard let rate = rate(of: mirror), rate * lookPeriod > 2 else { return nil }
            return
                "\(mirror) was looked after every \(Self.text(1 / rate)) instead of every \(Self.text(lookPeriod))"
        }
    }

    /// Mirrors that were taken from workers that had beaten only just.
    private var stolen: [String] {
        history.holds.sorted { $0.key < $1.key }.flatMap { mirror, holds in
            holds.compactMap { hold -> String? in
                guard let other = hold.predecessor,
                    let beat = history.lastBeat(of: other, before: hold.start)
                else {
                    return nil
                }
                let silent = hold.start.timeIntervalSince(beat)
                guard silent < phase(at: hold.start).lease - 0.1 else { return nil }
                return
                    "\(mirror) was taken from a worker that had beaten \(Self.text(silent)) before"
            }
        }
    }

    /// Mirrors that nobody took although a worker was there the whole time.
    private var left: [String] {
        mirrors.flatMap { mirror in
            orphanages(of: mirror).compactMap { stretch -> String? in
                let phase = phase(at: stretch.start)
                let allowed =
                    phase.lease + CrewSettings.grace + Self.tolerance + overlap(stretch, starvation)
                guard stretch.duration > allowed else { return nil }
                return
                    "\(mirror) had no worker for \(Self.text(stretch.duration)) from \(stretch.start.rfc3339) on "
                    + "although one was there, and \(Self.text(phase.lease + CrewSettings.grace)) is the most"
            }
        }
    }

    /// Mirrors whose worker looked after others in their place.
    private var neglected: [String] {
        let rates = mirrors.map { (mirror: $0, rate: rate(of: $0)) }
        let known = rates.compactMap(\.rate).sorted()
        guard let median = known.isEmpty ? nil : known[known.count / 2] else { return [] }
        let rare = rates.compactMap { mirror, rate -> String? in
            guard let rate, rate < median / 2 else { return nil }
            return
                "\(mirror) was looked after \(Self.share(rate / median)) as often as most while it had a worker"
        }
        let silent = mirrors.compactMap { mirror -> String? in
            guard let longest = longestNeglect(of: mirror), longest > 10 + 10 * lookPeriod else {
                return nil
            }
            return "nobody looked after \(mirror) for \(Self.text(longest)) while it had a worker"
        }
        return rare + silent
    }

    // MARK: Figures

    /// The longest time for which some mirror had no worker although one was there, in seconds, by
    /// the length of leases.
    var longestOrphanage: [Double: Double] {
        var longest: [Double: Double] = [:]
        for mirror in mirrors {
            for stretch in orphanages(of: mirror) {
                longest[phase(at: stretch.start).lease, default: 0] = max(
                    longest[phase(at: stretch.start).lease, default: 0], stretch.duration)
            }
        }
        return longest
    }

    /// How often mirrors were taken from workers that had not released them.
    var takeovers: Int { history.holds.values.joined().count { $0.predecessor != nil } }

    /// The lowest and the highest share of the looks for mentions, by the time that each mirror had
    /// a worker, compared with the middle one.
    var shares: (least: Double, most: Double)? {
        let rates = mirrors.compactMap { rate(of: $0) }.sorted()
        guard let first = rates.first, let last = rates.last, rates[rates.count / 2] > 0 else {
            return nil
        }
        return (first / rates[rates.count / 2], last / rates[rates.count / 2])
    }

    // MARK: Parts

    var mirrors: [String] { looks.keys.filter { !excused.contains($0) }.sorted() }

    /// The stretches in which a mirror had no worker although one was there that nothing hindered.
    ///
    /// Who was lost is known to the instant, and its last beat was up to a beat earlier.
    private func orphanages(of mirror: String) -> [DateInterval] {
        let owned = history.owned(mirror, beatingEvery: silence, until: end)
        return phases.flatMap { phase -> [DateInterval] in
            let gaps = Self.gaps(in: owned, within: phase.interval).map { gap -> DateInterval in
                let loss = losses.last {
                    $0 >= gap.start && $0 <= min(gap.end, gap.start + Self.silence * phase.beat)
                }
                return DateInterval(start: loss ?? gap.start, end: gap.end)
            }
            let free = unhindered(for: mirror)
            return gaps.flatMap { gap in free.compactMap { $0.intersection(with: gap) } }.filter {
                $0.duration > 0
            }
        }
    }

    /// The stretches in which a worker was there for a mirror that nothing hindered, each of one
    /// worker; nil for all mirrors.
    func unhindered(for mirror: String?) -> [DateInterval] {
        lives.filter { life in mirror.map(life.works) ?? true }.flatMap { life in
            Self.gaps(
                in: (life.pauses + hindrances).sortedAndMerged,
                within: life.readyInterval(Self.startup))
        }
    }

    var hindrances: [DateInterval] {
        outages.map { DateInterval(start: $0.start, end: $0.end + Self.aftermath) }
    }

    /// The stretches in which a mirror had a worker that nothing hindered, each without its
    /// beginning.
    private func tended(_ mirror: String) -> [DateInterval] {
        let owned = history.owned(
            mirror, beatingEvery: silence, until: end, except: Set(unableLives.map(\.process)))
        let held = lives.filter { $0.works(for: mirror) }.flatMap(\.pauses)
        return owned.flatMap {
            Self.gaps(in: (hindrances + starvation + held).sortedAndMerged, within: $0)
        }
        .compactMap { stretch in
            let start = stretch.start + lookPeriod
            return start < stretch.end ? DateInterval(start: start, end: stretch.end) : nil
        }
    }

    /// Looks for a mirror's mentions in a second in which it had a worker; nil if it hardly had
    /// one.
    private func rate(of mirror: String) -> Double? {
        let tended = tended(mirror)
        let seconds = tended.reduce(0) { $0 + $1.duration }
        guard seconds > 10 * lookPeriod else { return nil }
        let all = looks[mirror] ?? []
        return Double(all.count { date in tended.contains { $0.contains(date) } }) / seconds
    }

    private func longestNeglect(of mirror: String) -> Double? {
        let all = (looks[mirror] ?? []).sorted()
        return tended(mirror).map { stretch in
            let inside = [stretch.start] + all.filter { stretch.contains($0) } + [stretch.end]
            return zip(inside, inside.dropFirst()).map { $1.timeIntervalSince($0) }.max() ?? 0
        }.max()
    }

    func overlap(_ stretch: DateInterval, _ others: [DateInterval]) -> Double {
        others.compactMap { $0.intersection(with: stretch)?.duration }.reduce(0, +)
    }

    /// What is left of a stretch without disjoint others in the order of time.
    static func gaps(in others: [DateInterval], within stretch: DateInterval?) -> [DateInterval] {
        guard let stretch else { return [] }
        var gaps: [DateInterval] = []
        var free: Date = stretch.start
        for other in others where other.end > stretch.start && other.start < stretch.end {
            if other.start > free { gaps.append(DateInterval(start: free, end: other.start)) }
            free = max(free, other.end)
        }
        if free < stretch.end { gaps.append(DateInterval(start: free, end: stretch.end)) }
        return gaps
    }

    static func text(_ seconds: Double) -> String { String(format: "%.1f s", seconds) }

    private static func share(_ share: Double) -> String { String(format: "%.0f %%", share * 100) }
}

extension CrewAudit.Life {
    func works(for other: String) -> Bool { mirror == nil || mirror == other }

    /// Without the time that it takes to start.
    fileprivate func readyInterval(_ startup: Double) -> DateInterval? {
        let start = interval.start + startup
        return start < interval.end ? DateInterval(start: start, end: interval.end) : nil
    }
}

extension [DateInterval] {
    /// The same, disjoint and in the order of time.
    var sortedAndMerged: [DateInterval] {
        sorted { $0.start < $1.start }.reduce(into: []) { $0.append(merging: $1) }
    }
}
