import Foundation
import Logging
import ServiceLifecycle

/// The service manager that started this process; notified over the socket that it provided:
/// sd_notify(3).
///
/// systemd treats a unit of `Type=notify` as started when it receives the message of readiness. It
/// restarts a unit with `WatchdogSec=` that stops sending keepalives.
package final class ServiceManager: Sendable {
    // Sendable because `passes` is only touched under `lock`.
    /// A message to the service manager.
    package enum Word: String {
        case ready = "READY=1"
        case alive = "WATCHDOG=1"
        case stopping = "STOPPING=1"
    }

    /// The manager's timeout for keepalives; nil if it expects none.
    let keepaliveTimeout: Duration?
    private let address: sockaddr_un
    private let addressLength: socklen_t
    private let lock = NSLock()
    /// When each running pass began.
    private nonisolated(unsafe) var passes: [String: ContinuousClock.Instant] = [:]

    /// - Parameter environment: The process environment. The result is nil unless its
    ///   `NOTIFY_SOCKET` is a path, or an abstract name after `@`. Keepalives are sent if
    ///   `WATCHDOG_USEC` is set, and `WATCHDOG_PID` is this process or missing.
    package init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], let first = name.utf8.first,
            name.utf8.count > 1
        else {
            return nil
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a NUL and, unlike a path, does not end with one.
        let bytes =
            first == UInt8(ascii: "@") ? [0] + name.utf8.dropFirst() : Array(name.utf8) + [0]
        guard first == UInt8(ascii: "@") || first == UInt8(ascii: "/"),
            bytes.count <= MemoryLayout.size(ofValue: address.sun_path)
        else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        addressLength = socklen_t(prefix + bytes.count)
        let isForThisProcess =
            if let processID = environment["WATCHDOG_PID"] {
                processID == String(getpid())
            } else { true }
        if isForThisProcess, let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }),
            microseconds > 0
        {
            keepaliveTimeout = .microseconds(microseconds)
        } else {
            keepaliveTimeout = nil
        }
    }

    /// Sends a message, without waiting.
    ///
    /// - Returns: Whether the message was sent.
    @discardableResult package func tell(_ word: Word) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let text = Array(word.rawValue.utf8)
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                sendto(descriptor, text, text.count, 0, raw, addressLength) == text.count
            }
        }
    }

    /// Records that a pass begins: if it takes longer than the manager's timeout, the keepalives
    /// stop.
    func passBegins(_ name: String) { lock.withLock { passes[name] = .now } }

    /// Records that a pass has ended, with or without an error.
    func passEnds(_ name: String) { lock.withLock { passes[name] = nil } }

    /// Sends a keepalive, unless a pass has been running for longer than the manager's timeout.
    func sendKeepalive(at now: ContinuousClock.Instant = .now) {
        guard let keepaliveTimeout else { return }
        let areAllInTime = lock.withLock {
            passes.values.allSatisfy { begin in now - begin <= keepaliveTimeout }
        }
        if areAllInTime { tell(.alive) }
    }
}

/// Sends keepalives until a graceful shutdown, which it announces.
extension ServiceManager: Service {
    package func run() async throws {
        // Only cancellation and a shutdown end the keepalives.
        try? await cancelWhenGracefulShutdown { try await self.sendKeepalives() }
        if Task.isShuttingDownGracefully { tell(.stopping) }
    }

    private func sendKeepalives() async throws {
        // No keepalives are expected: only wait for the shutdown.
        guard let keepaliveTimeout else { return try await gracefulShutdown() }
        while true {
            sendKeepalive()
            // Four in each timeout, because some may be lost or late on a busy machine.
            try await ContinuousClock().sleep(for: keepaliveTimeout / 4)
        }
    }
}
