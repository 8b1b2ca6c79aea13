/// Takes the bytes of one file of an archive.
protocol MemberSink: AnyObject {
    /// The next bytes; valid only during the call.
    func feed(_ chunk: UnsafeRawBufferPointer) throws
    /// The file has ended.
    func finish() throws
}

/// An archive made of files: a zip or an extracted folder.
///
/// Files that nobody asks for by name are never opened, and their data is never
/// read: an archive also holds private messages.
protocol MemberSource {
    /// The names of the files that are wanted, in the order in which ``read(_:)`` gives them.
    ///
    /// Names are given as `data/tweets.js`, whatever folder the archive is wrapped in. All names are checked, no data
    /// is read.
    ///
    /// - Throws: ``ImportError`` if the archive is not safe to read.
    func names(where isWanted: (String) -> Bool) throws -> [String]

    /// Reads, one after the other, the files for which `open` returns a sink.
    func read(_ open: (String) throws -> (any MemberSink)?) throws
}

/// The name of a file inside an archive, as somebody else wrote it.
enum MemberName {
    /// Whether following the name could lead out of the archive.
    static func isUnsafe(_ name: String) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        let isDrive = parts.first.map { $0.count == 2 && $0.hasSuffix(":") } ?? false
        return parts.first?.isEmpty == true || isDrive || parts.contains("..")
    }

    /// The name without the folder that some tools wrap an archive in; nil for what lies outside the archive.
    static func unwrapped(_ name: String) -> String? {
        var parts = name.split(separator: "/").filter { $0 != "." }
        guard parts.first != "__MACOSX", let last = parts.last, !last.hasPrefix("._") else { return nil }
        if parts.count > 1, parts[0] != "data" { parts.removeFirst() }
        return parts.joined(separator: "/")
    }

    /// The name for a message: short and without control characters.
    static func shown(_ name: String) -> String {
        let visible = name.unicodeScalars.filter {
            !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
        }
        return String(String.UnicodeScalarView(visible.prefix(80)))
    }
}
