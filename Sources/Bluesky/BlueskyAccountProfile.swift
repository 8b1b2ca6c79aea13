import Formats
import Foundation
import Localization
package import Networks
import Posts
import Transport

extension BlueskyNetwork: ProfiledNetwork {
    /// The limits in the lexicon of `app.bsky.actor.profile`.
    private static let profileLimits = AccountProfile.Limits(
        bio: 256, bioBytes: 2_560, fields: 0, field: 0)
    private static let bioField = "description"

    package func profile() async throws -> AccountProfile {
        let ownDID = try await ownDID()
        let record = try await record(JSONValue.self, try await profileAddress(), .readProfile)
        if let record, record.value == nil { throw unknown(.readProfile) }
        var bio = ""
        if case .object(let fields) = record?.value, case .text(let text) = fields[Self.bioField] {
            bio = text
        }
        return AccountProfile(
            bio: bio, fields: [], limits: Self.profileLimits,
            page: "https://bsky.app/profile/\(ownDID)")
    }

    package func setProfile(_ newProfile: AccountProfile, insteadOf knownProfile: AccountProfile)
        async throws
    {
        try requireSession(.changeProfile)
        let address = try await profileAddress()
        let existing = try await record(JSONValue.self, address, .changeProfile)
        var fields: [String: JSONValue] = ["$type": .text(RecordAddress.profileCollection)]
        if let existing {
            guard case .object(let members) = existing.value else { throw unknown(.changeProfile) }
            fields = members
        }
        var bio = ""
        if case .text(let text) = fields[Self.bioField] { bio = text }
        guard bio == knownProfile.bio else { throw changedMeanwhile() }
        fields[Self.bioField] = .text(newProfile.bio)
        let call = try NetworkCall(
            .changeProfile, putting: .object(fields), at: address,
            insteadOf: existing?.reference.cid)
        let answer = try await answer(to: call)
        if let refusal = answer.refusal, refusal.saysOccupied { throw changedMeanwhile() }
        _ = try answer.response()
    }

    func profileAddress() async throws -> RecordAddress {
        RecordAddress(
            repository: try await ownDID(), collection: RecordAddress.profileCollection, key: "self"
        )
    }

    private func changedMeanwhile() -> NetworkError {
        failure(
            .changeProfile, .conflict, localized("the profile was changed meanwhile; try again"),
            outcome: .notSent)
    }

    /// The error for a profile of an unknown form.
    func unknown(_ operation: NetworkError.Operation) -> NetworkError {
        failure(
            operation, .rejected,
            localized("the profile has a form that is not known, and must not be lost"),
            outcome: .notSent)
    }
}
