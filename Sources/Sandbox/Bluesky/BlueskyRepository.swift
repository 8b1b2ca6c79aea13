import Foundation
import NetworkNames
import Posts

/// The records of all people.
///
/// Posts and favorites are in the ``SandboxState``; this type has the data that only Bluesky has. A
/// record that was once shown or written never changes by itself, because others refer to it by its
/// content.
struct BlueskyRepository: Sendable {
    /// A record and its identifiers.
    struct Entry: Sendable {
        var key: String
        var uri: String
        var cid: String
        var record: RecordValue
        /// The creation time that its author claims.
        var createdAt: Date
        var reply: Reply?

        var reference: StrongReference { StrongReference(uri: uri, cid: cid) }
    }

    typealias Reply = (root: StrongReference, parent: StrongReference)
    /// A like, and the liked post.
    typealias Like = (post: Int64, entry: Entry)
    /// A profile as a record and as others see it.
    typealias Profile = (entry: Entry, record: ProfileRecord)

    let people: SandboxDirectory
    var habits = BlueskyHabits()
    /// The entries of posts that were written here or shown, by the sandbox's number of the post;
    /// an entry stays when its post is deleted.
    var entries: [Int64: Entry] = [:]
    /// The numbers of the posts that were written here, by author and key.
    var writtenIDs: [Int: [String: Int64]] = [:]
    /// The likes that were written here, by person and key.
    var likes: [Int: [String: Like]] = [:]
    /// The keys of `likes` by person and post.
    var likeKeys: [Int: [Int64: Set<String>]] = [:]
    /// The posts of people who have written here, sorted by key.
    var orderedPosts: [Int: OrderedPosts] = [:]
    /// The likes of favorites that were not written as records here, by the number of the favorite.
    var derivedLikes: [Int64: Entry] = [:]
    var profiles: [Int: Profile] = [:]
    /// The threadgates and postgates, by the at-uri of the gate.
    var gates: [String: (entry: Entry, record: GateRecord)] = [:]
    /// The newest commit of each repository.
    var commits: [Int: (cid: String, rev: String)] = [:]
    /// The uploaded files, by the content identifier of their bytes and by uploader.
    var files: [String: [Int: SandboxMedia]] = [:]
    private var lastMicroseconds: UInt64 = 0

    init(people: SandboxDirectory) { self.people = people }

    /// Whether the post exists on Bluesky: it is open to everybody and not a repost.
    func isOnBluesky(_ post: SandboxPost) -> Bool { post.visibility.isOpen && post.repostOf == nil }

    /// The key of a post, even if it was not shown yet.
    func key(of id: Int64) -> String { entries[id]?.key ?? SandboxIdentity.recordKey(id) }

    /// An unused key, for records that the server names itself.
    mutating func freshKey(at now: Date) -> String {
        lastMicroseconds = max(lastMicroseconds + 1, UInt64(max(0, now.milliseconds)) * 1_000)
        return SandboxIdentity.recordKey(microseconds: lastMicroseconds, clock: 0)
    }

    /// Records a change in a person's repository.
    mutating func commit(_ change: RecordValue, by person: Int, at now: Date) -> WireJSON {
        let rev = freshKey(at: now)
        let previousCID = commits[person]?.cid
        let cid = ContentID(
            of: [
                "did": .text(people.ids[person]), "version": 3, "rev": .text(rev), "data": change,
                "prev": previousCID.map(RecordValue.text) ?? .null,
            ]
        ).text
        commits[person] = (cid, rev)
        return ["cid": .string(cid), "rev": .string(rev)]
    }
}

extension BlueskyRepository {
    /// The record of a post, made from the script's text if it was not written here.
    mutating func entry(of post: SandboxPost, in state: SandboxState) -> Entry {
        if let storedEntry = entries[post.id] { return storedEntry }
        // The posts that it answers are rendered first, in a loop instead of a recursion.
        var unrendered = [post]
        while let parent = unrendered.last?.replyTo.flatMap({ state.posts[$0] }),
            entries[parent.id] == nil
        {
            unrendered.append(parent)
        }
        for post in unrendered.reversed() { entries[post.id] = rendered(post, in: state) }
        return entries[post.id] ?? rendered(post, in: state)
    }

