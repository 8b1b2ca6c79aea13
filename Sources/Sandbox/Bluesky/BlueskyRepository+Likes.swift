import Foundation
import Posts

/// Favorites as like records.
extension BlueskyRepository {
    /// The like of a favorite that was not made here; nil where Bluesky does not have the post.
    mutating func like(for favorite: SandboxFavorite, of person: Int, in state: SandboxState) -> Entry? {
        if let known = derivedLikes[favorite.id] { return known }
        guard let subject = entry(of: favorite.post, in: state) else { return nil }
        let serial = UInt64(max(0, favorite.id))
        let key = SandboxIdentity.recordKey(
            microseconds: UInt64(max(0, favorite.createdAt.milliseconds)) * 1_000 + serial % 1_000,
            clock: serial / 1_000 & 1_023)
        let like = entry(
            RecordAddress.likes, key, by: person,
            Self.likeRecord(of: subject.reference, at: favorite.createdAt), createdAt: favorite.createdAt)
        derivedLikes[favorite.id] = like
        return like
    }

    private static func likeRecord(of subject: StrongReference, at date: Date) -> RecordValue {
        [
            "$type": .text(RecordAddress.likes), "subject": subject.value, "createdAt": .text(date.rfc3339),
        ]
    }

    /// The like of a post by a person: one written here before one made elsewhere.
    mutating func like(of post: Int64, by person: Int, in state: SandboxState) -> Entry? {
        guard state.isFavorited(post, by: person) else { return nil }
        if let own = likeKeys[person]?[post]?.min() { return likes[person]?[own]?.entry }
        guard let favorite = state.favorites[person]?.last(where: { $0.post == post }) else { return nil }
        return like(for: favorite, of: person, in: state)
    }

    /// The like with the key, and which post it is of.
    mutating func like(named key: String, of person: Int, in state: SandboxState) -> Like? {
        if let own = likes[person]?[key] { return own }
        for favorite in state.favorites[person] ?? [] where !hasLike(of: favorite.post, by: person) {
            if let entry = like(for: favorite, of: person, in: state), entry.key == key {
                return Like(post: favorite.post, entry: entry)
            }
        }
        return nil
    }

    /// Writes a like, and favorites the post if this is the first of it.
    ///
    /// - Throws: `InvalidRequest` unless the subject is a post as it is now.
    mutating func write(
        _ like: LikeRecord, as write: RecordWrite, in state: inout SandboxState, at now: Date
    ) throws(BlueskyRefusal) -> Entry {
        let person = write.person
        let subject = try post(of: like.subject, called: "subject", in: state)
        let isRewritten = likes[person]?[write.key] != nil
        deleteLike(write.key, of: person, in: &state)
        let isNew = state.addFavorite(by: person, of: subject.id, at: now)
        state.recordFavorite(
            of: subject, by: person, isNew: isNew, from: .bluesky, recordKey: key(of: subject.id), at: now)
        // A second record of the same post is a record more, unlike one at the same place.
        state.made = (isRewritten ? .repeated : .created, subject.id)
        if write.replacesLikes {
            for key in likeKeys[person]?.removeValue(forKey: subject.id) ?? [] { likes[person]?[key] = nil }
        }
        let entry = entry(
            RecordAddress.likes, write.key, by: person, write.record, createdAt: like.createdAt)
        likes[person, default: [:]][write.key] = Like(post: subject.id, entry: entry)
        likeKeys[person, default: [:]][subject.id, default: []].insert(write.key)
        return entry
    }

    /// Removes a like, and the favorite with the last of a post.
    mutating func deleteLike(_ key: String, of person: Int, in state: inout SandboxState) {
        guard let like = like(named: key, of: person, in: state) else { return }
        likes[person]?[key] = nil
        likeKeys[person]?[like.post]?.remove(key)
        if !hasLike(of: like.post, by: person) { state.removeFavorite(by: person, of: like.post) }
    }

    /// Whether the person has written a like of the post here.
    func hasLike(of post: Int64, by person: Int) -> Bool {
        !(likeKeys[person]?[post]?.isEmpty ?? true)
    }
}
