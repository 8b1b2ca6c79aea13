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
        if let own = likes[person]?.values.filter({ $0.post == post }).min(by: { $0.entry.key < $1.entry.key }) {
            return own.entry
        }
        guard let favorite = state.favorites[person]?.last(where: { $0.post == post }) else { return nil }
        return like(for: favorite, of: person, in: state)
    }

    /// The like with the key, and which post it is of.
    mutating func like(named key: String, of person: Int, in state: SandboxState) -> Like? {
        if let own = likes[person]?[key] { return own }
        let own = Set((likes[person] ?? [:]).values.map(\.post))
        for favorite in state.favorites[person] ?? [] where !own.contains(favorite.post) {
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
        deleteLike(write.key, of: person, in: &state)
        let isNew = state.addFavorite(by: person, of: subject.id, at: now)
        if person == SandboxPopulation.bot { state.recordFavorite(of: subject, isNew: isNew, at: now) }
        if write.replacesLikes { likes[person] = likes[person]?.filter { $0.value.post != subject.id } }
        let entry = entry(
            RecordAddress.likes, write.key, by: person, write.record, createdAt: like.createdAt)
        likes[person, default: [:]][write.key] = Like(post: subject.id, entry: entry)
        return entry
    }

    /// Removes a like, and the favorite with the last of a post.
    mutating func deleteLike(_ key: String, of person: Int, in state: inout SandboxState) {
        guard let like = like(named: key, of: person, in: state) else { return }
        likes[person]?[key] = nil
        if !(likes[person] ?? [:]).values.contains(where: { $0.post == like.post }) {
            state.removeFavorite(by: person, of: like.post)
        }
    }
}
