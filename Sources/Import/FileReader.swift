import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads a file, a pipe or standard input from the start to the end.
final class FileReader {
    /// What stands at a path.
    enum Kind { case file(size: Int), folder, stream }

    let path: String
    private let descriptor: Int32
    private let isOwner: Bool

    /// Opens a path; `-` is standard input.
    ///
    /// - Throws: ``ImportError`` `.notFound` or `.unreadable`.
    init(path: String) throws {
        self.path = path
        isOwner = path != "-"
        descriptor = isOwner ? open(path, O_RDONLY | O_CLOEXEC) : 0
        guard descriptor >= 0 else { throw Self.error(path, number: errno) }
    }

    deinit { if isOwner { close(descriptor) } }

    /// What stands at `path`, links followed.
    static func kind(of path: String) throws -> Kind {
        guard path != "-" else { return .stream }
        var information = stat()
        guard stat(path, &information) == 0 else { throw error(path, number: errno) }
        switch information.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file(size: Int(information.st_size))
        default: return .stream
        }
    }

    /// The first bytes of a regular file.
    static func head(of path: String, count: Int) throws -> [UInt8] {
        let reader = try FileReader(path: path)
        var head: [UInt8] = []
        try reader.forEachChunk { chunk in
            head.append(contentsOf: chunk.prefix(count - head.count))
            return head.count < count
        }
        return head
    }

    /// Hands over the bytes in order until the end or until `body` returns false.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.readRetrying(descriptor, $0) }
            guard count >= 0 else { throw Self.error(path, number: errno) }
            guard count > 0 else { return }
            let goesOn = try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            guard goesOn else { return }
        }
    }

    private static func readRetrying(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private static func error(_ path: String, number: Int32) -> ImportError {
        number == ENOENT || number == ENOTDIR
            ? ImportError(.notFound, path: path, "there is no such file or folder")
            : ImportError(.unreadable, path: path, String(cString: strerror(number)).lowercased())
    }
}
