package import Control
import Foundation
import Localization
package import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings
import Storage

/// Does the work for mirrors, and sends notices to their operator meanwhile.
///
/// The notifier runs in a task of its own, which the work never waits for; it reads the state of
/// the work from a `WorkerPulse` of each mirror.
package struct Herald: Sendable {
    /// Seconds between two checks while the process holds mirrors.
    private static let usualInterval: TimeInterval = 60
    /// Seconds between two checks while the process holds no mirror.
    private static let idleInterval: TimeInterval = 5

    private let notifier: Notifier
    private let clock: any WallClock

    /// - Parameter installation: The database and settings of the mirrors.
    /// - Returns: Nil if neither notices nor a heartbeat are set, and no browser can add a device.
    package init?(_ installation: Installation, clock: any WallClock) {
        guard let notifier = Notifier(installation, clock: clock) else { return nil }
        self.notifier = notifier
        self.clock = clock
    }

    /// Runs `body`, checks the mirrors every minute meanwhile, and notifies if it ends with an
    /// error that needs a person.
    ///
    /// A check that is running when `body` ends is completed first. A graceful shutdown cancels it.
    ///
    /// - Parameters:
    ///   - watch: Returns the mirrors that the process works for now.
    ///   - mirror: The mirror to name in the final notice; nil for the first of the mirrors that
    ///     the process then holds.
    ///   - body: Does the work.
    package func accompany(
        _ watch: @escaping @Sendable () -> Notifier.Watch, endsFor mirror: String? = nil,
        _ body: () async throws -> Void
    ) async throws {
        defer { notifier.shutdown() }
        let temporaryError: (any Error)? = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await checkRepeatedly(watch) }
            defer { group.cancelAll() }
            do {
                try await body()
                return nil
            } catch {
                group.cancelAll()
                guard let (cause, detail) = Self.endNotice(for: error),
                    let mirror = mirror ?? watch().pulses.keys.min()
                else { return error }
                // If only the human's account is refused, other work can continue, so no final
                // notice is sent.
                if cause == .refused, await notifier.isHumanRefusedAlone(of: mirror) {
                    return error
                }
                await notifier.tellEnd(cause, detail, of: mirror)
                throw error
            }
        }
        // After a single pass, as for cron, the mirrors are checked once more; not after a
        // shutdown, because the process has released them.
        if !Task.isShuttingDownGracefully, !Task.isCancelled { await notifier.look(at: watch()) }
        if let temporaryError { throw temporaryError }
    }

    private func checkRepeatedly(_ watch: @Sendable () -> Notifier.Watch) async {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let currentWatch = watch()
            await checkCompletely(at: currentWatch)
            let interval = currentWatch.pulses.isEmpty ? Self.idleInterval : Self.usualInterval
            // A shutdown ends the wait.
            try? await cancelWhenGracefulShutdown {
                try await clock.sleep(until: clock.now + interval)
            }
        }
    }

    /// Checks the mirrors, even if the calling task is cancelled meanwhile.
    ///
    /// A request that is cut off may have arrived, and the next process would send the notice
    /// again.
    private func checkCompletely(at watch: Notifier.Watch) async {
        let check = Task { await notifier.look(at: watch) }
        await withGracefulShutdownHandler {
            await check.value
        } onGracefulShutdown: {
            check.cancel()
        }
    }

    /// Returns the cause and the detail of the notice for an error that ends the work; `nil` if a
    /// retry may fix it.
    ///
    /// If such an error lasts, the faults that the next pass records report it.
    private static func endNotice(for error: any Error) -> (cause: NoticeCause, detail: String?)? {
        switch error {
        case let error as NetworkError where error.code == .configuration:
            (cause: .stopped, detail: localized("a setting is wrong or missing"))
        case let error as NetworkError where error.stopsActor: (cause: .refused, detail: nil)
        case is ConfigurationError:
            (cause: .stopped, detail: localized("a setting is wrong or missing"))
        case is StorageError where Retry.isInVain(error): (cause: .database, detail: nil)
        // After an upgrade, the worker of the newer program sends the notices.
        case let error as OutboxError where error.code == .outdated: nil
        case _ where Retry.isInVain(error):
            (cause: .stopped, detail: localized("what it needs is not there"))
        default: nil
        }
    }
}
