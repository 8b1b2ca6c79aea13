import Foundation
import Logging

/// Counts what a worker warns of, and tells when it has started.
final class SoakLog: LogHandler, @unchecked Sendable {
    // Sendable because everything that changes is only touched under `lock`.
    private let lock = NSLock()
    private var counted: [String: Int] = [:]
    private var hasStarted = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    var logLevel: Logger.Level {
        get { .info }
        set {}
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    /// How often each warning and error came, by its message.
    var counts: [String: Int] { lock.withLock { counted } }

    func log(event: LogEvent) {
        let message = "\(event.message)"
        let released = lock.withLock { () -> [CheckedContinuation<Void, Never>] in
            if event.level >= .warning { counted[message, default: 0] += 1 }
            guard message == "Worker started" else { return [] }
            hasStarted = true
            defer { waiting = [] }
            return waiting
        }
        released.forEach { $0.resume() }
    }

    /// Returns once the worker's loops are about to begin.
    func workerHasStarted() async {
        await withCheckedContinuation { continuation in
            let isThere = lock.withLock {
                if !hasStarted { waiting.append(continuation) }
                return hasStarted
            }
            if isThere { continuation.resume() }
        }
    }
}
