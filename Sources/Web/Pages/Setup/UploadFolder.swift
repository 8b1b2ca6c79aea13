import Blocking
import Foundation
import Posts
import Settings
import Storage

/// Archives that browsers send in pieces, each in a folder of its own until it is read.
///
/// The pieces of a file arrive one after the other, and each states its offset. So an interrupted
/// upload continues where it ended, also after the page was reloaded or this process was restarted.
struct UploadFolder: Sendable {
    /// A file as a browser describes it.
    struct File: Equatable, Sendable {
        let mirror: String
        let name: String
        /// The size of the file, in bytes.
        let size: Int64
        /// The time of the file's last change, in milliseconds since 1970, which distinguishes it
        /// from another file with the same name.
        let modified: Int64

        /// Nil for a file without a name or bytes, and for one that is too large.
        init?(mirror: String, name: String?, size: String?, modified: String?) {
            guard let name, !name.isEmpty, let size = size.flatMap({ Int64($0) }),
                (1...UploadFolder.mostBytes).contains(size),
                let modified = modified.flatMap({ Int64($0) })
            else { return nil }
            self.mirror = mirror
            self.name = name
            self.size = size
            self.modified = modified
        }

        /// The name of the folder for this file.
        fileprivate var folder: String {
            StableHash.digest(of: "upload", mirror, name, "\(size)", "\(modified)").prefix(12)
                .hexadecimal
        }

        /// The name of the file on this machine: the end of its own name, in which every character
        /// but ASCII letters, digits, `-`, `_` and `.` is replaced by `_`.
        ///
        /// The extension is kept, because it decides how the file is read.
        fileprivate var storedName: String {
            let plain = name.suffix(80).map { character -> Character in
                character.isASCII
                    && (character.isLetter || character.isNumber || "-_.".contains(character))
                    ? character : "_"
            }
            return "archive-" + String(plain)
        }
    }

    /// The state of a file after a piece.
    enum Outcome: Equatable, Sendable {
        /// This number of bytes of the file was received.
        case partial(Int64)
        /// The whole file was received.
        case whole(path: String)
        /// The disk is full.
        case diskFull
    }

    /// The largest accepted file, in bytes.
    static let mostBytes: Int64 = 16 << 30
    /// The largest accepted piece, in bytes.
    static let mostOfPiece = 8 << 20
    /// The number of bytes of the disk that an upload leaves free.
    private static let reserve: Int64 = 256 << 20
    /// Seconds without a new piece after which an upload is removed.
    private static let leftoverAge: TimeInterval = 86_400

    private let path: String
    private let executor = ThreadExecutor(name: "web-uploads")

    /// - Parameter location: The database. The archives are kept beside its file; if the database
    ///   is on a server, they are temporary files of this process.
    init(_ location: StorageLocation) {
        switch location {
        case .sqlite(let path):
            self.path = (path as NSString).deletingLastPathComponent + "/uploads"
        case .postgres:
            // The name is random, so that nobody can have created such a folder before.
            let temporary = FileManager.default.temporaryDirectory.path
            self.path = "\(temporary)/mirror-bot-uploads-\(UUID().uuidString.lowercased())"
        }
    }

    /// Returns the number of received bytes of a file.
    func received(_ file: File) async throws -> Int64 {
        try await executor.run { [self] in size(of: filePath(of: file)) }
    }

    /// Adds a piece to a file, if it begins where the file ends.
    ///
    /// - Throws: A file error.
    func add(_ bytes: [UInt8], at offset: Int64, to file: File, now: Date) async throws -> Outcome {
        try await executor.run { [self] in
            let filePath = filePath(of: file)
            if offset == 0 {
                removeLeftovers(now)
                try FileManager.default.createDirectory(
                    atPath: folder(of: file), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            let received = size(of: filePath)
            guard offset == received, received + Int64(bytes.count) <= file.size else {
                return received == file.size ? .whole(path: filePath) : .partial(received)
            }
            guard freeBytes() > file.size - received + Self.reserve else { return .diskFull }
            let descriptor = open(filePath, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw FileFault(errno, at: filePath) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: bytes)
            try handle.close()
            let newSize = received + Int64(bytes.count)
            return newSize == file.size ? .whole(path: filePath) : .partial(newSize)
        }
    }

    /// Removes a file that was read.
    func remove(_ file: File) async {
        // If the file cannot be removed, a later upload removes it.
        try? await executor.run { [self] in
            try FileManager.default.removeItem(atPath: folder(of: file))
        }
    }

    private func folder(of file: File) -> String { "\(path)/\(file.folder)" }

    /// The path of a received file.
    func filePath(of file: File) -> String { "\(folder(of: file))/\(file.storedName)" }

    /// The bytes of a file; 0 for none.
    private func size(of path: String) -> Int64 {
        // A missing file has no attributes.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// The number of free bytes of the disk; if it is unknown, a number that is large enough.
    private func freeBytes() -> Int64 {
        // If the disk does not report its free space, an error of a write will show that it is
        // full.
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? .max
    }

    private func removeLeftovers(_ now: Date) {
        let files = FileManager.default
        // A folder that cannot be read has no files to remove.
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? [] {
            let leftoverPath = "\(path)/\(name)"
            // A file that cannot be examined or removed stays.
            guard let attributes = try? files.attributesOfItem(atPath: leftoverPath),
                let changed = attributes[.modificationDate] as? Date,
                changed < now - Self.leftoverAge
            else { continue }
            // A folder that cannot be removed stays.
            try? files.removeItem(atPath: leftoverPath)
        }
    }
}