    /// The entry of the post with the number, if it is on Bluesky.
    mutating func entry(of id: Int64, in state: SandboxState) -> Entry? {
        guard let post = state.posts[id], isOnBluesky(post) else { return nil }
        return entry(of: post, in: state)
    }

    private func rendered(_ post: SandboxPost, in state: SandboxState) -> Entry {
        let text = BlueskyText(post.text, people: people)
        let createdAt = claimedDate(of: post)
        var members: [String: RecordValue] = [
            "$type": .text(RecordAddress.posts), "text": .text(text.text),
            "createdAt": .text(createdAt.rfc3339),
        ]
        if !text.facets.isEmpty { members["facets"] = text.facetRecords }
        if let language = post.language { members["langs"] = [.text(language)] }
        if post.isSensitive { members["labels"] = Self.selfLabels(["graphic-media"]) }
        if post.attachment == .image { members["embed"] = Self.picture(of: post) }
        let reply = reply(of: post, in: state)
        if let reply {
            members["reply"] = ["root": reply.root.value, "parent": reply.parent.value]
        }
        return entry(
            collection: RecordAddress.posts, key: SandboxIdentity.recordKey(post.id),
            by: post.author, record: .map(members),
            createdAt: createdAt, reply: reply)
    }

    /// The entry of a record at its address.
    func entry(
        collection: String, key: String, by person: Int, record: RecordValue, createdAt: Date,
        reply: Reply? = nil
    ) -> Entry {
        Entry(
            key: key, uri: RecordAddress(people.ids[person], collection, key).uri,
            cid: ContentID(of: record).text,
            record: record, createdAt: createdAt, reply: reply)
    }

    /// The root is the first post of the conversation: the parent's root, or the parent if that is
    /// no reply.
    private func reply(of post: SandboxPost, in state: SandboxState) -> Reply? {
        guard let parent = post.replyTo, let author = post.replyToAuthor else { return nil }
        if let storedEntry = entries[parent] {
            return (storedEntry.reply?.root ?? storedEntry.reference, storedEntry.reference)
        }
        // The parent was deleted before it was shown. Like all references to deleted posts, the
        // reference names no existing record.
        let uri = RecordAddress(people.ids[author], RecordAddress.posts, key(of: parent)).uri
        let missingReference = StrongReference(uri: uri, cid: ContentID(of: .text(uri)).text)
        return (missingReference, missingReference)
    }

    /// The time that the record claims; see ``BlueskyHabits/backdatesRecords``.
    func claimedDate(of post: SandboxPost) -> Date {
        let hashOfID = SandboxIdentity.hash(String(post.id))
        guard habits.backdatesRecords, post.author != SandboxPopulation.bot,
            post.author != SandboxPopulation.human,
            hashOfID % 4 == 0
        else { return post.createdAt }
        let hours = [1.0, 48, 9_600][Int(hashOfID / 4 % 3)]
        return post.createdAt - hours * 3_600
    }

