import Foundation

/// A file without a name that holds the bytes of one input, for parsers that read files.
final class ScratchFile {
    /// A path by which the file can be opened, once or several times.
    let path: String
    private let handle: FileHandle

    /// - Throws: ``FuzzFinding`` if the disk refuses.
    init(_ bytes: [UInt8]) throws {
        var template = Array((NSTemporaryDirectory() + "/fuzz.XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw FuzzFinding("could not make a file: \(String(cString: strerror(errno)))")
        }
        unlink(template)
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        path = "/dev/fd/\(descriptor)"
        try handle.write(contentsOf: Data(bytes))
        try handle.seek(toOffset: 0)
    }
}

/// Waits for work that only exists as an async function; never on a thread of Swift's own pool.
func waiting<Value: Sendable>(for work: @escaping @Sendable () async throws -> Value) throws
    -> Value
{
    let outcome = Outcome<Value>()
    Task.detached { outcome.set(await Result(catching: work)) }
    return try outcome.wait().get()
}

/// The result of a task, for a thread that waits for it.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
    // Sendable: the result is only touched while the condition is locked.
    private let condition = NSCondition()
    private var result: Result<Value, any Error>?

    func set(_ result: Result<Value, any Error>) {
        condition.withLock {
            self.result = result
            condition.signal()
        }
    }

    func wait() -> Result<Value, any Error> {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return result }
            condition.wait()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
