import Foundation
import Storage

/// Where a process looked for its settings: the working folder and the home, the folder of the
/// embedded database.
///
/// The home keeps a list of the working folders whose `.env` led to it, one `path<TAB>mirror` on a
/// line, the last of a path counting: two folders may share a mirror without their owner knowing.
package struct SettingPlaces: Equatable, Sendable {
    package let folder: String
    /// Nil where no home folder is known.
    package let home: String?
    /// The `.env` files that were read, the one that wins first.
    package let files: [String]

    private static let maximumBytes = 65_536

    private var list: String? { home.map { $0 + "/folders" } }

    /// Notes that this folder has settings of a mirror, if it has a `.env`; nothing is noted where
    /// that is not possible.
    ///
    /// - Parameter mirror: The mirror's name.
    package func note(_ mirror: String) {
        guard let list, let home, folder != home, files.first == folder + "/.env",
            !folder.contains(where: { $0.isNewline || $0 == "\t" }),
            known(in: list)[folder] != mirror
        else { return }
        let descriptor = open(
            list, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A line that cannot be written is a hint less.
        try? FileFault.write(Array("\(folder)\t\(mirror)\n".utf8), to: descriptor, at: list)
    }

    /// The other folders that have a `.env` and were last used for a mirror.
    ///
    /// - Parameter mirror: The mirror's name.
    package func others(of mirror: String) -> [String] {
        guard let list else { return [] }
        return known(in: list).filter { path, name in
            name == mirror && path != folder && access(path + "/.env", F_OK) == 0
        }.map(\.key).sorted()
    }

    /// The mirrors of the folders in the list.
    private func known(in list: String) -> [String: String] {
        // A list that cannot be read, or trusted, gives no hints.
        guard
            let data = try? FileTrust.contents(
                of: list, atMost: Self.maximumBytes, .writtenByOthers)
        else {
            return [:]
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: "\t")
        }
        return Dictionary(
            lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) },
            uniquingKeysWith: { $1 })
    }
}
