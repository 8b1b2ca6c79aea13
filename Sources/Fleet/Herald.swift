import Foundation
package import Mirroring
import Networks
import ServiceLifecycle
import Storage

/// Accompanies a worker and has a person told what they should know.
///
/// A task of its own that the worker never waits for; told by the worker only through a `WorkerPulse`.
package struct Herald: Sendable {
    /// Between two looks, in seconds; before the worker has begun it is looked at more often.
    private static let (usualInterval, firstInterval): (TimeInterval, TimeInterval) = (60, 5)

    private let notifier: Notifier
    private let clock: any WallClock
    private let pulse = WorkerPulse()

    /// - Parameter mirror: The mirror, open. Nil if nobody wants to be told anything.
    package init?(of mirror: HumanMirror) {
        guard let notifier = Notifier(of: mirror) else { return nil }
        self.notifier = notifier
        clock = mirror.clock
    }

    /// Runs `body` and looks at the mirror again and again meanwhile; tells why it ended, if a person has to mend that.
    ///
    /// - Parameter body: Runs a worker, which is to keep the pulse.
    /// - Throws: What `body` throws.
    package func accompany(_ body: (WorkerPulse) async throws -> Void) async throws {
        defer { notifier.shutdown() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await lookAgainAndAgain() }
            do {
                try await body(pulse)
                group.cancelAll()
            } catch {
                group.cancelAll()
                if let (cause, detail) = Self.ending(with: error) { await notifier.tellEnd(cause, detail) }
                throw error
            }
        }
        // One pass, as for cron, has just ended. Who has given the mirror back looks no more.
        if !Task.isShuttingDownGracefully, !Task.isCancelled { await notifier.look(pulse) }
    }

    private func lookAgainAndAgain() async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            await cancelWhenGracefulShutdown { await notifier.look(pulse) }
            let interval = pulse.holdsMirror ? Self.usualInterval : Self.firstInterval
            try? await cancelWhenGracefulShutdown { try await clock.sleep(until: clock.now + interval) }
        }
    }

    /// What to tell of an error that ends a worker; nil if nobody has to do anything.
    private static func ending(with error: any Error) -> (NoticeCause, String?)? {
        switch error {
        case is CancellationError: nil
        case let error as NetworkError where error.stopsActor: (.refused, nil)
        case let error as StorageError: (error.code == .unavailable ? nil : (.database, nil))
        case is ConfigurationError: (.stopped, "a setting is wrong or missing")
        default: (.stopped, "what it needs is not there")
        }
    }
}
