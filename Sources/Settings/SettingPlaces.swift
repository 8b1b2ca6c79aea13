import Foundation
import Storage

/// The places where a process reads its settings: the working folder, and the home, which is the
/// folder of the embedded database.
///
/// The home contains a list of the working folders whose `.env` named it, as lines
/// `path<TAB>mirror`; the last line of a path counts. The list lets a person notice that two
/// folders share a mirror by mistake.
package struct SettingPlaces: Equatable, Sendable {
    package let folder: String
    /// Nil if there is no home folder.
    package let home: String?
    /// The `.env` files that were read, in order of precedence.
    package let files: [String]

    private static let maximumBytes = 65_536

    /// The path of the list; nil if there is no home folder.
    private var listPath: String? { home.map { $0 + "/folders" } }

    /// Adds this folder to the list, if it has a `.env`; failures are ignored.
    ///
    /// - Parameter mirror: The mirror's name.
    package func listFolder(of mirror: String) {
        guard let listPath, let home, folder != home, files.first == folder + "/.env",
            !folder.contains(where: { $0.isNewline || $0 == "\t" }),
            mirrorsByFolder(in: listPath)[folder] != mirror
        else { return }
        let descriptor = open(
            listPath, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // If a line cannot be written, only a hint is missing later.
        try? FileFault.write(Array("\(folder)\t\(mirror)\n".utf8), to: descriptor, at: listPath)
    }

    /// The other folders with a `.env` that were last used for a mirror.
    ///
    /// - Parameter mirror: The mirror's name.
    package func otherFolders(of mirror: String) -> [String] {
        guard let listPath else { return [] }
        return mirrorsByFolder(in: listPath).filter { path, name in
            name == mirror && path != folder && access(path + "/.env", F_OK) == 0
        }.map(\.key).sorted()
    }

    /// The mirror of each folder in the list.
    private func mirrorsByFolder(in listPath: String) -> [String: String] {
        // A list that cannot be read, or is not trusted, gives no hints.
        guard
            let data = try? FileTrust.contents(
                of: listPath, atMost: Self.maximumBytes, refusing: .writtenByOthers)
        else {
            return [:]
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: "\t")
        }
        return Dictionary(
            lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) },
            uniquingKeysWith: { _, last in last })
    }
}
