import Foundation
import Posts

/// Posts and people as the AppView shows them.
///
/// `viewer` is the person who gets the answer; guests get no `viewer` members.
extension BlueskyRepository {
    /// A person as the author of a post or notification.
    mutating func author(_ person: Int, for viewer: Int?, in state: SandboxState) -> WireJSON {
        let profile = profile(of: person, in: state)
        let view: WireJSON = [
            "did": .string(people.ids[person]), "handle": .string(people.handles[person]),
            "displayName": .string(profile.record.displayName ?? ""),
            "labels": labels(of: person, profile),
            "createdAt": .string(BlueskyCall.epoch.rfc3339),
        ]
        return viewer == nil ? view : view.adding(("viewer", ["muted": false, "blockedBy": false]))
    }

    /// A person with the full profile.
    mutating func detailedProfile(of person: Int, for viewer: Int?, in state: SandboxState)
        -> WireJSON
    {
        let profile = profile(of: person, in: state).record
        let posts = state.postsByAuthor[person].count { state.posts[$0].map(isOnBluesky) == true }
        let view = author(person, for: viewer, in: state).adding(
            ("description", .string(profile.description ?? "")), ("followersCount", 12),
            ("followsCount", 34),
            ("postsCount", .integer(posts)), ("indexedAt", .string(BlueskyCall.epoch.rfc3339)))
        guard let pinned = profile.pinnedPost else { return view }
        return view.adding(("pinnedPost", pinned.value.json))
    }

    private func labels(of person: Int, _ profile: Profile) -> WireJSON {
        .array(profile.record.labels.map { label($0, of: person, on: profile.entry) })
    }

    private func label(_ label: String, of person: Int, on entry: Entry) -> WireJSON {
        [
            "src": .string(people.ids[person]), "uri": .string(entry.uri),
            "cid": .string(entry.cid),
            "val": .string(label), "cts": .string(entry.createdAt.rfc3339),
        ]
    }

    /// The post with the number; nil if it is not on Bluesky.
    mutating func post(_ id: Int64, for viewer: Int?, in state: SandboxState) -> WireJSON? {
        guard let post = state.posts[id], isOnBluesky(post) else { return nil }
        return view(of: post, for: viewer, in: state)
    }

    mutating func view(of post: SandboxPost, for viewer: Int?, in state: SandboxState) -> WireJSON {
        let entry = entry(of: post, in: state)
        var members: [(String, WireJSON)] = [
            ("uri", .string(entry.uri)), ("cid", .string(entry.cid)),
            ("author", author(post.author, for: viewer, in: state)),
            ("record", entry.json(paddedLike: post)),
            ("replyCount", .integer(post.replies)), ("repostCount", 0),
            ("likeCount", .integer(post.favorites)),
            ("quoteCount", 0), ("bookmarkCount", 0), ("indexedAt", .string(post.createdAt.rfc3339)),
            ("labels", .array(selfLabels(of: entry).map { label($0, of: post.author, on: entry) })),
        ]
        if post.attachment == .image { members.append(("embed", Self.pictureView(of: post))) }
        let address = RecordAddress(people.ids[post.author], RecordAddress.threadGates, entry.key)
        if let gate = gates[address.uri]?.entry {
            members.append(
                (
                    "threadgate",
                    [
                        "uri": .string(gate.uri), "cid": .string(gate.cid),
                        "record": gate.record.json, "lists": [],
                    ]
                ))
        }
        if let viewer {
            members.append(("viewer", viewerMembers(of: viewer, for: post, in: state)))
        }
        return post.flaw?.broken(.object(members)) ?? .object(members)
    }

    private func selfLabels(of entry: Entry) -> [String] {
        (entry.record["labels"]?["values"]?.list ?? []).compactMap { $0["val"]?.text }
    }

    private static func pictureView(of post: SandboxPost) -> WireJSON {
        let address = "https://\(SamplePeople.host)/media/\(post.id).jpg"
        return [
            "$type": "app.bsky.embed.images#view",
            "images": [
                ["thumb": .string(address), "fullsize": .string(address), "alt": "a photograph"]
            ],
        ]
    }

    private mutating func viewerMembers(
        of viewer: Int, for post: SandboxPost, in state: SandboxState
    ) -> WireJSON {
        var members: [(String, WireJSON)] = [("threadMuted", false), ("embeddingDisabled", false)]
        if let like = like(of: post.id, by: viewer, in: state) {
            members.append(("like", .string(like.uri)))
        }
        if isGated(post, for: viewer, in: state) { members.append(("replyDisabled", true)) }
        return .object(members)
    }

