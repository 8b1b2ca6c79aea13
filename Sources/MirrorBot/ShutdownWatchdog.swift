import Foundation
import Logging
import ServiceLifecycle

/// Ends the process if a shutdown takes too long.
///
/// An unresponsive resource, such as a database behind a dead connection, could delay the end of a
/// worker until the platform kills it. Nothing is lost by this: the next worker finds the
/// unfinished work.
struct ShutdownWatchdog: Service {
    /// The time limit of a shutdown, in seconds of the real clock.
    static let timeLimit: TimeInterval = 9.5

    func run() async throws {
        // Throws if the group is cancelled without a shutdown; then the other services end it.
        guard (try? await gracefulShutdown()) != nil else { return }
        // The watchdog has a thread of its own, because all others may be blocked.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: Self.timeLimit)
            Logger(label: "mirror-bot").warning(
                "Stopped before everything was put away; another worker goes on after half a minute"
            )
            Failure.endProcess(0)
        }
    }
}
