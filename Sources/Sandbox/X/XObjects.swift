import Foundation
import Posts

/// Posts and people as X writes them, with the fields that a request asks for.
struct XObjects {
    let state: SandboxState
    let directory: XDirectory
    let fields: XFields
    let habits: XHabits

    private static let epoch = Date(timeIntervalSince1970: 1_230_768_000)

    /// The post, if it exists on X: only open posts do, and reposts of such.
    func visible(_ id: Int64) -> SandboxPost? {
        guard let post = state.posts[id], post.visibility.isOpen else { return nil }
        guard let original = post.repostOf else { return post }
        return state.posts[original].map(\.visibility.isOpen) == true ? post : nil
    }

    /// The words of a post, whole; of a repost the words it repeats.
    func words(of post: SandboxPost) -> XText {
        let text = XText((original(of: post) ?? post).text, directory: directory)
        if let original = original(of: post) { return text.reposted(from: original.author, directory) }
        // Only what came over the wire can lack the name of the one it answers.
        guard habits.namesTheAnswered, post.number == nil, let answered = post.replyToAuthor,
            answered != post.author, !text.mentions.contains(answered)
        else { return text }
        return text.addressed(to: answered, directory)
    }

    func post(_ post: SandboxPost) -> WireJSON {
        let object = soundPost(post)
        return post.flaw?.broken(object) ?? object
    }

    private func soundPost(_ post: SandboxPost) -> WireJSON {
        let words = words(of: post)
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
            expanded: address, display: "pic.x.com/\(String(post.id, radix: 36))", mediaKey: "3_\(post.id)")
    }

    func name(_ field: String) -> String { XFields.name(field, habits.answerSpelling) }

    func original(of post: SandboxPost) -> SandboxPost? { post.repostOf.flatMap { state.posts[$0] } }

    private func references(of post: SandboxPost) -> WireJSON? {
        if let original = post.repostOf { return [["type": "retweeted", "id": .string(String(original))]] }
        return post.replyTo.map { [["type": "replied_to", "id": .string(String($0))]] }
    }

    private func conversation(of post: SandboxPost) -> Int64 { state.ancestors(of: post).first?.id ?? post.id }

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
            "edits_remaining": 5, "is_edit_eligible": .bool(post.replyTo == nil && post.repostOf == nil),
            "editable_until": .string((post.createdAt + 3_600).rfc3339),
        ]
    }

    private func metrics(of post: SandboxPost) -> WireJSON {
        let counts: WireJSON = [
            "reply_count": .integer(post.replies), "like_count": .integer(post.favorites), "quote_count": 0,
            "bookmark_count": 0, "impression_count": 0,
        ]
        return counts.adding((name("retweet_count"), 0))
    }

    /// What X guesses where the sandbox was not told.
    private func language(of post: SandboxPost) -> String {
        if let language = post.language { return language }
        if post.text.unicodeScalars.contains(where: { (0x3040...0x30FF).contains($0.value) }) { return "ja" }
        return post.text.contains { $0.isLetter && $0.isASCII } ? "en" : "und"
    }
}
