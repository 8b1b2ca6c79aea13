package import Foundation
import Posts
package import Storage

/// The mirrors that this process holds: one instance, one row of `workers` and one heartbeat for a
/// process, with any number of mirrors.
///
/// The owner of the instance runs one loop, every ``LeaseTiming/interval``: ``beat()``, then
/// ``claim(_:)``; at the end ``end()``. Only that loop may call these three, one after the other.
/// All other methods may be called from anywhere, such as ``release(_:)`` after the work of a
/// mirror has stopped. Every asynchronous call may throw the store's error, and may then be
/// repeated.
///
/// - A mirror is taken only if it was released, if it never had a lease, or if this instance has
///   observed no new beat of its worker for ``LeaseTiming/silenceLimit``; see `LeaseWatch`. Wall
///   clocks are not used.
/// - Taking is compare-and-set on (mirror, fence). Each change checks the fence in its own
///   transaction (`OutboxStore`), so that a lost lease is noticed there.
/// - Mirrors are shared among the workers that can do most (`WorkerRecord.severity`). A worker
///   hands all of its mirrors back, and takes none, while another sharing worker, of its version or
///   a newer one, can do more. If all are equally disabled, all have their share. A worker with
///   ``Scope/listed`` keeps its mirrors.
/// - A mirror that a newer version held is not taken while a worker of that version or a newer one
///   lives. Once none has lived for the silence limit, as after a rollback, an older one may take
///   it.
/// - A migration removes the rows of all workers and revokes all leases
///   (``LeaseTable/revokeAll(on:)``). A worker without a row inserts it again, and checks the
///   tables before it takes any mirror: after a newer program's migration ``beat()`` and
///   ``claim(_:)`` throw ``OutboxError/Code/outdated``, and the process must end.
package final class Claims: Sendable {
    /// The rule for the number of mirrors that a worker takes.
    package enum Scope: Sendable {
        /// All mirrors that it is asked to claim: `run`, `run --mirrors` and the commands.
        case listed
        /// Its fair share: the number of mirrors, divided by the number of living workers of this
        /// scope, rounded up.
        ///
        /// A worker takes released and new mirrors up to its share at once. It takes mirrors that
        /// were left over at the previous turn up to 5 % above its share. Beyond that it takes only
        /// mirrors that have been without a worker for as long as the silence limit.
        ///
        /// The mirrors of a silent worker are divided at once among the workers that have lived for
        /// the silence limit, because a younger worker cannot know yet which one is silent. Those
        /// left over at the previous turn are taken in any case.
        ///
        /// With more than 5 % above its share a worker hands mirrors back, slowly. Workers of older
        /// versions are not counted for mirrors that are left over or handed back, because they may
        /// not take them.
        case shared
    }

    /// The outcome of one turn of claiming.
    package struct Turn: Sendable {
        /// The leases that this process has taken since the last turn.
        package var taken: [String: Lease] = [:]
        /// Mirrors to hand back to workers that have too few: stop their work, then call
        /// ``Claims/release(_:)``.
        ///
        /// Each is named once. Until it is released it stays held, and its work may continue.
        package var surplus: [String] = []
    }

    /// The number of turns and beats after which everything is read again, regardless of the cached
    /// state.
    private static let turnsBetweenFullReads = 12
    /// How long to wait at the end for a database that does not answer.
    package static let endLimit: Duration = .seconds(2)

    /// The unique name of this process.
    package let worker: String
    package let timing: LeaseTiming

    private let storage: any StorageEngine
    private let table: WorkerTable
    private let version: String
    private let scope: Scope
    private let lateness: @Sendable () -> TimeInterval
    private let disability: @Sendable () -> WorkerRecord.Disability?
    private let now: @Sendable () -> Date
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let lock = NSLock()
    // Only touched under `lock`.
    private nonisolated(unsafe) var state: State

    private struct State {
        /// The leases of this process.
        var held: [String: Lease] = [:]
        /// The mirrors that are held, and were named as surplus.
        var leaving: Set<String> = []
        /// The mirrors that are no longer held, but not yet released in the database.
        var releasing: Set<String> = []
        /// The mirrors whose release failed.
        var unreleased: Set<String> = []
        /// The leases that were taken, but not yet returned by a turn.
        var unreported: [String: Lease] = [:]
        /// Whether this worker has a row, and the tables were checked after the row was inserted.
        var hasRow = false
        var beat: Int64 = 0
        var lastBeat: ContinuousClock.Instant?
        var beatsSinceCheck = 0
        var watch: LeaseWatch
        /// The time for which each mirror has been seen free.
        var freeFor: [String: Duration] = [:]
        /// Mirrors whose lease has a row.
        var mirrorsWithRow: Set<String> = []
        var turnsSinceFullRead = 0
        /// Whether the database may contain leases of this worker that are not in `held`.
        var isUncertain = false
        var unowned = 0
    }

    /// - Parameters:
    ///   - worker: A unique name; by default a new one.
    ///   - version: The version of this program, such as `0.2.0`.
    ///   - lateness: Returns ``WorkerRecord/lateness`` for the next beat.
    ///   - disability: Returns the current ``WorkerRecord/disability``.
    ///   - now: The wall clock, noted for display.
    ///   - instant: The monotonic clock that measures the silence of other workers.
    package init(
        storage: any StorageEngine, worker: String = UUID().uuidString.lowercased(),
        version: String, scope: Scope,
        timing: LeaseTiming = LeaseTiming(),
        lateness: @escaping @Sendable () -> TimeInterval = { 0 },
        disability: @escaping @Sendable () -> WorkerRecord.Disability? = { nil },
        now: @escaping @Sendable () -> Date,
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.storage = storage
        self.worker = worker
        self.version = version
        self.scope = scope
        self.timing = timing
        self.lateness = lateness
        self.now = now
        self.instant = instant
        self.disability = disability
        table = WorkerTable(storage: storage)
        state = State(watch: LeaseWatch(timing))
    }

    /// The leases of this process, as cached.
    package var held: [String: Lease] { lock.withLock { state.held } }

    /// Returns the lease of a mirror; nil if this process does not hold it, by the cache.
    package func lease(of mirror: String) -> Lease? { lock.withLock { state.held[mirror] } }

    /// The number of claimed mirrors that the last turn found free and did not take.
    ///
    /// The mirrors of a dead worker count only after it has been silent for the silence limit.
    package var unowned: Int { lock.withLock { state.unowned } }

    /// Forgets a lease that a change has found lost, without changing the database; a later turn
    /// reads it again.
    package func drop(_ mirror: String) {
        lock.withLock {
            state.held[mirror] = nil
            state.unreported[mirror] = nil
            state.leaving.remove(mirror)
            state.isUncertain = true
        }
    }

    private func record(on state: State) -> WorkerRecord {
        WorkerRecord(
            worker: worker, beat: state.beat, version: version, isSharing: scope == .shared,
            mirrors: state.held.count, lateness: lateness(),
            updatedMilliseconds: now().milliseconds,
            disability: disability())
    }

    /// The next beat of this process.
    private func nextBeat() -> WorkerRecord {
        lock.withLock {
            state.beat += 1
            return record(on: state)
        }
    }
}

