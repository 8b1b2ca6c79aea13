import Foundation

/// What one worker's delivery knows that the table does not.
///
/// It lives as long as the worker holds its lease. After a crash nothing of it is left, and the look-up takes its place.
final class DeliveryMemory: @unchecked Sendable {
    /// Writes down what is known about an action, under the lease.
    typealias Change = @Sendable () async throws -> Action

    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private let uptime: @Sendable () -> ContinuousClock.Instant
    private var debts: [(id: String, change: Change)] = []
    private var departures: [String: ContinuousClock.Instant] = [:]
    private var resends: [String: (wall: Date, instant: ContinuousClock.Instant)] = [:]
    private var deferred: Set<String> = []
    private var latest: (wall: Date, instant: ContinuousClock.Instant)?

    /// - Parameter uptime: Reads a clock that nobody sets.
    init(uptime: @escaping @Sendable () -> ContinuousClock.Instant) { self.uptime = uptime }

    /// The clock that nobody sets.
    var instant: ContinuousClock.Instant { uptime() }

    // MARK: What could not be stored

    /// Remembers a change that the database did not take, or of which it is not known whether it did.
    ///
    /// The change must do no harm when it is made a second time.
    func owe(_ id: String, _ change: @escaping Change) {
        lock.withLock {
            debts.removeAll { $0.id == id }
            debts.append((id, change))
        }
    }

    /// The oldest change that is not stored yet.
    var debt: (id: String, change: Change)? { lock.withLock { debts.first } }

    func settled(_ id: String) { lock.withLock { debts.removeAll { $0.id == id } } }

    // MARK: Time

    /// Remembers when the first request of an action leaves.
    func leaves(_ id: String) {
        let instant = uptime()
        lock.withLock { departures[id] = instant }
    }

    /// Remembers when another request of an action leaves, for which a look may be put off once more.
    func leavesAgain(_ id: String, at wall: Date) {
        let instant = uptime()
        lock.withLock {
            resends[id] = (wall, instant)
            deferred.remove(id)
        }
    }

    /// Remembers that the latest request of an action did nothing, so that nobody waits for it.
    func neverLeft(_ id: String) { lock.withLock { resends[id] = nil } }

    /// Notes that a look for an action is put off; false if one was before, since the latest request.
    func deferLook(for id: String) -> Bool { lock.withLock { deferred.insert(id).inserted } }

    func forget(_ id: String) {
        lock.withLock {
            departures[id] = nil
            resends[id] = nil
            deferred.remove(id)
        }
    }

    /// How long ago the first request of an action left, whatever was done to the wall clock; nil if another worker
    /// sent it.
    func age(of id: String) -> TimeInterval? {
        let instant = uptime()
        return lock.withLock { departures[id] }.map { $0.duration(to: instant).timeInterval }
    }

    /// How long ago the latest request that this worker sent again left, by the clock that nobody sets and by the wall
    /// clock; nil if it sent none again.
    func resendAges(of id: String, at wall: Date) -> (steady: TimeInterval, wall: TimeInterval)? {
        let instant = uptime()
        return lock.withLock { resends[id] }.map {
            ($0.instant.duration(to: instant).timeInterval, wall.timeIntervalSince($0.wall))
        }
    }

    /// What the wall clock would show if it had never been set back while this worker watched it.
    func steady(_ wall: Date) -> Date {
        let instant = uptime()
        return lock.withLock {
            let expected = latest.map { $0.wall + $0.instant.duration(to: instant).timeInterval } ?? wall
            if wall >= expected { latest = (wall, instant) }
            return max(wall, expected)
        }
    }
}
