import Control
import Foundation
package import Mirroring
import Networks
import ServiceLifecycle
import Settings
import Storage

/// Runs a worker and notifies its operator meanwhile.
///
/// The notifier runs in a task of its own, which the worker never waits for; it reads the worker's state from a
/// `WorkerPulse`.
package struct Herald: Sendable {
    /// Seconds between two looks, while the worker holds the mirror and before that.
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

    /// Runs `body`, looks at the mirror every minute meanwhile, and notifies if it ends with an error that only a person
    /// can mend.
    ///
    /// A look that is under way when `body` ends is finished first. A graceful shutdown cancels it.
    ///
    /// - Parameter body: Runs a worker, which updates the pulse.
    package func accompany(_ body: (WorkerPulse) async throws -> Void) async throws {
        defer { notifier.shutdown() }
        let passing: (any Error)? = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await lookAgainAndAgain() }
            defer { group.cancelAll() }
            do {
                try await body(pulse)
                return nil
            } catch {
                group.cancelAll()
                guard let (cause, detail) = Self.ending(with: error) else { return error }
                if cause == .refused, await notifier.isHumanRefusedAlone { return error }
                await notifier.tellEnd(cause, detail)
                throw error
            }
        }
        // One pass, as for cron, has just ended. Who has given the mirror back looks no more.
        if !Task.isShuttingDownGracefully, !Task.isCancelled { await notifier.look(pulse) }
        if let passing { throw passing }
    }

    private func lookAgainAndAgain() async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            await lookToTheEnd()
            let interval = pulse.holdsMirror ? Self.usualInterval : Self.firstInterval
            try? await cancelWhenGracefulShutdown { try await clock.sleep(until: clock.now + interval) }
        }
    }

    /// Looks at the mirror, also if the calling task is cancelled meanwhile.
    ///
    /// A request that is cut off may have arrived: the notice would be sent again by the next process.
    private func lookToTheEnd() async {
        let look = Task { await notifier.look(pulse) }
        await withGracefulShutdownHandler {
            await look.value
        } onGracefulShutdown: {
            look.cancel()
        }
    }

    /// What to tell of an error that ends a worker; nil if nobody has to do anything, for it may pass by itself.
    ///
    /// What does not, though it might have, is told of by the notes of the next pass.
    private static func ending(with error: any Error) -> (NoticeCause, String?)? {
        switch error {
        case let error as NetworkError where error.code == .configuration: (.stopped, "a setting is wrong or missing")
        case let error as NetworkError where error.stopsActor: (.refused, nil)
        case is ConfigurationError: (.stopped, "a setting is wrong or missing")
        case is StorageError where Retry.isInVain(error): (.database, nil)
        case _ where Retry.isInVain(error): (.stopped, "what it needs is not there")
        default: nil
        }
    }
}
