import Foundation
import NetworkNames
import Posts
import Sandbox

/// Lets things go wrong around the workers as a plan says, and mends them again.
actor FaultDirector {
    /// What a worker is asked to wait when there are too many requests, in seconds of its clock.
    private static let pause = 20
    /// How often it is looked whether requests have met the faults, in real seconds.
    private static let glance = 0.02
    /// How checks are refused, in turn: some for now, some for good.
    private static let refusals = [503, 404, 429]

    private let network: NetworkName
    private let sandbox: Sandbox
    private let timeline: Timeline
    private let stores: StoreDirector
    private let clocks: ClockDirector
    private let tally: FaultTally
    /// The faults that only whoever reads mentions meets.
    private let deafness = FaultTally()
    private let denials = Notes()
    /// The checks that were refused with another status than 404.
    private let postponements = Notes()
    private var switched = Switched()
    /// The stretch in which nobody can read mentions.
    private var deafStretch: Int?

    /// The faults of requests that are planned and not yet met.
    private struct Switched {
        /// How many faults had been met before.
        var before = 0
        /// How many were planned since.
        var planned = 0
        /// The stretch in which the workers are hindered, once it has begun.
        var stretch: Int?
        var hinders = false
        var lastsToTheEnd = false
        /// For how long a refusal asked the workers to wait.
        var aftermath: TimeInterval = 0
    }

    init(stage: Stage) {
        network = stage.settings.network
        sandbox = stage.sandbox
        timeline = stage.timeline
        tally = FaultTally()
        stores = StoreDirector(
            servers: stage.servers, timeline: timeline, disk: stage.disk, tally: tally)
        clocks = ClockDirector(clock: stage.clock, folder: stage.folder)
    }

    /// How often each kind of fault befell somebody: those that were planned and that no request
    /// met do not count.
    nonisolated var befallen: [String: Int] { tally.counts }

    /// The checks before a request that were told that the post is gone, by path and query.
    nonisolated var deniedChecks: [String] { denials.values }
    /// Path and query of the checks that were refused for a moment.
    nonisolated var postponedChecks: [String] { postponements.values }

    /// When the clock of a worker was wrong by more than it may differ anyway.
    var wrongClocks: [WrongClock] { get async { await clocks.stretches } }

    /// Lets the faults of an episode happen at their times; cancelled when its workers have ended.
    ///
    /// What lasts for a time is over when this returns.
    nonisolated func perform(_ plan: EpisodePlan) async {
        sandbox.faults.x.publishesRepeats = plan.publishesRepeats
        if let lack = plan.lack { tally.count(lack) }
        for fault in plan.networkFaults where fault.after <= 0 { await happen(fault) }
        await withTaskGroup(of: Void.self) { group in
            for fault in plan.networkFaults where fault.after > 0 {
                group.addTask {
                    if await Pause.wait(seconds: fault.after) { await self.happen(fault) }
                }
            }
            if let fault = plan.storeFault {
                group.addTask {
                    guard await Pause.wait(seconds: fault.after) else { return }
                    await self.stores.happen(fault.fault, inEpisode: plan.number)
                }
            }
            if let jump = plan.clockJump {
                group.addTask {
                    guard await Pause.wait(seconds: jump.after) else { return }
                    self.tally.count(jump.kind)
                    await self.clocks.happen(jump, inEpisode: plan.number)
                }
            }
            if case .endured(let fault, let after, let seconds) = plan.shape {
                group.addTask {
                    if await Pause.wait(seconds: after) {
                        await self.happen(fault, seconds: seconds)
                    }
                }
            }
            for outcry in plan.outcries {
                group.addTask {
                    if outcry.after <= 0 {
                        await self.happen(outcry)
                    } else if outcry.kind == .burstWhileUnavailable {
                        await self.deafen()
                        if await Pause.wait(seconds: outcry.after) { await self.say(outcry) }
                    } else if await Pause.wait(seconds: outcry.after) {
                        await self.happen(outcry)
                    }
                }
            }
            group.addTask { while await Pause.wait(seconds: Self.glance) { await self.look() } }
        }
    }

    /// Lets the next requests succeed, and what was gone for some episodes come back once they are
    /// over.
    func mend(after episode: Int) async {
        look()
        sandbox.faults.clearPlanned()
        if let stretch = switched.stretch { timeline.end(stretch, lasting: switched.aftermath) }
        if let stretch = deafStretch { timeline.end(stretch) }
        deafStretch = nil
        switched = Switched(before: applied)
        await clocks.mend()
        await stores.mend(after: episode)
    }

    /// Mends everything.
    func mendAll() async { await mend(after: .max) }

    /// Lets a fault of the network happen now.
    func happen(_ timed: TimedNetworkFault) async {
        if case .vanish(let seconds) = timed.fault {
            tally.count(timed.fault.kind)
            return await vanish(seconds: seconds)
        }
        if case .refusedChecks(let deaf, let times, let way) = timed.fault {
            return refuseChecks(deaf: deaf, times: times, way: way)
        }
        let (fault, count) = Self.planned(timed.fault)
        switched.planned += count
        if timed.fault.hindrance != .none { switched.hinders = true }
        if timed.fault.hindrance == .toTheEnd { switched.lastsToTheEnd = true }
        if case .tooMany(let saysWhen) = timed.fault {
            switched.aftermath = max(switched.aftermath, Self.wait(saysWhen: saysWhen, on: network))
        }
        sandbox.faults.failNext(
            fault, count: count, method: timed.hitsWritesOnly ? "POST" : nil,
            path: timed.hitsWritesOnly ? Self.writePath(on: network) : "/",
            whenMet: { [tally] _ in tally.count(timed.fault.kind) })
    }

    /// Lets another pass than the one of the mentions hear them, the answers to what it sends be
    /// lost, and then every check before a request fail.
    private func refuseChecks(deaf: Int, times: Int, way: Int) {
        deafen(times: deaf)
        let kind = NetworkFault.Kind.refusedChecks
        let path = Self.checkPath(on: network)
        let faults = sandbox.faults
        // The first lost answer counts.
        let before = tally.counts[kind.rawValue]
        let refuse: @Sendable (String) -> Void = { [tally, denials, postponements] _ in
            guard tally.counts[kind.rawValue] == before else { return }
            tally.count(kind)
            for number in 0..<times {
                let status = Self.refusals[(number + way) % Self.refusals.count]
                faults.failNext(
                    .error(status: status, message: "Not now"), method: "GET", path: path,
                    needsLogin: true,
                    whenMet: (status == 404 ? denials : postponements).add)
            }
        }
        faults.failNext(
            .dropAnswer, count: NetworkFault.lostBesideChecks, method: "POST",
            path: Self.writePath(on: network),
            whenMet: refuse)
        switched.planned += NetworkFault.lostBesideChecks + times
        switched.hinders = true
        switched.lastsToTheEnd = true
        switched.aftermath = max(switched.aftermath, Self.wait(saysWhen: false, on: network))
    }

    /// Lets something be wrong for long, and mends it.
    private func happen(_ fault: LongFault, seconds: Double) async {
        switch fault {
        case .errors:
            tally.count(fault)
            let stretch = timeline.begin(.faults)
            sandbox.faults.failNext(Self.planned(.unavailable(times: 1)).0, count: .max)
            await Pause.wait(seconds: seconds)
            sandbox.faults.clearPlanned()
            timeline.end(stretch)
        case .noServer:
            tally.count(fault)
            await vanish(seconds: seconds)
        case .noRedis: await stores.loseRedis(seconds: seconds)
        }
    }

    /// Begins a stretch of hindrance once a request has met a fault, and ends it once all faults
    /// are used up.
    private func look() {
        let met = applied - switched.before
        guard switched.hinders, met > 0 else { return }
        if switched.stretch == nil { switched.stretch = timeline.begin(.faults) }
        guard let stretch = switched.stretch, met >= switched.planned, !switched.lastsToTheEnd
        else { return }
        timeline.end(stretch, lasting: switched.aftermath)
        switched = Switched(before: applied)
    }

    /// How many planned faults were met, other than by whoever reads mentions.
    private var applied: Int { sandbox.faults.applied - deafness.counts.values.reduce(0, +) }

    private func vanish(seconds: Double) async {
        let absence = timeline.begin(.noServer)
        await sandbox.close()
        await Pause.wait(seconds: seconds)
        // Not cancelled with the episode: the next one needs the server.
        let sandbox = sandbox
        await Task { await Self.reopen(sandbox) }.value
        timeline.end(absence)
    }

    /// Takes the port back, which the system may hold for a moment.
    private static func reopen(_ sandbox: Sandbox) async {
        for _ in 0..<200 {
            do { return try await sandbox.reopen() } catch { await Pause.wait(seconds: 0.05) }
        }
    }
}

