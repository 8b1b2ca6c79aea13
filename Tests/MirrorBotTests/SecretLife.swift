import Control
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// A mirror that has learned, on a network in which there is always something to do, by a clock on
/// which an hour takes twelve seconds.
///
/// Its worker is the program as it is built. All that it asks for goes through a tap, with which
/// things can go wrong.
final class SecretLife: Sendable {
    /// How many seconds pass in one.
    static let factor = 300.0

    let network: NetworkName
    let stage: SecretStage
    let sandbox: Sandbox
    let troubles = SecretTroubles()
    /// The network's clock, and the workers' until somebody sets it.
    let clock: AcceleratedClock
    /// The folder of the embedded database.
    let home: String
    private let tap: SecretTap
    private let started: Date
    private let variables: [String: String]

    /// - Parameters:
    ///   - network: Where both accounts are.
    ///   - stage: Where the mirror lives.
    ///   - name: Tells it from other mirrors of the stage.
    ///   - home: The folder of its embedded database; nil for one on the stage.
    ///   - stores: Other stores, and settings of its own.
    ///   - isDirect: Whether requests go past the tap, so that a server that is gone refuses
    ///     connections.
    /// - Throws: ``TestSupportError`` if something cannot be started.
    init(
        on network: NetworkName, in stage: SecretStage, named name: String = "life",
        home: String? = nil,
        stores: [String: String] = [:], isDirect: Bool = false
    ) async throws {
        let started = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let clock = AcceleratedClock(
            origin: SecretPast.origin, started: started, factor: Self.factor)
        let world = SandboxWorld(
            configuration: .busy(
                seed: 7, origin: SecretPast.origin, days: 2, timeZone: .gmt, network: network,
                people: SecretPast.people, mentionsPerDay: 1_000))
        let sandbox = try await Sandbox.start(
            world: world, rateLimits: .unlimited, now: { clock.now })
        // What was signed a few seconds ago is old on these clocks.
        sandbox.faults.x.timestampWindow = 3_600
        let tap = try SecretTap(stage.book, port: sandbox.port, troubles: troubles)
        let place = home ?? stage.stage.folder.path("\(name)-\(network.rawValue)")
        if stores["DATABASE_URL"] == nil {
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true)
            let learned = try await SecretPast.home(network)
            for file in try FileManager.default.contentsOfDirectory(atPath: learned) {
                try FileManager.default.copyItem(
                    atPath: "\(learned)/\(file)", toPath: "\(place)/\(file)")
            }
        } else {
            try await SecretPast.learn(network, in: stage.stage, stores)
        }
        let accounts = PlantedAccounts.variables(
            of: sandbox, on: network, in: stage.book, at: isDirect ? sandbox.url : tap.url)
        self.network = network
        self.stage = stage
        self.sandbox = sandbox
        self.clock = clock
        self.tap = tap
        self.home = place
        self.started = started
        variables = SecretPast.settings.merging(accounts) { $1 }.merging(stores) { $1 }
            .merging(["MIRROR_BOT_HOME": place, "LOG_FORMAT": "logfmt"]) { $1 }
    }

    /// The settings of a process.
    ///
    /// - Parameters:
    ///   - skew: By how many seconds its clock is ahead.
    ///   - fault: What it does to itself, as `REHEARSAL_FAULT` says it.
    ///   - clockFile: The file that sets its clock.
    ///   - leaseSeconds: After how long without a sign of life another worker takes its mirror.
    /// - Returns: All its variables but those of the stage.
    func settings(
        skew: TimeInterval = 0, fault: String? = nil, clockFile: String? = nil,
        leaseSeconds: Double = 1
    ) -> [String: String] {
        let rehearsal = Rehearsal.Settings(
            origin: SecretPast.origin + skew, started: started, factor: Self.factor,
            leaseSeconds: leaseSeconds, fault: fault, clockFile: clockFile)
        return variables.merging(rehearsal.variables) { $1 }
    }

    /// Starts a worker.
    func start(
        skew: TimeInterval = 0, fault: String? = nil, clockFile: String? = nil,
        leaseSeconds: Double = 1
    ) throws -> SecretWatch {
        let settings = settings(
            skew: skew, fault: fault, clockFile: clockFile, leaseSeconds: leaseSeconds)
        return SecretWatch(try stage.start(["run"], settings))
    }

    /// Starts a worker and waits until it has done something.
    func begin(clockFile: String? = nil) async throws -> SecretWatch {
        let watch = try start(clockFile: clockFile)
        try await watch.line("Worker started")
        try await hasDelivered(watch)
        return watch
    }

    /// Waits until something new is sent.
    func hasDelivered(_ watch: SecretWatch) async throws {
        watch.forget()
        try await watch.line("Action changed", "action.state=done")
    }

    /// Ends a worker and keeps what it wrote.
    func end(_ watch: SecretWatch, with signal: Int32 = SIGTERM, status: Int32 = 0) async {
        watch.program.send(signal)
        await ended(watch, status: status)
    }

    /// Waits for the end of a worker and keeps what it wrote.
    func ended(_ watch: SecretWatch, status: Int32) async {
        let ending = await watch.program.ending()
        stage.keep(ending, of: ["run"])
        #expect(ending.status == status, "\(ending.error.suffix(4_000))")
    }

    /// Asks everything that can be asked, and closes the network.
    func close() async throws {
        for words in [["status"], ["status", "--json"], ["plan"], ["suggestions"]] {
            try await stage.run(words, settings(), ends: 0)
        }
        await sandbox.stop()
    }
}
