import Foundation
import Posts

/// A point in the delivery of an action's pictures.
package enum UploadStep: String, CaseIterable, Sendable {
    /// The network has a picture, which is not stored yet.
    case answered
    case stored
}

/// Uploading the pictures of a post before the post.
///
/// The network's identifier of a picture is stored at once. A crash before that leaves an unused
/// picture, which networks delete automatically; a crash after it reuses the picture. The post is
/// sent only after all its pictures are uploaded. While the network processes a picture it is asked
/// again, until the post expires.
extension Delivery {
    /// Seconds after which an unused picture is uploaded again; networks keep unused ones for at
    /// least an hour.
    static let uploadLifetime: TimeInterval = 1_800

    /// The result of uploading the pictures of an action.
    enum Uploading {
        /// All pictures are uploaded. Holds the action with its final text and uploads, and its
        /// current claim.
        case complete(Action, Claimed)
        /// The action is postponed, or will not be sent.
        case ended(Action)
    }

    /// Uploads the missing pictures of a claimed action.
    ///
    /// - Parameters:
    ///   - final: The action with its final text.
    ///   - claimed: The claimed action.
    /// - Returns: The action with its uploads, or as stored if it will not be sent now.
    /// - Throws: ``OutboxError``; the store's error.
    func uploadPictures(
        of final: Action, _ claimed: Claimed, now: @escaping @Sendable () -> Date
    ) async throws -> Uploading {
        guard let wording = final.wording, !wording.pictures.isEmpty else {
            return .complete(final, claimed)
        }
        var action = final
        var claimed = claimed
        let startTime = now()
        // Pictures of another post are dropped, and so are those with a time in the future.
        action.uploads.removeAll { upload in
            upload.source != wording.source
                || !(0..<Self.uploadLifetime).contains(startTime.timeIntervalSince(upload.made))
        }
        for place in wording.pictures.indices
        where !action.uploads.contains(where: { $0.place == place && $0.isReady }) {
            // After the expiry no upload is begun.
            guard now() <= action.expires else { return .complete(action, claimed) }
            let outcome = await deliverer.upload(place, of: action)
            onUpload(.answered)
            let reference: String
            let isReady: Bool
            switch outcome {
            case .notSent(let reason, let cause, let retryAfter):
                let change = postponement(
                    of: claimed, reason, cause, retryAfter: retryAfter, at: now())
                return .ended(try await store(claimed.id, change))
            case .refused(let reason, let detail):
                return .ended(try await refuse(claimed, reason, detail, at: now()))
            case .uploaded(let uploaded, let isProcessed):
                reference = uploaded
                isReady = isProcessed
            }
            let made =
                action.uploads.first { $0.place == place && $0.reference == reference }?.made
                ?? now()
            action.uploads.removeAll { $0.place == place }
            action.uploads.append(
                Action.Upload(
                    source: wording.source, place: place, reference: reference, made: made,
                    isReady: isReady))
            claimed = try await note(action.uploads, of: claimed, now: now)
            onUpload(.stored)
            guard isReady else {
                let change = postponement(
                    of: claimed, .outbox(.processing), .conflict, retryAfter: nil, at: now())
                return .ended(try await store(claimed.id, change))
            }
        }
        return .complete(action, claimed)
    }

    /// Stores the uploads, or keeps the change in memory until the database is available.
    private func note(
        _ uploads: [Action.Upload], of claimed: Claimed, now: @escaping @Sendable () -> Date
    ) async throws -> Claimed {
        let storeUploads: @Sendable () async throws -> Claimed = { [store] in
            try await store.noteUploads(uploads, of: claimed, now: now())
        }
        return try await store(
            claimed.id, orLater: { try await storeUploads().action }, storeUploads)
    }

    /// Skips an action whose picture is gone or not acceptable.
    private func refuse(_ claimed: Claimed, _ reason: ReasonCode, _ detail: String?, at time: Date)
        async throws -> Action
    {
        try await store(claimed.id) { [store] in
            try await store.end(
                claimed, as: .skipped, reason: reason, outcome: detail ?? reason.rawValue, now: time
            )
        }
    }
}
