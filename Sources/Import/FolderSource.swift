import Foundation
import Localization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The files of an extracted archive.
struct FolderSource: MemberSource {
    /// The folders of an archive with files to read; other folders hold pictures.
    private static let folders = ["", "data/", "data/js/", "data/js/tweets/"]

    private let path: String
    /// The path, without links, of the folder that holds `data/` or `outbox.json`.
    private let root: String
    private let limits: ImportLimits

    /// The maximum number of folders around an archive.
    private static let maximumWrappings = 3
    /// The maximum number of folders that are searched at each depth.
    private static let maximumFolders = 1_000

    /// Opens the folder that contains `data` or `outbox.json`, a folder around it, or `data`
    /// itself.
    init(path: String, limits: ImportLimits) throws {
        self.path = path
        self.limits = limits
        guard let resolved = Self.resolved(path) else {
            throw ImportError(.unreadable, path: path, localized("the folder cannot be opened"))
        }
        root = try Self.root(of: resolved, path: path)
    }

    func names(where isWanted: (String) -> Bool) throws -> [String] {
        try allNames().filter(isWanted).map { name in
            _ = try safePath(of: name)
            return name
        }
    }

    func read(_ open: (String) throws -> (any MemberSink)?) throws {
        try read(try allNames(), open)
    }

    func read(files names: Set<String>, _ open: (String) throws -> (any MemberSink)?) throws {
        // The names come from the archive: a file may be missing, and a name may lead outside the
        // folder.
        let files = names.sorted().filter { name in
            guard let resolved = Self.resolved(root + "/" + name),
                case .file? = try? FileReader.kind(of: resolved)
            else { return false }
            return true
        }
        try read(files, open)
    }

    private func read(_ names: [String], _ open: (String) throws -> (any MemberSink)?) throws {
        var totalBytes = 0
        for name in names {
            guard let sink = try open(name) else { continue }
            try FileReader(path: try safePath(of: name)).forEachChunk { chunk in
                totalBytes += chunk.count
                guard totalBytes <= limits.totalBytes else {
                    throw ImportError(
                        .bomb, path: path,
                        localized("it holds more than \(limits.totalBytes >> 20) MiB to read"))
                }
                try sink.feed(chunk)
                return true
            }
            try sink.finish()
        }
    }

    private func allNames() throws -> [String] {
        try Self.folders.flatMap { folder in
            try Self.entries(of: root + "/" + folder, path: path).map { folder + $0 }
        }
    }

    /// The path of a file that is inside the folder after all links are resolved.
    private func safePath(of name: String) throws -> String {
        guard let resolved = Self.resolved(root + "/" + name) else {
            throw ImportError(
                .unreadable, path: path, localized("\(MemberName.shown(name)) cannot be opened"))
        }
        guard resolved.hasPrefix(root == "/" ? "/" : root + "/") else {
            throw ImportError(
                .unsafePath, path: path,
                localized("the link \(MemberName.shown(name)) leads out of the folder"))
        }
        guard case .file = try FileReader.kind(of: resolved) else {
            throw ImportError(
                .unreadable, path: path, localized("\(MemberName.shown(name)) is not a file"))
        }
        return resolved
    }

    private static func root(of resolved: String, path: String) throws -> String {
        if isArchive(resolved) { return resolved }
        let parts = resolved.split(separator: "/")
        if parts.last == "data" { return "/" + parts.dropLast().joined(separator: "/") }
        var folders = [resolved]
        for _ in 0..<maximumWrappings {
            folders = folders.flatMap { folder -> [String] in
                // The `try?` is nil for a folder that cannot be read: it holds no archive.
                let names = (try? entries(of: folder, path: path)) ?? []
                return names.map { "\(folder)/\($0)" }.filter(isFolder)
            }
            folders = Array(folders.prefix(maximumFolders))
            let archives = folders.filter(isArchive)
            guard archives.isEmpty else { return archives.count == 1 ? archives[0] : resolved }
        }
        return resolved
    }

    private static func isArchive(_ path: String) -> Bool {
        // The `try?` is nil for a file that does not exist.
        isFolder(path + "/data")
            || ["outbox.json", XTable.name].contains {
                (try? FileReader.kind(of: "\(path)/\($0)")) != nil
            }
    }

    private static func isFolder(_ path: String) -> Bool {
        // The `try?` is nil for a path that cannot be read, which is not a folder.
        if case .folder? = try? FileReader.kind(of: path) { true } else { false }
    }

    /// The names in a folder, `part2` before `part10`; empty if there is no such folder.
    private static func entries(of folder: String, path: String) throws -> [String] {
        guard isFolder(folder) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted {
                first, second in
                first.count == second.count ? first < second : first.count < second.count
            }
        } catch {
            throw ImportError(.unreadable, path: path, localized("a folder in it cannot be listed"))
        }
    }

    private static func resolved(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
