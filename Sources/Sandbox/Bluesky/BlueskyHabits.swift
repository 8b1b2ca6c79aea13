package import Foundation

/// Deviations of a Bluesky server from the reference implementation that refuse nothing.
package struct BlueskyHabits: Equatable, Sendable {
    /// The form of an error response.
    package enum ErrorForm: String, CaseIterable, Sendable {
        /// An object with `error` and `message`, as in the protocol.
        case xrpc
        /// Name and message as a line of text.
        case plainText
        /// A page of the proxy in front of the server.
        case html
        /// Only a status.
        case empty
    }

    /// The form of refusals; their status stays the same.
    package var errorForm = ErrorForm.xrpc
    /// Seconds for which an access token is valid, including tokens that were already issued.
    package var accessTokenLifetime: TimeInterval = 7_200
    /// A refresh revokes the old pair at once; the reference server keeps the old refresh token for
    /// two more hours.
    package var revokesOldTokens = false
    /// `createRecord` with a used key is 400 `already exists`; the reference server only answers
    /// 500.
    package var refusesUsedKeyAs400 = false
    /// An empty page with a cursor comes before every page of a list.
    package var sendsEmptyPages = false
    /// The timeline returns a third of the requested number.
    package var shortensTimeline = false
    /// Every page of the timeline contains its items twice.
    package var repeatsTimelineItems = false
    /// Every fourth post of the others claims to be older than it is, and is sorted by that time.
    ///
    /// Only posts that were not shown yet, because a record does not change once it was seen.
    package var backdatesRecords = false
    /// `getPosts` omits about half of the posts, always the same ones.
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
