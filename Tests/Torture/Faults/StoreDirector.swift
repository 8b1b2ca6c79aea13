import Foundation
import Storage
import TestSupport

/// Lets the stores fail, and mends them again.
actor StoreDirector {
    private let servers: TortureServers
    private let timeline: Timeline
    private let disk: DiskRoom
    private let tally: FaultTally
    /// While Redis is gone: after which episode it comes back, and the stretch without it.
    private var redisIsGone: (until: Int, absence: Int)?

    init(servers: TortureServers, timeline: Timeline, disk: DiskRoom, tally: FaultTally) {
        self.servers = servers
        self.timeline = timeline
        self.disk = disk
        self.tally = tally
    }

    /// Lets a fault happen; what lasts for a time is over when this returns.
    func happen(_ fault: StoreFault, inEpisode episode: Int) async {
        if case .stopRedis = fault, redisIsGone != nil { return }
        tally.count(fault.kind)
        switch fault {
        case .lockFile(let seconds):
            await during(.noDatabase) { await Self.lock(servers.location, seconds: seconds) }
        case .fillDisk(let limit, let seconds):
            await during(.noDatabase) {
                disk.limit(to: limit)
                await Pause.wait(seconds: seconds)
                disk.limit(to: nil)
            }
        case .restartPostgres:
            await during(.noDatabase) {
                await Self.insist { [servers] in try await servers.postgres?.restart() }
            }
        case .crashPostgres:
            await during(.noDatabase) {
                await Self.insist { [servers] in try await servers.postgres?.restart(.immediate) }
            }
        case .terminateBackends:
            await during(.noDatabase) {
                await Self.insist { [servers] in try await servers.terminateConnections() }
            }
        case .readOnly(let seconds):
            await during(.noDatabase) {
                await Self.insist { [servers] in try await servers.setReadOnly(true) }
                await Pause.wait(seconds: seconds)
                await Self.insist { [servers] in try await servers.setReadOnly(false) }
            }
        case .fillPostgres(let seconds): await trouble("53100", share: 1, seconds: seconds)
        case .failSerialization(let seconds): await trouble("40001", share: 0.3, seconds: seconds)
        case .failOver: await change(.noDatabase) { try await $0.failOver() }
        case .restartRedis, .flushRedis, .dropRedisClients, .stopRedis, .replaceMaster, .moveSlot:
            await happen(toRedis: fault, inEpisode: episode)
        }
    }

    private func happen(toRedis fault: StoreFault, inEpisode episode: Int) async {
        if case .stopRedis(let episodes) = fault {
            redisIsGone = (episode + episodes, timeline.begin(servers.lackOfRedis))
            return await servers.stopRedis()
        }
        guard redisIsGone == nil else { return }
        switch fault {
        case .restartRedis: await change(servers.lackOfRedis) { try await $0.restartRedis() }
        case .flushRedis: await during(.noCounts) { await servers.tellRedis(["FLUSHALL"]) }
        case .dropRedisClients:
            await during(.noCounts) {
                await servers.tellRedis(["CLIENT", "KILL", "TYPE", "normal"])
            }
        case .replaceMaster: await change(servers.lackOfRedis) { try await $0.replaceMaster() }
        // Nobody is hindered by that.
        case .moveSlot: await change(nil) { try await $0.moveSlot() }
        default: return
        }
    }

    /// Lets something happen that ends well, and is not cancelled with the episode: what has begun
    /// is done.
    private func change(
        _ cause: Disturbance.Cause?,
        _ body: @escaping @Sendable (TortureServers) async throws -> Void
    ) async {
        let number = cause.map { timeline.begin($0) }
        await Task { [servers] in await Self.insist(times: 3) { try await body(servers) } }.value
        if let number { timeline.end(number) }
    }

    /// Lets Redis be gone for so many real seconds.
    func loseRedis(seconds: Double) async {
        guard redisIsGone == nil else { return }
        tally.count(LongFault.noRedis)
        redisIsGone = (.max, timeline.begin(servers.lackOfRedis))
        await servers.stopRedis()
        await Pause.wait(seconds: seconds)
        // Not cancelled with the episode: the next one needs it.
        await Task { await mend(after: .max) }.value
    }

    private func trouble(_ code: String, share: Double, seconds: Double) async {
        await during(.noDatabase) {
            await Self.insist { [servers] in try await servers.setTrouble(code, share: share) }
            await Pause.wait(seconds: seconds)
            await Task { [servers] in await Self.insist { try await servers.setTrouble(nil) } }
                .value
        }
    }

    /// Brings back what was to be gone until this episode was over.
    func mend(after episode: Int) async {
        guard let gone = redisIsGone, episode >= gone.until else { return }
        redisIsGone = nil
        await Self.insist(times: 3) { [servers] in try await servers.startRedis() }
        timeline.end(gone.absence)
    }

    private func during(_ cause: Disturbance.Cause, _ body: () async -> Void) async {
        let number = timeline.begin(cause)
        await body()
        timeline.end(number)
    }

    /// Holds the write lock of a SQLite file as another program would.
    private static func lock(_ location: StorageLocation, seconds: Double) async {
        guard let storage = try? await Storage.open(location) else { return }
        // The transaction runs on a thread of its own.
        _ = try? await storage.transaction { connection in
            try connection.execute("UPDATE leases SET updated_ms = updated_ms WHERE mirror = ''")
            Thread.sleep(forTimeInterval: seconds)
        }
        await storage.close()
    }

    /// Tries again until it works, for a server that has just been hurt may refuse for a while.
    private static func insist(times: Int = 100, _ body: @Sendable () async throws -> Void) async {
        for _ in 0..<times {
            do { return try await body() } catch {
                _ = await Task { await Pause.wait(seconds: 0.05) }.value
            }
        }
    }
}
