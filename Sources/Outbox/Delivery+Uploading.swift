import Foundation
import Posts

/// A point in the delivery of an action's pictures.
package enum UploadStep: String, CaseIterable, Sendable {
    /// The network has a picture, and nothing of that is stored.
    case answered
    case stored
}

/// Giving the network the pictures that go along with a post, before the post.
///
/// What the network calls a picture is stored as soon as it says so. A crash before that leaves a picture there that is
/// in no post, which networks forget by themselves; after it the same picture is used. The post itself does not leave
/// before all its pictures are there, and then goes the way of every other: once. A network that takes its time to look
/// through a picture is asked again a little later, as long as the post may leave.
extension Delivery {
    /// How long a picture that is in no post yet is used, in seconds: the networks keep one for an hour at least.
    static let uploadLifetime: TimeInterval = 1_800

    /// What has become of an action whose pictures were to be uploaded.
    enum Uploading {
        /// All are at the network.
        case there(Action)
        /// It waits for another time, or will not be sent.
        case ended(Action)
    }

    /// Uploads the pictures of a claimed action that the network does not have yet.
    ///
    /// - Parameters:
    ///   - action: With its final text.
    /// - Returns: The action with its uploads, or as it is stored then.
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

    /// What it means for an action that a picture of it is not at the network.
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
