import Foundation
import Posts
import TestSupport

/// An instant that one process sets and another reads, in a file of eight bytes.
///
/// The kernel's page is the only copy, so what was set is what is read, and neither side waits for
/// the other.
final class SharedInstant: Sendable {
    private let descriptor: Int32

    /// - Parameter path: The file; made if it does not exist.
    /// - Throws: ``TestSupportError`` if it cannot be opened.
    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw TestSupportError("could not open \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// To the millisecond; 1970 as long as nobody has set it.
    var now: Date {
        var milliseconds: Int64 = 0
        _ = pread(descriptor, &milliseconds, MemoryLayout<Int64>.size, 0)
        return Date(milliseconds: milliseconds)
    }

    func set(_ date: Date) {
        var milliseconds = date.milliseconds
        _ = pwrite(descriptor, &milliseconds, MemoryLayout<Int64>.size, 0)
    }
}
