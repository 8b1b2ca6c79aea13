import Foundation

extension LoopbackServer {
    /// The listening socket, its thread, and what was seen so far.
    final class Listener: @unchecked Sendable {
        // Unchecked because the mutable properties are only touched while `condition` is locked.
        typealias Serve = @Sendable (Connection, (Request) -> Void) throws -> Void

        let port: Int
        private let descriptor: Int32
        private let condition = NSCondition()
        private var recorded: [Request] = []
        private var open: [Int: Connection] = [:]
        private var accepted = 0
        private var isStopped = false

        init() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw TestSupportError("could not make a socket") }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                    bind(descriptor, raw, length) == 0 && listen(descriptor, 256) == 0
                        && getsockname(descriptor, raw, &length) == 0
                }
            }
            guard isListening else {
                close(descriptor)
                throw TestSupportError("could not listen on 127.0.0.1")
            }
            self.descriptor = descriptor
            port = Int(UInt16(bigEndian: address.sin_port))
        }

        deinit { close(descriptor) }

        var requests: [Request] { condition.withLock { recorded } }

        var connectionCount: Int { condition.withLock { accepted } }

        func start(_ serve: @escaping Serve) {
            Thread.detachNewThread {
                while let connection = self.nextConnection() {
                    Thread.detachNewThread {
                        try? serve(connection) { self.record($0) }
                        self.forget(connection)
                    }
                }
            }
        }

        func stop() {
            let connections = condition.withLock {
                isStopped = true
                return Array(open.values)
            }
            // Shutting a listening socket down ends a blocked accept; the descriptor is closed when
            // nobody uses it.
            shutdown(descriptor, Int32(SHUT_RDWR))
            for connection in connections { connection.interrupt() }
        }

        func waitForRequests(_ count: Int) throws {
            let limit = Date(timeIntervalSinceNow: 120)
            try condition.withLock {
                while recorded.count < count {
                    guard condition.wait(until: limit) else {
                        throw TestSupportError("only \(recorded.count) requests arrived in time")
                    }
                }
            }
        }

        private func nextConnection() -> Connection? {
            let client = accept(descriptor, nil, nil)
            // Not for children, or a server started meanwhile would keep the connection open.
            if client >= 0 { _ = fcntl(client, F_SETFD, FD_CLOEXEC) }
            return condition.withLock {
                guard client >= 0 else { return nil }
                guard !isStopped else {
                    close(client)
                    return nil
                }
                let connection = Connection(descriptor: client, number: accepted)
                open[accepted] = connection
                accepted += 1
                return connection
            }
        }

        private func record(_ request: Request) {
            condition.withLock {
                recorded.append(request)
                condition.broadcast()
            }
        }

        private func forget(_ connection: Connection) {
            connection.close()
            condition.withLock { open[connection.number] = nil }
        }
    }
}
