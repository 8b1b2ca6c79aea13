import Formats
import Foundation
package import Networks
import Posts

/// The rules about who may answer and quote an account's posts on Bluesky.
///
/// Each rule is a record of its own with the key of the post; without it everybody may answer or
/// quote.
///
/// Source: lexicons `app.bsky.feed.threadgate` and `app.bsky.feed.postgate`.
package struct BlueskyGates: Equatable, Sendable {
    static let threadCollection = "app.bsky.feed.threadgate"
    static let postCollection = "app.bsky.feed.postgate"

    /// The people besides its author who may answer a post that is not a reply; `nil` for anyone.
    package var replies: Audience?
    /// Whether others may quote the posts.
    package var allowsQuotes: Bool

    package init(replies: Audience? = nil, allowsQuotes: Bool = true) {
        self.replies = replies
        self.allowsQuotes = allowsQuotes
    }

    /// The records that are published with a post.
    ///
    /// - Parameters:
    ///   - isReply: Whether the post is a reply; then only the author of the conversation's first
    ///     post decides who may answer.
    ///   - createdAt: The time of the post's record.
    /// - Returns: Empty if everybody may answer and quote.
    func records(for post: RecordAddress, isReply: Bool, createdAt: Date) -> [(
        address: RecordAddress, JSONValue
    )] {
        func record(_ collection: String, _ name: String, _ rules: [String]) -> (
            RecordAddress, JSONValue
        ) {
            let value = JSONValue.object([
                "$type": .text(collection), "post": .text(post.uri),
                "createdAt": .text(createdAt.rfc3339),
                name: .list(rules.map { .object(["$type": .text("\(collection)#\($0)")]) }),
            ])
            return (
                RecordAddress(repository: post.repository, collection: collection, key: post.key),
                value
            )
        }
        var records: [(address: RecordAddress, JSONValue)] = []
        if !isReply, let rules = Self.rules(letting: replies) {
            records.append(record(Self.threadCollection, "allow", rules))
        }
        if !allowsQuotes {
            records.append(record(Self.postCollection, "embeddingRules", ["disableRule"]))
        }
        return records
    }

    /// The rules of a threadgate; `nil` if no record is needed.
    private static func rules(letting replies: Audience?) -> [String]? {
        switch replies {
        case nil, .anyone?: nil
        case .followers?: ["followerRule"]
        case .followed?: ["followingRule"]
        case .mentioned?: ["mentionRule"]
        case .nobody?: []
        }
    }
}
