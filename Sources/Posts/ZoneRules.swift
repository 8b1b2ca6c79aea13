package import Foundation

/// The UTC offset of each time zone, according to the zone files of the system.
///
/// Foundation contains the rules known when its toolchain was built. Governments change the rules
/// every year, and the system's zone files are updated. The built-in rules are used if there are no
/// files, for zones without a file, and if the files are older.
///
///     ZoneRules.current.offset(of: zone, at: date)
package final class ZoneRules: @unchecked Sendable {
    // Sendable because `files` is only touched under `lock`.

    /// The rules of this process; updated files are used from its next start on.
    package static let current = ZoneRules(folder: systemFolder)

    /// The folders of zone files on various systems; `TZDIR` has precedence, as in the C library.
    private static let folders = [
        "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo",
    ]
    /// The text form of all rules, which begins with their version and lists the aliases of zones.
    private static let table = "tzdata.zi"
    /// The largest file that is read, in bytes; no zone file is larger.
    private static let largestFile = 1_000_000

    /// The folder of the zone files; `nil` if the system has none.
    package let folder: String?
    /// The version of the files, such as `2026f`; `nil` if unknown.
    package let version: String?
    /// Whether the files are known to be older than the built-in rules, and therefore not used.
    package let isOutdated: Bool
    /// The names of zones by their aliases, as far as the files list them.
    private let names: [String: String]
    private let lock = NSLock()
    /// The zone files that were read, by the names of the zones; nil for a zone without a file.
    private var files: [String: ZoneFile?] = [:]

    /// The version of the built-in rules.
    package static var builtInVersion: String { TimeZone.timeZoneDataVersion }

    private static var systemFolder: String? {
        let folderFromEnvironment = getenv("TZDIR").map { String(cString: $0) }.flatMap {
            $0.hasPrefix("/") ? $0 : nil
        }
        return ([folderFromEnvironment].compactMap(\.self) + folders).first { isZoneFolder($0) }
    }

    private static func isZoneFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        // A folder without a file for UTC or the table is no folder of zone files.
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
            && ["UTC", "Etc/UTC", table].contains {
                FileManager.default.fileExists(atPath: path + "/" + $0)
            }
    }

    /// - Parameters:
    ///   - folder: The folder of the zone files; `nil` for the built-in rules alone.
    ///   - builtIn: The version of the built-in rules.
    package init(folder: String?, builtIn: String = ZoneRules.builtInVersion) {
        self.folder = folder
        // Without its table a folder has no version and no aliases.
        let table =
            folder.flatMap { try? String(contentsOfFile: $0 + "/" + Self.table, encoding: .utf8) }
            ?? ""
        let firstLine = table.prefix { $0 != "\n" }
        let mark = "# version "
        let version =
            firstLine.hasPrefix(mark) ? String(firstLine.dropFirst(mark.count).prefix(12)) : nil
        self.version = version
        isOutdated = version.map { $0 < builtIn } ?? false
        var names: [String: String] = [:]
        for line in table.split(separator: "\n") where line.hasPrefix("L ") {
            let fields = line.split(separator: " ")
            if fields.count == 3 { names[String(fields[2])] = String(fields[1]) }
        }
        self.names = names
    }

    /// The version of the rules in use as a number: `2026f` is 202606; 0 if unknown.
    package var versionNumber: Int64 {
        let text = folder == nil || isOutdated ? Self.builtInVersion : version ?? ""
        guard let year = Int64(text.prefix(4)), let letter = text.dropFirst(4).first?.asciiValue,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
        else { return 0 }
        return year * 100 + Int64(letter - UInt8(ascii: "a")) + 1
    }

    /// Whether the rules of a zone come from the system's files.
    package func isFromSystem(_ zone: TimeZone) -> Bool { file(of: zone.identifier) != nil }

    /// Seconds by which the clocks of a zone are ahead of UTC.
    package func offset(of zone: TimeZone, at date: Date) -> Int {
        let name = zone.identifier
        if name == "GMT" { return 0 }
        guard let file = file(of: name) else { return zone.secondsFromGMT(for: date) }
        return file.offset(at: Int(date.timeIntervalSince1970.rounded(.down)))
    }

    private func file(of name: String) -> ZoneFile? {
        guard folder != nil, !isOutdated else { return nil }
        return lock.withLock {
            if let file = files[name] { return file }
            let file = read(name) ?? names[name].flatMap(read)
            // An existing file that cannot be read now, for example because too many files are
            // open, is tried again at the next call.
            // Assigning `.some(nil)` records that there is no file; nil would remove the entry.
            if file != nil || !fileExists(name) { files[name] = .some(file) }
            return file
        }
    }

    /// Whether a zone has a file.
    private func fileExists(_ name: String) -> Bool {
        var isFolder: ObjCBool = false
        let path = (folder ?? "") + "/" + (names[name] ?? name)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue
    }

    private func read(_ name: String) -> ZoneFile? {
        guard let folder, Self.isZoneName(name),
            let handle = FileHandle(forReadingAtPath: folder + "/" + name)
        else { return nil }
        // Reading fails for a folder, such as `America`.
        guard let data = try? handle.read(upToCount: Self.largestFile) else { return nil }
        return ZoneFile(Array(data))
    }

    /// Whether a text has the form of a zone's name, which cannot lead out of the folder.
    private static func isZoneName(_ text: String) -> Bool {
        let hasNameBytesOnly = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
                || [0x2B, 0x2D, 0x2F, 0x5F].contains(byte)
        }
        return hasNameBytesOnly && !text.isEmpty && !text.hasPrefix("/") && text.utf8.count <= 64
    }
}

extension TimeZone {
    /// The UTC offset of the zone in seconds, by the newest rules on this machine.
    ///
    /// `secondsFromGMT(for:)` uses the rules known when the toolchain was built.
    package func offset(at date: Date) -> Int { ZoneRules.current.offset(of: self, at: date) }
}