// MARK: Beating

extension Claims {
    /// Stores a beat, and releases mirrors whose release failed before.
    ///
    /// The leases themselves are read only if others may have taken them: if more than half of the
    /// silence limit has passed since the previous beat, if the row of this worker was removed, and
    /// periodically.
    ///
    /// - Returns: The mirrors whose leases other workers have taken; their work must stop.
    /// - Throws: ``OutboxError/Code/outdated`` if a newer program has migrated the database.
    package func beat() async throws -> [String] {
        let unreleased = lock.withLock {
            defer { state.unreleased = [] }
            return state.unreleased.sorted()
        }
        try await storeRelease(unreleased)
        let began = instant()
        let wasRemoved = try await storeBeat()
        let mayBeLost = lock.withLock {
            let gap = state.lastBeat.map { $0.duration(to: instant()) } ?? .zero
            state.beatsSinceCheck += 1
            return !state.held.isEmpty
                && (wasRemoved || gap > timing.silenceLimit / 2
                    || state.beatsSinceCheck >= Self.turnsBetweenFullReads)
        }
        let lost = mayBeLost ? try await dropLost() : []
        // Only at this point: if the leases could not be read, the next beat must read them.
        lock.withLock { state.lastBeat = began }
        return lost
    }

    /// Stores a beat.
    ///
    /// - Returns: Whether the worker had no row.
    private func storeBeat() async throws -> Bool {
        let hasRow = lock.withLock { state.hasRow }
        if hasRow, try await note(WorkerTable.beatOfExisting(nextBeat())) > 0 { return false }
        try await enter()
        return true
    }

