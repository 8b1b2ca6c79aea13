/// What comes along with posts because a request expands them.
struct XIncludes {
    private(set) var users: [Int] = []
    private(set) var posts: [SandboxPost] = []
    /// Referenced posts that do not exist.
    private(set) var errors: [WireJSON] = []
    private var media: [WireJSON] = []
    private var polls: [WireJSON] = []

    init(_ shown: [SandboxPost], _ objects: XObjects) {
        let fields = objects.fields
        for post in shown {
            if fields.expands("author_id") { add(post.author) }
            if fields.expands("in_reply_to_user_id"), let answered = post.replyToAuthor { add(answered) }
            if fields.expands("entities.mentions.username") { objects.words(of: post).mentions.forEach { add($0) } }
            if fields.expands("attachments.media_keys"), post.attachment == .image, post.repostOf == nil {
                media.append(["media_key": .string("3_\(post.id)"), "type": "photo"])
            }
            if fields.expands("attachments.poll_ids"), post.attachment == .poll, post.repostOf == nil {
                polls.append(Self.poll(post))
            }
            if fields.shows("referenced_tweets"), let id = post.repostOf ?? post.replyTo {
                addReferenced(id, objects)
            }
        }
    }

    /// The object of the answer; nil when nothing comes along.
    func object(_ objects: XObjects) -> WireJSON? {
        let members = [
            ("users", users.map(objects.user)), (objects.name("tweets"), posts.map(objects.post)), ("media", media),
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
            errors.append(Self.missing("tweet", String(id), parameter: "\(objects.name("referenced_tweets")).id"))
            return
        }
        if wantsPost, !posts.contains(where: { $0.id == id }) { posts.append(post) }
        if wantsAuthor { add(post.author) }
    }

    private static func poll(_ post: SandboxPost) -> WireJSON {
        [
            "id": .string(String(post.id)),
            "options": [
                ["position": 1, "label": "yes", "votes": 3], ["position": 2, "label": "no", "votes": 2],
            ],
        ]
    }

    /// What X says of one thing that does not exist, beside those that do.
    static func missing(_ kind: String, _ id: String, parameter: String) -> WireJSON {
        [
            "resource_id": .string(id), "resource_type": .string(kind), "parameter": .string(parameter),
            "value": .string(id), "title": "Not Found Error",
            "detail": .string("Could not find \(kind) with \(parameter): [\(id)]."),
            "type": .string(XRefusal.address("resource-not-found")),
        ]
    }
}
