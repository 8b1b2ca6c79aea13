import Archive
import Blocking
import Configuration
import Control
import Evaluation
import Favorites
import Fleet
import Foundation
import Import
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox
import Schedule
import Settings
import Storage
import Synchronization

/// Simulates some days of a mirror on a network inside this process.
///
/// The simulated clock jumps from event to event.
struct Demo {
    /// The beginning of the sample's first day: Monday, 1 June 2026, in Tokyo.
    private static let sampleOrigin = Date(timeIntervalSince1970: 1_780_239_600)
    private static let sampleZone = TimeZone(identifier: "Asia/Tokyo") ?? .gmt
    /// The most people from an archive who live in the sandbox, which is the simulated network.
    private static let friendsAtMost = 8
    private static let mirror = "demo"
    /// The number of days after the demo for which people continue to post on the network of a kept
    /// mirror.
    private static let daysToTry = 7
    /// The least number of posts that are still to come on the day on which a person tries a kept
    /// mirror: enough for the tour.
    private static let slotsToTry = 5

    /// The network of the human and the bot.
    let network: NetworkName
    /// The downloaded archive to learn from; nil for the sample.
    let from: String?
    let days: Int
    let seed: UInt64
    /// The human's time zone; `nil` for the archive's zone, or the sample's.
    let zone: TimeZone?
    /// The folder to create for the mirror if it is kept; its days then end at the present.
    ///
    /// Nil to keep nothing.
    let keep: String?
    /// The page that shows the demo and stays open afterwards; nil for none.
    let page: DemoPage?
    /// The clock of a kept mirror after the demo.
    let clock: any WallClock
    /// Prints a message for the waiting person.
    let say: @Sendable (String) -> Void
    /// Receives the progress of reading.
    let report: @Sendable (TrainingProgress) -> Void
    /// Called several times a second with the simulated time and the numbers so far; nil if nobody
    /// watches.
    let watch: (@Sendable (LocalTime, DemoLine.Counts) -> Void)?

    /// Runs the demo to its end; one with a page until it is cancelled.
    ///
    /// - Parameter show: Gets the results, while the network still exists.
    /// - Throws: The error of `show`; ``CommandError`` for an unusable archive or folder.
    func run(_ show: @escaping @Sendable (DemoResult) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let removalOnSignal = Task { await folder.removeOnSignal() }
        defer {
            removalOnSignal.cancel()
            folder.remove()
        }
        let temporaryHome = folder.path + (network == .usual ? "" : "/\(network.rawValue)")
        let home = try keep.map(Self.createdFolder) ?? temporaryHome
        // A folder without settings is useless, and would block the next attempt.
        var isKept = keep == nil
        // A folder that cannot be removed stays; the first error is reported.
        defer { if !isKept { try? FileManager.default.removeItem(atPath: home) } }
        say("learning posting times and texts from \(from ?? "the sample archive") …")
        let sample = try from == nil ? sample(in: folder.path) : nil
        let past = try await learnPosts(
            sample, home: network == .usual ? home : folder.path, on: .usual)
        if network != .usual {
            // The sandbox's world is made from a past with the names of its own server. The mirror
            // learns the same past with the names of its network.
            _ = try await learnPosts(sample, home: home, on: network)
        }
        let clock = VirtualClock(startingAt: past.origin, rate: page == nil ? 1 : DemoPage.rate)
        let time = Mutex<any WallClock>(clock)
        let sandbox = try await Sandbox.start(
            world: past.world(
                seed: seed, days: keep == nil ? days : days + Self.daysToTry, network: network),
            now: { time.withLock { $0.now } })
        try await afterwards(sandbox.stop) {
            if let page { return try await live(past, sandbox, clock, home: home, on: page, show) }
            let result = try await live(past, sandbox, clock, home: home)
            time.withLock { $0 = self.clock }
            if keep != nil {
                try writeSettings(
                    variables(home: home, zone: past.zone.zone, sandbox: sandbox), in: home)
                isKept = true
            }
            try await show(result)
        }
    }

    // MARK: Keeping

    /// Creates the folder of a kept mirror and returns its path.
    private static func createdFolder(_ name: String) throws -> String {
        let path = URL(fileURLWithPath: Console.current.path(name)).path
        guard mkdir(path, 0o700) == 0 else {
            let cause =
                errno == EEXIST
                ? "it is there already; name a new one" : "\(FileFault(errno, at: path))"
            throw CommandError(
                .usage, "could not make the folder \(Printable.line(name)): \(cause)")
        }
        return path
    }

    /// Writes the settings by which commands in the folder find the mirror and its network.
    private func writeSettings(_ variables: [String: String], in folder: String) throws {
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        try OutputFile(folder + "/.env", isForced: false).write(lines.joined())
    }

    // MARK: Learning

