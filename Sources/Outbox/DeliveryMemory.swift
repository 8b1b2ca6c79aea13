import Foundation

/// Facts of one worker's delivery that are not in the table.
///
/// It lives as long as the worker's lease. After a crash it is lost, and look-ups replace it.
final class DeliveryMemory: @unchecked Sendable {
    /// Stores a change of an action under the lease.
    typealias Change = @Sendable () async throws -> Action

    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private let uptime: @Sendable () -> ContinuousClock.Instant
    private var unstoredChanges: [(id: String, change: Change)] = []
    /// The instants of the first requests, by action.
    private var departures: [String: ContinuousClock.Instant] = [:]
    /// The times of the latest repeated requests, by action.
    private var resends: [String: (wall: Date, instant: ContinuousClock.Instant)] = [:]
    /// The actions whose look-up was postponed since their latest request.
    private var deferred: Set<String> = []
    /// The latest time that the wall clock showed, and its instant.
    private var latest: (wall: Date, instant: ContinuousClock.Instant)?

    /// - Parameter uptime: Returns the monotonic clock.
    init(uptime: @escaping @Sendable () -> ContinuousClock.Instant) { self.uptime = uptime }

    /// The monotonic clock.
    var instant: ContinuousClock.Instant { uptime() }

    // MARK: Changes that could not be stored

    /// Keeps a change that the database did not confirm.
    ///
    /// The change must be idempotent.
    func keepUnstored(_ id: String, _ change: @escaping Change) {
        lock.withLock {
            unstoredChanges.removeAll { $0.id == id }
            unstoredChanges.append((id, change))
        }
    }

    /// The oldest change that is not stored yet.
    var unstoredChange: (id: String, change: Change)? { lock.withLock { unstoredChanges.first } }

    /// Removes the change of an action, which is stored now.
    func dropUnstored(_ id: String) {
        lock.withLock { unstoredChanges.removeAll { $0.id == id } }
    }

    // MARK: Time

    /// Records the time of the first request of an action.
    func noteFirstRequest(of id: String) {
        let instant = uptime()
        lock.withLock { departures[id] = instant }
    }

    /// Records the time of a repeated request of an action, which permits another postponed
    /// look-up.
    func noteRepeatedRequest(of id: String, at wall: Date) {
        let instant = uptime()
        lock.withLock {
            resends[id] = (wall, instant)
            deferred.remove(id)
        }
    }

    /// Records that the latest request of an action had no effect, so that no look-up waits for it.
    func noteNoEffect(of id: String) { lock.withLock { resends[id] = nil } }

    /// Records that a look-up is postponed; returns false if one was postponed already since the
    /// latest request.
    func deferLook(for id: String) -> Bool { lock.withLock { deferred.insert(id).inserted } }

    func forget(_ id: String) {
        lock.withLock {
            departures[id] = nil
            resends[id] = nil
            deferred.remove(id)
        }
    }

    /// Returns the age of the first request of an action by the monotonic clock; nil if another
    /// worker sent it.
    func age(of id: String) -> TimeInterval? {
        let instant = uptime()
        return lock.withLock { departures[id] }.map { $0.duration(to: instant).timeInterval }
    }

    /// Returns the age of this worker's latest repeated request, by the monotonic clock and by the
    /// wall clock; nil for none.
    func resendAges(of id: String, at wall: Date) -> (steady: TimeInterval, wall: TimeInterval)? {
        let instant = uptime()
        return lock.withLock { resends[id] }.map {
            ($0.instant.duration(to: instant).timeInterval, wall.timeIntervalSince($0.wall))
        }
    }

    /// Returns the time of the wall clock as if that had never been set back during this worker's
    /// life.
    func monotonicTime(for wall: Date) -> Date {
        let instant = uptime()
        return lock.withLock {
            let expected =
                latest.map { $0.wall + $0.instant.duration(to: instant).timeInterval } ?? wall
            if wall >= expected { latest = (wall, instant) }
            return max(wall, expected)
        }
    }
}