    /// Inserts the worker's row, and then checks that the tables are those of this program.
    ///
    /// In this order, because a later migration removes the row.
    private func enter() async throws {
        lock.withLock { state.hasRow = false }
        _ = try await note(WorkerTable.beat(nextBeat()))
        try await checkTables()
        lock.withLock { state.hasRow = true }
    }

    /// Runs a statement on `workers`, which a newer program may have changed too.
    private func note(_ statement: SQL) async throws -> Int {
        do {
            return try await storage.executeRepeatable(statement)
        } catch let error as StorageError where error.code == .other {
            try await checkTables()
            throw error
        }
    }

    private func checkTables() async throws {
        do {
            try await Migrations.check(storage)
        } catch let error as StorageError where error.code == .outOfDate {
            throw OutboxError.outdated(error)
        }
    }

    private func dropLost() async throws -> [String] {
        let heldBefore = held
        let rows = try await storage.query(
            "SELECT mirror, fence FROM leases WHERE worker = \(worker) AND NOT released")
        let fences = Dictionary(try rows.map { (try $0.text("mirror"), try $0.integer("fence")) }) {
            first, _ in first
        }
        return lock.withLock {
            state.beatsSinceCheck = 0
            let lost = heldBefore.filter {
                fences[$0.key] != $0.value.fence && state.held[$0.key] == $0.value
            }.keys
            for mirror in lost {
                state.held[mirror] = nil
                state.unreported[mirror] = nil
                state.leaving.remove(mirror)
            }
            return lost.sorted()
        }
    }
}

// MARK: Claiming

/// The stored lease of a mirror that is claimed.
private struct LeaseRow {
    let mirror: String
    /// Nil if it was never held.
    let worker: String?
    let fence: Int64
    let isReleased: Bool
    /// The version of the last holder; nil if it stored none.
    let version: WorkerVersion?

    init(_ row: SQLRow) throws {
        mirror = try row.text("mirror")
        worker = try row.optionalText("worker")
        fence = try row.integer("fence")
        isReleased = try row.boolean("released")
        version = try row.optionalText("version").map(WorkerVersion.init)
    }
}

/// A summary of the other workers, from one reading.
private struct OtherWorkers {
    /// The versions of the living workers.
    var versions: [WorkerVersion] = []
    /// The number of living workers that share the mirrors and are at least as able as this one.
    var sharingCount = 0
    /// The names of these sharing workers that have lived for the silence limit.
    var established: [String] = []
    /// The number of these sharing workers with this version or a newer one.
    var peerCount = 0
    /// The number of mirrors held by living workers that do not share.
    var mirrorsOfListed = 0
    /// Whether a sharing worker, of this version or a newer one, is more able than this one.
    var isAnyMoreAble = false
    /// The names of the living workers.
    var living: [String] = []
    /// The rows of the silent workers.
    var silent: [WorkerRecord] = []
}

extension Claims {
    /// Reads the other workers, and takes free mirrors up to this process's share.
    ///
    /// Most turns are two statements; taking is one transaction for each 500 mirrors. With
    /// ``Scope/listed`` nothing is queried while every mirror is held.
    ///
    /// - Parameter wanted: All mirrors that this process may hold; with ``Scope/shared`` the
    ///   mirrors to divide.
    /// - Returns: The mirrors taken since the last turn, even by a call that threw, and the ones to
    ///   hand back.
    /// - Throws: ``OutboxError/Code/outdated`` if a newer program has migrated the database.
    package func claim(_ wanted: [String]) async throws -> Turn {
        let candidates = lock.withLock {
            Set(wanted.filter { state.held[$0] == nil && !state.releasing.contains($0) })
        }
        if candidates.isEmpty, scope == .listed {
            lock.withLock { state.unowned = 0 }
            return turn(surplus: [])
        }
        lock.withLock { state.watch.begin(at: instant()) }
        // A listed mirror is usually free or held by this process, so that other workers do not
        // matter.
        var others = try await scope == .shared ? self.otherWorkers() : nil
        let leases = try await candidates.isEmpty ? [] : self.leases(of: candidates, others: others)
        if others == nil, leases.contains(where: { needsOtherWorkers($0) }) {
            others = try await self.otherWorkers()
        }
        let knownWorkers = others ?? OtherWorkers()
        let share = scope == .shared ? Share(of: wanted.count, others: knownWorkers) : nil
        let freeMirrors = self.freeMirrors(
            among: candidates, leases: leases, others: knownWorkers, share: share)
        do {
            for portion in freeMirrors.portions { try await take(portion, others: knownWorkers) }
        } catch {
            lock.withLock { state.isUncertain = true }
            throw error
        }
        return turn(surplus: share.map { surplus(of: $0) } ?? [])
    }

