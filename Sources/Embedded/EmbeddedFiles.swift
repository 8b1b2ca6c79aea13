import CEmbedded

/// The files that are part of the program: rules, sentences, templates, migrations.
///
/// The C compiler embeds them. So a binary that is moved to another folder still has them, and they
/// add nothing to Swift's compile time.
package enum EmbeddedFiles {
    /// A file's name within its folder, and its bytes.
    package typealias File = (name: String, bytes: UnsafeRawBufferPointer)

    private static var all: UnsafeBufferPointer<EmbeddedFile> {
        UnsafeBufferPointer(start: embedded_files, count: embedded_count)
    }

    /// The files of a folder, in the order of their names.
    ///
    /// - Parameter folder: A module's name for the files of its `Resources`, or `migrations`.
    package static func files(in folder: String) -> [File] {
        all.compactMap { file in
            let path = String(cString: file.name)
            guard path.hasPrefix("\(folder)/") else { return nil }
            let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.count)
            return (String(path.dropFirst(folder.count + 1)), bytes)
        }
    }

    /// The bytes of a file, for as long as the process lives.
    ///
    /// - Parameter path: The folder and the name: `Web/style.css`. It must exist.
    package static func bytes(of path: String) -> UnsafeRawBufferPointer {
        guard let file = all.first(where: { String(cString: $0.name) == path }) else {
            preconditionFailure("no file \(path) is embedded")
        }
        return UnsafeRawBufferPointer(start: file.bytes, count: file.count)
    }

    /// The text of a file in UTF-8.
    ///
    /// - Parameter path: As in ``bytes(of:)``.
    package static func text(of path: String) -> String {
        String(decoding: bytes(of: path), as: UTF8.self)
    }

    /// The rows of a table whose cells are separated by tabs; lines that begin with `#` are
    /// comments.
    ///
    /// - Parameters:
    ///   - path: As in ``bytes(of:)``.
    ///   - columns: The required number of cells in each row; a row with another number stops the
    ///     process, because the tables are part of the program.
    package static func rows(of path: String, columns: Int) -> [[String]] {
        text(of: path).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let cells = line.split(separator: "\t").map(String.init)
            precondition(
                cells.count == columns, "\(path) has a row of \(cells.count) cells: \(line)")
            return cells
        }
    }
}
