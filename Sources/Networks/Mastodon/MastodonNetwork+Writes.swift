import Foundation
import Posts
import Transport

/// Publishing and favoriting.
extension MastodonNetwork {
    package func publish(_ draft: Draft) async throws -> PublishedPost {
        var call = MastodonCall(operation: .publish, method: .post, path: ["api", "v1", "statuses"])
        guard Self.isKey(draft.key) else {
            throw client.error(
                call, .rejected, outcome: .notSent, detail: "the draft's key is not 1 through 64 letters and digits")
        }
        if let address = draft.replyTo, !MastodonID.isUsable(address) {
            throw client.error(
                call, .rejected, outcome: .notSent, detail: "the answered post's address is not an id of this server")
        }
        call.headers = [("Idempotency-Key", draft.key)]
        call.body = try body(of: draft, call)
        let response = try await client.send(call)
        let status = try client.decode(MastodonStatus.self, from: response, call)
        guard let identity = MastodonTranslator.identity(of: status) else {
            throw client.malformed(call, response, detail: "the published post has no address")
        }
        return PublishedPost(
            id: PostID(network: .mastodon, value: identity), address: status.id,
            createdAt: status.createdAt ?? client.now())
    }

    package func favorite(_ favorite: FavoriteDraft) async throws {
        let call = MastodonCall(
            operation: .favorite, method: .post,
            path: try path(.favorite, "statuses", favorite.address, "favourite"), body: [])
        _ = try await client.value(MastodonStatus.self, call)
    }

    package func delete(_ address: String) async throws {
        let call = MastodonCall(
            operation: .delete, method: .delete, path: try path(.delete, "statuses", address))
        do {
            _ = try await client.send(call)
        } catch let error as NetworkError where error.code == .notFound {
            return
        }
    }

    package func labelAsBot() async throws {
        let call = MastodonCall(
            operation: .labelAccount, method: .patch, path: ["api", "v1", "accounts", "update_credentials"],
            body: Array(#"{"bot":true}"#.utf8))
        _ = try await client.send(call)
    }

    private func body(of draft: Draft, _ call: MastodonCall) throws -> [UInt8] {
        let wire = MastodonDraft(
            status: draft.text, inReplyToID: draft.replyTo, visibility: draft.visibility.rawValue,
            language: draft.language.flatMap { LanguageTag.namesLanguage($0) ? $0 : nil })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(wire))
    }

    /// What may stand in a header without harm.
    private static func isKey(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }
}

/// A draft as the wire wants it; what is nil is left out, since some servers refuse null.
private struct MastodonDraft: Encodable {
    let status: String
    let inReplyToID: String?
    let visibility: String
    let language: String?

    private enum CodingKeys: String, CodingKey {
        case status, visibility, language
        case inReplyToID = "in_reply_to_id"
    }
}
