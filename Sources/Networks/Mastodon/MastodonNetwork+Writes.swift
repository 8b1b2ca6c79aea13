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
        if let address = draft.replyTo { try await requireAnswered(address, call) }
        call.headers = [("Idempotency-Key", draft.key)]
        call.body = .json(try body(of: draft, call))
        let response = try await session.send(call)
        let status = try client.decode(MastodonStatus.self, from: response, call)
        guard let identity = MastodonTranslator.identity(of: status) else {
            throw client.malformed(call, response, detail: "the published post has no address")
        }
        return PublishedPost(
            id: PostID(network: .mastodon, value: identity), address: status.id,
            createdAt: status.createdAt ?? client.now(),
            // It is out all the same: sending it again would say it twice, and who is named has been notified.
            isMisplaced: draft.replyTo != nil && status.inReplyToID == nil)
    }

    package func favorite(_ favorite: FavoriteDraft) async throws {
        let call = MastodonCall(
            operation: .favorite, method: .post,
            path: try path(.favorite, "statuses", favorite.address, "favourite"), body: .empty)
        _ = try await session.value(MastodonStatus.self, call)
    }

    package func delete(_ address: String) async throws {
        let call = MastodonCall(
            operation: .delete, method: .delete, path: try path(.delete, "statuses", address))
        do {
            _ = try await session.send(call)
        } catch var error as NetworkError where error.status == 404 || error.status == 410 {
            // Gone already, if the server says so, unless it has no way to delete, as one of them.
            guard try await status(address) != nil else { return }
            error.code = .capability
            throw error
        }
    }

    package func labelAsBot() async throws {
        // As a form: one server reads a flag only where it is text. The second name is Pleroma's.
        let call = MastodonCall(
            operation: .labelAccount, method: .patch, path: ["api", "v1", "accounts", "update_credentials"],
            body: .form([("bot", "true"), ("actor_type", "Service")]))
        let account: MastodonAccount
        do {
            account = try await session.value(MastodonAccount.self, call)
        } catch var error as NetworkError where error.status == 404 {
            error.code = .capability
            throw error
        }
        guard account.isBot else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail: "the server has no such mark for this account; say in its profile that it is automated")
        }
    }

    /// Makes sure that the answered post is there, on servers that would publish a reply to a post that is gone as a
    /// post of its own.
    private func requireAnswered(_ address: String, _ call: MastodonCall) async throws {
        guard memory.lastInstance?.software.refusesLostReplies != true else { return }
        let isThere: Bool
        do {
            isThere = try await status(address) != nil
        } catch var error as NetworkError {
            if error.outcome == .unknown { error.outcome = .notSent }
            throw error
        }
        guard isThere else {
            throw client.error(call, .notFound, outcome: .refused, detail: "the answered post is gone")
        }
    }

    private func body(of draft: Draft, _ call: MastodonCall) throws -> [UInt8] {
        let wire = MastodonDraft(
            status: draft.text, inReplyToID: draft.replyTo, visibility: draft.visibility.rawValue,
            language: draft.language.flatMap { LanguageTag.namesLanguage($0) ? $0 : nil })
        return try JSONBody.encoded(wire)
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
