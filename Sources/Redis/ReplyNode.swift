import CHiredis

/// A reply being built: a value, or an array whose elements are still arriving.
///
/// hiredis holds the outermost node by a reference of its own; an array holds its elements.
final class ReplyNode {
    private let value: RedisReply?
    private let expectedCount: Int
    private let depth: Int
    private var elements: [RedisReply] = []
    /// The arrays among the elements, which are still being read, and their places.
    private var arrays: [(place: Int, node: ReplyNode)] = []

    /// A server may announce more elements than it sends.
    private static let reserved = 4_096

    private init(value: RedisReply) {
        self.value = value
        expectedCount = 0
        depth = 0
    }

    private init(expectedCount: Int, depth: Int) {
        value = nil
        self.expectedCount = expectedCount
        self.depth = depth
        elements.reserveCapacity(min(max(0, expectedCount), Self.reserved))
    }

    /// Takes in a value and returns what hiredis is to hold for it.
    static func add(_ reply: RedisReply, _ task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer? {
        guard let parent = parent(of: task) else { return Unmanaged.passRetained(ReplyNode(value: reply)).toOpaque() }
        parent.elements.append(reply)
        // Never looked at for an element that is not an array, except that it must not be null.
        return Unmanaged.passUnretained(parent).toOpaque()
    }

    /// Begins an array; null, which stops hiredis, when it is too deep.
    static func addArray(count: Int, _ task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer? {
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

    /// Takes the finished reply, after which the node is of no use; nil when elements are missing.
    func finish() -> RedisReply? {
        if let value { return value }
        guard elements.count == expectedCount else { return nil }
        for (place, node) in arrays {
            guard let reply = node.finish() else { return nil }
            elements[place] = reply
        }
        return .array(elements)
    }
}

extension RedisReply {
    /// The reply for a text that hiredis read.
    static func text(type: Int32?, _ bytes: UnsafeRawBufferPointer) -> RedisReply {
        switch type {
        case REDIS_REPLY_STATUS: .status(String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(String(decoding: bytes, as: UTF8.self))
        default: .bulk(bytes.count == 1 ? oneByte[Int(bytes[0])] : Array(bytes))
        }
    }

    /// Small counts come by the thousand; they share their memory.
    private static let oneByte: [[UInt8]] = (UInt8.min...UInt8.max).map { [$0] }
}
