import Foundation
import Posts

/// Posts and people in X's form, with the requested fields.
struct XObjects {
    let state: SandboxState
    let directory: SandboxDirectory
    let fields: XFields
    let habits: XHabits

    init(_ state: SandboxState, _ call: XCall) {
        self.state = state
        directory = call.directory
        fields = call.fields
        habits = call.habits
    }

    private static let epoch = Date(timeIntervalSince1970: 1_230_768_000)

    /// The post, if it exists on X: only open posts do, and reposts of these.
    func visible(_ id: Int64) -> SandboxPost? {
        guard let post = state.posts[id], post.visibility.isOpen else { return nil }
        guard let original = post.repostOf else { return post }
        return state.posts[original].map(\.visibility.isOpen) == true ? post : nil
    }

    /// The full text of a post; for a repost, that of the original.
    func fullText(of post: SandboxPost) -> XText {
        let text = XText((original(of: post) ?? post).text, directory: directory)
        if let original = original(of: post) {
            return text.reposted(from: original.author, directory)
        }
        // Only a post from a client can lack the name of the answered person.
        guard habits.namesTheAnswered, post.number == nil, let answered = post.replyToAuthor,
            answered != post.author, !text.mentions.contains(answered)
        else { return text }
        return text.addressed(to: answered, directory)
    }

    func post(_ post: SandboxPost) -> WireJSON {
        let object = flawlessPost(post)
        return post.flaw?.broken(object) ?? object
    }

    private func flawlessPost(_ post: SandboxPost) -> WireJSON {
        let words = fullText(of: post)
        var text = post.repostOf == nil ? words.shortened() : words
        if post.attachment == .image, post.repostOf == nil { text.attach(picture(of: post)) }
        let id = WireJSON.string(String(post.id))
        var members: [(String, WireJSON)] = [
            ("id", id), ("text", .string(text.delivered)), (name("edit_history_tweet_ids"), [id]),
        ]
        func add(_ field: String, _ value: WireJSON?) {
            if fields.shows(field), let value { members.append((name(field), value)) }
        }
        add("author_id", .string(directory.ids[post.author]))
        add("created_at", .string(post.createdAt.rfc3339))
        add("conversation_id", .string(String(conversation(of: post))))
        add("in_reply_to_user_id", post.replyToAuthor.map { .string(directory.ids[$0]) })
        add("referenced_tweets", references(of: post))
        add("lang", .string(language(of: original(of: post) ?? post)))
        add("possibly_sensitive", .bool((original(of: post) ?? post).isSensitive))
        add("reply_settings", "everyone")
        add("entities", text.entities(directory))
        add("attachments", post.repostOf == nil ? attachments(of: post) : nil)
        add("display_text_range", text.displayRange(isReply: post.replyTo != nil))
        add("edit_controls", editControls(of: post))
        add("public_metrics", metrics(of: post))
        if post.repostOf == nil, words.isLong { add("note_tweet", note(words)) }
        return .object(members)
    }

    func user(_ index: Int) -> WireJSON {
        let person = state.people[index]
        var members: [(String, WireJSON)] = [
            ("id", .string(directory.ids[index])), ("name", .string(person.displayName)),
            ("username", .string(directory.handles[index])),
        ]
        func add(_ field: String, _ value: WireJSON) {
            if fields.user.contains(field) { members.append((field, value)) }
        }
        add("created_at", .string(Self.epoch.rfc3339))
        add("description", .string(person.bio))
        add("protected", false)
        add("verified", false)
        add("verified_type", "none")
        add("url", "")
        add("profile_image_url", "https://pbs.twimg.com/profile_images/0/missing_normal.png")
        add(
            "public_metrics",
            [
                "followers_count": 12, "following_count": 34,
                "tweet_count": .integer(state.postsByAuthor[index].count), "listed_count": 0,
            ])
        return .object(members)
    }

    func picture(of post: SandboxPost) -> XText.Link {
        let address = "https://x.com/\(directory.handles[post.author])/status/\(post.id)/photo/1"
        return XText.Link(
            expanded: address, display: "pic.x.com/\(String(post.id, radix: 36))",
            mediaKey: "3_\(post.id)")
    }

    func name(_ field: String) -> String { XFields.name(of: field, in: habits.answerSpelling) }

    func original(of post: SandboxPost) -> SandboxPost? {
        post.repostOf.flatMap { state.posts[$0] }
    }

    private func references(of post: SandboxPost) -> WireJSON? {
        if let original = post.repostOf {
            return [["type": "retweeted", "id": .string(String(original))]]
        }
        return post.replyTo.map { [["type": "replied_to", "id": .string(String($0))]] }
    }

    private func conversation(of post: SandboxPost) -> Int64 {
        state.ancestors(of: post).first?.id ?? post.id
    }

