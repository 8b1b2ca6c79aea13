package import Control
import Foundation
package import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings
import Storage

/// Does the work for mirrors, and tells their operator meanwhile what they should know.
///
/// The notifier runs in a task of its own, which the work never waits for; it reads the state of
/// the work from a `WorkerPulse` of each mirror.
package struct Herald: Sendable {
    /// Seconds between two looks, while the process holds mirrors and before that.
    private static let usualInterval: TimeInterval = 60
    private static let firstInterval: TimeInterval = 5

    private let notifier: Notifier
    private let clock: any WallClock

    /// - Parameter installation: Where the mirrors are.
    /// - Returns: Nil if neither notices nor a heartbeat are set.
    package init?(_ installation: Installation, clock: any WallClock) {
        guard let notifier = Notifier(installation, clock: clock) else { return nil }
        self.notifier = notifier
        self.clock = clock
    }

    /// Runs `body`, looks at the mirrors every minute meanwhile, and notifies if it ends with an
    /// error that only a person can mend.
    ///
    /// A look that is under way when `body` ends is finished first. A graceful shutdown cancels it.
    ///
    /// - Parameters:
    ///   - watch: The mirrors that the process works for now.
    ///   - mirror: The mirror whose end is told of; nil for the first that the process holds then.
    ///   - body: Does the work.
    package func accompany(
        _ watch: @escaping @Sendable () -> Notifier.Watch, endsFor mirror: String? = nil,
        _ body: () async throws -> Void
    ) async throws {
        defer { notifier.shutdown() }
        let passing: (any Error)? = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await lookAgainAndAgain(watch) }
            defer { group.cancelAll() }
            do {
                try await body()
                return nil
            } catch {
                group.cancelAll()
                guard let (cause, detail) = Self.ending(with: error),
                    let mirror = mirror ?? watch().pulses.keys.min()
                else { return error }
                if cause == .refused, await notifier.isHumanRefusedAlone(of: mirror) {
                    return error
                }
                await notifier.tellEnd(cause, detail, of: mirror)
                throw error
            }
        }
        // One pass, as for cron, has just ended. Who has given the mirror back looks no more.
        if !Task.isShuttingDownGracefully, !Task.isCancelled { await notifier.look(at: watch()) }
        if let passing { throw passing }
    }

    private func lookAgainAndAgain(_ watch: @Sendable () -> Notifier.Watch) async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let seen = watch()
            await lookToTheEnd(at: seen)
            let interval = seen.pulses.isEmpty ? Self.firstInterval : Self.usualInterval
            // Who is told to end waits no longer.
            try? await cancelWhenGracefulShutdown {
                try await clock.sleep(until: clock.now + interval)
            }
        }
    }

    /// Looks at the mirrors, also if the calling task is cancelled meanwhile.
    ///
    /// A request that is cut off may have arrived: the notice would be sent again by the next
    /// process.
    private func lookToTheEnd(at watch: Notifier.Watch) async {
        let look = Task { await notifier.look(at: watch) }
        await withGracefulShutdownHandler {
            await look.value
        } onGracefulShutdown: {
            look.cancel()
        }
    }

    /// Returns the notice for an error that ends the work; `nil` if nobody has to do anything, for
    /// it may pass by itself.
    ///
    /// If it does not pass, the notes of the next pass report it.
    private static func ending(with error: any Error) -> (NoticeCause, String?)? {
        switch error {
        case let error as NetworkError where error.code == .configuration:
            (.stopped, "a setting is wrong or missing")
        case let error as NetworkError where error.stopsActor: (.refused, nil)
        case is ConfigurationError: (.stopped, "a setting is wrong or missing")
        case is StorageError where Retry.isInVain(error): (.database, nil)
        // An upgrade: the worker of the newer program tells what is to be told.
        case let error as OutboxError where error.code == .outdated: nil
        case _ where Retry.isInVain(error): (.stopped, "what it needs is not there")
        default: nil
        }
    }
}
