package import Foundation
import Mirroring
import Posts
package import Storage

/// Change stamps of the mirrors on open pages.
///
/// When a mirror's stamp changes, the open pages about the mirror are out of date.
///
/// One statement reads the stamps of up to 500 mirrors.
package struct MirrorStamps: Sendable {
    /// The digest of each mirror, by its name.
    private let digests: [String: String]

    /// Reads the stamps.
    ///
    /// - Parameters:
    ///   - mirrors: The names of the mirrors.
    ///   - storage: The database.
    ///   - now: The present, by which a worker counts as silent or not.
    /// - Throws: The store's error.
    package init(of mirrors: [String], in storage: any StorageEngine, now: Date) async throws {
        let silent = (now - HumanMirror.usualSilence).milliseconds
        var digests: [String: String] = [:]
        for part in mirrors.portions {
            // The version increases with most changes by a person. A request to undo an action, and
            // each attempt to do so, change the time of the next attempt.
            let rows = try await storage.query(
                """
                SELECT mirrors.mirror AS mirror, mirrors.version AS version,
                    COALESCE((SELECT MAX(updated_ms) FROM actions WHERE actions.mirror = mirrors.mirror), 0)
                        AS actions_ms,
                    COALESCE((SELECT MIN(undo_next_ms) FROM actions
                        WHERE actions.mirror = mirrors.mirror AND undo_next_ms IS NOT NULL), 0) AS first_undo_ms,
                    COALESCE((SELECT MAX(undo_next_ms) FROM actions
                        WHERE actions.mirror = mirrors.mirror AND undo_next_ms IS NOT NULL), 0) AS last_undo_ms,
                    (SELECT COUNT(*) FROM feeds WHERE feeds.mirror = mirrors.mirror AND error IS NOT NULL) AS failing,
                    (SELECT COUNT(*) FROM refusals WHERE refusals.mirror = mirrors.mirror) AS refused,
                    (SELECT COALESCE(MAX(noted_ms), 0) FROM waits WHERE waits.mirror = mirrors.mirror) AS waited_ms,
                    (SELECT COUNT(*) FROM muted WHERE muted.mirror = mirrors.mirror) AS muted,
                    (SELECT COUNT(*) FROM never_texts WHERE never_texts.mirror = mirrors.mirror) AS never,
                    (SELECT COUNT(*) FROM text_labels WHERE text_labels.mirror = mirrors.mirror) AS labels,
                    (SELECT COALESCE(MAX(noted_ms), 0) FROM text_labels
                        WHERE text_labels.mirror = mirrors.mirror) AS labelled_ms,
                    CASE WHEN leases.released IS NULL OR leases.released THEN 'free'
                        WHEN COALESCE(workers.updated_ms, 0) < \(silent) AND leases.updated_ms < \(silent) THEN 'silent'
                        ELSE 'held' END AS worker
                FROM mirrors LEFT JOIN leases ON leases.mirror = mirrors.mirror
                    LEFT JOIN workers ON workers.worker = leases.worker
                WHERE mirrors.mirror IN \(list: part)
                """)
            for row in rows {
                let numbers = try [
                    "version", "actions_ms", "first_undo_ms", "last_undo_ms", "failing", "refused",
                    "waited_ms",
                    "muted", "never", "labels", "labelled_ms",
                ].map { String(try row.integer($0)) }
                let digest = StableHash.digest(of: numbers + [try row.text("worker")])
                digests[try row.text("mirror")] = digest.prefix(8).hexadecimal
            }
        }
        self.digests = digests
    }

    /// A short digest of a mirror's stamp, 16 hexadecimal digits; `nil` for a mirror without a row.
    ///
    /// A page contains it, so that its event stream can report changes since then.
    package func digest(of mirror: String) -> String? { digests[mirror] }
}
