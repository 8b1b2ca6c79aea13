import Foundation

/// A failure of the system to create or write a file, with its remedy.
///
/// All code that writes files reports failures with this type: the database, its copies and its
/// key, the files that a command makes, and standard output.
package struct FileFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The number of the error, as `ENOSPC`.
    package let code: Int32
    private let path: String?

    /// - Parameters:
    ///   - code: `errno` of the failed call.
    ///   - path: The file or folder; nil for an open file with an unknown name.
    package init(_ code: Int32, at path: String?) {
        self.code = code
        self.path = path
    }

    /// Whether the disk, or the user's share of it, is full.
    package var isLackOfRoom: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    /// Whether this user lacks the permission.
    package var isRefusal: Bool { [EACCES, EPERM, EROFS].contains(code) }

    /// The cause and the remedy, to follow a colon.
    package var description: String {
        let folder = (path.map { $0 as NSString })?.deletingLastPathComponent
        let place = folder?.isEmpty == false ? folder ?? "." : "."
        return switch code {
        case ENOSPC: "the disk is full; make room on \(path == nil ? "it" : "the disk of \(place)")"
        case EDQUOT: "this user's quota on the disk is used up; make room"
        case EFBIG:
            "the file would be larger than this process may write; raise the limit, which ulimit -f shows"
        case EROFS: "the disk is read-only; mount it for writing, or name a place on another disk"
        case EACCES, EPERM:
            "permission denied; \(Self.user) may not write in \(existingFolder(above: place)): give it the folder with chown or chmod, "
                + "or name another place"
        case ENOENT: "the folder \(place) does not exist; make it with mkdir -p \(place)"
        case ENOTDIR: "a part of the path is a file and no folder; name another place"
        case EISDIR: "it is a folder; name a file in it"
        case ENAMETOOLONG: "the name is too long; choose a shorter one"
        case ELOOP: "its links lead in a circle; name the place itself"
        case EMFILE, ENFILE: "too many files are open; raise the limit, which ulimit -n shows"
        case EIO: "the disk did not take it (input/output error); check the disk"
        default: String(cString: strerror(code)).lowercased()
        }
    }

    private static var user: String { "user \(geteuid())" }

    /// Returns a folder if it exists, and else the closest existing folder above it.
    private func existingFolder(above path: String) -> String {
        var folder = path
        while !folder.isEmpty, folder != "/", folder != ".", access(folder, F_OK) != 0,
            errno == ENOENT
        {
            folder = (folder as NSString).deletingLastPathComponent
        }
        return folder.isEmpty ? "." : folder
    }
}

extension FileFault {
    /// Makes a folder and the missing folders above it, with mode 0700.
    ///
    /// - Throws: ``FileFault`` for the first folder that cannot be made.
    package static func makeFolder(_ path: String) throws(FileFault) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let parent = (path as NSString).deletingLastPathComponent
        guard errno == ENOENT, !parent.isEmpty, parent != path else {
            throw FileFault(errno, at: path)
        }
        try makeFolder(parent)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFault(errno, at: path) }
    }

    /// Writes all bytes to an open file.
    static func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, at path: String)
        throws(FileFault)
    {
        var unwritten = bytes
        while !unwritten.isEmpty {
            let count = unwritten.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // On a full disk, a write may also return 0 without an error.
            guard count > 0 else { throw FileFault(count < 0 ? errno : ENOSPC, at: path) }
            unwritten = unwritten.dropFirst(count)
        }
    }

    /// Writes all bytes to an open file and syncs them to disk.
    ///
    /// - Parameter path: The file, for the error.
    /// - Throws: ``FileFault``.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, at path: String)
        throws(FileFault)
    {
        try writeAll(bytes[...], to: descriptor, at: path)
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw FileFault(errno, at: path)
        }
    }
}