    /// Whether the viewer may not answer in the conversation of the post.
    ///
    /// The author of the conversation's first post and the people named there may always answer.
    /// For others, its threadgate decides; without one, an author who opts out of bots lets nobody
    /// else answer.
    private func isGated(_ post: SandboxPost, for viewer: Int, in state: SandboxState) -> Bool {
        let root = state.ancestors(of: post).first ?? post
        if viewer == root.author || root.html.mentions.contains(viewer) { return false }
        if let repliers = gate(
            RecordAddress.threadGates, ofPost: key(of: root.id), by: root.author)?.repliers
        {
            // The sandbox does not know the author's follows, so a gate that admits followers or
            // followed people admits everybody.
            return !repliers.contains("follower") && !repliers.contains("following")
        }
        return state.people[root.author].role == .optedOut
    }
}

/// Items of feeds.
extension BlueskyRepository {
    /// Returns the feed item of a post or repost; `nil` if the post is not on Bluesky.
    mutating func feedItem(of post: SandboxPost, for viewer: Int?, in state: SandboxState)
        -> WireJSON?
    {
        guard post.visibility.isOpen else { return nil }
        guard let original = post.repostOf else {
            return .object(
                [("post", view(of: post, for: viewer, in: state))]
                    + replyMember(of: post, for: viewer, in: state))
        }
        guard let reposted = state.posts[original], isOnBluesky(reposted) else { return nil }
        let repost = repost(post, of: reposted, in: state)
        let reason: WireJSON = [
            "$type": "app.bsky.feed.defs#reasonRepost",
            "by": author(post.author, for: viewer, in: state),
            "uri": .string(repost.uri), "cid": .string(repost.cid),
            "indexedAt": .string(post.createdAt.rfc3339),
        ]
        return .object(
            [("post", view(of: reposted, for: viewer, in: state))]
                + replyMember(of: reposted, for: viewer, in: state)
                + [("reason", reason)])
    }

    private mutating func repost(
        _ post: SandboxPost, of reposted: SandboxPost, in state: SandboxState
    ) -> Entry {
        let subject = entry(of: reposted, in: state).reference
        return entry(
            collection: RecordAddress.reposts, key: SandboxIdentity.recordKey(post.id),
            by: post.author,
            record: [
                "$type": .text(RecordAddress.reposts), "subject": subject.value,
                "createdAt": .text(post.createdAt.rfc3339),
            ], createdAt: post.createdAt)
    }

    /// Returns the `reply` member: the root of the conversation and the answered post; empty if the
    /// post is no reply.
    private mutating func replyMember(
        of post: SandboxPost, for viewer: Int?, in state: SandboxState
    ) -> [(String, WireJSON)] {
        guard let reply = entry(of: post, in: state).reply else { return [] }
        return [
            (
                "reply",
                [
                    "root": reference(reply.root, for: viewer, in: state),
                    "parent": reference(reply.parent, for: viewer, in: state),
                ]
            )
        ]
    }

    /// Returns the view of the referenced post, or the object for a post that does not exist.
    mutating func reference(
        _ reference: StrongReference, for viewer: Int?, in state: SandboxState
    ) -> WireJSON {
        guard let post = RecordAddress(reference.uri).flatMap({ post(at: $0, in: state) }) else {
            return Self.notFound(reference.uri)
        }
        return view(of: post, for: viewer, in: state).adding(
            ("$type", "app.bsky.feed.defs#postView"))
    }

    static func notFound(_ uri: String) -> WireJSON {
        ["$type": "app.bsky.feed.defs#notFoundPost", "uri": .string(uri), "notFound": true]
    }

    /// The time of the item in a feed: the earlier of its author's time and its arrival, in
    /// milliseconds.
    func feedTime(of post: SandboxPost) -> Int64 {
        let arrival = post.createdAt.milliseconds
        guard post.repostOf == nil else { return arrival }
        return min((entries[post.id]?.createdAt ?? claimedDate(of: post)).milliseconds, arrival)
    }
}

extension BlueskyRepository.Entry {
    /// The record with a post's padding, in an undocumented member.
    func json(paddedLike post: SandboxPost?) -> WireJSON {
        guard let bytes = post?.padding, bytes > 0 else { return record.json }
        return record.json.adding(("padding", .padded("", bytes: bytes)))
    }
}
