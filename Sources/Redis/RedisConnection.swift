import Transport

/// One connection, ready for commands.
///
/// Belongs to one thread. After any thrown error the connection is out of step with the server and must be dropped.
final class RedisConnection {
    /// What is offered to the connection at a time.
    private static let sendChunk = 64 << 10
    /// Small, because hiredis moves the rest of its buffer down every kilobyte that it has read.
    private static let receiveChunk = 16 << 10

    /// The certificate the server showed.
    let peerCertificate: String?
    private let stream: ByteStream
    private let reader: ReplyReader
    private let maximumReplyBytes: Int
    private var buffer = [UInt8](repeating: 0, count: receiveChunk)

    init(
        _ configuration: RedisConfiguration, deadline: ContinuousClock.Instant, interruption: Interruption
    ) throws {
        reader = try ReplyReader()
        stream = try ByteStream(to: configuration.endpoint, deadline: deadline, interruption: interruption)
        peerCertificate = stream.peerCertificate
        maximumReplyBytes = configuration.maximumReplyBytes
    }

    /// False when the server has closed the connection, or has sent something nobody asked for.
    func isIdle() -> Bool {
        do {
            return try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) } == nil
        } catch {
            return false
        }
    }

    /// Sends encoded commands and returns their replies.
    ///
    /// Sending and receiving take turns: a server that must first get rid of replies reads no further commands, so a
    /// long pipeline written in one go would stop both sides for good.
    func exchange(
        _ commands: [UInt8], count: Int, deadline: ContinuousClock.Instant, interruption: Interruption
    ) throws -> [RedisReply] {
        var replies: [RedisReply] = []
        replies.reserveCapacity(count)
        var received = 0
        var sent = 0
        while replies.count < count {
            let sentNow = try commands.withUnsafeBytes { bytes in
                try stream.sendSome(UnsafeRawBufferPointer(rebasing: bytes[sent...].prefix(Self.sendChunk)))
            }
            sent += sentNow
            let receivedNow = try receive(into: &replies)
            received += receivedNow
            guard received <= maximumReplyBytes else {
                throw RedisError(.protocolViolation, mayHaveRun: true, message: "the answer is too large")
            }
            if sentNow == 0, receivedNow == 0, replies.count < count {
                try stream.wait(toSend: sent < commands.count, until: deadline, interruption: interruption)
            }
        }
        guard replies.count == count, sent == commands.count else {
            throw RedisError(.protocolViolation, mayHaveRun: true, message: "the server answered what was not asked")
        }
        return replies
    }

    /// Takes in what has arrived, at most one buffer; returns how many bytes that was.
    private func receive(into replies: inout [RedisReply]) throws -> Int {
        let received = try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) }
        guard let received else { return 0 }
        guard received > 0 else {
            throw RedisError(.unavailable, mayHaveRun: true, message: "the server closed the connection")
        }
        try buffer.withUnsafeBytes { try reader.feed(UnsafeRawBufferPointer(rebasing: $0.prefix(received))) }
        while let reply = try reader.next() { replies.append(reply) }
        return received
    }
}
