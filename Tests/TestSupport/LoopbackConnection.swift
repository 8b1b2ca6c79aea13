import Foundation

extension LoopbackServer {
    /// One accepted connection.
    package final class Connection: @unchecked Sendable {
        // Unchecked because `isClosed` is only touched while `lock` is held and `unread` by the
        // connection's thread.
        package let number: Int
        private let descriptor: Int32
        private let lock = NSLock()
        private var isClosed = false
        private var unread: [UInt8] = []

        init(descriptor: Int32, number: Int) {
            self.descriptor = descriptor
            self.number = number
            var enabled: Int32 = 1
            setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled,
                socklen_t(MemoryLayout<Int32>.size))
        }

        deinit { close() }

        private var isOpen: Bool { lock.withLock { !isClosed } }

        /// Writes bytes as they are.
        package func send(_ bytes: [UInt8]) throws {
            guard isOpen else { throw TestSupportError("the connection is closed") }
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    Glibc.send(
                        descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw TestSupportError("the client is gone") }
                sent += count
            }
        }

        /// Writes text as it is.
        package func send(_ text: String) throws { try send(Array(text.utf8)) }

        /// Writes a whole response with a Content-Length.
        package func respond(status: Int, headers: [(String, String)] = [], body: [UInt8] = [])
            throws
        {
            let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
            try send(
                Array(
                    "HTTP/1.1 \(status) Status\r\n\(lines)Content-Length: \(body.count)\r\n\r\n"
                        .utf8) + body)
        }

        /// Carries out one step of a script.
        package func perform(_ step: Step) throws {
            switch step {
            case .awaitRequest: _ = try readRequest()
            case .awaitText(let text): try awaitText(Array(text.utf8))
            case .send(let bytes): try send(bytes)
            case .drip(let bytes, let pause): try drip(bytes, every: pause)
            case .flood(let bytes): while true { try send(bytes) }
            case .hang: waitForClose()
            case .close: close()
            case .reset: reset()
            }
        }

        /// Reads until the client closes its side.
        package func waitForClose() {
            while !read().isEmpty {}
        }

        /// Closes both directions in order.
        package func close() {
            lock.withLock {
                guard !isClosed else { return }
                isClosed = true
                Glibc.close(descriptor)
            }
        }

        /// Closes so that the client sees a connection reset.
        package func reset() {
            guard isOpen else { return }
            // Closing with a linger time of zero drops the connection instead of finishing it.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            close()
        }

        /// Ends a read or write under way on the connection's thread.
        func interrupt() {
            lock.withLock {
                if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
        }

        private func drip(_ bytes: [UInt8], every pause: Duration) throws {
            let milliseconds =
                Int32(clamping: pause.components.seconds * 1_000)
                + Int32(pause.components.attoseconds / 1_000_000_000_000_000)
            while true {
                for byte in bytes {
                    try send([byte])
                    // Waiting for input doubles as the pause, and ends early when the client
                    // closes.
                    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    if poll(&watched, 1, milliseconds) > 0, read().isEmpty { return }
                }
            }
        }

        /// Whatever has arrived; empty when either side has closed.
        private func read() -> [UInt8] {
            // The descriptor of a closed connection may already belong to another one.
            guard isOpen else { return [] }
            return [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
            }
        }

        private func awaitText(_ text: [UInt8]) throws {
            while true {
                if let range = unread.firstRange(of: text) {
                    unread.removeSubrange(..<range.upperBound)
                    return
                }
                let bytes = read()
                guard !bytes.isEmpty else { throw TestSupportError("the client is gone") }
                unread += bytes
            }
        }

        /// The next request with its body; nil when the client is gone.
        func readRequest() throws -> Request? {
            let end: [UInt8] = Array("\r\n\r\n".utf8)
            while unread.firstRange(of: end) == nil {
                let bytes = read()
                guard !bytes.isEmpty else { return nil }
                unread += bytes
            }
            guard let head = unread.firstRange(of: end) else { return nil }
            let lines = String(decoding: unread[..<head.lowerBound], as: UTF8.self).components(
                separatedBy: "\r\n")
            let words = lines[0].components(separatedBy: " ")
            guard words.count == 3 else { throw TestSupportError("the request line is malformed") }
            let headers = try lines.dropFirst().map { line in
                guard let colon = line.firstIndex(of: ":") else {
                    throw TestSupportError("a header line is malformed")
                }
                return (
                    name: String(line[..<colon]),
                    value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                )
            }
            let length =
                headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
                ?? 0
            while unread.count - head.upperBound < length {
                let bytes = read()
                guard !bytes.isEmpty else { return nil }
                unread += bytes
            }
            let body = Array(unread[head.upperBound..<(head.upperBound + length)])
            unread.removeSubrange(..<(head.upperBound + length))
            return Request(
                method: words[0], target: words[1], headers: headers, body: body, connection: number
            )
        }
    }
}
