import Foundation
import Storage

/// A file that a command writes completely or not at all.
///
/// By default only its owner can read it, because most such files contain texts of people.
struct OutputFile {
    /// The name that stands for standard output.
    static let standardOutput = "-"

    let path: String
    /// Whether an existing file is replaced.
    let isForced: Bool
    /// The file's permissions, regardless of the umask.
    private let mode: mode_t

    /// - Parameters:
    ///   - name: A path, or `-`.
    ///   - isForced: Whether an existing file is replaced.
    ///   - mode: The permissions.
    init(_ name: String, isForced: Bool, mode: mode_t = 0o600) {
        self.mode = mode
        path =
            name == Self.standardOutput
            ? name : URL(fileURLWithPath: Console.current.path(name)).path
        self.isForced = isForced
    }

    /// Checks, before long work, for files at the path because of which ``write(_:)`` would fail.
    ///
    /// - Throws: ``CommandError`` for usage.
    func check() throws {
        var status = stat()
        guard path != Self.standardOutput, lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw usageError("is there and is no file; name another")
        }
        if !isForced {
            throw usageError("exists already, and is not overwritten; name another, or add --force")
        }
    }

    /// Writes the text; an existing file stays until the new one is complete.
    ///
    /// - Throws: ``CommandError``.
    func write(_ text: String) throws {
        guard path != Self.standardOutput else { return print(text, terminator: "") }
        try check()
        let temporaryPath = "\(path).\(UUID().uuidString).part"
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(FileFault(errno, at: path)) }
        defer { unlink(temporaryPath) }
        do throws(FileFault) {
            defer { close(descriptor) }
            guard fchmod(descriptor, mode) == 0 else { throw FileFault(errno, at: path) }
            try FileFault.write(Array(text.utf8), to: descriptor, at: path)
        } catch {
            throw failure(error)
        }
        guard isForced ? rename(temporaryPath, path) == 0 : renameToNew(temporaryPath, path) else {
            // Another process has made the file meanwhile; the check throws the error that says so.
            if errno == EEXIST { return try check() }
            throw failure(FileFault(errno, at: path))
        }
    }

    private func usageError(_ predicate: String) -> CommandError {
        CommandError(.usage, "\(Printable.line(path)) \(predicate)")
    }

    private func failure(_ fault: FileFault) -> CommandError {
        CommandError(
            .unavailable, "could not write \(Printable.line(path)): \(Printable.line("\(fault)"))")
    }
}
