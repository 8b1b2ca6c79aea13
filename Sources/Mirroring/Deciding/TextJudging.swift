package import Archive
import Blocking
import Conduct
package import Foundation
import Outbox
import ServiceLifecycle

/// Judges the texts of an archive in steps of a fraction of a second, so that no look and no post
/// waits for all of them.
///
/// A step either counts a stretch of the archive's habits or judges some posts, and stores what it
/// found with the name of the rules. So a process that is killed goes on with the posts that are
/// left, and only counts again.
package actor TextJudging {
    /// The most posts that a step judges.
    private static let postsAtOnce = 200
    /// About how many posts of the archive a step looks through for habits.
    private static let habitsAtOnce = 2_000
    /// Seconds after which a step begins to judge no further post.
    private static let longestStep: TimeInterval = 0.25
    /// Seconds after which habits are counted anew before further posts are judged.
    private static let habitsLast: TimeInterval = 21_600
    /// Judges for all mirrors of a process, one at a time, after everything else that the machine
    /// has to do.
    private static let thread = ThreadExecutor(name: "texts", isPatient: true)

    private let archive: Archive
    private let judge: TextJudge
    private let isPatient: Bool
    private let uptime: @Sendable () -> TimeInterval
    private var count = HabitCount()
    /// Whether the last step left something to do.
    private var isUnderWay = false

    /// What was counted of the archive's habits.
    private struct HabitCount {
        var habits = Habits()
        /// The end of the last stretch.
        var place: Int64?
        /// When the last stretch was counted, on the monotonic clock; nil before.
        var end: TimeInterval?
    }

    /// - Parameters:
    ///   - archive: Whose texts.
    ///   - judge: Judges them.
    ///   - isPatient: Whether all other work of the machine goes first.
    ///   - uptime: Reads a monotonic clock, in seconds.
    package init(
        _ archive: Archive, _ judge: TextJudge, isPatient: Bool = false,
        uptime: @escaping @Sendable () -> TimeInterval
    ) {
        self.archive = archive
        self.judge = judge
        self.isPatient = isPatient
        self.uptime = uptime
    }

    /// Judges some of the texts that no rules or other ones have judged.
    ///
    /// Ends early when the process is told to end; what was judged until then is stored.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: `ArchiveError`, the store's error, or `CancellationError`.
    package func step() async throws -> Bool {
        let unwanted = try await archive.unwanted(in: judge.zone)
        if !isUnderWay {
            guard try await begin(unwanted) else { return false }
            isUnderWay = true
        }
        guard count.end != nil else {
            try await countHabits()
            return true
        }
        let version = judge.version(unwanted) + count.habits.version
        let posts = try await archive.unprepared(by: version, atMost: Self.postsAtOnce)
        let judged = try await judged(posts, unwanted)
        try await archive.store(judged, by: version)
        isUnderWay = posts.count >= Self.postsAtOnce || judged.count < posts.count
        return isUnderWay
    }

    /// Returns whether there is anything to judge, and forgets habits that may be others by now.
    private func begin(_ unwanted: Unwanted) async throws -> Bool {
        guard let rules = try await archive.preparedBy() else { return false }
        let isKnown = !rules.last.hasSuffix(Habits.unknown)
        let isCurrent = judge.isCurrent(rules.last, unwanted)
        if rules.first == rules.last, isCurrent, isKnown { return false }
        let version = judge.version(unwanted) + count.habits.version
        // Another process has counted later.
        let isSuperseded = isCurrent && isKnown && rules.last != version
        let isOld = count.end.map { uptime() - $0 >= Self.habitsLast } ?? false
        if isSuperseded || isOld { count = HabitCount() }
        return true
    }

    private func countHabits() async throws {
        let (habits, end) = try await archive.habits(after: count.place, atMost: Self.habitsAtOnce)
        for habit in habits { count.habits.count(habit.text, by: habit.client, at: habit.time) }
        count.place = end
        if end == nil { count.end = uptime() }
    }

    /// Judges the first of some posts, at least one.
    private func judged(
        _ posts: [Archive.Unprepared], _ unwanted: Unwanted
    ) async throws -> [(post: Archive.Unprepared, preparation: Archive.Preparation)] {
        let begin = uptime()
        let (judge, habits) = (judge, count.habits)
        var judged: [(post: Archive.Unprepared, preparation: Archive.Preparation)] = []
        for post in posts {
            let isOver = uptime() - begin >= Self.longestStep || Task.isShuttingDownGracefully
            guard judged.isEmpty || !isOver else { break }
            try Task.checkCancellation()
            if isPatient {
                let preparation = try await Self.thread.run {
                    judge.preparation(of: post, unwanted, habits)
                }
                judged.append((post, preparation))
            } else {
                judged.append((post, judge.preparation(of: post, unwanted, habits)))
                await Task.yield()
            }
        }
        return judged
    }
}

extension Archive {
    /// Judges all texts that no rules or other ones have judged.
    ///
    /// - Throws: ``ArchiveError``, the store's error, or `CancellationError`; what was judged until
    ///   then stays.
    package func prepare(by judge: TextJudge) async throws {
        let judging = TextJudging(self, judge) { SystemUptime.seconds }
        while try await judging.step() { try Task.checkCancellation() }
    }

    /// Judges some texts that no rules have judged, without the archive's habits: those are counted
    /// by ``TextJudging``.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: ``ArchiveError``, the store's error, or `CancellationError`.
    func prepareUnjudged(by judge: TextJudge, _ unwanted: Unwanted, atMost number: Int) async throws
        -> Bool
    {
        let version = judge.version(unwanted) + Habits.unknown
        let posts = try await unprepared(.unjudged, by: version, atMost: number)
        var judged: [(post: Unprepared, preparation: Preparation)] = []
        for post in posts {
            if Task.isShuttingDownGracefully { throw CancellationError() }
            try Task.checkCancellation()
            judged.append((post, judge.preparation(of: post, unwanted, nil)))
            await Task.yield()
        }
        try await store(judged, by: version)
        return posts.count >= number
    }

    fileprivate func store(
        _ judged: [(post: Unprepared, preparation: Preparation)], by version: String
    ) async throws {
        try await store(
            judged, by: version, lastUse: OutboxStore.lastUse, uses: OutboxStore.useCount)
    }
}
