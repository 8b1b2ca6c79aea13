import CHiredis

/// Turns the bytes a server sends into replies; the owner of one hiredis reader.
///
/// hiredis reads the protocol and calls back for every value; the values are built here, as Swift's own, so that
/// neither the depth of hiredis' recursion nor the layout of its reply structure matters.
final class ReplyReader {
    /// Redis itself nests a handful of levels; more is a broken or hostile server.
    static let maximumDepth = 16

    private let reader: UnsafeMutablePointer<redisReader>

    /// hiredis keeps the address of the table, so there is one for the life of the process.
    private nonisolated(unsafe) static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
        let table = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        var functions = redisReplyObjectFunctions()
        functions.createString = { task, bytes, count in
            ReplyNode.add(.text(type: task?.pointee.type, UnsafeRawBufferPointer(start: bytes, count: count)), task)
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

    /// - Throws: ``RedisError`` when memory ran out.
    init() throws(RedisError) {
        guard let reader = redisReaderCreateWithFunctions(Self.functions) else {
            throw RedisError(.unavailable, message: "hiredis gave no reader; the process is short of memory")
        }
        self.reader = reader
    }

    deinit { redisReaderFree(reader) }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
        guard redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK
        else { throw violation("hiredis could not keep what arrived") }
    }

    /// The next whole reply; nil until more bytes arrive.
    ///
    /// - Throws: ``RedisError`` with code `.protocolViolation`; the reader is of no use after it.
    func next() throws(RedisError) -> RedisReply? {
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw violation("the answer is not Redis'") }
        guard let object else { return nil }
        // For a type that has no callback hiredis 1.x hands out the type's number in place of an object.
        guard UInt(bitPattern: object) > 4_096 else { throw violation("the answer has a type that was not asked for") }
        let node = Unmanaged<ReplyNode>.fromOpaque(object).takeRetainedValue()
        guard let reply = node.finish() else { throw violation("the answer has a type that was not asked for") }
        return reply
    }

    private func violation(_ message: String) -> RedisError {
        RedisError(.protocolViolation, mayHaveRun: true, message: message)
    }
}
