import Commit
import Control
import Foundation
import Mirroring
import Settings
import Web

/// The web page of a demo, whose days pass at a pace that a person can follow.
struct DemoPage: Sendable {
    /// The real seconds of a simulated day.
    static let daySeconds = 20
    /// The seconds of the demo's clock in a real second.
    static let rate = 86_400 / Double(daySeconds)
    /// The real seconds for which the clock is paused at first, while the worker begins.
    private static let initialPause = 1.0
    /// Seconds of the demo's clock between two real waits in the fast part.
    private static let fastStep: TimeInterval = 120
    /// Seconds of the demo's clock between two real waits after the fast part.
    private static let laterStep: TimeInterval = 1

    let listening: WebSettings.Listening
    /// Starts a stopwatch, and returns a function that waits until the stopwatch shows `seconds`.
    let timer: @Sendable () -> @Sendable (_ seconds: Double) async throws -> Void
    /// Called with the address once it can be opened.
    let opened: @Sendable (_ address: String) -> Void

    /// The stopwatch for real use, which measures real time.
    static let realTime: @Sendable () -> @Sendable (Double) async throws -> Void = {
        let start = ContinuousClock.now
        return { try await ContinuousClock().sleep(until: start + .seconds($0)) }
    }

    /// The seconds between the end of the fast part and the end of the last day: in the evening
    /// most of the day is over, and some posts are still to come.
    private static let evening: TimeInterval = 6 * 3_600

    /// Returns the time at which a demo from `origin` to `end` continues in real time.
    static func arrival(from origin: Date, until end: Date) -> Date { max(origin, end - evening) }

    /// The progress of a demo when its clock shows `now`.
    static func moment(of now: Date, from origin: Date, days: Int, arrival: Date) -> DemoMoment {
        let day = Int(now.timeIntervalSince(origin) / 86_400) + 1
        return now >= arrival ? .over(days: days) : .living(day: day, of: days, seconds: daySeconds)
    }

    /// Serves the page, and runs `work` once it is open, until one of them ends.
    ///
    /// - Throws: `CommandError` if the address cannot be bound; what `work` throws.
    func serve(
        _ installation: Installation, moment: @escaping @Sendable () -> DemoMoment,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        var settings = installation.process.web
        settings.listening = listening
        let (ports, portContinuation) = AsyncStream.makeStream(of: Int.self)
        let server = try WebServer(
            installation, settings, isReadOnly: false,
            build: MetricsReport.Build(version: Version.current, commit: SourceCommit.name),
            demo: moment
        ) { portContinuation.yield($0) }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { portContinuation.finish() }
                    try await server.run()
                }
                for await port in ports {
                    opened("http://\(listening.at(port))/")
                    group.addTask(operation: work)
                    break
                }
                defer { group.cancelAll() }
                _ = try await group.next()
            }
        } catch let error as WebServer.Unavailable {
            throw CommandError(
                .unavailable,
                "could not listen on \(error.address): \(error.cause); name another port with --listen, or any free "
                    + "one with --listen 127.0.0.1:0")
        }
    }

    /// Advances a clock from `origin` to `end` by ``rate`` and then in real time, until it is
    /// cancelled.
    ///
    /// The caller is a participant of the clock like the worker, so the clock stands still while
    /// the caller waits in real time.
    ///
    /// - Parameters:
    ///   - turn: The caller's turn. The caller has joined the clock before all others, so that it
    ///     is the first to continue at the end.
    ///   - atEnd: A function that is called at the end, while the clock stands still.
    /// - Throws: `CancellationError`; what `atEnd` throws.
    func pace(
        _ clock: VirtualClock, from origin: Date, until end: Date, turn: Int,
        atEnd: () async throws -> Void
    ) async throws {
        let waitUntilElapsed = timer()
        try await waitUntilElapsed(Self.initialPause)
        // The time to which the clock advances next.
        var clockTime = origin
        while clockTime < end {
            clockTime = min(clockTime + Self.fastStep, end)
            try await waitUntilElapsed(
                Self.initialPause + clockTime.timeIntervalSince(origin) / Self.rate)
            try await clock.sleep(until: clockTime, turn: turn)
        }
        try await atEnd()
        let elapsedAtEnd = Self.initialPause + end.timeIntervalSince(origin) / Self.rate
        while true {
            clockTime += Self.laterStep
            try await waitUntilElapsed(elapsedAtEnd + clockTime.timeIntervalSince(end))
            try await clock.sleep(until: clockTime, turn: turn)
        }
    }
}