    /// Archives the human's past, which needs no network.
    private func learnPosts(_ sample: String?, home: String, on network: NetworkName) async throws
        -> DemoPast
    {
        let initialZone = zone ?? (from == nil ? Self.sampleZone : .current)
        let configuration = try configuration(home: home, zone: initialZone)
        return try await HumanMirror.open(configuration).closing { mirror in
            let isSample = sample != nil
            let adopt: @Sendable (Post) -> Post = { post in
                SandboxIdentity.carried(isSample ? post : DemoPast.adopt(post), to: network)
            }
            let trainer = SchedulerTrainer(mirror: mirror, zone: initialZone, report: report)
            let summary = try await trainer.train(
                fromArchive: sample ?? from ?? "", localHost: SamplePeople.host, adopt: adopt)
            let zone = try await settledZone(named: summary.suggestedTimeZone, mirror.archive)
            return try await DemoPast(
                archive: mirror.archive, posts: summary.learned, zone: zone, isSample: isSample,
                origin: origin(in: zone.zone), friendsAtMost: Self.friendsAtMost)
        }
    }

    /// Returns the given zone, or else the archive's, or else an assumed one.
    private func settledZone(named name: String?, _ archive: Archive) async throws -> DemoZone {
        if let statedZone = zone ?? name.flatMap(TimeZone.init(identifier:)) {
            return DemoZone(zone: statedZone)
        }
        return from == nil ? DemoZone(zone: Self.sampleZone) : try await .assumed(from: archive)
    }

    /// Returns the first instant of the demo; nil if it begins on the day after the archive's last
    /// post.
    ///
    /// A kept demo must end at the present time of the person who tries it.
    private func origin(in zone: TimeZone) -> Date? {
        guard keep != nil else { return from == nil ? Self.sampleOrigin : nil }
        let firstDay = LocalTime(clock.now, in: zone).day.advanced(by: 1 - days)
        return LocalDayMinutes(firstDay, in: zone).start
    }

    /// Writes the sample archive into a file and returns its path.
    private func sample(in folder: String) throws -> String {
        let path = folder + "/sample.jsonl"
        let zone = zone ?? Self.sampleZone
        let end = origin(in: zone) ?? Self.sampleOrigin
        let archive = SampleArchive(endingAt: end, offset: zone.offset(at: end))
        try OutputFile(path, isForced: false).write(archive.postLines)
        return path
    }

    /// Learns the human's favorites: with the sample from the human's account, else from the
    /// download.
    ///
    /// The likes of a download are learned in contrast to the posts on the bot's home timeline. If
    /// a download has no likes, nothing is learned, and the bot gives no favorites.
    private func learnFavorites(_ mirror: HumanMirror) async throws -> (
        favorites: Int, normals: Int
    ) {
        say("learning favorites from \(from ?? "the human's account") …")
        let reader = try await mirror.requiredNetwork(of: from == nil ? .human : .bot)
        let ownID = try await reader.verifyAccount().id
        let favorites = try mirror.favorites()
        // The cost of the training is reported together with that of the days.
        let trainer = ClassifierTrainer(
            mirror: mirror, favorites: favorites,
            report: { if $0.announcement == nil { report($0) } })
        if let from {
            do {
                _ = try await trainer.train(
                    fromArchive: from, localHost: nil, limit: ClassifierTrainer.seedSize)
            } catch let error as ImportError where error.code == .nothingToRead {}
        }
        _ = try await trainer.train(from: reader, own: [ownID], limit: ClassifierTrainer.seedSize)
        let trained = try await favorites.status()
        return (Int(trained.favorites), Int(trained.normals))
    }

    // MARK: Living

    /// Learns the favorites, simulates the days and reads the results.
    private func live(
        _ past: DemoPast, _ sandbox: Sandbox, _ clock: VirtualClock, home: String
    ) async throws -> DemoResult {
        let configuration = try configuration(home: home, zone: past.zone.zone, sandbox: sandbox)
        return try await HumanMirror.open(configuration, clock: clock).closing { mirror in
            let learned = try await learnFavorites(mirror)
            if keep != nil { try await planDay(at: self.clock.now, mirror, past.zone.zone) }
            let bookedCosts = try await mirror.spending.booked()
            say(announcement)
            let worker = Worker(mirror: mirror, cadence: cadence)
            let watchTask = watchTask(sandbox, clock, past.zone.zone)
            let outcome: Result<Void, any Error>
            let end = keep == nil ? sandbox.world.end : self.clock.now
            do { outcome = .success(try await worker.run(until: end)) } catch {
                outcome = .failure(error)
            }
            watchTask.cancel()
            await watchTask.value
            try outcome.get()
            return try await DemoResult(
                past: past, from: from, days: days, sandbox: sandbox, mirror: mirror,
                learned: learned, bookedBefore: bookedCosts)
        }
    }

    /// Learns the favorites, simulates the days at the pace of the page, shows the results, and
    /// continues in real time.
    ///
    /// - Throws: `CommandError` if the page's address is unusable; `CancellationError`.
    private func live(
        _ past: DemoPast, _ sandbox: Sandbox, _ clock: VirtualClock, home: String,
        on page: DemoPage,
        _ show: @escaping @Sendable (DemoResult) async throws -> Void
    ) async throws {
        let origin = past.origin
        let end = DemoPage.arrival(from: origin, until: sandbox.world.end)
        let configuration = try configuration(home: home, zone: past.zone.zone, sandbox: sandbox)
        try await HumanMirror.open(configuration, clock: clock).closing { mirror in
            let learned = try await learnFavorites(mirror)
            try await measure(mirror, past.zone.zone)
            let bookedCosts = try await mirror.spending.booked()
            let moment = { @Sendable [days] in
                DemoPage.moment(of: clock.now, from: origin, days: days, arrival: end)
            }
            try await page.serve(mirror.installation, moment: moment) {
                say(announcement)
                let watchTask = watchTask(sandbox, clock, past.zone.zone)
                defer { watchTask.cancel() }
                // This task joins the clock before the worker does, so that the clock never
                // continues without this task.
                let clockTurn = clock.join()
                defer { clock.leave() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await page.pace(clock, from: origin, until: end, turn: clockTurn) {
                            watchTask.cancel()
                            await watchTask.value
                            let result = try await DemoResult(
                                past: past, from: from, days: days, sandbox: sandbox,
                                mirror: mirror,
                                learned: learned, bookedBefore: bookedCosts)
                            try await show(result)
                        }
                    }
                    group.addTask {
                        try await Worker(mirror: mirror, cadence: cadence).run(until: end)
                        // After the fast part, people may wait for the results of their operations
                        // on the page, so the worker polls at its normal intervals.
                        try await Worker(mirror: mirror).run()
                    }
                    defer { group.cancelAll() }
                    _ = try await group.next()
                }
            }
        }
    }

