package import Archive
import Blocking
import Conduct
package import Foundation
import Outbox
import ServiceLifecycle

/// Judges the texts of an archive in steps of a fraction of a second, so that no look and no post
/// has to wait for all of them.
///
/// A step either counts a stretch of the archive's habits or judges some posts, and stores the
/// results with the name of the rules. So after a crash only the counting begins anew, and judging
/// goes on with the remaining posts.
package actor TextJudging {
    /// The most posts that a step judges.
    private static let postsAtOnce = 200
    /// About how many posts of the archive a step counts for habits.
    private static let habitsAtOnce = 2_000
    /// Seconds after which a step judges no further post.
    private static let longestStep: TimeInterval = 0.25
    /// One thread for all mirrors of the process, with a lower priority than all other work.
    private static let thread = ThreadExecutor(name: "texts", hasLowPriority: true)

    private let archive: Archive
    private let judge: TextJudge
    private let hasLowPriority: Bool
    private let uptime: @Sendable () -> TimeInterval
    /// The count of habits for the current pass over the texts; nil between two passes.
    private var count: HabitCount?

    /// The state of a count of the archive's habits.
    private struct HabitCount {
        var habits = Habits()
        /// The end of the last stretch.
        var place: Int64?
        /// Whether that stretch was the last one of the archive.
        var isComplete = false
    }

    /// - Parameters:
    ///   - archive: The archive with the texts.
    ///   - judge: The rules.
    ///   - hasLowPriority: Whether all other work of the machine goes first.
    ///   - uptime: Reads a monotonic clock, in seconds.
    package init(
        _ archive: Archive, _ judge: TextJudge, hasLowPriority: Bool = false,
        uptime: @escaping @Sendable () -> TimeInterval
    ) {
        self.archive = archive
        self.judge = judge
        self.hasLowPriority = hasLowPriority
        self.uptime = uptime
    }

    /// Judges some of the texts that were judged by no rules or by other ones.
    ///
    /// Ends early when the process is told to end; the texts judged until then are stored.
    ///
    /// - Returns: Whether more texts may be left.
    /// - Throws: `ArchiveError`, the store's error, or `CancellationError`.
    package func step() async throws -> Bool {
        let unwanted = try await archive.unwanted(in: judge.zone)
        guard let count else {
            guard try await hasTexts(unwanted) else { return false }
            self.count = try await counted(after: HabitCount())
            return true
        }
        guard count.isComplete else {
            self.count = try await counted(after: count)
            return true
        }
        let version = judge.version(unwanted) + count.habits.version
        let posts = try await archive.unprepared(by: version, atMost: Self.postsAtOnce)
        let judged = try await judged(posts, unwanted, count.habits)
        try await archive.store(judged, by: version)
        let mayBeMore = posts.count >= Self.postsAtOnce || judged.count < posts.count
        if !mayBeMore { self.count = nil }
        return mayBeMore
    }

    /// Returns whether a text was judged by no rules, by other ones, or without the habits.
    private func hasTexts(_ unwanted: Unwanted) async throws -> Bool {
        guard let rules = try await archive.preparedBy() else { return false }
        return rules.first != rules.last || !judge.isCurrent(rules.last, unwanted)
            || rules.last.hasSuffix(Habits.unknown)
    }

    /// Counts the next stretch.
    private func counted(after count: HabitCount) async throws -> HabitCount {
        var count = count
        let (posts, end) = try await archive.postsWithHabits(
            after: count.place, atMost: Self.habitsAtOnce)
        for post in posts {
            count.habits.include(
                post.text, by: post.client, at: post.time, isAnswer: post.isReply)
        }
        count.place = end
        count.isComplete = end == nil
        return count
    }

    /// Judges the first of some posts, at least one.
    private func judged(
        _ posts: [Archive.Unprepared], _ unwanted: Unwanted, _ habits: Habits
    ) async throws -> [(post: Archive.Unprepared, preparation: Archive.Preparation)] {
        let begin = uptime()
        let judge = judge
        var judged: [(post: Archive.Unprepared, preparation: Archive.Preparation)] = []
        for post in posts {
            let isOver = uptime() - begin >= Self.longestStep || Task.isShuttingDownGracefully
            guard judged.isEmpty || !isOver else { break }
            try Task.checkCancellation()
            if hasLowPriority {
                let preparation = try await Self.thread.run {
                    judge.preparation(of: post, unwanted, habits: habits)
                }
                judged.append((post, preparation))
            } else {
                judged.append((post, judge.preparation(of: post, unwanted, habits: habits)))
                await Task.yield()
            }
        }
        return judged
    }
}

extension Archive {
    /// Judges all texts that were judged by no rules or by other ones.
    ///
    /// - Throws: ``ArchiveError``, the store's error, or `CancellationError`; the texts judged
    ///   until then stay judged.
    package func prepare(by judge: TextJudge) async throws {
        let judging = TextJudging(self, judge) { SystemUptime.seconds }
        while try await judging.step() { try Task.checkCancellation() }
    }

    /// Judges some texts that no rules have judged, without the archive's habits, which
    /// ``TextJudging`` counts.
    ///
    /// - Returns: Whether more texts may be left.
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
            judged.append((post, judge.preparation(of: post, unwanted, habits: nil)))
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