    private func turn(surplus: [String]) -> Turn {
        lock.withLock {
            let turn = Turn(taken: state.unreported, surplus: surplus)
            state.unreported = [:]
            return turn
        }
    }

    /// Reads the rows of the other workers.
    private func otherWorkers() async throws -> OtherWorkers {
        let records = try await table.records()
        let ownVersion = WorkerVersion(version)
        let severity = disability().severity
        return lock.withLock {
            var others = OtherWorkers()
            for record in records where record.worker != worker {
                state.watch.see(record.worker, beat: record.beat)
                guard !state.watch.isSilent(record.worker) else {
                    others.silent.append(record)
                    continue
                }
                let version = WorkerVersion(record.version)
                others.living.append(record.worker)
                others.versions.append(version)
                guard record.isSharing else {
                    others.mirrorsOfListed += record.mirrors
                    continue
                }
                // A less able worker hands its mirrors back.
                guard record.severity <= severity else { continue }
                if record.severity < severity, version >= ownVersion { others.isAnyMoreAble = true }
                others.sharingCount += 1
                if state.watch.hasLivedForSilenceLimit(record.worker) {
                    others.established.append(record.worker)
                }
                if version >= ownVersion { others.peerCount += 1 }
            }
            return others
        }
    }

    /// Reads the leases that may be taken, or all claimed ones if that costs no more.
    private func leases(
        of candidates: Set<String>, others: OtherWorkers?
    ) async throws -> [LeaseRow] {
        let readsAll = lock.withLock {
            state.turnsSinceFullRead += 1
            let readsAll =
                others == nil || candidates.count <= 500 || state.isUncertain
                || state.turnsSinceFullRead >= Self.turnsBetweenFullReads
                || !candidates.isSubset(of: state.mirrorsWithRow)
            if readsAll { state.turnsSinceFullRead = 0 }
            return readsAll
        }
        let columns: SQL = "SELECT mirror, worker, fence, released, version FROM leases"
        let condition: SQL =
            if candidates.count <= 500 {
                " WHERE mirror IN \(list: candidates.sorted())"
            } else if readsAll {
                ""
            } else {
                " WHERE released OR worker NOT IN \(list: [worker] + (others?.living ?? []))"
            }
        let leases = try await storage.query(columns + condition).map(LeaseRow.init)
            .filter { candidates.contains($0.mirror) }
        lock.withLock {
            if readsAll { state.mirrorsWithRow.subtract(candidates) }
            state.mirrorsWithRow.formUnion(leases.map(\.mirror))
            if readsAll, state.isUncertain {
                // An earlier attempt succeeded, but its answer was lost.
                for lease in leases where lease.worker == worker && !lease.isReleased {
                    hold([lease.mirror: Lease(owner: worker, fence: lease.fence)])
                }
                state.isUncertain = false
            }
        }
        return leases
    }

    /// Adds leases to those that are held; the caller holds the lock.
    private func hold(_ leases: [String: Lease]) {
        state.held.merge(leases) { $1 }
        state.unreported.merge(leases) { $1 }
        state.mirrorsWithRow.formUnion(leases.keys)
        for mirror in leases.keys { state.freeFor[mirror] = nil }
    }

    /// Whether other workers must be read to decide if a lease may be taken.
    private func needsOtherWorkers(_ lease: LeaseRow) -> Bool {
        guard lease.worker != worker || lease.isReleased else { return false }
        return !lease.isReleased || lease.version ?? WorkerVersion("") > WorkerVersion(version)
    }

    /// The limits of mirrors that this process takes and keeps.
    private struct Share {
        /// The number of mirrors that it takes at once.
        let fair: Int
        /// The number of silent workers' mirrors that it takes at once.
        let inherited: Int
        /// The number of mirrors that it keeps, and takes if others leave them: the share among the
        /// workers that are not older, and 5 % more.
        let maximum: Int
        /// The number of mirrors that it keeps when it hands mirrors back.
        let minimum: Int
        /// Whether it takes and keeps none, because another worker is more able.
        let isEmpty: Bool

