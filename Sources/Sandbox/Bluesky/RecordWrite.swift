import Foundation

/// A record on its way into a repository, its form checked.
struct RecordWrite {
    enum Content {
        case post(PostRecord)
        case like(LikeRecord)
        case profile(ProfileRecord)
    }

    var collection: String
    var key: String
    var record: RecordValue
    var person: Int
    var content: Content
    /// A like takes the place of earlier ones of the same post.
    var replacesLikes = false

    /// The collection must be one of those that are kept.
    ///
    /// - Throws: `InvalidRequest` for a key or a record that the collection does not allow.
    init(collection: String, key: String, record: RecordValue, by person: Int) throws(BlueskyRefusal) {
        self.collection = collection
        self.key = key
        self.record = record
        self.person = person
        if collection == RecordAddress.profiles {
            guard key == BlueskyRepository.profileKey else {
                throw .invalid("Invalid record key for \(collection): expected self")
            }
            content = .profile(try ProfileRecord(record))
            return
        }
        guard RecordSyntax.isTimestampKey(key) else {
            throw .invalid("Invalid record key for \(collection): expected a tid")
        }
        content =
            collection == RecordAddress.posts ? .post(try PostRecord(record)) : .like(try LikeRecord(record))
    }
}

extension BlueskyRepository {
    /// The number of the post that is at the place, or of which there is a like; nil where neither is.
    mutating func post(of write: RecordWrite, in state: SandboxState) -> Int64? {
        switch write.content {
        case .post: number(of: RecordAddress(people.dids[write.person], write.collection, write.key))
        case .like: like(named: write.key, of: write.person, in: state)?.post
        case .profile: nil
        }
    }

    /// The record at a place.
    mutating func entry(at key: String, _ collection: String, of person: Int, in state: SandboxState) -> Entry? {
        switch collection {
        case RecordAddress.posts:
            let address = RecordAddress(people.dids[person], collection, key)
            return post(at: address, in: state).map { entry(of: $0, in: state) }
        case RecordAddress.likes: return like(named: key, of: person, in: state)?.entry
        case RecordAddress.profiles: return key == Self.profileKey ? profile(of: person, in: state).entry : nil
        default: return nil
        }
    }

    /// Writes the record at its place, whatever was there.
    ///
    /// - Throws: `InvalidRequest` where it refers to what is not there.
    mutating func apply(_ write: RecordWrite, in state: inout SandboxState, at now: Date) throws(BlueskyRefusal)
        -> Entry
    {
        switch write.content {
        case .post(let post):
            let address = RecordAddress(people.dids[write.person], write.collection, write.key)
            if let old = self.post(at: address, in: state) {
                return rewrite(old, post, of: write.record, in: &state)
            }
            return try self.write(post, of: write.record, key: write.key, by: write.person, in: &state, at: now)
        case .like(let like):
            return try self.write(like, as: write, in: &state, at: now)
        case .profile(let profile):
            return self.write(profile, of: write.record, by: write.person)
        }
    }
}
