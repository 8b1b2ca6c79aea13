import Foundation
import Logging
import ServiceLifecycle

/// Ends the process when a shutdown takes longer than was promised.
///
/// Whatever does not answer, such as a database behind a dead connection, could keep a worker from
/// ending for longer than a platform waits before it kills. Nothing is lost then: what was not put
/// away is found by the next worker.
struct ShutdownWatchdog: Service {
    /// How long a shutdown may take, in seconds of the real clock.
    static let patience: TimeInterval = 9.5

    func run() async throws {
        // Throws when the group is cancelled without a shutdown; the other services then end it.
        guard (try? await gracefulShutdown()) != nil else { return }
        // A thread of its own, for the others may all be waiting.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: Self.patience)
            Logger(label: "mirror-bot").warning(
                "Stopped before everything was put away; another worker goes on after half a minute"
            )
            Failure.leave(0)
        }
    }
}