        init(of mirrors: Int, others: OtherWorkers) {
            isEmpty = others.isAnyMoreAble
            func equalShare(_ otherWorkers: Int) -> Int {
                // Rounded up.
                let sharedMirrors = max(0, mirrors - others.mirrorsOfListed)
                return (sharedMirrors + otherWorkers) / (otherWorkers + 1)
            }
            fair = equalShare(others.sharingCount)
            minimum = equalShare(others.peerCount)
            inherited = equalShare(others.established.count)
            maximum = minimum + minimum / 20
        }
    }

    /// Returns the free mirrors that this process takes now, and records the number that it leaves.
    private func freeMirrors(
        among candidates: Set<String>, leases: [LeaseRow], others: OtherWorkers, share: Share?
    ) -> [FreeMirror] {
        lock.withLock {
            var free: [FreeMirror] = []
            // Mirrors that a newer version held, and that this worker must not take yet.
            var barred: Set<String> = []
            // Mirrors of silent workers.
            var abandoned: Set<String> = []
            for lease in leases where state.held[lease.mirror] == nil {
                guard isFree(lease) else { continue }
                free.append(
                    FreeMirror(
                        mirror: lease.mirror, fence: lease.fence,
                        holder: lease.isReleased ? nil : lease.worker))
                if !lease.isReleased { abandoned.insert(lease.mirror) }
                if let version = lease.version, version > WorkerVersion(self.version) {
                    if others.versions.contains(where: { $0 >= version }) {
                        // It does not count as waiting while a worker of that version lives.
                        state.freeFor[lease.mirror] = nil
                        barred.insert(lease.mirror)
                    } else {
                        let freeTime = state.freeFor[lease.mirror].map { $0 + state.watch.step }
                        let hasWaited = freeTime.map { $0 >= timing.silenceLimit } ?? false
                        if !hasWaited { barred.insert(lease.mirror) }
                    }
                }
            }
            for mirror in candidates where !state.mirrorsWithRow.contains(mirror) {
                free.append(FreeMirror(mirror: mirror, fence: 0))
            }
            let previousFreeFor = state.freeFor
            state.freeFor = Dictionary(
                uniqueKeysWithValues: free.map {
                    ($0.mirror, previousFreeFor[$0.mirror].map { $0 + state.watch.step } ?? .zero)
                }
            )
            let taken = chosen(
                free.filter { !barred.contains($0.mirror) }, abandoned: abandoned,
                others: others, share: share)
            state.unowned = free.count - taken.count
            return taken
        }
    }

    /// Whether a lease was released or its worker is silent; the caller holds the lock.
    private func isFree(_ lease: LeaseRow) -> Bool {
        guard !lease.isReleased, let holder = lease.worker else { return true }
        guard holder != worker else { return false }
        // A holder without a row is watched as well; one whose row was read in this turn is not
        // counted twice.
        state.watch.see(holder, beat: nil)
        return state.watch.isSilent(holder)
    }

    /// Chooses the mirrors to take among the free ones, including those of silent workers; the
    /// caller holds the lock.
    private func chosen(
        _ free: [FreeMirror], abandoned: Set<String>, others: OtherWorkers, share: Share?
    ) -> [FreeMirror] {
        let sorted = free.sorted { $0.mirror < $1.mirror }
        guard let share else { return sorted }
        guard !share.isEmpty else { return [] }
        // To avoid conflicts between workers that claim at the same time, each begins with its own
        // part of the list, and continues with the parts of the other workers from their end.
        let partCount = others.established.count + 1
        let ownNumber = others.established.count { $0 < worker }
        let ownPart = sorted.indices.filter { $0 % partCount == ownNumber }
        let otherParts = sorted.indices.filter { $0 % partCount != ownNumber }
        var count = state.held.count - state.leaving.count
        var chosen: [FreeMirror] = []
        for mirror in (ownPart + otherParts.reversed()).map({ sorted[$0] }) {
            let freeTime = state.freeFor[mirror.mirror] ?? .zero
            let limit =
                switch (freeTime, abandoned.contains(mirror.mirror)) {
                case (.zero, true): share.inherited
                case (.zero, false): share.fair
                case (..<timing.silenceLimit, false): share.maximum
                default: Int.max
                }
            guard count < limit else { continue }
            chosen.append(mirror)
            count += 1
        }
        return chosen
    }

