package import Foundation
import Posts
import Transport

/// What an account says of itself, as its owner wrote it.
package struct AccountProfile: Equatable, Sendable {
    /// A row of the table beside the bio.
    package struct Field: Codable, Equatable, Sendable {
        package var name: String
        package var value: String
        /// When the server found that the page behind the value links back to the account.
        package var verified: Date?

        package init(name: String, value: String, verified: Date? = nil) {
            (self.name, self.value, self.verified) = (name, value, verified)
        }
    }

    /// How much fits in.
    package struct Limits: Equatable, Sendable {
        /// Characters of the bio: code points on the Mastodon family, graphemes on Bluesky.
        package var bio: Int
        /// Bytes of the bio in UTF-8; nil where they are not counted.
        package var bioBytes: Int?
        /// Rows of the table; 0 where there is none.
        package var fields: Int
        /// Characters of a name or a value in it.
        package var field: Int

        /// Whether a bio is short enough, as strictly as any server of the network counts.
        package func hold(bio text: String) -> Bool {
            let count = bioBytes == nil ? text.unicodeScalars.count : text.count
            return count <= bio && text.utf8.count <= bioBytes ?? .max
        }
    }

    /// Without markup.
    package var bio: String
    package var fields: [Field]
    package var limits: Limits
    /// The page of the account for browsers; nil if the network does not tell.
    package var page: String?
}

/// A network on which a program may read and change what an account says of itself.
package protocol ProfiledNetwork: SocialNetwork {
    /// What the account says of itself, freshly asked.
    func profile() async throws -> AccountProfile

    /// Changes the bio and the table, and nothing else.
    ///
    /// - Parameters:
    ///   - known: What it was when `wanted` was made of it.
    /// - Throws: ``NetworkError`` with code `.conflict` if somebody else changed it in between, as far as the network
    ///   lets one see that; nothing is changed then.
    func setProfile(_ wanted: AccountProfile, insteadOf known: AccountProfile) async throws
}

extension MastodonNetwork: ProfiledNetwork {
    package func profile() async throws -> AccountProfile {
        let call = NetworkCall(
            operation: .readProfile, path: ["api", "v1", "accounts", "verify_credentials"])
        return try profile(
            try await session.value(MastodonProfile.self, call), try await instance().profileLimits, call)
    }

    package func setProfile(_ wanted: AccountProfile, insteadOf known: AccountProfile) async throws {
        // The interface has no way to do both at once.
        let current = try await profile()
        guard current.isText(of: known) else { throw changedMeanwhile() }
        var form = [(name: "note", value: wanted.bio)]
        if wanted.fields != known.fields {
            form += wanted.fields.enumerated().flatMap { index, field in
                [
                    (name: "fields_attributes[\(index)][name]", value: field.name),
                    (name: "fields_attributes[\(index)][value]", value: field.value),
                ]
            }
        }
        let call = NetworkCall(
            operation: .changeProfile, method: .patch, path: ["api", "v1", "accounts", "update_credentials"],
            form: form)
        let stored = try profile(try await session.value(MastodonProfile.self, call), wanted.limits, call)
        guard stored.isText(of: wanted) else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail: "the server did not take all of it; write it into the profile by hand")
        }
    }

    /// - Throws: ``NetworkError`` with code `.capability` where the server, such as Friendica, only shows what it made of the
    ///   owner's words: those cannot be made again of markup.
    private func profile(
        _ wire: MastodonProfile, _ limits: AccountProfile.Limits, _ call: NetworkCall
    ) throws -> AccountProfile {
        guard let note = wire.note else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail: "the server does not give out the profile as its owner wrote it; change it by hand")
        }
        return AccountProfile(bio: note, fields: wire.fields, limits: limits, page: wire.page)
    }

    private func changedMeanwhile() -> NetworkError {
        client.error(
            .changeProfile, .conflict, outcome: .notSent, detail: "somebody changed the profile meanwhile; try again")
    }
}

extension AccountProfile {
    /// Whether both say the same, but for white space at the ends, which servers take away.
    fileprivate func isText(of other: AccountProfile) -> Bool {
        func trimmed(_ text: String) -> String {
            text.replacing("\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return trimmed(bio) == trimmed(other.bio)
            && fields.map { [trimmed($0.name), trimmed($0.value)] }
                == other.fields.map { [trimmed($0.name), trimmed($0.value)] }
    }
}

/// The token's own account with what its owner wrote.
private struct MastodonProfile: Decodable {
    /// Nil where the server does not tell it.
    let note: String?
    let fields: [AccountProfile.Field]
    let page: String?

    private struct Field: Decodable {
        let field: AccountProfile.Field

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            field = AccountProfile.Field(
                name: wire.text("name") ?? "", value: wire.text("value") ?? "", verified: wire.date("verified_at"))
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let source = wire.object("source")
        note = source?.text("note")
        let shown = wire.list(of: Field.self, "fields").map(\.field)
        var fields = source?.list(of: Field.self, "fields").map(\.field).filter { !$0.name.isEmpty } ?? []
        for (index, field) in fields.enumerated() where field.verified == nil && shown.indices.contains(index) {
            fields[index].verified = shown[index].verified
        }
        self.fields = fields
        page = wire.text("url")
    }
}

extension BlueskyNetwork: ProfiledNetwork {
    /// The lexicon of `app.bsky.actor.profile`.
    private static let profileLimits = AccountProfile.Limits(bio: 256, bioBytes: 2_560, fields: 0, field: 0)
    private static let bioField = "description"

    package func profile() async throws -> AccountProfile {
        let home = try await home()
        let record = try await record(JSONValue.self, try await profileAddress(), .readProfile)
        if let record, record.value == nil { throw unknown(.readProfile) }
        var bio = ""
        if case .object(let fields) = record?.value, case .text(let text) = fields[Self.bioField] { bio = text }
        return AccountProfile(
            bio: bio, fields: [], limits: Self.profileLimits, page: "https://bsky.app/profile/\(home)")
    }

    package func setProfile(_ wanted: AccountProfile, insteadOf known: AccountProfile) async throws {
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
        guard bio == known.bio else { throw changedMeanwhile() }
        fields[Self.bioField] = .text(wanted.bio)
        let call = try NetworkCall(
            .changeProfile, putting: .object(fields), at: address, insteadOf: existing?.reference.cid)
        let answer = try await answer(to: call)
        if let refusal = answer.refusal, refusal.saysOccupied { throw changedMeanwhile() }
        _ = try answer.response()
    }

    func profileAddress() async throws -> RecordAddress {
        RecordAddress(repository: try await home(), collection: RecordAddress.profileCollection, key: "self")
    }

    private func changedMeanwhile() -> NetworkError {
        failure(.changeProfile, .conflict, "somebody changed the profile meanwhile; try again", outcome: .notSent)
    }

    /// The error for a profile of another form than the one that is known.
    func unknown(_ operation: NetworkError.Operation) -> NetworkError {
        failure(
            operation, .rejected, "the profile has a form that is not known, and must not be lost", outcome: .notSent)
    }
}
