/// The treatment of a table's rows when a mirror is restored, moved or removed, and when a person
/// is forgotten.
///
/// Every table with rows of mirrors has a line in ``all``. ``TableShape/ofMirrors(in:)`` refuses a
/// table without one, so that no migration can add a table whose rows are deleted by default.
package struct TableDuty: Sendable, Equatable {
    /// The treatment of the rows of the present database in a restore.
    package enum Restore: Sendable {
        /// Replaces them with those of the backup.
        case replaced
        /// Keeps them, and adds those of the backup.
        case added
        /// Keeps them as they are.
        case kept
        /// Keeps them if the mirror has worked in the present database, else replaces them.
        case keptOnceWorked
        /// Handles this table with statements of its own.
        case apart
    }

    /// The treatment of the rows in a removal and in a move.
    package enum Removal: Sendable {
        /// They belong to the mirror: a move copies them, a removal deletes them in small portions.
        case withMirror
        /// The mirror's own row: a move copies it, a removal deletes it last.
        case last
        /// They belong to this copy of the mirror: a move leaves them, a removal deletes them last.
        case ofCopy
    }

    package let restore: Restore
    package let removal: Removal
    /// Whether rows may name a person, so that forgetting a person must search them.
    package let namesPeople: Bool

    private init(_ restore: Restore, _ removal: Removal = .withMirror, namesPeople: Bool = false) {
        self.restore = restore
        self.removal = removal
        self.namesPeople = namesPeople
    }

    /// The duties by the name of the table.
    package static let all: [String: TableDuty] = [
        "actions": TableDuty(.added, namesPeople: true),
        "counters": TableDuty(.replaced),
        "credentials": TableDuty(.added),
        "effects": TableDuty(.added, namesPeople: true),
        "examples": TableDuty(.replaced, namesPeople: true),
        "feature_counts": TableDuty(.replaced, namesPeople: true),
        "feed_gaps": TableDuty(.keptOnceWorked),
        "feed_items": TableDuty(.keptOnceWorked, namesPeople: true),
        "feed_stretches": TableDuty(.keptOnceWorked),
        "feeds": TableDuty(.keptOnceWorked),
        "findings": TableDuty(.keptOnceWorked),
        "forgotten": TableDuty(.added),
        "leases": TableDuty(.apart, .ofCopy),
        "measures": TableDuty(.replaced),
        "mirrors": TableDuty(.apart, .last),
        "muted": TableDuty(.added),
        "never_texts": TableDuty(.added),
        "notices": TableDuty(.keptOnceWorked),
        "people": TableDuty(.added, namesPeople: true),
        "pictures": TableDuty(.replaced),
        "plans": TableDuty(.added),
        "posting_days": TableDuty(.replaced),
        "posts": TableDuty(.replaced, namesPeople: true),
        "probes": TableDuty(.keptOnceWorked),
        "proofs": TableDuty(.kept, namesPeople: true),
        "refusals": TableDuty(.keptOnceWorked),
        "server_rules": TableDuty(.keptOnceWorked),
        "settings": TableDuty(.replaced),
        "spending": TableDuty(.added),
        "text_labels": TableDuty(.added),
        "told": TableDuty(.added),
        "waits": TableDuty(.keptOnceWorked),
        "weights": TableDuty(.replaced),
        "zones": TableDuty(.replaced),
    ]
}
