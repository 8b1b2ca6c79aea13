package import Foundation
import Mirroring
import Posts
package import Storage

/// What tells that pages about a mirror are out of date: one statement for all mirrors that somebody looks at.
package struct MirrorStamps: Equatable, Sendable {
    /// The parts of a mirror that change apart from each other.
    package enum Part: String, CaseIterable, Sendable {
        /// What it did, decided and plans.
        case actions
        /// Whether it works, pauses, or is kept from a part of its work.
        case health
        /// Its settings, and what it shall never say.
        case settings
    }

    /// The stamp of each part, by the mirror's name.
    private let stamps: [String: [Part: String]]

    /// Reads the stamps.
    ///
    /// - Parameters:
    ///   - mirrors: Their names.
    ///   - storage: The database.
    ///   - now: Decides whether a worker is silent.
    /// - Throws: The store's error.
    package init(of mirrors: [String], in storage: any StorageEngine, now: Date) async throws {
        let silent = (now - HumanMirror.usualSilence).milliseconds
        var stamps: [String: [Part: String]] = [:]
        for part in mirrors.portions {
            let rows = try await storage.query(
                """
                SELECT mirrors.mirror AS mirror,
                    COALESCE((SELECT MAX(updated_ms) FROM actions WHERE actions.mirror = mirrors.mirror), 0)
                        AS actions_ms,
                    COALESCE(paused_ms, 0) AS paused_ms, COALESCE(paused_until_ms, 0) AS until_ms,
                    COALESCE(time_zone, '') AS zone,
                    (SELECT COUNT(*) FROM feeds WHERE feeds.mirror = mirrors.mirror AND error IS NOT NULL) AS failing,
                    (SELECT COUNT(*) FROM refusals WHERE refusals.mirror = mirrors.mirror) AS refused,
                    CASE WHEN leases.released IS NULL OR leases.released THEN 'free'
                        WHEN COALESCE(workers.updated_ms, 0) < \(silent) AND leases.updated_ms < \(silent) THEN 'silent'
                        ELSE 'held' END AS worker,
                    (SELECT COUNT(*) FROM settings WHERE settings.mirror = mirrors.mirror) AS settings,
                    COALESCE((SELECT MAX(updated_ms) FROM settings WHERE settings.mirror = mirrors.mirror), 0)
                        AS settings_ms,
                    (SELECT COUNT(*) FROM muted WHERE muted.mirror = mirrors.mirror) AS muted,
                    (SELECT COUNT(*) FROM never_texts WHERE never_texts.mirror = mirrors.mirror) AS never
                FROM mirrors LEFT JOIN leases ON leases.mirror = mirrors.mirror
                    LEFT JOIN workers ON workers.worker = leases.worker
                WHERE mirrors.mirror IN \(list: part)
                """)
            for row in rows {
                let health = [
                    "\(try row.integer("paused_ms"))", "\(try row.integer("until_ms"))", try row.text("zone"),
                    "\(try row.integer("failing"))", "\(try row.integer("refused"))", try row.text("worker"),
                ]
                let settings = [
                    try row.integer("settings"), try row.integer("settings_ms"), try row.integer("muted"),
                    try row.integer("never"),
                ]
                stamps[try row.text("mirror")] = [
                    .actions: "\(try row.integer("actions_ms"))", .health: health.joined(separator: " "),
                    .settings: settings.map(String.init).joined(separator: " "),
                ]
            }
        }
        self.stamps = stamps
    }

    /// A short digest of all stamps of a mirror, 16 hexadecimal digits; `nil` for a mirror that has none.
    ///
    /// A page holds it, so that its event stream can tell whether something changed since.
    package func digest(of mirror: String) -> String? {
        stamps[mirror].map { stamps in
            StableHash.digest(of: Part.allCases.map { stamps[$0] ?? "" }).prefix(8).hexadecimal
        }
    }

    /// The parts of a mirror that differ from those of earlier stamps; none for a mirror that they do not have.
    package func changes(of mirror: String, since earlier: MirrorStamps) -> Set<Part> {
        guard let (now, before) = stamps[mirror].flatMap({ now in earlier.stamps[mirror].map { (now, $0) } }) else {
            return []
        }
        return Set(Part.allCases.filter { now[$0] != before[$0] })
    }
}
