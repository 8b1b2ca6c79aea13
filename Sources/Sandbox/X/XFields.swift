/// Which parts of posts and people a request asks for, under their names of before 2026.
struct XFields: Sendable {
    private(set) var post: Set<String> = []
    private(set) var user: Set<String> = []
    private(set) var expansions: Set<String> = []

    /// The parameters that choose fields.
    static func parameters(_ habits: XHabits) -> Set<String> {
        [postParameter(habits), "expansions", "user.fields", "media.fields", "poll.fields", "place.fields"]
    }

    /// - Throws: 400 for a value that is not known.
    init(_ parameters: [String: String], habits: XHabits) throws(XRefusal) {
        let usesNewNames = habits.parameterSpelling == .post
        let postName = Self.postParameter(habits)
        var known = Self.postFields
        if habits.referencesOnlyByExpansion {
            known.subtract(["author_id", "in_reply_to_user_id", "referenced_tweets"])
        }
        post = try Self.values(postName, parameters, known: known, newNames: usesNewNames)
        user = try Self.values("user.fields", parameters, known: Self.userFields, newNames: usesNewNames)
        expansions = try Self.values("expansions", parameters, known: Self.allExpansions, newNames: usesNewNames)
        _ = try Self.values("media.fields", parameters, known: Self.mediaFields, newNames: false)
        _ = try Self.values("poll.fields", parameters, known: Self.pollFields, newNames: false)
        _ = try Self.values("place.fields", parameters, known: Self.placeFields, newNames: false)
    }

    /// Whether a post shows the field: it was asked for, or what it leads to was.
    func shows(_ field: String) -> Bool {
        post.contains(field) || expansions.contains { $0 == field || $0.hasPrefix(field + ".") }
    }

    func expands(_ name: String) -> Bool { expansions.contains(name) }

    /// The name of a field in answers.
    static func name(_ field: String, _ spelling: XHabits.Spelling) -> String {
        spelling == .post ? newNames[field] ?? field : field
    }

    private static func postParameter(_ habits: XHabits) -> String {
        habits.parameterSpelling == .tweet ? "tweet.fields" : "post.fields"
    }

    private static func values(
        _ name: String, _ parameters: [String: String], known: Set<String>, newNames usesNew: Bool
    ) throws(XRefusal) -> Set<String> {
        guard let text = parameters[name] else { return [] }
        var values: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let field = usesNew ? oldNames[part] ?? (newNames[part] == nil ? part : "") : part
            guard known.contains(field) else {
                throw .invalid(name, text, "The `\(name)` query parameter value [\(part.prefix(40))] is not known")
            }
            values.insert(field)
        }
        return values
    }

    private static let newNames = [
        "referenced_tweets": "referenced_posts", "note_tweet": "note_post",
        "edit_history_tweet_ids": "edit_history_post_ids", "referenced_tweets.id": "referenced_posts.id",
        "referenced_tweets.id.author_id": "referenced_posts.id.author_id", "pinned_tweet_id": "pinned_post_id",
        "most_recent_tweet_id": "most_recent_post_id", "retweet_count": "repost_count", "tweets": "posts",
    ]
    private static let oldNames = Dictionary(uniqueKeysWithValues: newNames.map { ($1, $0) })

    private static let postFields: Set = [
        "article", "attachments", "author_id", "card_uri", "community_id", "context_annotations", "conversation_id",
        "created_at", "display_text_range", "edit_controls", "edit_history_tweet_ids", "entities", "geo", "id",
        "in_reply_to_user_id", "lang", "media_metadata", "note_tweet", "possibly_sensitive", "public_metrics",
        "referenced_tweets", "reply_settings", "scopes", "source", "suggested_source_links", "text", "withheld",
    ]
    private static let userFields: Set = [
        "affiliation", "connection_status", "created_at", "description", "entities", "id", "is_identity_verified",
        "location", "most_recent_tweet_id", "name", "parody", "pinned_tweet_id", "profile_banner_url",
        "profile_image_url", "protected", "public_metrics", "receives_your_dm", "subscription_type", "url",
        "username", "verified", "verified_followers_count", "verified_type", "withheld",
    ]
    private static let allExpansions: Set = [
        "article.cover_media", "article.media_entities", "attachments.media_keys", "attachments.media_source_tweet",
        "attachments.poll_ids", "author_id", "edit_history_tweet_ids", "entities.mentions.username", "geo.place_id",
        "in_reply_to_user_id", "entities.note.mentions.username", "referenced_tweets.id",
        "referenced_tweets.id.attachments.media_keys", "referenced_tweets.id.author_id", "affiliation.user_id",
        "most_recent_tweet_id", "pinned_tweet_id",
    ]
    private static let mediaFields: Set = [
        "alt_text", "duration_ms", "height", "media_key", "preview_image_url", "public_metrics", "type", "url",
        "variants", "width",
    ]
    private static let pollFields: Set = ["duration_minutes", "end_datetime", "id", "options", "voting_status"]
    private static let placeFields: Set = [
        "contained_within", "country", "country_code", "full_name", "geo", "id", "name", "place_type",
    ]
}
