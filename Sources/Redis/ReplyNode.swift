import CHiredis

/// A reply being built: a value, or an array whose elements are still arriving.
///
/// hiredis holds the outermost node by a reference of its own; an array holds its elements.
final class ReplyNode {
    private enum Element {
        case value(RedisReply)
        case node(ReplyNode)
    }

    private let value: RedisReply?
    private let expectedCount: Int
    private let depth: Int
    private var elements: [Element] = []

    private init(value: RedisReply) {
        self.value = value
        expectedCount = 0
        depth = 0
    }

    private init(expectedCount: Int, depth: Int) {
        value = nil
        self.expectedCount = expectedCount
        self.depth = depth
    }

    /// Takes in a value and returns what hiredis is to hold for it.
    static func add(_ reply: RedisReply, _ task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer? {
        guard let parent = parent(of: task) else { return Unmanaged.passRetained(ReplyNode(value: reply)).toOpaque() }
        parent.elements.append(.value(reply))
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
        parent.elements.append(.node(node))
        return Unmanaged.passUnretained(node).toOpaque()
    }

    private static func parent(of task: UnsafePointer<redisReadTask>?) -> ReplyNode? {
        guard let object = task?.pointee.parent?.pointee.obj else { return nil }
        return Unmanaged<ReplyNode>.fromOpaque(object).takeUnretainedValue()
    }

    /// The finished reply; nil when elements are missing.
    func reply() -> RedisReply? {
        if let value { return value }
        guard elements.count == expectedCount else { return nil }
        var replies: [RedisReply] = []
        replies.reserveCapacity(elements.count)
        for element in elements {
            switch element {
            case .value(let reply): replies.append(reply)
            case .node(let node):
                guard let reply = node.reply() else { return nil }
                replies.append(reply)
            }
        }
        return .array(replies)
    }
}

extension RedisReply {
    /// The reply for a text that hiredis read.
    static func text(type: Int32?, _ bytes: UnsafeRawBufferPointer) -> RedisReply {
        switch type {
        case REDIS_REPLY_STATUS: .status(String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(String(decoding: bytes, as: UTF8.self))
        default: .bulk(Array(bytes))
        }
    }
}
