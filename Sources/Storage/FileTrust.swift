package import Foundation

/// Checks that files with data, settings and secrets belong to this user or the system, and that
/// nobody else can change them.
package enum FileTrust {
    /// A problem with a file, or with a folder or link on the way to it.
    package struct Problem: Error, Equatable, Sendable {
        /// The file, folder or link.
        package let path: String
        /// The problem and its remedy, to follow the path.
        package let text: String

        /// The same text, to follow the path that the caller passed.
        package func text(following givenPath: String) -> String {
            path == givenPath ? text : "cannot be trusted: \(path) \(text)"
        }
    }

    /// The limit of other users' access to a file.
    package enum Limit: Sendable {
        /// Any access is allowed; the path must only lead to an ordinary file, and through no link
        /// that another user made.
        case none
        /// The file must belong to this user or the system, and no other user may write it.
        case writtenByOthers
        /// As ``writtenByOthers``, and no other user may read the file either.
        case readByOthers

        fileprivate var forbidden: mode_t {
            switch self {
            case .none: 0
            case .writtenByOthers: 0o022
            case .readByOthers: 0o077
            }
        }
    }

    /// Makes sure that a file or folder, if it exists, belongs to this user or the system and
    /// nobody else can write it.
    ///
    /// - Returns: The path without links.
    /// - Throws: ``Problem``.
    @discardableResult
    package static func check(_ path: String) throws(Problem) -> String {
        let resolved = try resolved(path)
        var status = stat()
        if lstat(resolved, &status) == 0 { try check(status, at: resolved, .writtenByOthers) }
        return resolved
    }

    /// The path without links; fails if another user could have planted one.
    ///
    /// - Throws: ``Problem`` for a link of another user, or a folder in which everybody can put
    ///   another file or link.
    static func resolved(_ path: String) throws(Problem) -> String {
        let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath
        var pending = Array("\(start)/\(path)".split(separator: "/").map(String.init).reversed())
        var resolvedPath = ""
        var links = 0
        while let name = pending.popLast() {
            if name == "." { continue }
            if name == ".." {
                let parentEnd = resolvedPath.lastIndex(of: "/") ?? resolvedPath.startIndex
                resolvedPath = String(resolvedPath[..<parentEnd])
                continue
            }
            let current = "\(resolvedPath)/\(name)"
            var status = stat()
            guard lstat(current, &status) == 0 else {
                return ([current] + pending.reversed()).joined(separator: "/")
            }
            guard kind(of: status) == link else {
                if !pending.isEmpty { try check(folder: status, at: current) }
                resolvedPath = current
                continue
            }
            links += 1
            let target = try target(of: current, status, isTooFar: links > 40)
            if target.hasPrefix("/") { resolvedPath = "" }
            pending += target.split(separator: "/").map(String.init).reversed()
        }
        return resolvedPath.isEmpty ? "/" : resolvedPath
    }

    /// Returns the contents of a short file; `nil` if there is no such file.
    ///
    /// Never blocks, for example on a pipe.
    ///
    /// - Parameters:
    ///   - size: The largest accepted size, in bytes.
    /// - Throws: ``Problem``.
    package static func contents(
        of path: String, atMost size: Int, refusing limit: Limit
    ) throws(Problem) -> Data? {
        let resolved = try resolved(path)
        func problem(_ text: String) -> Problem { Problem(path: path, text: text) }
        var status = stat()
        // Opening a device may have side effects.
        if lstat(resolved, &status) == 0, kind(of: status) != ordinary {
            throw problem("cannot be read: it is no ordinary file")
        }
        let descriptor = open(resolved, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            let isRefusal = errno == EACCES || errno == EPERM
            throw problem(
                "cannot be read: \(String(cString: strerror(errno)).lowercased())"
                    + (isRefusal
                        ? "; give it to this user with chown \(geteuid()) \(resolved)" : ""))
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fstat(descriptor, &status) == 0, kind(of: status) == ordinary else {
            throw problem("cannot be read: it is no ordinary file")
        }
        try check(status, at: resolved, limit)
        let data: Data
        do {
            data = try file.read(upToCount: size + 1) ?? Data()
        } catch {
            throw problem("cannot be read")
        }
        guard data.count <= size else { throw problem("is longer than \(size) bytes") }
        return data
    }

    private static let ordinary: mode_t = 0o100000
    private static let link: mode_t = 0o120000

    private static func kind(of status: stat) -> mode_t { status.st_mode & 0o170000 }

    /// Whether files of a user are trusted: files of this user, of root, and of the owner of `/`.
    ///
    /// In a container, the system's files may belong to a user with a number other than 0.
    private static func isTrusted(_ user: uid_t) -> Bool {
        if user == geteuid() || user == 0 { return true }
        var root = stat()
        return lstat("/", &root) == 0 && root.st_uid == user
    }

    private static func check(_ status: stat, at path: String, _ limit: Limit) throws(Problem) {
        guard limit.forbidden != 0 else { return }
        guard isTrusted(status.st_uid) else {
            throw Problem(
                path: path,
                text:
                    "belongs to another user (number \(status.st_uid)); if it is yours, change that with "
                    + "chown \(geteuid()) \(path)")
        }
        let readableByOthers: mode_t = 0o044
        guard status.st_mode & limit.forbidden & readableByOthers == 0 else {
            throw Problem(
                path: path, text: "can be read by others; change that with chmod 600 \(path)")
        }
        guard status.st_mode & limit.forbidden == 0 else {
            throw Problem(
                path: path, text: "can be written by others; change that with chmod go-w \(path)")
        }
    }

    /// Checks a folder of a path: if everybody can write in it, it must be sticky, so that nobody
    /// can replace files of others.
    private static func check(folder status: stat, at path: String) throws(Problem) {
        let isWritableByAll = status.st_mode & 0o002 != 0
        let isSticky = status.st_mode & 0o1000 != 0
        guard isWritableByAll, !isSticky else { return }
        throw Problem(
            path: path, text: "can be written by others; change that with chmod go-w \(path)")
    }

    private static func target(of path: String, _ status: stat, isTooFar: Bool) throws(Problem)
        -> String
    {
        guard isTrusted(status.st_uid) else {
            throw Problem(
                path: path,
                text:
                    "is a link that another user made (number \(status.st_uid)); remove it, or name the place itself"
            )
        }
        // A link that cannot be read is treated as broken.
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        guard let target, !isTooFar else {
            throw Problem(path: path, text: "is a link that leads nowhere")
        }
        return target
    }
}