    private func attachments(of post: SandboxPost) -> WireJSON? {
        switch post.attachment {
        case .image: ["media_keys": [.string("3_\(post.id)")]]
        case .poll: ["poll_ids": [.string(String(post.id))]]
        case nil: nil
        }
    }

    private func note(_ words: XText) -> WireJSON {
        let note: WireJSON = ["text": .string(words.delivered)]
        return words.entities(directory).map { note.adding(("entities", $0)) } ?? note
    }

    private func editControls(of post: SandboxPost) -> WireJSON {
        [
            "edits_remaining": 5,
            "is_edit_eligible": .bool(post.replyTo == nil && post.repostOf == nil),
            "editable_until": .string((post.createdAt + 3_600).rfc3339),
        ]
    }

    private func metrics(of post: SandboxPost) -> WireJSON {
        let counts: WireJSON = [
            "reply_count": .integer(post.replies), "like_count": .integer(post.favorites),
            "quote_count": 0,
            "bookmark_count": 0, "impression_count": 0,
        ]
        return counts.adding((name("retweet_count"), 0))
    }

    /// Returns the language of a post, guessed as on X if it is unknown.
    private func language(of post: SandboxPost) -> String {
        if let language = post.language { return language }
        if post.text.unicodeScalars.contains(where: { (0x3040...0x30FF).contains($0.value) }) {
            return "ja"
        }
        return post.text.contains { $0.isLetter && $0.isASCII } ? "en" : "und"
    }
}

/// The objects in an answer because the request expands them.
struct XIncludes {
    private(set) var users: [Int] = []
    private(set) var posts: [SandboxPost] = []
    /// Referenced posts that do not exist.
    private(set) var errors: [WireJSON] = []
    private var media: [WireJSON] = []
    private var polls: [WireJSON] = []

    init(_ answerPosts: [SandboxPost], _ objects: XObjects) {
        let fields = objects.fields
        for post in answerPosts {
            if fields.expands("author_id") { add(post.author) }
            if fields.expands("in_reply_to_user_id"), let answered = post.replyToAuthor {
                add(answered)
            }
            if fields.expands("entities.mentions.username") {
                objects.fullText(of: post).mentions.forEach { add($0) }
            }
            if fields.expands("attachments.media_keys"), post.attachment == .image,
                post.repostOf == nil
            {
                media.append(["media_key": .string("3_\(post.id)"), "type": "photo"])
            }
            if fields.expands("attachments.poll_ids"), post.attachment == .poll,
                post.repostOf == nil
            {
                polls.append(Self.poll(post))
            }
            if fields.shows("referenced_tweets"), let id = post.repostOf ?? post.replyTo {
                addReferenced(id, objects)
            }
        }
    }

    /// The object of the answer; nil if there are no expanded objects.
    func object(_ objects: XObjects) -> WireJSON? {
        let members = [
            ("users", users.map(objects.user)), (objects.name("tweets"), posts.map(objects.post)),
            ("media", media),
            ("polls", polls),
        ]
        let filled = members.filter { !$0.1.isEmpty }.map { ($0.0, WireJSON.array($0.1)) }
        return filled.isEmpty ? nil : .object(filled)
    }

    private mutating func add(_ person: Int) {
        if !users.contains(person) { users.append(person) }
    }

    private mutating func addReferenced(_ id: Int64, _ objects: XObjects) {
        let wantsPost = objects.fields.expands("referenced_tweets.id")
        let wantsAuthor = objects.fields.expands("referenced_tweets.id.author_id")
        guard wantsPost || wantsAuthor else { return }
        guard let post = objects.visible(id) else {
            errors.append(
                Self.missing(
                    "tweet", String(id), parameter: "\(objects.name("referenced_tweets")).id"))
            return
        }
        if wantsPost, !posts.contains(where: { $0.id == id }) { posts.append(post) }
        if wantsAuthor { add(post.author) }
    }

    private static func poll(_ post: SandboxPost) -> WireJSON {
        [
            "id": .string(String(post.id)),
            "options": [
                ["position": 1, "label": "yes", "votes": 3],
                ["position": 2, "label": "no", "votes": 2],
            ],
        ]
    }

    /// Returns the error for one requested object that does not exist, next to those that do.
    static func missing(_ kind: String, _ id: String, parameter: String) -> WireJSON {
        [
            "resource_id": .string(id), "resource_type": .string(kind),
            "parameter": .string(parameter),
            "value": .string(id), "title": "Not Found Error",
            "detail": .string("Could not find \(kind) with \(parameter): [\(id)]."),
            "type": .string(XRefusal.address("resource-not-found")),
        ]
    }
}

