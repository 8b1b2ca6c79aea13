import Foundation
import Storage

/// How much a mirror's database holds.
struct TableFigures: Codable, Equatable, Sendable {
    /// Every table of `migrations/` that a mirror has rows in.
    static let tables = [
        "mirrors", "posts", "people", "examples", "feature_counts", "counters", "plans", "actions",
        "leases",
        "credentials", "posting_days", "feeds", "feed_stretches", "feed_items", "feed_gaps",
        "refusals", "spending",
        "settings", "never_texts", "forgotten", "muted", "notices", "weights", "pictures", "zones",
        "probes",
        "findings", "measures", "told", "proofs", "effects", "waits", "text_labels", "server_rules",
        "push_devices", "used_addresses",
    ]

    /// Rows by table.
    var rows: [String: Int]
    /// The files of the embedded database, in kilobytes; 0 where a server keeps them.
    var fileSize: Int

    static func current(of mirror: String, in storage: any StorageEngine, home: String) async throws
        -> TableFigures
    {
        let rows = try await storage.read { connection in
            var rows: [String: Int] = [:]
            for table in tables {
                let counted = try connection.query(
                    "SELECT COUNT(*) AS number FROM \(unsafe: table) WHERE mirror = \(mirror)")
                rows[table] = try counted.first?.int("number") ?? 0
            }
            return rows
        }
        return TableFigures(rows: rows, fileSize: bytes(below: home) / 1_024)
    }

    /// The database, its write-ahead log and its shared memory.
    private static func bytes(below folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.contains(".sqlite") || $0.contains(".db") }.reduce(0) {
            sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }
}
