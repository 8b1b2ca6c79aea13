/// What a profile record says, as far as others see it.
struct ProfileRecord {
    private static let allowed: Set = [
        "$type", "displayName", "description", "pronouns", "website", "avatar", "banner", "labels",
        "joinedViaStarterPack", "pinnedPost", "createdAt",
    ]

    var displayName: String?
    var description: String?
    var labels: [String]
    var pinnedPost: StrongReference?

    init(displayName: String, description: String, labels: [String], pinnedPost: StrongReference?) {
        self.displayName = displayName
        self.description = description
        self.labels = labels
        self.pinnedPost = pinnedPost
    }

    /// - Throws: `InvalidRequest` that says which rule the record breaks.
    init(_ record: RecordValue) throws(BlueskyRefusal) {
        let fields = try RecordFields(record, of: RecordAddress.profiles, allowed: Self.allowed)
        try fields.requireType(RecordAddress.profiles)
        displayName = try fields.text("displayName", characters: 64, bytes: 640)
        description = try fields.text("description", characters: 256, bytes: 2_560)
        _ = try fields.text("pronouns", characters: 20, bytes: 200)
        if let website = try fields.text("website"), !RecordSyntax.isURI(website) {
            throw fields.refusal("website", "must be a uri")
        }
        labels = try fields.selfLabels()
        if fields.value("pinnedPost") != nil { pinnedPost = try fields.reference("pinnedPost") }
        if fields.value("createdAt") != nil { _ = try fields.requiredDate("createdAt") }
    }
}
