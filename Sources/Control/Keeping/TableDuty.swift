/// The treatment of a table's rows when a mirror is restored, moved or removed, and when a person
/// is forgotten.
///
/// Every table with rows of mirrors has a line in ``all``, which states all of these treatments.
/// ``TableShape/ofMirrors(in:)`` refuses a table without a line, so that no migration can add a
/// table whose rows are deleted, or left behind, by default.
package struct TableDuty: Sendable, Equatable {
    /// The treatment of the rows of the present database in a restore.
    package enum Restore: Sendable {
        /// The rows are replaced with the rows of the backup.
        case replaced
        /// The rows stay, and the rows of the backup are added.
        case added
        /// The rows stay unchanged.
        case kept
        /// The rows stay if the mirror has worked in the present database; else they are replaced.
        case keptOnceWorked
        /// The restore handles the table with statements of its own.
        case apart
    }

    /// The treatment of the rows in a removal and in a move.
    package enum Removal: Sendable {
        /// The rows belong to the mirror: a move copies them, a removal deletes them in portions.
        case withMirror
        /// The mirror's own row: a move copies it, a removal deletes it last.
        case last
        /// The rows belong to this copy of the mirror: a move leaves them, a removal deletes them
        /// last.
        case ofCopy
    }

    package let restore: Restore
    package let removal: Removal
    /// Whether rows may name a person, so that forgetting a person must search them.
    package let namesPeople: Bool

    // No argument has a default, so that each new table must state all three.
    private init(restore: Restore, removal: Removal, namesPeople: Bool) {
        self.restore = restore
        self.removal = removal
        self.namesPeople = namesPeople
    }

    /// The duties by the name of the table.
    package static let all: [String: TableDuty] = [
        "actions": TableDuty(restore: .added, removal: .withMirror, namesPeople: true),
        "counters": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "credentials": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "effects": TableDuty(restore: .added, removal: .withMirror, namesPeople: true),
        "examples": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: true),
        "feature_counts": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: true),
        "feed_gaps": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "feed_items": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: true),
        "feed_stretches": TableDuty(
            restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "feeds": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "findings": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "forgotten": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "leases": TableDuty(restore: .apart, removal: .ofCopy, namesPeople: false),
        "measures": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "mirrors": TableDuty(restore: .apart, removal: .last, namesPeople: false),
        "muted": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "never_texts": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "notices": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "people": TableDuty(restore: .added, removal: .withMirror, namesPeople: true),
        "pictures": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "plans": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "posting_days": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "posts": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: true),
        "probes": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "proofs": TableDuty(restore: .kept, removal: .withMirror, namesPeople: true),
        "push_devices": TableDuty(
            restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "refusals": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "server_rules": TableDuty(
            restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "settings": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "spending": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "text_labels": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "told": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "used_addresses": TableDuty(restore: .added, removal: .withMirror, namesPeople: false),
        "waits": TableDuty(restore: .keptOnceWorked, removal: .withMirror, namesPeople: false),
        "weights": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
        "zones": TableDuty(restore: .replaced, removal: .withMirror, namesPeople: false),
    ]

    /// The tables about the database and no mirror, which a restore, a move, a removal and
    /// forgetting leave as they are.
    package static let ofDatabase: Set<String> = ["ended_sessions", "schema_migrations", "workers"]
}
