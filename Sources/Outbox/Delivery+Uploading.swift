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
/// The network's identifier of a picture is stored at once. A crash before that leaves an unused picture there, which
/// networks delete by themselves; a crash after it reuses the picture. The post is sent only after all its pictures are
/// uploaded. While the network processes a picture it is asked again, until the post expires.
extension Delivery {
    /// Seconds after which an unused upload is made again; networks keep one for at least an hour.
    static let uploadLifetime: TimeInterval = 1_800

    /// The result of uploading the pictures of an action.
    enum Uploading {
        /// All pictures are uploaded.
        case there(Action)
        /// The action is postponed, or will not be sent.
        case ended(Action)
    }

    /// Uploads the missing pictures of a claimed action.
    ///
    /// - Parameters:
    ///   - action: The action with its final text.
    /// - Returns: The action with its uploads, or as stored if it will not be sent now.
    /// - Throws: ``OutboxError``; the store's error.
    func uploadPictures(of action: Action, now: @escaping @Sendable () -> Date) async throws -> Uploading {
        guard let wording = action.wording, !wording.pictures.isEmpty else { return .there(action) }
        var action = action
        let begun = now()
        // A picture of another post is of no use, nor one from a time that has not come.
        action.uploads.removeAll { upload in
            upload.source != wording.source
                || !(0..<Self.uploadLifetime).contains(begun.timeIntervalSince(upload.made))
        }
        for place in wording.pictures.indices where !action.uploads.contains(where: { $0.place == place && $0.isReady })
        {
            // Nothing is begun that nobody would see the end of.
            guard now() <= action.expires else { return .there(action) }
            let outcome = await deliverer.upload(place, of: action)
            onUpload(.answered)
            guard case .uploaded(let reference, let isReady) = outcome else {
                return .ended(try await store(action.id, change(for: outcome, of: action, at: now())))
            }
            let made = action.uploads.first { $0.place == place && $0.reference == reference }?.made ?? now()
            action.uploads.removeAll { $0.place == place }
            action.uploads.append(
                Action.Upload(source: wording.source, place: place, reference: reference, made: made, isReady: isReady))
            let noted = action
            _ = try await store(action.id) { [store] in try await store.noteUploads(noted, now: now()) }
            onUpload(.stored)
            guard isReady else {
                let wait = UploadOutcome.notSent(reason: Action.Reason.processing, cause: .conflict, retryAfter: nil)
                return .ended(try await store(action.id, change(for: wait, of: action, at: now())))
            }
        }
        return .there(action)
    }

    /// Returns the change of an action that follows from a failed upload.
    private func change(
        for outcome: UploadOutcome, of action: Action, at time: Date
    ) -> DeliveryMemory.Change {
        let store = store
        switch outcome {
        case .notSent(let reason, let cause, let asked):
            return anotherTry(of: action, reason, cause, asked: asked, at: time)
        case .refused(let reason, let detail):
            return {
                try await store.end(action, as: .skipped, reason: reason, outcome: detail ?? reason, now: time)
            }
        case .uploaded: return { try await store.noteUploads(action, now: time) }
        }
    }
}
