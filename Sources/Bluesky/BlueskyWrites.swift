import Formats
import Foundation
import Localization
import NetworkNames
package import Networks
import Posts
import Transport

/// Publishing, favoriting and deleting.
extension BlueskyNetwork {
    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        try requireSession(.publish)
        try check(draft)
        let ownDID = try await beforeSending { try await self.ownDIDForChange() }
        let reply = try await beforeSending { try await self.reply(to: draft.replyTo, ownDID) }
        let address = Self.address(
            in: RecordAddress.postCollection, createdAt: draft.createdAt, key: draft.key, of: ownDID
        )
        let (text, facets) = BlueskyFacets.linked(draft.text, words: draft.linkWords)
        let language = draft.language.flatMap { LanguageTag.namesLanguage($0) ? $0 : nil }
        let record = JSONValue.object(leavingOutNil: [
            "$type": .text(RecordAddress.postCollection), "text": .text(text),
            "createdAt": .text(draft.createdAt.rfc3339),
            "langs": language.map { .list([.text($0)]) },
            "facets": facets.isEmpty ? nil : .list(facets.map(\.json)), "reply": reply?.json,
            "labels": draft.warning.map(Self.labels), "embed": try embed(draft.pictures),
        ])
        // The time with the precision that the record has.
        let recordTime = Date(rfc3339: draft.createdAt.rfc3339) ?? draft.createdAt
        let gates = gates.records(for: address, isReply: reply != nil, createdAt: draft.createdAt)
        return Departure {
            let written = try await put(record, at: address, with: gates, .publish) {
                (existing: BlueskyPostRecord) in
                existing.text == text && existing.createdAt == recordTime
                    && existing.reply?.parent.address == reply?.parent.address
            }
            return PublishedPost(
                id: PostID(network: .bluesky, value: address.uri), address: written.text,
                createdAt: recordTime)
        }
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        try requireSession(.favorite)
        let subject = try reference(favorite.address, .favorite)
        let ownDID = try await beforeSending { try await self.ownDIDForChange() }
        let view = try await beforeSending { try await self.view(of: subject.address, .favorite) }
        guard let view else { throw failure(.favorite, .notFound, localized("the post is gone")) }
        guard !view.author.isBlocked else {
            throw failure(.favorite, .forbidden, localized("one account blocks the other"))
        }
        // A post that is already favorited would get a second favorite, so nothing is sent.
        if view.isFavorited == true { return Departure {} }
        let address = Self.address(
            in: RecordAddress.likeCollection, createdAt: favorite.createdAt, key: favorite.key,
            of: ownDID)
        let record = JSONValue.object([
            "$type": .text(RecordAddress.likeCollection), "subject": subject.json,
            "createdAt": .text(favorite.createdAt.rfc3339),
        ])
        return Departure {
            _ = try await put(record, at: address, .favorite) { (existing: BlueskyLikeRecord) in
                existing.subject.address == subject.address
            }
        }
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        try requireSession(.delete)
        let reference = try reference(address, .delete)
        let ownDID = try await beforeSending { try await self.ownDID() }
        guard reference.address.repository == ownDID else {
            throw failure(
                .delete, .rejected, localized("the post is not one of this account"),
                outcome: .notSent)
        }
        let removal = try await remove(reference.address, .delete)
        for gate in gates.records(for: reference.address, isReply: false, createdAt: client.now()) {
            // A gate without its post has no effect, so an error is ignored.
            _ = try? await remove(gate.address, .delete)
        }
        return removal
    }

    /// Deletes the favorite whose record key follows from the draft.
    ///
    /// A favorite that a person gave by hand has another key, and stays.
    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        try requireSession(.unfavorite)
        let ownDID = try await beforeSending { try await self.ownDID() }
        let address = Self.address(
            in: RecordAddress.likeCollection, createdAt: favorite.createdAt, key: favorite.key,
            of: ownDID)
        return try await remove(address, .unfavorite)
    }

    /// Deletes a record of the account.
    ///
    /// The server's answer contains a commit only if there was a record to delete.
    private func remove(
        _ address: RecordAddress, _ operation: NetworkError.Operation
    ) async throws -> Removal {
        let body = [
            "repo": address.repository, "collection": address.collection, "rkey": address.key,
        ]
        let call = NetworkCall(
            operation, "com.atproto.repo.deleteRecord", body: try JSONBody.encoded(body))
        let answer = try await answer(to: call)
        if answer.refusal?.name == "RecordNotFound" { return .gone }
        let response = try answer.response()
        return JSONBody.read(response.body) { $0.isPresent("commit") ? Removal.removed : nil }
            ?? .gone
    }

    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        try requireSession(.upload)
        let call = NetworkCall(
            operation: .upload, method: .post, path: ["xrpc", "com.atproto.repo.uploadBlob"],
            body: picture.bytes,
            type: picture.format.mediaType)
        let answer = try await answer(to: call)
        let blob = JSONBody.decoded([String: JSONValue].self, try answer.response().body)?["blob"]
        guard let blob, BlueskyBlob(blob) != nil else {
            throw answer.malformed(localized("the answer names no file"))
        }
        return (String(decoding: try JSONBody.encoded(blob), as: UTF8.self), true)
    }

    /// Pictures in the form of a record; nil for none.
    private func embed(_ pictures: [PictureReference]) throws -> JSONValue? {
        guard !pictures.isEmpty else { return nil }
        let images = try pictures.map { reference in
            guard let blob = JSONBody.decoded(JSONValue.self, Array(reference.name.utf8)),
                BlueskyBlob(blob) != nil
            else {
                throw failure(
                    .publish, .rejected, localized("a picture is called by no name of Bluesky's"),
                    outcome: .notSent)
            }
            let picture = reference.picture
            let ratio = picture.width.flatMap { width in
                picture.height.map {
                    JSONValue.object([
                        "width": .integer(Int64(width)), "height": .integer(Int64($0)),
                    ])
                }
            }
            return JSONValue.object(leavingOutNil: [
                "alt": .text(picture.alt), "image": blob, "aspectRatio": ratio,
            ])
        }
        return .object(["$type": .text("app.bsky.embed.images"), "images": .list(images)])
    }

    /// Throws an error for a draft that Bluesky would refuse, or would publish in an unwanted form.
    private func check(_ draft: Draft) throws(NetworkError) {
        func refusal(_ code: NetworkError.Code, _ detail: String) -> NetworkError {
            failure(.publish, code, detail, outcome: .notSent)
        }
        guard capabilities.visibilities.contains(draft.visibility) else {
            throw refusal(.capability, localized("everything on Bluesky is public"))
        }
        guard !draft.text.allSatisfy(\.isWhitespace) else {
            throw refusal(.rejected, localized("the text is empty"))
        }
        let limits = PublishingLimits.bluesky
        guard draft.text.count <= limits.maximumCharacters,
            draft.text.utf8.count <= limits.maximumBytes ?? .max
        else {
            throw refusal(
                .tooLong, localized("the text is longer than 300 characters or 3,000 bytes"))
        }
    }

    /// The references of a reply: the answered post, and the first post of the conversation.
    private func reply(to address: String?, _ ownDID: String) async throws -> BlueskyPostRecord
        .Reply?
    {
        guard let address else { return nil }
        let parent = try reference(address, .publish)
        if parent.address.repository == ownDID {
            // A post of the account itself is read from the server of its records, because other
            // servers may not have it yet.
            let listedRecord = try await record(BlueskyPostRecord.self, parent.address, .publish)
            guard let answeredRecord = listedRecord?.value else {
                throw failure(.publish, .notFound, localized("the post to answer is gone"))
            }
            return BlueskyPostRecord.Reply(
                root: answeredRecord.reply?.root ?? parent, parent: parent)
        }
        guard let view = try await view(of: parent.address, .publish) else {
            throw failure(.publish, .notFound, localized("the post to answer is gone"))
        }
        // The server would store a disallowed reply, but show it to nobody.
        guard !view.isReplyDisabled || view.author.did == ownDID, !view.author.isBlocked else {
            throw failure(
                .publish, .forbidden, localized("the author does not let this account answer"))
        }
        return BlueskyPostRecord.Reply(root: view.record.reply?.root ?? parent, parent: parent)
    }

    /// Writes a record that must not exist yet.
    ///
    /// An existing record counts as written if `isOurs` says that it is from the same draft.
    /// Companions are written in the same commit: all records are written, or none.
    private func put<Existing: Decodable & Sendable>(
        _ record: JSONValue, at address: RecordAddress,
        with companions: [(address: RecordAddress, JSONValue)] = [],
        _ operation: NetworkError.Operation, unless isOurs: (Existing) -> Bool
    ) async throws -> RecordReference {
        let call =
            companions.isEmpty
            ? try NetworkCall(operation, putting: record, at: address, insteadOf: nil)
            : try NetworkCall(operation, creating: [(address, record)] + companions)
        let answer = try await answer(to: call)
        if let refusal = answer.refusal,
            refusal.maySayOccupied || !companions.isEmpty && refusal.isUnexplained
        {
            return try await existingReference(at: address, refusal, operation, isOurs)
        }
        let written =
            companions.isEmpty
            ? try answer.value(RecordReference.self)
            : try answer.value(BlueskyWriteResults.self).first
        guard written.address == address else {
            throw answer.malformed(localized("the answer is about another record"))
        }
        return written
    }

    /// Returns the reference of the record that already has the address.
    ///
    /// - Throws: `NetworkError` if there is none, or if it is not from the same draft.
    private func existingReference<Existing: Decodable & Sendable>(
        at address: RecordAddress, _ refusal: BlueskyRefusal, _ operation: NetworkError.Operation,
        _ isOurs: (Existing) -> Bool
    ) async throws -> RecordReference {
        let existingRecord: BlueskyListedRecord<Existing>?
        do {
            existingRecord = try await record(Existing.self, address, operation)
        } catch var error as NetworkError {
            guard refusal.saysOccupied else { throw refusal.error }
            error.outcome = .unknown
            throw error
        }
        guard let existingRecord else { throw refusal.error }
        if existingRecord.value.map(isOurs) == true { return existingRecord.reference }
        var error = refusal.error
        error.code = .rejected
        error.detail = localized("another record has the key that follows from this draft")
        throw error
    }

    /// Runs `work`, which prepares a change; if it fails, the error says that nothing was sent.
    private func beforeSending<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch var error as NetworkError where error.outcome == .unknown {
            error.outcome = .notSent
            throw error
        }
    }

    /// The address of the record for a draft, whose key follows from the draft's time and key.
    private static func address(
        in collection: String, createdAt: Date, key: String, of ownDID: String
    ) -> RecordAddress {
        RecordAddress(
            repository: ownDID, collection: collection,
            key: TimestampID(createdAt: createdAt, key: key).description)
    }
}