    private static func picture(of post: SandboxPost) -> RecordValue {
        let bytes = SandboxMedia.picture(of: post.id)
        let link = ContentID(ofFile: bytes).text
        return [
            "$type": "app.bsky.embed.images",
            "images": [
                [
                    "alt": "a photograph",
                    "image": [
                        "$type": "blob", "ref": ["$link": .text(link)], "mimeType": "image/png",
                        "size": .integer(Int64(bytes.count)),
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

/// Finding, writing and deleting posts.
extension BlueskyRepository {
    /// The number of the post at an address, even if it was deleted.
    func number(of address: RecordAddress) -> Int64? {
        guard address.collection == RecordAddress.posts,
            let author = people.index(of: address.authority)
        else {
            return nil
        }
        return writtenIDs[author]?[address.key] ?? Self.number(ofKey: address.key)
    }

    /// The number of a key that the sandbox made: the inverse of `SandboxIdentity.recordKey(_:)`.
    private static func number(ofKey key: String) -> Int64? {
        guard RecordSyntax.isTimestampKey(key) else { return nil }
        let letters = Array("234567abcdefghijklmnopqrstuvwxyz".utf8)
        let value = key.utf8.reduce(UInt64(0)) { $0 << 5 | UInt64(letters.firstIndex(of: $1) ?? 0) }
        let microseconds = value >> 10
        let clock = value & 1_023
        let id =
            Int64(microseconds / 1_000) << 16 | Int64(microseconds % 1_000) << 10 | Int64(clock)
        return SandboxIdentity.recordKey(id) == key ? id : nil
    }

    /// The post at an address; nil if it is not on Bluesky.
    func post(at address: RecordAddress, in state: SandboxState) -> SandboxPost? {
        guard let id = number(of: address), let post = state.posts[id], isOnBluesky(post),
            people.index(of: address.authority) == post.author, key(of: id) == address.key
        else { return nil }
        return post
    }

    /// The post that a record refers to.
    ///
    /// - Throws: `InvalidRequest` unless there is one with exactly this content.
    mutating func post(
        of reference: StrongReference, called name: String, in state: SandboxState
    ) throws(BlueskyRefusal) -> SandboxPost {
        guard let address = RecordAddress(reference.uri), address.collection == RecordAddress.posts,
            RecordSyntax.isDID(address.authority)
        else { throw .invalid("Record/\(name)/uri must be the at-uri of a post, with a did") }
        guard let post = post(at: address, in: state) else {
            let isGone = number(of: address).map(state.deleted.contains) == true
            throw .invalid("Record/\(name) does not exist", isExpected: isGone)
        }
        guard entry(of: post, in: state).cid == reference.cid else {
            throw .invalid("Record/\(name)/cid is not that of the post")
        }
        return post
    }

    /// Publishes a post.
    ///
    /// A reply notifies the author of the answered post; only the facets decide who else is
    /// notified. A reply to a person whose gate forbids it is stored nevertheless, and judged as if
    /// that person were notified.
    ///
    /// - Throws: `InvalidRequest` for a reply with a wrong parent or root.
    mutating func write(
        _ post: PostRecord, of value: RecordValue, key: String, by person: Int,
        in state: inout SandboxState,
        at now: Date
    ) throws(BlueskyRefusal) -> Entry {
        let parent = try post.reply.map { reply throws(BlueskyRefusal) in
            try self.parent(of: reply, in: state)
        }
        let draft = SandboxState.Draft(
            text: post.text, warning: "", isSensitive: !post.labels.isEmpty,
            // All posts here are public, so an answer has the visibility of its parent.
            visibility: parent?.visibility ?? .public, language: post.language, replyTo: parent?.id,
            idempotencyKey: key, network: .bluesky,
            mentions: post.mentions.compactMap { people.index(of: $0) },
            notifiesParent: true)
        var completeDraft = draft
        completeDraft.pictures = try post.images.map { image throws(BlueskyRefusal) in
            guard files[image.cid]?[person]?.type == image.type else {
                throw BlueskyRefusal(400, "BlobNotFound", "Could not find blob: \(image.cid)")
            }
            return .init(id: image.cid, alt: image.alt)
        }
        completeDraft.repliers = gate(RecordAddress.threadGates, ofPost: key, by: person)?.repliers
        if gate(RecordAddress.postGates, ofPost: key, by: person)?.forbidsQuotes == true {
            completeDraft.quoters = "nobody"
        }
        let id = state.publish(completeDraft, by: person, at: now).id
        let entry = entry(
            collection: RecordAddress.posts, key: key, by: person, record: value,
            createdAt: post.createdAt,
            reply: post.reply)
        entries[id] = entry
        writtenIDs[person, default: [:]][key] = id
        return entry
    }

    /// Returns the author's threadgate or postgate of a post; `nil` if there is none.
    func gate(_ collection: String, ofPost key: String, by person: Int) -> GateRecord? {
        gates[RecordAddress(people.ids[person], collection, key).uri]?.record
    }

    private mutating func parent(
        of reply: Reply, in state: SandboxState
    ) throws(BlueskyRefusal) -> SandboxPost {
        let parent = try post(of: reply.parent, called: "reply/parent", in: state)
        let entry = entry(of: parent, in: state)
        guard reply.root == entry.reply?.root ?? entry.reference else {
            throw .invalid("Record/reply/root is not the root of the parent's conversation")
        }
        return parent
    }

    /// Replaces the record of a post; notifications that it caused stay.
    mutating func rewrite(
        _ old: SandboxPost, _ post: PostRecord, of value: RecordValue, in state: inout SandboxState
    ) -> Entry {
        var entry = entry(of: old, in: state)
        entry.record = value
        entry.cid = ContentID(of: value).text
        entry.createdAt = post.createdAt
        entries[old.id] = entry
        state.rewrite(old.id, text: post.text, language: post.language)
        state.requestOutcome = (.repeated, old.id)
        return entry
    }

    mutating func deletePost(
        _ key: String, of person: Int, in state: inout SandboxState, at date: Date
    ) {
        let address = RecordAddress(people.ids[person], RecordAddress.posts, key)
        guard let post = post(at: address, in: state) else { return }
        // The key stays known, so that an answer to a deleted post can be distinguished from one to
        // a post that never existed.
        state.delete(post.id)
        state.recordRemoval(.post, of: post.id, by: person, at: date)
    }
}

/// Favorites as like records.
extension BlueskyRepository {
    /// The like of a favorite that was not written as a record here; nil if the post is not on
    /// Bluesky.
    mutating func like(for favorite: SandboxFavorite, of person: Int, in state: SandboxState)
        -> Entry?
    {
        if let storedEntry = derivedLikes[favorite.id] { return storedEntry }
        guard let subject = entry(of: favorite.post, in: state) else { return nil }
        let serial = UInt64(max(0, favorite.id))
        // The serial number fills the microseconds below the millisecond, then the 10 bits of the
        // clock's number.
        let (high, low) = serial.quotientAndRemainder(dividingBy: 1_000)
        let key = SandboxIdentity.recordKey(
            microseconds: UInt64(max(0, favorite.createdAt.milliseconds)) * 1_000 + low,
            clock: high % 1_024)
        let like = entry(
            collection: RecordAddress.likes, key: key, by: person,
            record: Self.likeRecord(of: subject.reference, at: favorite.createdAt),
            createdAt: favorite.createdAt)
        derivedLikes[favorite.id] = like
        return like
    }

    private static func likeRecord(of subject: StrongReference, at date: Date) -> RecordValue {
        [
            "$type": .text(RecordAddress.likes), "subject": subject.value,
            "createdAt": .text(date.rfc3339),
        ]
    }

    /// The like of a post by a person; one that was written here is preferred.
    mutating func like(of post: Int64, by person: Int, in state: SandboxState) -> Entry? {
        guard state.isFavorited(post, by: person) else { return nil }
        if let ownKey = likeKeys[person]?[post]?.min() { return likes[person]?[ownKey]?.entry }
        guard let favorite = state.favorites[person]?.last(where: { $0.post == post }) else {
            return nil
        }
        return like(for: favorite, of: person, in: state)
    }

    /// The like with the key, and the liked post.
    mutating func like(named key: String, of person: Int, in state: SandboxState) -> Like? {
        if let storedLike = likes[person]?[key] { return storedLike }
        for favorite in state.favorites[person] ?? [] where !hasLike(of: favorite.post, by: person)
        {
            if let entry = like(for: favorite, of: person, in: state), entry.key == key {
                return (favorite.post, entry)
            }
        }
        return nil
    }

    /// Writes a like, and favorites the post if this is its first like by the person.
    ///
    /// - Throws: `InvalidRequest` unless the subject is the current version of a post.
    mutating func write(
        _ like: LikeRecord, as write: RecordWrite, in state: inout SandboxState, at now: Date
    ) throws(BlueskyRefusal) -> Entry {
        let person = write.person
        let subject = try post(of: like.subject, called: "subject", in: state)
        let isRewritten = likes[person]?[write.key] != nil
        deleteLike(write.key, of: person, in: &state)
        let isNew = state.addFavorite(by: person, of: subject.id, at: now)
        state.recordFavorite(
            of: subject, by: person, isNew: isNew, from: .bluesky, recordKey: key(of: subject.id),
            at: now)
        // A second like of the same post is a further record, unlike one with the same key.
        state.requestOutcome = (isRewritten ? .repeated : .created, subject.id)
        if write.replacesLikes {
            for key in likeKeys[person]?.removeValue(forKey: subject.id) ?? [] {
                likes[person]?[key] = nil
            }
        }
        let entry = entry(
            collection: RecordAddress.likes, key: write.key, by: person, record: write.record,
            createdAt: like.createdAt)
        likes[person, default: [:]][write.key] = (subject.id, entry)
        likeKeys[person, default: [:]][subject.id, default: []].insert(write.key)
        return entry
    }

    /// Removes a like, and with the last like of a post the favorite; returns that post, or nil if
    /// the favorite stays.
    @discardableResult
    mutating func deleteLike(_ key: String, of person: Int, in state: inout SandboxState) -> Int64?
    {
        guard let like = like(named: key, of: person, in: state) else { return nil }
        likes[person]?[key] = nil
        likeKeys[person]?[like.post]?.remove(key)
        guard !hasLike(of: like.post, by: person) else { return nil }
        return state.removeFavorite(by: person, of: like.post) ? like.post : nil
    }

    /// Whether the person has written a like of the post here.
    func hasLike(of post: Int64, by person: Int) -> Bool {
        likeKeys[person]?[post]?.isEmpty == false
    }
}

/// Profiles as records.
extension BlueskyRepository {
    static let profileKey = "self"

    /// The person's profile: the script's until the person writes another.
    ///
    /// The bot's account has no bot label at first, because the bot has to set it itself.
    mutating func profile(of person: Int, in state: SandboxState) -> Profile {
        if let storedEntry = profiles[person] { return storedEntry }
        let scriptPerson = state.people[person]
        let labels =
            (scriptPerson.role == .automated ? ["bot"] : [])
            + (isHidden(person) ? ["!no-unauthenticated"] : [])
        let pinned =
            person == SandboxPopulation.human ? firstPost(of: person, in: state)?.reference : nil
        let profile = ProfileRecord(
            displayName: String(scriptPerson.displayName.prefix(64)),
            description: String(scriptPerson.bio.prefix(256)),
            labels: labels, pinnedPost: pinned)
        var members: [String: RecordValue] = [
            "$type": .text(RecordAddress.profiles), "createdAt": .text(BlueskyCall.epoch.rfc3339),
            "displayName": .text(profile.displayName ?? ""),
            "description": .text(profile.description ?? ""),
        ]
        if !labels.isEmpty { members["labels"] = Self.selfLabels(labels) }
        if let pinned { members["pinnedPost"] = pinned.value }
        let newProfile = (entry: profileEntry(.map(members), of: person), record: profile)
        profiles[person] = newProfile
        return newProfile
    }

    /// Whether the person asks to be hidden from clients without a login: true for people who opt
    /// out of bots, and for the last of the strangers.
    private func isHidden(_ person: Int) -> Bool {
        people.population.people[person].role == .optedOut
            || people.population.indices(of: .stranger).last == person
    }

    private func profileEntry(_ record: RecordValue, of person: Int) -> Entry {
        entry(
            collection: RecordAddress.profiles, key: Self.profileKey, by: person, record: record,
            createdAt: BlueskyCall.epoch)
    }

    mutating func write(_ profile: ProfileRecord, of value: RecordValue, by person: Int) -> Entry {
        let entry = profileEntry(value, of: person)
        profiles[person] = (entry, profile)
        return entry
    }

    private mutating func firstPost(of person: Int, in state: SandboxState) -> Entry? {
        for id in state.postsByAuthor[person] {
            if let post = state.posts[id], post.replyTo == nil, let entry = entry(of: id, in: state)
            {
                return entry
            }
        }
        return nil
    }
}
