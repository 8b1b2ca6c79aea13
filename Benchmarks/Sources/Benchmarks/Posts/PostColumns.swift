import Archive
import Postgres

/// The columns of the table `posts` that both sides fill: those that the archive itself does.
///
/// Nothing else here names columns, so that a migration cannot break a peer unseen: whatever it
/// adds keeps its default on both sides, and a column that the archive begins to fill is one that
/// the peers must fill as well.
enum PostColumns {
    static let names = PostRow.columns.map(\.name)
    /// As SQL has them.
    static let list = names.joined(separator: ", ")

    /// The number of rows and a digest of them all, for Postgres.
    static let postgresFingerprint =
        "SELECT count(*) || ' ' || md5(string_agg(md5(ROW(\(list))::text), '' ORDER BY post_id)) FROM posts"

    /// The number of rows and figures of them all, for which null and an empty text are the same,
    /// for SQLite.
    static let sqliteFingerprint: String = {
        let sums = PostRow.columns.map { column in
            column.type == .text
                ? "total(length(\(column.name)) * length(\(column.name)))" : "total(\(column.name))"
        }
        return "SELECT count(*), \(sums.joined(separator: ", ")) FROM posts"
    }()
}