/// The answer to a write of several records at once.
private struct BlueskyWriteResults: Decodable {
    let first: RecordReference

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let first = wire.list(of: RecordReference.self, "results").first else {
            throw ShapeError()
        }
        self.first = first
    }
}

/// The account's own label as a bot.
extension BlueskyNetwork {
    private static let selfLabels = "com.atproto.label.defs#selfLabels"
    private static let maximumAttempts = 2

    /// The author's content labels, in the form of a record.
    private static func labels(_ names: String) -> JSONValue {
        .object([
            "$type": .text(selfLabels),
            "values": .list(
                names.split(separator: " ").map { .object(["val": .text(String($0))]) }),
        ])
    }

    package func labelAsBot() async throws {
        try requireSession(.labelAccount)
        let address = try await profileAddress()
        var refusal: BlueskyRefusal?
        for _ in 0..<Self.maximumAttempts {
            let existing = try await record(JSONValue.self, address, .labelAccount)
            // An unreadable profile must not be overwritten as if there were none.
            if let existing, existing.value == nil { throw unknown(.labelAccount) }
            guard let profile = try addingBotLabel(to: existing?.value) else { return }
            let call = try NetworkCall(
                .labelAccount, putting: profile, at: address, insteadOf: existing?.reference.cid)
            let answer = try await answer(to: call)
            guard let newRefusal = answer.refusal, newRefusal.saysOccupied else {
                _ = try answer.response()
                return
            }
            // Another client changed the profile after it was read, so it is read again.
            refusal = newRefusal
        }
        if let refusal { throw refusal.error }
    }

    /// The profile with the label `bot` added; nil if it has the label already.
    private func addingBotLabel(to profile: JSONValue?) throws(NetworkError) -> JSONValue? {
        var fields: [String: JSONValue] = ["$type": .text(RecordAddress.profileCollection)]
        if let profile {
            guard case .object(let existing) = profile else { throw unknown(.labelAccount) }
            fields = existing
        }
        var labelValues: [JSONValue] = []
        switch fields["labels"] {
        case nil, .null: break
        case .object(let labels) where labels["$type"] == .text(Self.selfLabels):
            guard case .list(let existing) = labels["values"] ?? .list([]) else {
                throw unknown(.labelAccount)
            }
            labelValues = existing
        default: throw unknown(.labelAccount)
        }
        let isLabelled = labelValues.contains { value in
            if case .object(let label) = value { return label["val"] == .text("bot") }
            return false
        }
        if isLabelled { return nil }
        labelValues.append(.object(["val": .text("bot")]))
        fields["labels"] = .object(["$type": .text(Self.selfLabels), "values": .list(labelValues)])
        return .object(fields)
    }
}
