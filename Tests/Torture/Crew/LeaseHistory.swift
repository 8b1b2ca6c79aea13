import Foundation

/// A change of a row of `leases` or `workers`, as a trigger noted it.
struct LeaseEntry: Equatable, Sendable {
    /// The columns that matter of either table, by the names that they have in either form of the
    /// schema.
    struct Row: Decodable, Equatable, Sendable {
        var mirror: String?
        var holder: String?
        var fence: Int64?
        var isReleased = false
        var beat: Int64?

        enum CodingKeys: String, CodingKey {
            case mirror, worker, owner, fence, released, beat
        }

        init(
            mirror: String? = nil, holder: String? = nil, fence: Int64? = nil,
            isReleased: Bool = false,
            beat: Int64? = nil
        ) {
            self.mirror = mirror
            self.holder = holder
            self.fence = fence
            self.isReleased = isReleased
            self.beat = beat
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            mirror = try values.decodeIfPresent(String.self, forKey: .mirror)
            // Leases had an owner and a beat of their own before workers had one.
            holder =
                try values.decodeIfPresent(String.self, forKey: .worker)
                ?? values.decodeIfPresent(String.self, forKey: .owner)
            fence = try values.decodeIfPresent(Int64.self, forKey: .fence)
            isReleased = try values.decodeIfPresent(Bool.self, forKey: .released) ?? false
            beat = try values.decodeIfPresent(Int64.self, forKey: .beat)
        }
    }

    /// By the system's clock.
    var date: Date
    var before: Row?
    /// Nil if the row was deleted.
    var after: Row?
    /// The process that made the change, by the name of its sessions; nil for one that told none.
    var process: String?
}

/// Who held which mirror when, and when each worker gave a sign of life.
struct LeaseHistory: Sendable {
    /// A stretch in which a lease had one holder.
    struct Hold: Equatable, Sendable {
        var holder: String
        var fence: Int64
        var start: Date
        /// When it was released or taken by another one; nil if neither happened.
        var end: Date?
        /// Who had it before and had not released it.
        var predecessor: String?
        /// The process that took it, by the name of its sessions; nil if that is not known.
        var process: String?
    }

    /// By mirror, in the order of time.
    private(set) var holds: [String: [Hold]] = [:]
    /// By worker, in the order of time; taking a mirror is a sign of life too.
    private(set) var beats: [String: [Date]] = [:]
    /// The processes that stored a beat of their own.
    private(set) var processes: Set<String> = []

    /// - Parameter entries: In the order in which they were committed.
    init(_ entries: [LeaseEntry]) {
        for entry in entries {
            let row = entry.after ?? entry.before
            guard let mirror = row?.mirror else {
                if let after = entry.after, after.beat != nil, after.beat != entry.before?.beat {
                    noteBeat(after.holder, entry.date)
                    if let process = entry.process { processes.insert(process) }
                }
                continue
            }
            change(of: mirror, entry)
        }
        for worker in beats.keys { beats[worker]?.sort() }
    }

    private mutating func change(of mirror: String, _ entry: LeaseEntry) {
        let last = (holds[mirror]?.count ?? 0) - 1
        guard let after = entry.after, let holder = after.holder, !after.isReleased,
            let fence = after.fence
        else {
            if last >= 0, holds[mirror]?[last].end == nil { holds[mirror]?[last].end = entry.date }
            return
        }
        noteBeat(holder, entry.date)
        guard
            entry.before.map({ $0.isReleased || $0.fence != fence || $0.holder != holder }) ?? true
        else { return }
        let before = entry.before.flatMap { $0.isReleased || $0.holder == holder ? nil : $0.holder }
        if last >= 0, holds[mirror]?[last].end == nil { holds[mirror]?[last].end = entry.date }
        holds[mirror, default: []].append(
            Hold(
                holder: holder, fence: fence, start: entry.date, predecessor: before,
                process: entry.process))
    }

    private mutating func noteBeat(_ worker: String?, _ date: Date) {
        if let worker { beats[worker, default: []].append(date) }
    }

    /// The last sign of life of a worker before an instant.
    func lastBeat(of worker: String, before date: Date) -> Date? {
        beats[worker]?.last { $0 < date }
    }

    /// The stretches in which a worker beat at least once in so many seconds, from its first beat
    /// to its last.
    func lives(of worker: String, beatingEvery seconds: TimeInterval) -> [DateInterval] {
        (beats[worker] ?? []).reduce(into: []) { lives, beat in
            if let last = lives.last, beat.timeIntervalSince(last.end) <= seconds {
                lives[lives.count - 1] = DateInterval(start: last.start, end: beat)
            } else {
                lives.append(DateInterval(start: beat, end: beat))
            }
        }
    }

    /// The stretches in which a mirror was held by a worker that lived.
    ///
    /// - Parameters:
    ///   - mirror: Which.
    ///   - seconds: How long a worker that lives is silent at most.
    ///   - end: The end of the run: who holds a mirror then lived until then if the last beat is
    ///     that near.
    ///   - others: The processes whose leases do not count.
    /// - Returns: Disjoint, in the order of time.
    func owned(
        _ mirror: String, beatingEvery seconds: TimeInterval, until end: Date,
        except others: Set<String> = []
    ) -> [DateInterval] {
        var owned: [DateInterval] = []
        for hold in holds[mirror] ?? [] where hold.process.map(others.contains) != true {
            let last = hold.end ?? end
            for life in lives(of: hold.holder, beatingEvery: seconds) {
                // A worker that releases its mirror or lives on was there between its last beat and
                // then.
                let lifeEnd =
                    last.timeIntervalSince(life.end) <= seconds && hold.end == nil ? last : life.end
                let start = max(hold.start, life.start)
                let stop = min(last, lifeEnd)
                if start < stop { owned.append(DateInterval(start: start, end: stop)) }
            }
        }
        return owned.sorted { $0.start < $1.start }.reduce(into: []) { $0.append(merging: $1) }
    }
}
