import Formats

/// Receives the bytes of one file of an archive.
protocol MemberSink: AnyObject {
    /// Receives the next bytes; the pointer is valid only during the call.
    func feed(_ chunk: UnsafeRawBufferPointer) throws
    /// Called at the end of the file.
    func finish() throws
}

/// An archive made of files: a zip or an extracted folder.
///
/// Files that are not requested by name are never opened or read: an archive also holds private
/// messages.
protocol MemberSource {
    /// The names of the wanted files, in the order in which ``read(_:)`` passes them.
    ///
    /// Names have the form `data/tweets.js`, without folders around the archive. All names are
    /// checked; no data is read.
    ///
    /// - Throws: ``ImportError`` if the archive is not safe to read.
    func names(where isWanted: (String) -> Bool) throws -> [String]

    /// Reads, one after the other, the files for which `open` returns a sink.
    func read(_ open: (String) throws -> (any MemberSink)?) throws

    /// Reads the files with these names, in any folder of the archive; missing files are skipped.
    func read(files names: Set<String>, _ open: (String) throws -> (any MemberSink)?) throws
}

extension MemberSource {
    func read(files names: Set<String>, _ open: (String) throws -> (any MemberSink)?) throws {
        try read { names.contains($0) ? try open($0) : nil }
    }
}

/// Records which files of an archive are opened, and which stay closed.
final class WatchedSource: MemberSource {
    /// The maximum number of names that are kept; further files are only counted.
    private static let maximumNames = 1_000

    private let source: any MemberSource
    private var parts: [String] = []
    private var opened: [String] = []
    /// Data files that are not parts of the archive's format.
    private var otherNames: [String] = []
    private var otherCount = 0
    /// Whether one of the other files is an archive itself.
    private(set) var holdsArchives = false

    init(_ source: any MemberSource) { self.source = source }

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        parts = try source.names { name in
            guard !isWanted(name) else { return true }
            if name.lowercased().hasSuffix(".zip") { holdsArchives = true }
            guard Self.isData(name) else { return false }
            otherCount += 1
            if otherNames.count < Self.maximumNames { otherNames.append(name) }
            return false
        }
        return parts
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        try source.read { name in
            let sink = try open(name)
            if sink != nil, !opened.contains(name) { opened.append(name) }
            return sink
        }
    }

    func read(files names: Set<String>, _ open: (String) throws -> (any MemberSink)?) throws {
        // These are pictures: there are too many to list them in the summary.
        try source.read(files: names, open)
    }

    /// Adds the files that were read to a summary.
    func addFiles(to summary: inout ImportSummary) {
        let closed = parts.filter { !opened.contains($0) }
        summary.filesRead = opened
        summary.filesLeft = closed + otherNames
        summary.filesLeftCount = closed.count + otherCount
    }

    /// Whether a file contains data, according to its name; other files are mostly pictures.
    private static func isData(_ name: String) -> Bool {
        [".js", ".json", ".csv"].contains { name.hasSuffix($0) } && !name.hasPrefix("assets/")
    }
}

/// The name of a file inside an archive, which is untrusted input.
enum MemberName {
    /// Whether following the name could lead out of the archive.
    static func isUnsafe(_ name: String) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        let isDrive = parts.first?.count == 2 && parts.first?.hasSuffix(":") == true
        return parts.first?.isEmpty == true || isDrive || parts.contains("..")
    }

    /// The files at the top of an archive.
    ///
    /// They are recognized inside any number of folders.
    private static let topFiles: Set<Substring> = [
        "actor.json", "outbox.json", "likes.json", "tweets.csv",
    ]

    /// The name without folders around the archive; nil if the file is outside the archive.
    static func unwrapped(_ name: String) -> String? {
        let parts = name.split(separator: "/").filter { $0 != "." }
        guard !parts.contains("__MACOSX"), let last = parts.last, !last.hasPrefix("._") else {
            return nil
        }
        if topFiles.contains(last) { return String(last) }
        // Without a folder `data`, the outermost folder is around the archive.
        let start = parts.dropLast().lastIndex(of: "data") ?? (parts.count > 1 ? 1 : 0)
        return parts[start...].joined(separator: "/")
    }

    /// The name for a message: short and without control characters.
    static func shown(_ name: String) -> String {
        let visible = name.unicodeScalars.filter {
            !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
        }
        return String(String.UnicodeScalarView(visible.prefix(80)))
    }
}

/// Single files, treated as those of an archive.
struct FileSource: MemberSource {
    /// Names in the archive and paths, in the order in which they are read.
    let files: [(name: String, path: String)]

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        files.map(\.name).filter(isWanted)
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        for file in files {
            guard let sink = try open(file.name) else { continue }
            try FileReader(path: file.path).forEachChunk { chunk in
                try sink.feed(chunk)
                return true
            }
            try sink.finish()
        }
    }
}

/// Reads the items of a list one by one, and counts those that cannot be read.
final class ListSink: MemberSink {
    private let file: String
    private let report: (ImportProblem) -> Void
    private let body: (JSON) throws -> Void
    private var splitter: any ItemSplitter

    /// - Parameters:
    ///   - file: The file's name in reported problems.
    ///   - report: Called with each problem.
    ///   - body: Called with each item. An ``ItemFault`` that it throws becomes a problem, any
    ///     other error ends the reading.
    init(
        file: String, splitter: any ItemSplitter, report: @escaping (ImportProblem) -> Void,
        body: @escaping (JSON) throws -> Void
    ) {
        self.file = file
        self.report = report
        self.body = body
        self.splitter = splitter
    }

    func feed(_ chunk: UnsafeRawBufferPointer) throws {
        try splitter.feed(chunk) { try take($0) }
    }

    func finish() throws {
        if let fault = try splitter.finish({ try take($0) }) {
            report(ImportProblem(file: file, position: .wholeFile, reason: fault.reason))
        }
    }

    private func take(_ element: SplitElement) throws {
        do {
            try body(try JSON(try element.content.get()))
        } catch let fault as ItemFault {
            let position = ImportProblem.Position.element(element.index, byte: element.offset)
            report(ImportProblem(file: file, position: position, reason: fault.reason))
        }
    }
}

/// Reads the one object of a small file, such as `window.__THAR_CONFIG = {…}`.
final class ObjectSink: MemberSink {
    private let limit: Int
    private let body: (JSON) -> Void
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - limit: The largest file that is read, in bytes; a larger one is skipped.
    ///   - body: Called with the object, if there is one. Such files are optional, so a broken file
    ///     is not reported.
    init(limit: Int, body: @escaping (JSON) -> Void) {
        self.limit = limit
        self.body = body
    }

    func feed(_ chunk: UnsafeRawBufferPointer) {
        if bytes.count <= limit { bytes.append(contentsOf: chunk) }
    }

    func finish() {
        // The `try?` is nil for a broken file, which is skipped because such files are optional.
        guard bytes.count <= limit, let start = bytes.firstIndex(of: Byte.openBrace),
            let end = bytes.lastIndex(of: Byte.closeBrace), start < end,
            let object = try? JSON(Array(bytes[start...end]))
        else { return }
        body(object)
    }
}
