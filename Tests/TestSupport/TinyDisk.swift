import Foundation

/// A file system of a few pages in memory, which is soon full.
///
/// Only where this process may mount one; what it shows must be shown
/// elsewhere too, by other means.
package final class TinyDisk: Sendable {
    /// Whether a disk can be had here.
    package static let isPossible = (try? TinyDisk(kilobytes: 16)) != nil

    private let folder: TemporaryDirectory

    /// - Parameter kilobytes: How much fits on it.
    /// - Throws: ``TestSupportError`` where it cannot be mounted.
    package init(kilobytes: Int) throws {
        folder = try TemporaryDirectory()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700") == 0 else {
            throw TestSupportError("could not mount a disk: \(String(cString: strerror(errno)))")
        }
    }

    // Still open files keep their contents until they are closed.
    deinit { umount2(folder.path, Int32(MNT_DETACH)) }

    /// The path of an entry, which need not exist.
    package func path(_ name: String) -> String { folder.path(name) }

    /// Fills what is left with a file; its removal makes the same room again.
    ///
    /// - Returns: The path of the file.
    package func fill() throws -> String {
        let path = path("ballast")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestSupportError("could not write to the disk") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(descriptor, page, page.count) > 0 {}
        return path
    }
}