/// The requested parts of posts and people, by their names of before 2026.
struct XFields: Sendable {
    private(set) var post: Set<String> = []
    private(set) var user: Set<String> = []
    private(set) var expansions: Set<String> = []

    /// The parameters that choose fields.
    static func parameters(_ habits: XHabits) -> Set<String> {
        [
            postParameter(habits), "expansions", "user.fields", "media.fields", "poll.fields",
            "place.fields",
        ]
    }

    /// - Throws: 400 for an unknown value.
    init(_ parameters: [String: String], habits: XHabits) throws(XRefusal) {
        let usesNewNames = habits.parameterSpelling == .post
        let postName = Self.postParameter(habits)
        var known = Self.postFields
        if habits.referencesOnlyByExpansion {
            known.subtract(["author_id", "in_reply_to_user_id", "referenced_tweets"])
        }
        post = try Self.values(postName, parameters, known: known, newNames: usesNewNames)
        user = try Self.values(
            "user.fields", parameters, known: Self.userFields, newNames: usesNewNames)
        expansions = try Self.values(
            "expansions", parameters, known: Self.allExpansions, newNames: usesNewNames)
        _ = try Self.values("media.fields", parameters, known: Self.mediaFields, newNames: false)
        _ = try Self.values("poll.fields", parameters, known: Self.pollFields, newNames: false)
        _ = try Self.values("place.fields", parameters, known: Self.placeFields, newNames: false)
    }

    /// Whether a post shows the field: it was requested, or the object that it refers to was.
    func shows(_ field: String) -> Bool {
        post.contains(field) || expansions.contains { $0 == field || $0.hasPrefix(field + ".") }
    }

    func expands(_ name: String) -> Bool { expansions.contains(name) }

    /// The name of a field in answers.
    static func name(of field: String, in spelling: XHabits.Spelling) -> String {
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
            let field =
                if !usesNew {
                    part
                } else if let oldName = oldNames[part] {
                    oldName
                } else if newNames[part] == nil {
                    part
                } else {
                    ""
                }
            guard known.contains(field) else {
                throw .invalid(
                    name, text,
                    "The `\(name)` query parameter value [\(part.prefix(40))] is not known")
            }
            values.insert(field)
        }
        return values
    }

    private static let newNames = [
        "referenced_tweets": "referenced_posts", "note_tweet": "note_post",
        "edit_history_tweet_ids": "edit_history_post_ids",
        "referenced_tweets.id": "referenced_posts.id",
        "referenced_tweets.id.author_id": "referenced_posts.id.author_id",
        "pinned_tweet_id": "pinned_post_id",
        "most_recent_tweet_id": "most_recent_post_id", "retweet_count": "repost_count",
        "tweets": "posts",
    ]
    private static let oldNames = Dictionary(uniqueKeysWithValues: newNames.map { ($1, $0) })

    private static let postFields: Set = [
        "article", "attachments", "author_id", "card_uri", "community_id", "context_annotations",
        "conversation_id",
        "created_at", "display_text_range", "edit_controls", "edit_history_tweet_ids", "entities",
        "geo", "id",
        "in_reply_to_user_id", "lang", "media_metadata", "note_tweet", "possibly_sensitive",
        "public_metrics",
        "referenced_tweets", "reply_settings", "scopes", "source", "suggested_source_links", "text",
        "withheld",
    ]
    private static let userFields: Set = [
        "affiliation", "connection_status", "created_at", "description", "entities", "id",
        "is_identity_verified",
        "location", "most_recent_tweet_id", "name", "parody", "pinned_tweet_id",
        "profile_banner_url",
        "profile_image_url", "protected", "public_metrics", "receives_your_dm", "subscription_type",
        "url",
        "username", "verified", "verified_followers_count", "verified_type", "withheld",
    ]
    private static let allExpansions: Set = [
        "article.cover_media", "article.media_entities", "attachments.media_keys",
        "attachments.media_source_tweet",
        "attachments.poll_ids", "author_id", "edit_history_tweet_ids", "entities.mentions.username",
        "geo.place_id",
        "in_reply_to_user_id", "entities.note.mentions.username", "referenced_tweets.id",
        "referenced_tweets.id.attachments.media_keys", "referenced_tweets.id.author_id",
        "affiliation.user_id",
        "most_recent_tweet_id", "pinned_tweet_id",
    ]
    private static let mediaFields: Set = [
        "alt_text", "duration_ms", "height", "media_key", "preview_image_url", "public_metrics",
        "type", "url",
        "variants", "width",
    ]
    private static let pollFields: Set = [
        "duration_minutes", "end_datetime", "id", "options", "voting_status",
    ]
    private static let placeFields: Set = [
        "contained_within", "country", "country_code", "full_name", "geo", "id", "name",
        "place_type",
    ]
}
