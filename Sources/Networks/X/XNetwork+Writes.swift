import Foundation
import Posts
import Transport

/// Publishing and deleting.
extension XNetwork {
    package func publish(_ draft: Draft) async throws -> PublishedPost {
        guard options.mayPublish else {
            throw cannot(
                .publish, "publishing on X is off; read its automation rules, then set X_ACKNOWLEDGE_POLICY=yes")
        }
        guard capabilities.visibilities.contains(draft.visibility) else {
            throw cannot(.publish, "X has no posts for few eyes")
        }
        var call = XCall(operation: .publish, endpoint: .publish, method: .post, path: ["2", "tweets"])
        let parent = try draft.replyTo.map { try id($0, .publish) }
        call.body = try JSONBody.encoded(
            XDraft(text: draft.text, reply: parent.map { XDraft.Reply(parent: $0, excluded: bystanders(of: draft)) }))
        let price = prices.price(ofPublishing: draft.text, isReply: parent != nil)
        let (written, response) = try await paid(call, atMost: price) { written in
            guard let text = written.text else { return price }
            if text.contains(XText.shortLink) { return prices.postCreateWithURL }
            return parent == nil ? prices.postCreate : prices.summonedReply
        }
        guard let address = written.id else {
            throw client.malformed(call, response, detail: "the published post has no id")
        }
        let identity = XID.oldest(of: written.editHistory + [address]) ?? address
        return PublishedPost(
            id: PostID(network: .x, value: identity), address: address,
            createdAt: client.now())
    }

    /// The ids of those whom X must not tell of an answer; one that is no id would make X refuse it all.
    private func bystanders(of draft: Draft) -> [String] {
        draft.bystanders.filter { $0.network == .x && $0 != memory.account?.id && XID.isUsable($0.value) }.map(\.value)
    }

    package func favorite(_ favorite: FavoriteDraft) async throws {
        throw cannot(.favorite, "X does not let software give favorites; give it in the app or browser")
    }

    package func delete(_ address: String) async throws {
        let call = XCall(
            operation: .delete, endpoint: .delete, method: .delete, path: ["2", "tweets", try id(address, .delete)])
        do {
            let (written, response) = try await paid(call, atMost: prices.delete) { _ in prices.delete }
            guard written.isDeleted != false else {
                throw client.malformed(call, response, detail: "the post was not deleted")
            }
        } catch let error as NetworkError where error.code == .notFound {
            return
        }
    }

    package func labelAsBot() async throws {
        throw cannot(
            .labelAccount,
            "only a person can label an account on X: log in as the bot and choose Settings, Your account, "
                + "Account information, Automation, then name the account that runs it")
    }

    /// The answer to a call that changes something, paid for: `price` before, `cost` in the end.
    private func paid(
        _ call: XCall, atMost price: Money, cost: (XWritten) -> Money
    ) async throws -> (XWritten, HTTPResponse) {
        let reservation = try await purse.reserve(price, for: .publish, call)
        do {
            let (answer, response) = try await client.answer(of: XWritten.self, call)
            guard let written = answer.items.first?.value else {
                guard answer.problems.isEmpty else { throw client.refuse(call, response, problems: answer.problems) }
                throw client.malformed(call, response, detail: "the answer does not say what happened")
            }
            await purse.settle(reservation, cost: cost(written))
            return (written, response)
        } catch {
            await purse.settle(reservation, after: error, call)
            throw error
        }
    }
}

/// A draft as the wire wants it; X refuses every field that it does not know.
private struct XDraft: Encodable {
    struct Reply: Encodable {
        let parent: String
        /// Whom the answered post names besides: the answer is not for them, and X would tell them of it.
        let excluded: [String]?

        init(parent: String, excluded: [String]) {
            self.parent = parent
            self.excluded = excluded.isEmpty ? nil : excluded
        }

        private enum CodingKeys: String, CodingKey {
            case parent = "in_reply_to_tweet_id"
            case excluded = "exclude_reply_user_ids"
        }
    }

    let text: String
    let reply: Reply?
}