/// What people say.
extension FaultDirector {
    /// Lets people say something, and what belongs to it happen.
    private func happen(_ outcry: Outcry) async {
        if outcry.kind == .burstWhileUnavailable { deafen() }
        await say(outcry)
        guard outcry.kind == .burstAndLostPlace else { return }
        refuseMentions(.error(status: 400, message: "No such place"), count: 2, having: Self.places)
    }

    private func say(_ outcry: Outcry) async {
        await sandbox.say(outcry.utterances(in: sandbox.world.population, on: network))
        tally.count(outcry.kind)
    }

    /// Whoever reads mentions is told to come later, until the episode is over.
    private func deafen(times: Int = .max) {
        if deafStretch == nil { deafStretch = timeline.begin(.noFeed) }
        refuseMentions(
            .error(status: 503, message: "Service unavailable"), count: times, having: [])
    }

    private func refuseMentions(_ fault: SandboxFault, count: Int, having parameters: Set<String>) {
        let path =
            switch network {
            case .mastodon: "/api/v1/notifications"
            case .x:
                "/2/users/\(sandbox.world.population.people[SandboxPopulation.bot].id(on: .x).value)/mentions"
            default: "/xrpc/app.bsky.notification.listNotifications"
            }
        sandbox.faults.failNext(
            fault, count: count, method: "GET", path: path, having: parameters,
            whenMet: { [deafness] _ in deafness.count(Deafness.met) })
    }