    /// Removes the rows of dead workers, and takes some mirrors.
    ///
    /// A worker has a row before it holds a mirror, so that it is never taken for a silent one; one
    /// whose row was removed takes nothing before it has inserted it again. A worker that has
    /// beaten since it was read keeps its row and its mirrors.
    private func take(_ free: [FreeMirror], others: OtherWorkers) async throws {
        if !lock.withLock({ state.hasRow }) { try await enter() }
        let beat = nextBeat()
        let began = instant()
        let ordered = free.sorted { $0.mirror < $1.mirror }
        let taken: [String: Lease]? = try await storage.transaction {
            [worker, version] connection in
            guard try connection.execute(WorkerTable.beatOfExisting(beat)) > 0 else { return nil }
            for dead in others.silent {
                try connection.execute(WorkerTable.removing(dead.worker, at: dead.beat))
            }
            let activeHolders = try WorkerTable.withRow(
                among: Set(ordered.compactMap(\.holder)), on: connection)
            return try LeaseTable.take(
                ordered.filter { mirror in
                    mirror.holder.map { !activeHolders.contains($0) } ?? true
                },
                for: worker, version: version, now: beat.updatedMilliseconds, on: connection)
        }
        lock.withLock {
            guard let taken else {
                state.hasRow = false
                return
            }
            let wanted = Set(ordered.map(\.mirror))
            hold(taken.filter { wanted.contains($0.key) && state.held[$0.key] == nil })
            if state.lastBeat == nil { state.lastBeat = began }
        }
    }

    /// Chooses the mirrors to hand back now, and records them as leaving.
    private func surplus(of share: Share) -> [String] {
        lock.withLock {
            let count = state.held.count - state.leaving.count
            if share.isEmpty {
                let names = state.held.keys.filter { !state.leaving.contains($0) }.sorted()
                state.leaving.formUnion(names)
                return names
            }
            // Mirrors that were handed back before must have found a new worker first.
            let hasUntakenMirror = state.freeFor.contains {
                $0.value >= timing.silenceLimit / 2 && state.held[$0.key] == nil
            }
            guard count > share.maximum, !hasUntakenMirror else { return [] }
            let number = min(count - share.minimum, max(4, (count - share.minimum) / 12))
            let names = state.held.keys.filter { !state.leaving.contains($0) }.sorted().suffix(
                number)
            state.leaving.formUnion(names)
            return Array(names)
        }
    }
}

// MARK: Releasing

extension Claims {
    /// Releases mirrors whose work has stopped, so that the next worker need not wait.
    ///
    /// The mirrors are not held any more, even if the call throws; the next beat tries again to
    /// store the release.
    package func release(_ mirrors: [String]) async throws {
        let released = lock.withLock {
            let released = mirrors.filter { state.held.removeValue(forKey: $0) != nil }
            for mirror in released { state.unreported[mirror] = nil }
            state.leaving.subtract(released)
            state.releasing.formUnion(released)
            return released
        }
        try await storeRelease(released)
    }

    private func storeRelease(_ mirrors: [String]) async throws {
        var remaining = mirrors[...]
        do {
            while !remaining.isEmpty {
                let portion = Array(remaining.prefix(500))
                try await storage.executeRepeatable(
                    LeaseTable.releasing(portion, heldBy: worker, now: now().milliseconds))
                remaining = remaining.dropFirst(portion.count)
                lock.withLock { state.releasing.subtract(portion) }
            }
        } catch {
            lock.withLock { state.unreleased.formUnion(remaining) }
            throw error
        }
    }

    /// Releases all mirrors and removes this process's row; it may claim again afterwards, like a
    /// new worker.
    package func end() async throws {
        lock.withLock {
            let beat = state.beat
            let watch = state.watch
            state = State(watch: watch)
            state.beat = beat
            state.isUncertain = true
        }
        let now = now().milliseconds
        try await storage.transaction { [worker] connection in
            try connection.execute(LeaseTable.releasing(heldBy: worker, now: now))
            try connection.execute(WorkerTable.removing(worker))
        }
    }

    /// Like ``end()``, for a process that exits: it runs even if the calling task is cancelled,
    /// because the next worker would have to wait for the silence, but at most for ``endLimit``.
    package func endInTime() async throws {
        let ending = Task { try await end() }
        let limit = Task {
            try await ContinuousClock().sleep(for: Self.endLimit)
            ending.cancel()
        }
        defer { limit.cancel() }
        try await ending.value
    }
}
