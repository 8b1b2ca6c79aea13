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
    private init(_ restore: Restore, _ removal: Removal, namesPeople: Bool) {
        self.restore = restore
        self.removal = removal
        self.namesPeople = namesPeople
    }

    /// The duties by the name of the table.
    package static let all: [String: TableDuty] = [
        "actions": TableDuty(.added, .withMirror, namesPeople: true),
        "counters": TableDuty(.replaced, .withMirror, namesPeople: false),
        "credentials": TableDuty(.added, .withMirror, namesPeople: false),
        "effects": TableDuty(.added, .withMirror, namesPeople: true),
        "examples": TableDuty(.replaced, .withMirror, namesPeople: true),
        "feature_counts": TableDuty(.replaced, .withMirror, namesPeople: true),
        "feed_gaps": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "feed_items": TableDuty(.keptOnceWorked, .withMirror, namesPeople: true),
        "feed_stretches": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "feeds": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "findings": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "forgotten": TableDuty(.added, .withMirror, namesPeople: false),
        "leases": TableDuty(.apart, .ofCopy, namesPeople: false),
        "measures": TableDuty(.replaced, .withMirror, namesPeople: false),
        "mirrors": TableDuty(.apart, .last, namesPeople: false),
        "muted": TableDuty(.added, .withMirror, namesPeople: false),
        "never_texts": TableDuty(.added, .withMirror, namesPeople: false),
        "notices": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "people": TableDuty(.added, .withMirror, namesPeople: true),
        "pictures": TableDuty(.replaced, .withMirror, namesPeople: false),
        "plans": TableDuty(.added, .withMirror, namesPeople: false),
        "posting_days": TableDuty(.replaced, .withMirror, namesPeople: false),
        "posts": TableDuty(.replaced, .withMirror, namesPeople: true),
        "probes": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "proofs": TableDuty(.kept, .withMirror, namesPeople: true),
        "push_devices": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "refusals": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "server_rules": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "settings": TableDuty(.replaced, .withMirror, namesPeople: false),
        "spending": TableDuty(.added, .withMirror, namesPeople: false),
        "text_labels": TableDuty(.added, .withMirror, namesPeople: false),
        "told": TableDuty(.added, .withMirror, namesPeople: false),
        "used_addresses": TableDuty(.added, .withMirror, namesPeople: false),
        "waits": TableDuty(.keptOnceWorked, .withMirror, namesPeople: false),
        "weights": TableDuty(.replaced, .withMirror, namesPeople: false),
        "zones": TableDuty(.replaced, .withMirror, namesPeople: false),
    ]

    /// The tables about the database and no mirror, which a restore, a move, a removal and
    /// forgetting leave as they are.
    package static let ofDatabase: Set<String> = ["ended_sessions", "schema_migrations", "workers"]
}
