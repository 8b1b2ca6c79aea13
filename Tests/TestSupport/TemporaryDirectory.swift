package import Foundation

/// A private folder that is removed when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without a trailing slash.
    package let path: String

    /// Where folders are made: in ``memory``, else in the system's temporary folder.
    package static let usual = memory ?? NSTemporaryDirectory()

    /// Where folders with sockets are made, whose paths have a hundred bytes at most, and which
    /// other users enter.
    static let short = memory ?? "/tmp"

    /// A folder in memory, for on a disk each commit of each test waits until the disk has written.
    ///
    /// Nil where there is not plenty, or where `TMPDIR` names another place.
    private static let memory: String? = {
        let path = "/dev/shm"
        var state = statvfs()
        guard ProcessInfo.processInfo.environment["TMPDIR"] == nil, statvfs(path, &state) == 0,
            access(path, W_OK) == 0, UInt64(state.f_bavail) * UInt64(state.f_frsize) >= plenty
        else { return nil }
        return path
    }()
    /// The bytes that all tests together leave some room in.
    private static let plenty: UInt64 = 8 << 30

    /// Makes an empty folder that only the current user may enter.
    ///
    /// - Parameter base: The folder to make it in; nil is ``usual``.
    /// - Throws: ``TestSupportError`` if the folder cannot be made.
    package init(in base: String? = nil) throws {
        let parent = base ?? Self.usual
        var template = Array((parent.hasSuffix("/") ? parent : parent + "/").utf8CString.dropLast())
        template += "mirror-bot.XXXXXX".utf8CString
        guard mkdtemp(&template) != nil else {
            throw TestSupportError(
                "could not make a folder in \(parent): \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of an entry in the folder, which need not exist.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Copies every file of the folder into another one.
    ///
    /// - Throws: What went wrong, as when the other one has such a file.
    package func copyFiles(into other: TemporaryDirectory) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path(name), toPath: other.path(name))
        }
    }

    /// Writes a file into the folder and returns its path.
    @discardableResult
    package func write(_ contents: Data, to name: String) throws -> String {
        let file = path(name)
        try contents.write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// What went wrong around a test, in words for the person who runs it.
package struct TestSupportError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
