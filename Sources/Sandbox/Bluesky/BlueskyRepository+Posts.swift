import Foundation
import Posts

/// Finding, writing and deleting posts.
extension BlueskyRepository {
    /// The number that stands behind an address, whether or not the post is still there.
    func number(of address: RecordAddress) -> Int64? {
        guard address.collection == RecordAddress.posts, let author = people.index(of: address.authority) else {
            return nil
        }
        return written[author]?[address.key] ?? Self.number(ofKey: address.key)
    }

    /// The number whose key the sandbox made.
    private static func number(ofKey key: String) -> Int64? {
        guard RecordSyntax.isTimestampKey(key) else { return nil }
        let letters = Array("234567abcdefghijklmnopqrstuvwxyz".utf8)
        let value = key.utf8.reduce(UInt64(0)) { $0 << 5 | UInt64(letters.firstIndex(of: $1) ?? 0) }
        let (microseconds, clock) = (value >> 10, value & 1_023)
        let id = Int64(microseconds / 1_000) << 16 | Int64(microseconds % 1_000) << 10 | Int64(clock)
        return SandboxIdentity.recordKey(id) == key ? id : nil
    }

    /// The post at an address; nil unless Bluesky has it.
    func post(at address: RecordAddress, in state: SandboxState) -> SandboxPost? {
        guard let id = number(of: address), let post = state.posts[id], shows(post),
            people.index(of: address.authority) == post.author, key(of: id) == address.key
        else { return nil }
        return post
    }

    /// The post that a record refers to.
    ///
    /// - Throws: `InvalidRequest` unless there is one with just this content.
    mutating func post(
        of reference: StrongReference, called name: String, in state: SandboxState
    ) throws(BlueskyRefusal) -> SandboxPost {
        guard let address = RecordAddress(reference.uri), address.collection == RecordAddress.posts,
            RecordSyntax.isDID(address.authority)
        else { throw .invalid("Record/\(name)/uri must be the at-uri of a post, with a did") }
        guard let post = post(at: address, in: state) else {
            let isGone = number(of: address).map(state.deleted.contains) ?? false
            throw .invalid("Record/\(name) does not exist", isExpected: isGone)
        }
        guard entry(of: post, in: state).cid == reference.cid else {
            throw .invalid("Record/\(name)/cid is not that of the post")
        }
        return post
    }

    /// Publishes a post.
    ///
    /// Who answers a post tells its author; who else is told follows from the facets alone. An answer to somebody who
    /// gates the conversation is kept all the same, and judged as if it were heard.
    ///
    /// - Throws: `InvalidRequest` for an answer that misplaces itself.
    mutating func write(
        _ post: PostRecord, of value: RecordValue, key: String, by person: Int, in state: inout SandboxState,
        at now: Date
    ) throws(BlueskyRefusal) -> Entry {
        let parent = try post.reply.map { reply throws(BlueskyRefusal) in try self.parent(of: reply, in: state) }
        let draft = SandboxState.Draft(
            text: post.text, warning: "", isSensitive: !post.labels.isEmpty,
            // Nothing here is less public than the rest; an answer therefore counts as its parent does.
            visibility: parent?.visibility ?? .public, language: post.language, replyTo: parent?.id,
            idempotencyKey: key, network: .bluesky, mentions: post.mentions.compactMap { people.index(of: $0) },
            tellsParent: true)
        let id = state.publish(draft, by: person, at: now).id
        let entry = entry(
            RecordAddress.posts, key, by: person, value, createdAt: post.createdAt,
            reply: post.reply.map { Reply(root: $0.root, parent: $0.parent) })
        entries[id] = entry
        written[person, default: [:]][key] = id
        return entry
    }

    private mutating func parent(
        of reply: (root: StrongReference, parent: StrongReference), in state: SandboxState
    ) throws(BlueskyRefusal) -> SandboxPost {
        let parent = try post(of: reply.parent, called: "reply/parent", in: state)
        let entry = entry(of: parent, in: state)
        guard reply.root == entry.reply?.root ?? entry.reference else {
            throw .invalid("Record/reply/root is not the root of the parent's conversation")
        }
        return parent
    }

    /// Writes another record over a post; what it told people stays told.
    mutating func rewrite(
        _ old: SandboxPost, _ post: PostRecord, of value: RecordValue, in state: inout SandboxState
    ) -> Entry {
        var entry = entry(of: old, in: state)
        entry.record = value
        entry.cid = ContentID(of: value).text
        entry.createdAt = post.createdAt
        entries[old.id] = entry
        state.rewrite(old.id, text: post.text, language: post.language)
        state.made = (.repeated, old.id)
        return entry
    }

    mutating func deletePost(_ key: String, of person: Int, in state: inout SandboxState) {
        let address = RecordAddress(people.dids[person], RecordAddress.posts, key)
        guard let post = post(at: address, in: state) else { return }
        // The key stays known, so that an answer to it is told from one to a post that never was.
        state.delete(post.id)
    }
}
