package import Foundation

extension SandboxLedger {
    /// A request to publish, reply or favorite, whatever came of it.
    package struct Write: Equatable, Sendable {
        package enum Kind: String, Sendable {
            case post, reply, favorite
        }

        /// What the request did.
        package enum Effect: String, Sendable {
            case created
            /// The server recognised it by its key or its record key, or found the favorite there already; nothing new
            /// was made.
            case repeated
            /// The server looked at it and would not.
            case refused
            /// The server never looked at it.
            case notActed
        }

        /// When the request came.
        package var arrived: Date
        /// When the server acted or would have; for ``SandboxFault/actLate(after:)`` later than the request came.
        package var date: Date
        package var kind: Kind
        /// The idempotency key, on Bluesky the record key; nil where the network has neither.
        package var key: String?
        /// What was to be published; nil for a favorite, and where the body cannot be read.
        package var text: String?
        /// The id of the answered or favorited post, as in ``Delivery/replyTo`` and ``Favorite/postID``; nil where the
        /// request names none that the server knows.
        package var target: String?
        /// The id of what was made or recognised: the post that came of it, or the post that is a favorite now.
        package var postID: String?
        package var effect: Effect
        /// The client was there until the whole answer had been handed to its connection.
        package var isAnswered: Bool
        /// The status of the answer, whether or not it arrived; nil where there was none to send.
        package var status: Int?
        /// What was planned to go wrong with this request.
        package var fault: SandboxFault?
    }

    /// Notes that a write's answer is over and done with; what was cut by plan is counted already.
    mutating func close(_ index: Int, isWhole: Bool) {
        if isWhole {
            writes[index].isAnswered = true
        } else if writes[index].effect != .notActed, !(writes[index].fault?.cutsAnswer ?? false) {
            cutAnswers += 1
        }
    }
}
