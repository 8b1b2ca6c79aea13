import Foundation
import Posts
import Transport

/// Saying of itself that it is a bot.
extension BlueskyNetwork {
    private static let selfLabels = "com.atproto.label.defs#selfLabels"
    private static let maximumAttempts = 2

    package func labelAsBot() async throws {
        try requireSession(.labelAccount)
        let home = try await home()
        let address = RecordAddress(
            repository: home.did, collection: RecordAddress.profileCollection, key: "self")
        var refusal: BlueskyRefusal?
        for _ in 0..<Self.maximumAttempts {
            let existing = try await record(JSONValue.self, address, .labelAccount)
            // A profile that cannot be read must not be taken for none.
            if let existing, existing.value == nil { throw unknownProfile() }
            guard let profile = try labelled(existing?.value) else { return }
            let put = BlueskyPut(address: address, record: profile, replaced: existing?.reference.cid)
            let call = BlueskyCall(
                .labelAccount, "com.atproto.repo.putRecord", body: try JSONBody.encoded(put))
            let (answer, _) = try await answer(to: call)
            guard case .refusal(let no) = answer, no.saysOccupied else {
                _ = try answer.response()
                return
            }
            // Somebody changed the profile in between.
            refusal = no
        }
        if let refusal { throw refusal.error }
    }

    /// The profile with the label and everything else as it was; nil if it has the label already.
    private func labelled(_ profile: JSONValue?) throws(NetworkError) -> JSONValue? {
        var fields: [String: JSONValue] = ["$type": .text(RecordAddress.profileCollection)]
        if let profile {
            guard case .object(let existing) = profile else { throw unknownProfile() }
            fields = existing
        }
        var values: [JSONValue] = []
        switch fields["labels"] {
        case nil, .null: break
        case .object(let labels) where labels["$type"] == .text(Self.selfLabels):
            guard case .list(let existing) = labels["values"] ?? .list([]) else { throw unknownProfile() }
            values = existing
        default: throw unknownProfile()
        }
        let isLabelled = values.contains { value in
            if case .object(let label) = value { return label["val"] == .text("bot") }
            return false
        }
        if isLabelled { return nil }
        values.append(.object(["val": .text("bot")]))
        fields["labels"] = .object(["$type": .text(Self.selfLabels), "values": .list(values)])
        return .object(fields)
    }

    private func unknownProfile() -> NetworkError {
        failure(
            .labelAccount, .rejected, "the profile has a form that is not known, and must not be lost",
            outcome: .notSent)
    }
}
