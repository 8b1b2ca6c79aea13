package import Foundation

/// Deviations of a Bluesky server from the reference implementation.
package struct BlueskyHabits: Equatable, Sendable {
    /// The form of an error response.
    package enum ErrorForm: String, CaseIterable, Sendable {
        /// The error is an object with `error` and `message`, as in the protocol.
        case xrpc
        /// The error is the name and the message in a line of text.
        case plainText
        /// The error is a page of the proxy in front of the server.
        case html
        /// The error is only a status.
        case empty
    }

    /// The form of refusals; their status stays the same.
    package var errorForm = ErrorForm.xrpc
    /// Seconds for which an access token is valid, including tokens that were already issued.
    package var accessTokenLifetime: TimeInterval = 7_200
    /// Whether a refresh revokes the old pair at once; the reference server keeps the old refresh
    /// token for two more hours.
    package var revokesOldTokens = false
    /// Whether `createRecord` with a used key is refused with 400 `already exists`; the reference
    /// server only answers 500.
    package var refusesUsedKeyAs400 = false
    /// Whether an empty page with a cursor precedes every page of a list.
    package var sendsEmptyPages = false
    /// Whether the timeline returns a third of the requested number.
    package var shortensTimeline = false
    /// Whether every page of the timeline contains its items twice.
    package var repeatsTimelineItems = false
    /// Whether every fourth post of other people claims to be older than it is, and is sorted by
    /// that time.
    ///
    /// This affects only posts that were not shown yet, because a record does not change once it
    /// was seen.
    package var backdatesRecords = false
    /// Whether `getPosts` omits about half of the posts, always the same ones.
    package var omitsPosts = false

    package init() {}
}

extension SandboxFault {
    /// An error as a Bluesky server reports it.
    package static func xrpc(
        status: Int, error: String, message: String = "", headers: [String: String] = [:]
    ) -> SandboxFault {
        .answer(
            status: status, contentType: "application/json; charset=utf-8",
            body: String(
                decoding: BlueskyRefusal(status, error, message).body.bytes, as: UTF8.self),
            headers: headers)
    }
}
