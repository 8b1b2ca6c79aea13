package import Foundation

/// Ways in which a Bluesky server may differ from the reference implementation without refusing
/// anything.
package struct BlueskyHabits: Equatable, Sendable {
    /// The form of an error response.
    package enum ErrorForm: String, CaseIterable, Sendable {
        /// An object with `error` and `message`, as the protocol has it.
        case xrpc
        /// Name and message as a line of text.
        case plainText
        /// A page of the proxy in front of the server.
        case html
        /// Only a status.
        case empty
    }

    /// How refusals are written; their status stays.
    package var errorForm = ErrorForm.xrpc
    /// How many seconds an access token is good for; counts for those already given, too.
    package var accessTokenLifetime: TimeInterval = 7_200
    /// A refresh ends the old pair at once, where the reference server leaves the old refresh token
    /// two more hours.
    package var revokesOldTokens = false
    /// `createRecord` with a used key is 400 `already exists`, where the reference server only says
    /// 500.
    package var refusesUsedKeyAs400 = false
    /// An empty page with a cursor comes before every page of a list.
    package var sendsEmptyPages = false
    /// The timeline gives a third of what was asked for.
    package var shortensTimeline = false
    /// Every page of the timeline holds its items twice.
    package var repeatsTimelineItems = false
    /// Every fourth post of the others claims to be older than it is, and is sorted so.
    ///
    /// Only posts that nobody has been shown yet: a record does not change once it was seen.
    package var backdatesRecords = false
    /// `getPosts` leaves out about half of the posts, always the same ones.
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
