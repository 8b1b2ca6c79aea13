import Conduct
import Foundation
import NetworkNames
import Posts
import Testing

let human = AccountID(network: .mastodon, value: "haruka@example.org")
let botID = AccountID(network: .mastodon, value: "haruka_bot@example.org")
let friend = AccountID(network: .mastodon, value: "aoi@example.org")
let noon = Date(timeIntervalSince1970: 1_800_000_000)

func post(
    _ text: String, replyTo: ReplyTarget? = nil, isRepost: Bool = false,
    visibility: Visibility = .public,
    hasMedia: Bool = false, isSensitive: Bool = false, author: AccountID = human,
    at date: Date = noon
) -> Post {
    Post(
        id: PostID(network: .mastodon, value: "https://example.org/1"), author: author, text: text,
        createdAt: date,
        replyTo: replyTo, isRepost: isRepost, visibility: visibility, hasMedia: hasMedia,
        isSensitive: isSensitive)
}

func reply(_ text: String, visibility: Visibility = .public) -> Post {
    post(text, replyTo: ReplyTarget(author: friend), visibility: visibility)
}

extension Result where Failure == Refusal {
    /// The stable code of the refusal; nil if there is none.
    var code: String? {
        guard case .failure(let refusal) = self else { return nil }
        return refusal.code
    }

    var value: Success? { try? get() }
}

/// One change to facts that are otherwise fine, and the refusal it must bring.
struct Change<Facts>: Sendable, CustomTestStringConvertible {
    let code: String
    let apply: @Sendable (inout Facts) -> Void

    init(_ code: String, _ apply: @escaping @Sendable (inout Facts) -> Void) {
        self.code = code
        self.apply = apply
    }

    var testDescription: String { code }
}
