import Foundation
import Localization
package import Networks
import Posts
import Transport

extension MastodonNetwork: ProfiledNetwork {
    package func profile() async throws -> AccountProfile {
        let call = NetworkCall(
            operation: .readProfile, path: ["api", "v1", "accounts", "verify_credentials"])
        return try profile(
            try await session.value(MastodonProfile.self, call), try await instance().profileLimits,
            call)
    }

    package func setProfile(_ wanted: AccountProfile, insteadOf known: AccountProfile) async throws
    {
        // The interface has no conditional update.
        let current = try await profile()
        guard current.hasSameText(as: known) else { throw changedMeanwhile() }
        var formFields = [(name: "note", value: wanted.bio)]
        if wanted.fields != known.fields {
            formFields += wanted.fields.enumerated().flatMap { index, field in
                [
                    (name: "fields_attributes[\(index)][name]", value: field.name),
                    (name: "fields_attributes[\(index)][value]", value: field.value),
                ]
            }
        }
        let call = NetworkCall(
            operation: .changeProfile, method: .patch,
            path: ["api", "v1", "accounts", "update_credentials"],
            form: formFields)
        let stored = try profile(
            try await session.value(MastodonProfile.self, call), wanted.limits, call)
        guard stored.hasSameText(as: wanted) else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail: localized(
                    "the server did not take all of it; write it into the profile by hand"))
        }
    }

    /// - Throws: `NetworkError` with code `.capability` if the server, such as Friendica, only
    ///   shows the markup made of the owner's text, which cannot be recovered from it.
    private func profile(
        _ wire: MastodonProfile, _ limits: AccountProfile.Limits, _ call: NetworkCall
    ) throws -> AccountProfile {
        guard let note = wire.note else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail:
                    localized(
                        "the server does not give out the profile as its owner wrote it; change it by hand"
                    )
            )
        }
        return AccountProfile(bio: note, fields: wire.fields, limits: limits, page: wire.page)
    }

    private func changedMeanwhile() -> NetworkError {
        client.error(
            .changeProfile, .conflict, outcome: .notSent,
            detail: localized("the profile was changed meanwhile; try again"))
    }
}

/// The token's own account, with the profile's text as the owner wrote it.
private struct MastodonProfile: Decodable {
    /// Nil if the server does not return it.
    let note: String?
    let fields: [AccountProfile.Field]
    let page: String?

    private struct Field: Decodable {
        let field: AccountProfile.Field

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            field = AccountProfile.Field(
                name: wire.text("name") ?? "", value: wire.text("value") ?? "",
                verified: wire.date("verified_at"))
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let source = wire.object("source")
        note = source?.text("note")
        let shownFields = wire.list(of: Field.self, "fields").map(\.field)
        var fields =
            source?.list(of: Field.self, "fields").map(\.field).filter { !$0.name.isEmpty } ?? []
        for (index, field) in fields.enumerated()
        where field.verified == nil && shownFields.indices.contains(index) {
            fields[index].verified = shownFields[index].verified
        }
        self.fields = fields
        page = wire.text("url")
    }
}
