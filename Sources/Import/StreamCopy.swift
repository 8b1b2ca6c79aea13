import Foundation
import Localization

/// A temporary copy of standard input or a pipe, in an unnamed file that lives as long as this
/// value.
///
/// A zip's list of files is at its end, and other archives are read more than once, which is
/// impossible with a stream. Only this user can read the file, and the system removes it when the
/// process ends.
final class StreamCopy {
    /// A path under which the file can be opened while this value lives.
    let path: String
    let size: Int
    private let descriptor: Int32
    /// The name of the file, on systems that cannot open an unnamed file.
    private let name: String?

    /// Reads the rest of a stream.
    ///
    /// - Parameters:
    ///   - stream: The stream, which is read from its position to its end.
    ///   - head: The first bytes of the stream, which were read before.
    ///   - bytes: The maximum number of bytes that are copied.
    /// - Throws: ``ImportError`` `.bomb` for a longer stream, `.unreadable` if the disk is full.
    init(of stream: FileReader, after head: [UInt8], atMost bytes: Int) throws {
        let folder = NSTemporaryDirectory()
        func failure(_ cause: String) -> ImportError {
            ImportError(
                .unreadable, path: stream.path,
                localized(
                    """
                    it cannot be kept in \(folder) while it is read: \(cause); set TMPDIR to a folder with more room, or name the \
                    file instead
                    """))
        }
        var template = Array((folder + "/mirror-bot-stream.XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno)).lowercased()) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        let name = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        #if os(Linux)
            unlink(name)
            let copyPath: String = "/proc/self/fd/\(descriptor)"
            let linkedName: String? = nil
        #else
            let copyPath: String = name
            let linkedName: String? = name
        #endif
        path = copyPath
        self.name = linkedName
        var size = 0
        func copy(_ chunk: UnsafeRawBufferPointer) throws -> Bool {
            size += chunk.count
            guard size <= bytes else {
                throw ImportError(
                    .bomb, path: stream.path,
                    localized("it holds more than \(bytes >> 20) MiB to read"))
            }
            var remaining = chunk[...]
            while !remaining.isEmpty {
                let count = write(
                    descriptor, UnsafeRawBufferPointer(rebasing: remaining).baseAddress,
                    remaining.count)
                guard count > 0 else {
                    if count < 0, errno == EINTR { continue }
                    throw failure(
                        count < 0
                            ? String(cString: strerror(errno)).lowercased()
                            : localized("the disk is full"))
                }
                remaining = remaining.dropFirst(count)
            }
            return true
        }
        do {
            try stream.forEachChunk(after: head, copy)
        } catch {
            close(descriptor)
            if let linkedName { unlink(linkedName) }
            throw error
        }
        self.size = size
    }

    deinit {
        close(descriptor)
        if let name { unlink(name) }
    }
}
