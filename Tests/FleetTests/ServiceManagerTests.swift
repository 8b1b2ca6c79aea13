import Expectations
import Fixtures
import Foundation
import Posts
import ServiceLifecycle
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring

/// What a service manager hears on a real socket.
@Suite(.timeLimit(.minutes(30))) struct ServiceManagerTests {
    private let folder: TemporaryDirectory
    private let listener: NotificationListener

    init() throws {
        folder = try TemporaryDirectory()
        listener = try NotificationListener(path: folder.path("notify"))
    }

    private func manager(_ environment: [String: String] = [:]) throws -> ServiceManager {
        try #require(
            ServiceManager(
                environment: ["NOTIFY_SOCKET": listener.path].merging(environment) { $1 }))
    }

    @Test(arguments: [.ready, .alive, .stopping] as [ServiceManager.Word])
    func hearsEachWord(_ word: ServiceManager.Word) async throws {
        #expect(try manager().tell(word))
        await expect(listener.next(), equals: word.rawValue)
    }

    @Test func anUnheardWordIsNoError() throws {
        let manager = try #require(
            ServiceManager(environment: ["NOTIFY_SOCKET": folder.path("nobody")]))
        #expect(!manager.tell(.ready))
    }

    @Test(arguments: [
        "", "/", "@", "notify", "vsock:2:1234", "/" + String(repeating: "n", count: 200),
    ])
    func whatIsNoAddressIsNobody(_ name: String) {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil)
        #expect(ServiceManager(environment: [:]) == nil)
    }

    /// An abstract name is in no folder; the zero in front of it is part of the address.
    @Test func findsAnAbstractName() async throws {
        let listener = try NotificationListener(path: "@mirror-bot-\(UUID().uuidString)")
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": listener.path]))
        #expect(manager.tell(.ready))
        await expect(listener.next(), equals: "READY=1")
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "60000000"], .seconds(60)),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"], nil),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "\(getpid())"], .seconds(60)),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "soon"], nil), ([:], nil),
        ] as [([String: String], Duration?)])
    func knowsHowLongItWaits(_ environment: [String: String], _ patience: Duration?) throws {
        try expect(manager(environment).keepaliveTimeout, equals: patience)
    }

    /// Says what the manager hears when a sign is due so many seconds after `begun`; nil for
    /// nothing.
    private func sign(
        of manager: ServiceManager, after seconds: Int, _ begun: ContinuousClock.Instant
    ) async -> String? {
        manager.sendKeepalive(at: begun + .seconds(seconds))
        manager.tell(.ready)
        guard let first = await listener.next(), first != "READY=1" else { return nil }
        _ = await listener.next()
        return first
    }

    @Test func aPassThatDoesNotEndIsNoLife() async throws {
        let manager = try manager(["WATCHDOG_USEC": "60000000"])
        let before = ContinuousClock.now
        manager.passBegins("mentions")
        // The pass began between the two, however far a busy machine drives them apart.
        let begun = ContinuousClock.now
        await expect(sign(of: manager, after: 59, before), equals: "WATCHDOG=1")
        await expect(sign(of: manager, after: 61, begun), equals: nil)
        // Another one's end does not excuse it.
        manager.passBegins("publisher")
        manager.passEnds("publisher")
        await expect(sign(of: manager, after: 61, begun), equals: nil)
        manager.passEnds("mentions")
        await expect(sign(of: manager, after: 3_600, before), equals: "WATCHDOG=1")
    }

    /// The pass of a worker runs under the watchdog until it ends, even with an error.
    @Test(.mirrors) func aFailedPassOfAWorkerHasEnded() async throws {
        struct Failure: Error {}
        let manager = try manager(["WATCHDOG_USEC": "60000000"])
        let paper = try await PaperMirror(bot: .mastodon)
        let worker = Worker(mirror: paper.mirror, manager: manager)
        let pass = Rounds.Pass(name: "mentions", lane: .bot) {
            manager.sendKeepalive(at: .now + .seconds(61))
            throw Failure()
        }
        let repeated = RepeatedPass(
            pass, of: worker, clock: paper.clock, logger: paper.mirror.logger)
        let next = try await repeated.run()
        #expect(next != nil)
        #expect(worker.pulse.faults.map(\.part) == ["mentions"])
        manager.tell(.ready)
        await expect(listener.next(), equals: "READY=1")
        await expect(sign(of: manager, after: 3_600, .now), equals: "WATCHDOG=1")
    }

    @Test func whoDoesNotWatchHearsNoSigns() async throws {
        await expect(sign(of: try manager(), after: 0, .now), equals: nil)
    }
}
