import Foundation
import NIOCore

/// The open connections of a listener, each with the task that serves it.
final class SandboxConnections: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private struct Connection {
        var channel: any Channel
        var task: Task<Void, Never>

        /// Closes the channel, with which the task ends.
        ///
        /// To cancel the task would close one side of the channel, which NIO cannot do before it has quite begun.
        func end() { channel.close(promise: nil) }
    }

    private let lock = NSLock()
    private var open: [ObjectIdentifier: Connection] = [:]
    private var isClosed = false

    /// Serves a connection; after ``close()`` only to its immediate end.
    func serve(_ channel: any Channel, work: @escaping @Sendable () async -> Void) {
        let id = ObjectIdentifier(channel)
        lock.withLock {
            // The task cannot end before it is noted: to be forgotten it needs the lock.
            let task = Task {
                await work()
                forget(id)
            }
            let connection = Connection(channel: channel, task: task)
            open[id] = connection
            if isClosed { connection.end() }
        }
    }

    /// Ends all connections, now and from now on.
    func end() { closed().forEach { $0.end() } }

    /// Ends all connections and waits until none is served any longer.
    func close() async {
        end()
        for connection in closed() { await connection.task.value }
    }

    /// What is open while nothing new is served any longer.
    private func closed() -> [Connection] {
        lock.withLock {
            isClosed = true
            return Array(open.values)
        }
    }

    private func forget(_ id: ObjectIdentifier) {
        lock.withLock { open[id] = nil }
    }
}
