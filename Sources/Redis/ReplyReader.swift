import CHiredis

/// Parses a server's bytes into replies; the owner of one hiredis reader.
///
/// hiredis parses the protocol and calls back for every value; the values are built here as Swift
/// values, so that neither hiredis' recursion depth nor its reply structure matters.
final class ReplyReader {
    /// The maximum nesting of arrays: Redis nests few levels, and a reply with more comes from a
    /// broken or hostile server.
    static let maximumDepth = 16

    private let reader: UnsafeMutablePointer<redisReader>

    /// hiredis keeps the address of the table, so it lives as long as the process.
    private nonisolated(unsafe) static let functions:
        UnsafeMutablePointer<redisReplyObjectFunctions> = {
            let table = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
            var functions = redisReplyObjectFunctions()
            functions.createString = { task, bytes, count in
                ReplyNode.add(
                    .text(
                        type: task?.pointee.type, UnsafeRawBufferPointer(start: bytes, count: count)
                    ), task)
            }
            functions.createArray = { task, count in ReplyNode.addArray(count: Int(count), task) }
            functions.createInteger = { task, value in ReplyNode.add(.integer(value), task) }
            functions.createNil = { task in ReplyNode.add(.null, task) }
            functions.freeObject = { object in
                if let object { Unmanaged<ReplyNode>.fromOpaque(object).release() }
            }
            table.initialize(to: functions)
            return table
        }()

    /// - Throws: ``RedisError`` if there is no memory left.
    init() throws(RedisError) {
        guard let reader = redisReaderCreateWithFunctions(Self.functions) else {
            throw RedisError(
                .unavailable, message: "hiredis gave no reader; the process is short of memory")
        }
        self.reader = reader
    }

    deinit { redisReaderFree(reader) }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
        guard
            redisReaderFeed(
                reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
                == REDIS_OK
        else { throw violation("hiredis could not keep what arrived") }
    }

    /// The next whole reply; nil until more bytes arrive.
    ///
    /// - Throws: ``RedisError`` with code `.protocolViolation`; then the reader is unusable.
    func next() throws(RedisError) -> RedisReply? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else {
            throw violation("the answer is not Redis'")
        }
        guard let object else { return nil }
        // For a type without a callback hiredis 1.x returns the type's number instead of an object.
        guard UInt(bitPattern: object) > 4_096 else {
            throw violation("the answer has a type that was not asked for")
        }
        let node = Unmanaged<ReplyNode>.fromOpaque(object).takeRetainedValue()
        guard let reply = node.finish() else {
            throw violation("the answer has a type that was not asked for")
        }
        return reply
    }

    private func violation(_ message: String) -> RedisError {
        RedisError(.protocolViolation, mayHaveRun: true, message: message)
    }
}

/// A reply being built: a value, or an array whose elements are still arriving.
///
/// hiredis retains the outermost node; an array retains its elements.
private final class ReplyNode {
    private let value: RedisReply?
    private let expectedCount: Int
    private let depth: Int
    private var elements: [RedisReply] = []
    /// The elements that are arrays and still being read, with their indices.
    private var arrays: [(index: Int, node: ReplyNode)] = []

    /// The limit of reserved elements, because a server may announce more than it sends.
    private static let maximumReserved = 4_096

    private init(value: RedisReply) {
        self.value = value
        expectedCount = 0
        depth = 0
    }

    private init(expectedCount: Int, depth: Int) {
        value = nil
        self.expectedCount = expectedCount
        self.depth = depth
        elements.reserveCapacity(min(max(0, expectedCount), Self.maximumReserved))
    }

    /// Adds a value and returns the pointer that hiredis keeps for it.
    static func add(_ reply: RedisReply, _ task: UnsafePointer<redisReadTask>?)
        -> UnsafeMutableRawPointer?
    {
        guard let parent = parent(of: task) else {
            return Unmanaged.passRetained(ReplyNode(value: reply)).toOpaque()
        }
        parent.elements.append(reply)
        // hiredis does not use the pointer of an element that is not an array, but it must not be
        // null.
        return Unmanaged.passUnretained(parent).toOpaque()
    }

    /// Begins an array; returns null, which stops hiredis, if the nesting is too deep.
    static func addArray(count: Int, _ task: UnsafePointer<redisReadTask>?)
        -> UnsafeMutableRawPointer?
    {
        guard let parent = parent(of: task) else {
            return Unmanaged.passRetained(ReplyNode(expectedCount: count, depth: 1)).toOpaque()
        }
        guard parent.depth < ReplyReader.maximumDepth else { return nil }
        let node = ReplyNode(expectedCount: count, depth: parent.depth + 1)
        parent.arrays.append((parent.elements.count, node))
        parent.elements.append(.null)
        return Unmanaged.passUnretained(node).toOpaque()
    }

    private static func parent(of task: UnsafePointer<redisReadTask>?) -> ReplyNode? {
        guard let object = task?.pointee.parent?.pointee.obj else { return nil }
        return Unmanaged<ReplyNode>.fromOpaque(object).takeUnretainedValue()
    }

    /// Returns the finished reply, after which the node is unusable; nil if elements are missing.
    func finish() -> RedisReply? {
        if let value { return value }
        guard elements.count == expectedCount else { return nil }
        for (index, node) in arrays {
            guard let reply = node.finish() else { return nil }
            elements[index] = reply
        }
        return .array(elements)
    }
}

extension RedisReply {
    /// The reply for a text from hiredis.
    fileprivate static func text(type: Int32?, _ bytes: UnsafeRawBufferPointer) -> RedisReply {
        switch type {
        case REDIS_REPLY_STATUS: .status(String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(String(decoding: bytes, as: UTF8.self))
        default: .bulk(bytes.count == 1 ? oneByte[Int(bytes[0])] : Array(bytes))
        }
    }

    /// All one-byte texts: small counts are frequent, so equal ones share their memory.
    private static let oneByte: [[UInt8]] = (UInt8.min...UInt8.max).map { [$0] }
}
