import Foundation
import Posts

/// Profiles as records.
extension BlueskyRepository {
    static let profileKey = "self"

    /// The person's profile: the script's until they write their own.
    ///
    /// The bot does not say yet that it is one: to say so is its own business.
    mutating func profile(of person: Int, in state: SandboxState) -> Profile {
        if let known = profiles[person] { return known }
        let somebody = state.people[person]
        let labels =
            (somebody.role == .automated ? ["bot"] : [])
            + (people.hidden.contains(person) ? ["!no-unauthenticated"] : [])
        let pinned = person == SandboxPopulation.human ? firstPost(of: person, in: state)?.reference : nil
        let profile = ProfileRecord(
            displayName: String(somebody.displayName.prefix(64)), description: String(somebody.bio.prefix(256)),
            labels: labels, pinnedPost: pinned)
        var members: [String: RecordValue] = [
            "$type": .text(RecordAddress.profiles), "createdAt": .text(BlueskyAccounts.epoch.rfc3339),
            "displayName": .text(profile.displayName ?? ""), "description": .text(profile.description ?? ""),
        ]
        if !labels.isEmpty { members["labels"] = Self.selfLabels(labels) }
        if let pinned { members["pinnedPost"] = pinned.value }
        let made = Profile(entry: profileEntry(.map(members), of: person), record: profile)
        profiles[person] = made
        return made
    }

    private func profileEntry(_ record: RecordValue, of person: Int) -> Entry {
        entry(
            RecordAddress.profiles, Self.profileKey, by: person, record, createdAt: BlueskyAccounts.epoch)
    }

    mutating func write(_ profile: ProfileRecord, of value: RecordValue, by person: Int) -> Entry {
        let entry = profileEntry(value, of: person)
        profiles[person] = Profile(entry: entry, record: profile)
        return entry
    }

    private mutating func firstPost(of person: Int, in state: SandboxState) -> Entry? {
        for id in state.postsByAuthor[person] {
            if let post = state.posts[id], post.replyTo == nil, let entry = entry(of: id, in: state) { return entry }
        }
        return nil
    }
}
