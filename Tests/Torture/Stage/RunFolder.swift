import Foundation
import TestSupport

/// The files of a run: the mirror's home, its archive, and what every worker wrote.
///
/// It vanishes with the run, unless something was found that these files explain.
final class RunFolder: Sendable {
    let path: String

    init() throws {
        let base = NSTemporaryDirectory()
        path =
            (base.hasSuffix("/") ? base : base + "/") + "mirror-bot-torture."
            + UUID().uuidString.prefix(8)
        for folder in [path, path + "/home", path + "/logs", path + "/clocks"] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
    }

    var home: String { path + "/home" }

    /// Where a process writes what it says.
    func log(_ name: String) -> String { path + "/logs/\(name).log" }

    /// By how much the clock of an episode's first worker is wrong.
    func clock(ofEpisode number: Int) -> String { path + "/clocks/\(number)" }

    func write(_ text: String, to name: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
