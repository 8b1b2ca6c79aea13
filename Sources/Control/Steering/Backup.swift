import Foundation
package import Mirroring
import Settings
import Storage

/// A copy of the embedded database.
package struct Backup: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/backup/1"
    /// The path of the copy.
    package let file: String
    /// Its size.
    package let bytes: Int64
    /// `SECRET_KEY`, or the file with the key that opens the logins in the copy; nil if there is none.
    package let key: String?
}

extension HumanMirror {
    /// Copies the embedded database into a new file, also while a worker runs.
    ///
    /// - Throws: The store's error.
    package func backUp(to path: String) async throws -> Backup {
        try await storage.backup(to: path)
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return Backup(file: path, bytes: (attributes?[.size] as? NSNumber)?.int64Value ?? 0, key: vault.keyPlace)
    }
}