    private enum Deafness: String {
        case met
    }

    /// What says where a page begins.
    private static let places: Set = [
        "max_id", "since_id", "min_id", "until_id", "pagination_token", "cursor",
    ]
}

/// What the network does with its own means.
extension FaultDirector {
    /// How long a worker rests after too many requests, in seconds: a minute and a quarter at
    /// least, and where X does not say when its window of a quarter of an hour ends, all of it.
    private static func wait(saysWhen: Bool, on network: NetworkName) -> TimeInterval {
        network == .x && !saysWhen ? 960 : 80
    }

    /// How the requests begin that publish, reply or favorite.
    static func writePath(on network: NetworkName) -> String {
        switch network {
        case .mastodon: "/api/v1/statuses"
        case .x: "/2/tweets"
        default: "/xrpc/com.atproto.repo.putRecord"
        }
    }

    /// How the requests begin that read a single post: the answered one, or the original of a text.
    private static func checkPath(on network: NetworkName) -> String {
        switch network {
        case .mastodon: "/api/v1/statuses/"
        case .x: "/2/tweets"
        default: "/xrpc/app.bsky.feed.getPosts"
        }
    }

    /// The sandbox's own name for the fault, and how many requests it meets.
    private static func planned(_ fault: NetworkFault) -> (SandboxFault, count: Int) {
        switch fault {
        case .dropRequest: (.dropRequest, 1)
        case .dropAnswer: (.dropAnswer, 1)
        case .resetRequest: (.resetRequest, 1)
        case .resetAnswer: (.resetAnswer, 1)
        case .truncateAnswer: (.truncateAnswer, 1)
        case .drip: (.drip(bytesPerSecond: 200), 1)
        case .endlessAnswer: (.endlessAnswer, 1)
        case .hang: (.hang, 1)
        case .actLate(let seconds): (.actLate(after: TimeInterval(seconds)), 1)
        case .page(let status): (.html(status: status), 1)
        case .tooMany(let saysWhen):
            (
                .error(
                    status: 429, message: "Too many requests",
                    headers: saysWhen ? ["retry-after": "\(pause)"] : [:]), 1
            )
        case .unavailable(let times): (.error(status: 503, message: "Service unavailable"), times)
        case .unauthorized: (.error(status: 401, message: "The access token is invalid"), 1)
        // The server is not there to do anything.
        case .vanish: (.hang, 0)
        // These are many.
        case .refusedChecks: (.hang, 0)
        }
    }
}
