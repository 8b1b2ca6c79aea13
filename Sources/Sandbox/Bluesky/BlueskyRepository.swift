import Foundation
import Posts

/// The records of everybody.
///
/// Posts and favorites live in the ``SandboxState``; here is what only Bluesky knows of them. A record that was once
/// shown or written never changes by itself, since others refer to it by its content.
struct BlueskyRepository: Sendable {
    /// A record and what follows from it.
    struct Entry: Sendable {
        var key: String
        var uri: String
        var cid: String
        var record: RecordValue
        /// When its author says it was made.
        var createdAt: Date
        var reply: Reply?

        var reference: StrongReference { StrongReference(uri: uri, cid: cid) }
    }

    struct Reply: Sendable {
        var root: StrongReference
        var parent: StrongReference
    }

    /// A like that was written here.
    struct Like: Sendable {
        var post: Int64
        var entry: Entry
    }

    /// A profile as a record and as others see it.
    struct Profile: Sendable {
        var entry: Entry
        var record: ProfileRecord
    }

    var people = BlueskyPeople()
    var habits = BlueskyHabits()
    /// What was written here or shown, by the sandbox's number of the post; stays when the post goes.
    var entries: [Int64: Entry] = [:]
    /// The posts that were written here: number by author and key.
    var written: [Int: [String: Int64]] = [:]
    /// By person and key.
    var likes: [Int: [String: Like]] = [:]
    /// The keys of `likes` by person and post.
    var likeKeys: [Int: [Int64: Set<String>]] = [:]
    /// The posts of those who have written here, in the order of their keys.
    var orderedPosts: [Int: OrderedPosts] = [:]
    /// The likes of favorites that were not made here, by the number of the favorite.
    var derivedLikes: [Int64: Entry] = [:]
    var profiles: [Int: Profile] = [:]
    /// The newest commit of each repository.
    var commits: [Int: (cid: String, rev: String)] = [:]
    private var lastMicroseconds: UInt64 = 0

    /// Whether the post is one on Bluesky: it has no levels of visibility, and reposts are no posts.
    func shows(_ post: SandboxPost) -> Bool { post.visibility.isOpen && post.repostOf == nil }

    /// The key of a post that may not have been shown yet.
    func key(of id: Int64) -> String { entries[id]?.key ?? SandboxIdentity.recordKey(id) }

    /// A key that was never used, for what the server names itself.
    mutating func freshKey(at now: Date) -> String {
        lastMicroseconds = max(lastMicroseconds + 1, UInt64(max(0, now.milliseconds)) * 1_000)
        return SandboxIdentity.recordKey(microseconds: lastMicroseconds, clock: 0)
    }

    /// Takes note of a change in a person's repository.
    mutating func commit(_ change: RecordValue, by person: Int, at now: Date) -> WireJSON {
        let rev = freshKey(at: now)
        let before = commits[person]?.cid
        let cid = ContentID(
            of: [
                "did": .text(people.dids[person]), "version": 3, "rev": .text(rev), "data": change,
                "prev": before.map(RecordValue.text) ?? .null,
            ]
        ).text
        commits[person] = (cid, rev)
        return ["cid": .string(cid), "rev": .string(rev)]
    }
}

extension BlueskyRepository {
    /// The record of a post, made from the script's text if it was not written here.
    mutating func entry(of post: SandboxPost, in state: SandboxState) -> Entry {
        if let known = entries[post.id] { return known }
        // What it answers comes first, so that nothing calls itself.
        var unknown = [post]
        while let parent = unknown.last?.replyTo.flatMap({ state.posts[$0] }), entries[parent.id] == nil {
            unknown.append(parent)
        }
        for post in unknown.reversed() { entries[post.id] = rendered(post, in: state) }
        return entries[post.id] ?? rendered(post, in: state)
    }

    /// The entry of the post with the number, if Bluesky has it.
    mutating func entry(of id: Int64, in state: SandboxState) -> Entry? {
        guard let post = state.posts[id], shows(post) else { return nil }
        return entry(of: post, in: state)
    }

    private func rendered(_ post: SandboxPost, in state: SandboxState) -> Entry {
        let text = BlueskyText(post.text, population: state.population, people: people)
        let createdAt = claimedDate(of: post)
        var members: [String: RecordValue] = [
            "$type": .text(RecordAddress.posts), "text": .text(text.text), "createdAt": .text(createdAt.rfc3339),
        ]
        if !text.facets.isEmpty { members["facets"] = text.facetRecords }
        if let language = post.language { members["langs"] = [.text(language)] }
        if post.isSensitive { members["labels"] = Self.selfLabels(["graphic-media"]) }
        if post.attachment == .image { members["embed"] = Self.picture(of: post) }
        let reply = reply(of: post, in: state)
        if let reply { members["reply"] = ["root": reply.root.value, "parent": reply.parent.value] }
        return entry(
            RecordAddress.posts, SandboxIdentity.recordKey(post.id), by: post.author, .map(members),
            createdAt: createdAt, reply: reply)
    }

    /// A record at its place.
    func entry(
        _ collection: String, _ key: String, by person: Int, _ record: RecordValue, createdAt: Date,
        reply: Reply? = nil
    ) -> Entry {
        Entry(
            key: key, uri: RecordAddress(people.dids[person], collection, key).uri, cid: ContentID(of: record).text,
            record: record, createdAt: createdAt, reply: reply)
    }

    /// The root is what the conversation began with: the parent's root, or the parent that answers nothing itself.
    private func reply(of post: SandboxPost, in state: SandboxState) -> Reply? {
        guard let parent = post.replyTo, let author = post.replyToAuthor else { return nil }
        if let known = entries[parent] {
            return Reply(root: known.reply?.root ?? known.reference, parent: known.reference)
        }
        // The parent went before anybody saw it; the reference leads nowhere, as such references do.
        let uri = RecordAddress(people.dids[author], RecordAddress.posts, key(of: parent)).uri
        let gone = StrongReference(uri: uri, cid: ContentID(of: .text(uri)).text)
        return Reply(root: gone, parent: gone)
    }

    /// The time that the record claims; see ``BlueskyHabits/backdatesRecords``.
    func claimedDate(of post: SandboxPost) -> Date {
        let mark = SandboxIdentity.hash(String(post.id))
        guard habits.backdatesRecords, post.author != SandboxPopulation.bot, post.author != SandboxPopulation.human,
            mark % 4 == 0
        else { return post.createdAt }
        let hours = [1.0, 48, 9_600][Int(mark / 4 % 3)]
        return post.createdAt - hours * 3_600
    }

    private static func picture(of post: SandboxPost) -> RecordValue {
        let link = ContentID(of: .text("picture \(post.id)")).text
        return [
            "$type": "app.bsky.embed.images",
            "images": [
                [
                    "alt": "a photograph",
                    "image": [
                        "$type": "blob", "ref": ["$link": .text(link)], "mimeType": "image/jpeg", "size": 51_200,
                    ],
                ]
            ],
        ]
    }

    static func selfLabels(_ labels: [String]) -> RecordValue {
        [
            "$type": "com.atproto.label.defs#selfLabels",
            "values": .list(labels.map { ["val": .text($0)] }),
        ]
    }
}