    /// Measures the quality of the learned favorites, for the page.
    private func measure(_ mirror: HumanMirror, _ zone: TimeZone) async throws {
        let now = mirror.clock.now
        let report = try await ScoreReporter(mirror: mirror, zone: zone).report(now: now)
        if let scores = report.classifier.scores {
            try await mirror.keep(ClassifierMeasure(scores, at: now))
        }
        if let choices = report.replies.scores?.choices { try await mirror.keep(choices) }
    }

    private var announcement: String { "living through \(days) \(days == 1 ? "day" : "days") …" }

    /// Fixes a plan for the day on which a person tries the mirror, with some posts after `now`.
    private func planDay(at now: Date, _ mirror: HumanMirror, _ zone: TimeZone) async throws {
        let planner = mirror.planMaker(zone: zone, store: mirror.outbox(lease: nil))
        try await planner.make(
            LocalTime(now, in: zone).day, atLeast: Self.slotsToTry, after: now + 60,
            now: mirror.clock.now)
    }

    /// Returns a task that reports the simulated time and the numbers to `watch` until it is
    /// cancelled.
    private func watchTask(_ sandbox: Sandbox, _ clock: VirtualClock, _ zone: TimeZone) -> Task<
        Void, Never
    > {
        Task {
            guard let watch else { return }
            while !Task.isCancelled {
                let received = await sandbox.ledger.summary
                watch(
                    LocalTime(clock.now, in: zone),
                    .init(
                        posts: received.posted, replies: received.replies,
                        favorites: received.favorites))
                // Only cancellation ends the sleep.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// The intervals of polls, which are longer than a real worker's: nobody waits for the results,
    /// and each poll makes the demo slower.
    private var cadence: Cadence {
        var cadence = Cadence(poll: .seconds(60), human: network, bot: network)
        cadence.mentions = max(cadence.mentions, .seconds(300))
        cadence.botHome = max(cadence.botHome, .seconds(600))
        cadence.humanHome = max(cadence.humanHome, .seconds(600))
        cadence.humanPosts = max(cadence.humanPosts, .seconds(3_600))
        cadence.humanFavorites = max(cadence.humanFavorites, .seconds(1_800))
        // Due actions wake the publisher; otherwise it only has to notice the next day.
        cadence.publisher = .seconds(900)
        return cadence
    }

    private func configuration(home: String, zone: TimeZone, sandbox: Sandbox? = nil) throws
        -> MirrorConfiguration
    {
        let variables = variables(home: home, zone: zone, sandbox: sandbox)
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: variables))
        return try MirrorConfiguration(values, environment: [:])
    }

    /// Settings for the sandbox, without the person's own accounts.
    ///
    /// With a downloaded archive the human has no account in the sandbox: only the bot has.
    private func variables(home: String, zone: TimeZone, sandbox: Sandbox?) -> [String: String] {
        var variables = [
            Setting.mirror.name: Self.mirror, Setting.home.name: home,
            Setting.timeZone.name: zone.identifier,
        ]
        if let dictionary = Console.current.environment[Setting.dictionary.name] {
            variables[Setting.dictionary.name] = dictionary
        }
        if let sandbox {
            variables[Setting.humanNetwork.name] = network.rawValue
            // Posts of an archive are taken to exist: no request leaves this machine, and with an
            // archive there is no account to check them with.
            variables[Setting.trustArchive.name] = "yes"
            variables[Setting.humanConsent.name] = HumanConsent.Ground.oneself.rawValue
            for role in SandboxRole.allCases where role == .bot || from == nil {
                variables.merge(sandbox.settings(of: role, on: network)) { _, new in new }
            }
        }
        return variables
    }
}
