import Foundation

/// What a like record says.
struct LikeRecord {
    var subject: StrongReference
    var createdAt: Date

    /// - Throws: `InvalidRequest` that says which rule the record breaks.
    init(_ record: RecordValue) throws(BlueskyRefusal) {
        let fields = try RecordFields(
            record, of: RecordAddress.likes, allowed: ["$type", "subject", "createdAt", "via"])
        try fields.requireType(RecordAddress.likes)
        subject = try fields.reference("subject")
        createdAt = try fields.requiredDate("createdAt")
        if fields.value("via") != nil { _ = try fields.reference("via") }
    }
}
