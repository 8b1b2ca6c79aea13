import Blocking
import Foundation
import Posts
import Settings
import Storage

/// Archives that browsers send in pieces, each in a folder of its own until it is read.
///
/// The pieces of a file come one after the other, and each names where it begins, so that an upload
/// that broke goes on where it was, also after the page or this process was started again.
struct UploadFolder: Sendable {
    /// A file as a browser describes it.
    struct File: Equatable, Sendable {
        let mirror: String
        let name: String
        /// Bytes.
        let size: Int64
        /// When it was changed last, in milliseconds since 1970; tells it from another of the name.
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

        /// The name of its folder.
        fileprivate var folder: String {
            StableHash.digest(of: "upload", mirror, name, "\(size)", "\(modified)").prefix(12)
                .hexadecimal
        }

        /// Its name on this machine: its own, as far as a name of a file can be that; what is read
        /// depends on how it ends.
        fileprivate var place: String {
            let plain = name.suffix(80).map { sign -> Character in
                sign.isASCII && (sign.isLetter || sign.isNumber || "-_.".contains(sign))
                    ? sign : "_"
            }
            return "archive-" + String(plain)
        }
    }

    /// The state of a file after a piece.
    enum Outcome: Equatable, Sendable {
        /// So many bytes of the file are there.
        case partial(Int64)
        /// All of it is there.
        case whole(path: String)
        /// The disk is full.
        case full
    }

    /// Limit of the bytes of a file.
    static let mostBytes: Int64 = 16 << 30
    /// Limit of the bytes of a piece.
    static let mostOfPiece = 8 << 20
    /// Bytes of the disk that stay free.
    private static let reserve: Int64 = 256 << 20
    /// Seconds after which an upload that did not go on is removed.
    private static let patience: TimeInterval = 86_400

    private let path: String
    private let executor = ThreadExecutor(name: "web-uploads")

    /// - Parameter location: The database, beside whose file the archives are kept; with one on a
    ///   server they are temporary files of this process.
    init(_ location: StorageLocation) {
        switch location {
        case .sqlite(let path):
            self.path = (path as NSString).deletingLastPathComponent + "/uploads"
        case .postgres:
            // A name that nobody can have made before.
            let temporary = FileManager.default.temporaryDirectory.path
            self.path = "\(temporary)/mirror-bot-uploads-\(UUID().uuidString.lowercased())"
        }
    }

    /// How many bytes of a file are there.
    func received(_ file: File) async throws -> Int64 {
        try await executor.run { [self] in size(of: place(of: file)) }
    }

    /// Adds a piece to a file, if it begins where the file ends.
    ///
    /// - Throws: A file error.
    func add(_ bytes: [UInt8], at offset: Int64, to file: File, now: Date) async throws -> Outcome {
        try await executor.run { [self] in
            let place = place(of: file)
            if offset == 0 {
                removeLeftovers(now)
                try FileManager.default.createDirectory(
                    atPath: folder(of: file), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            let received = size(of: place)
            guard offset == received, received + Int64(bytes.count) <= file.size else {
                return received == file.size ? .whole(path: place) : .partial(received)
            }
            guard free() > file.size - received + Self.reserve else { return .full }
            let descriptor = open(place, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw FileFault(errno, at: place) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: bytes)
            try handle.close()
            let now = received + Int64(bytes.count)
            return now == file.size ? .whole(path: place) : .partial(now)
        }
    }

    /// Removes a file that was read.
    func remove(_ file: File) async {
        // A file that cannot be removed is left to the next upload.
        try? await executor.run { [self] in
            try FileManager.default.removeItem(atPath: folder(of: file))
        }
    }

    private func folder(of file: File) -> String { "\(path)/\(file.folder)" }

    private func place(of file: File) -> String { "\(folder(of: file))/\(file.place)" }

    /// The bytes of a file; 0 for none.
    private func size(of path: String) -> Int64 {
        // One that is not there has none.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// The free bytes of the disk; where nobody can tell, enough.
    private func free() -> Int64 {
        // A disk that tells nothing says itself when it is full.
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? .max
    }

    private func removeLeftovers(_ now: Date) {
        let files = FileManager.default
        // A folder that cannot be read has nothing that can be removed.
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? [] {
            let place = "\(path)/\(name)"
            // What cannot be looked at or removed stays.
            guard let attributes = try? files.attributesOfItem(atPath: place),
                let changed = attributes[.modificationDate] as? Date,
                changed < now - Self.patience
            else { continue }
            // As above.
            try? files.removeItem(atPath: place)
        }
    }
}
