package import Foundation
package import Posts

/// A post as one account sees it on one server.
package struct ObservedPost: Sendable, Equatable {
    package var post: Post
    package var author: Account
    /// The address that calls to this server need to answer or favorite the post.
    package var address: String
    /// The address of the post that this one answers; nil for posts that answer nothing.
    package var replyToAddress: String?
    /// When its author last changed it; nil if never, or where the network does not tell.
    package var editedAt: Date?
    /// When a change made the post name the account that asked; nil if it did from the beginning,
    /// or nobody knows.
    package var mentionAddedAt: Date?
    /// Whether the account that asked has favorited the post.
    package var isFavorited = false
    /// The identifier shared by all posts of the conversation, where the network tells it with each
    /// post.
    package var conversation: String?
    /// The authors of the posts above it in the conversation, as far as the network tells them with
    /// each post.
    package var threadAuthors: Set<AccountID> = []
    /// A reply by this account waits for the author's approval or is refused.
    package var replyNeedsApproval = false
    /// A favorite by this account waits for the author's approval or is refused.
    package var favoriteNeedsApproval = false

    /// Since when the post has named the account that asked, if it does.
    package var calledAt: Date { mentionAddedAt ?? post.createdAt }

    /// Equal for two sightings of the same post in one feed.
    ///
    /// Some servers give reposts the identity of the original, which may be in the same feed.
    package var repetitionKey: String {
        post.isRepost ? "repost \(address)" : post.id.value
    }
}

extension ObservedPost {
    /// A post of which nothing else is known.
    package init(post: Post, author: Account, address: String) {
        self.init(post: post, author: author, address: address, replyToAddress: nil)
    }
}

/// A text on its way to a network.
package struct Draft: Sendable, Equatable {
    /// The text to publish, mentions included; within the account's ``SocialNetwork/limits()``.
    package var text: String
    /// The ``ObservedPost/address`` of the post to answer.
    package var replyTo: String?
    /// The accounts that the answered post names besides its author and the account itself: the
    /// answer is not for them.
    ///
    /// Only X, which would tell them of it, is told their names.
    package var bystanders: [AccountID]
    package var visibility: Visibility
    /// A BCP 47 language tag; nil where the language is not known.
    package var language: String?
    /// A content warning, or Bluesky's labels with spaces between; nil for none, and on X, which
    /// has no place for one.
    package var warning: String?
    /// The attached pictures; uploaded before.
    package var pictures: [PictureReference]
    /// Words in the text behind which the address of a link stands in parentheses: where a network
    /// lets words lead to an address, they do, and the address is left out.
    package var linkWords: [String] = []
    /// The same for every attempt to publish this draft, different for every other draft; 1 through
    /// 64 letters, digits and hyphens.
    package var key: String
    /// When the draft was made final: on networks where the author dates a post, its date.
    package var createdAt: Date

    package init(
        text: String, replyTo: String? = nil, bystanders: [AccountID] = [],
        visibility: Visibility = .unlisted,
        language: String? = nil, warning: String? = nil, pictures: [PictureReference] = [],
        key: String,
        createdAt: Date
    ) {
        self.text = text
        self.replyTo = replyTo
        self.bystanders = bystanders
        self.visibility = visibility
        self.language = language
        self.warning = warning
        self.pictures = pictures
        self.key = key
        self.createdAt = createdAt
    }
}

extension Draft {
    /// Whether nobody should see it unasked.
    var isSensitive: Bool { warning != nil || pictures.contains { $0.picture.isSensitive == true } }
}

/// A picture on its way to a network.
package struct PictureUpload: Sendable, Equatable {
    package var bytes: [UInt8]
    package var format: PictureFormat
    /// The description of the picture; empty where nobody gave one.
    package var alt: String

    package init(bytes: [UInt8], format: PictureFormat, alt: String) {
        self.bytes = bytes
        self.format = format
        self.alt = alt
    }
}

/// A picture that was uploaded, as part of a draft.
package struct PictureReference: Sendable, Equatable {
    /// The name that ``SocialNetwork/upload(_:)`` returned.
    package var name: String
    /// With its description, which some networks have in the post and not with the picture.
    package var picture: Picture

    package init(name: String, picture: Picture) {
        self.name = name
        self.picture = picture
    }
}

/// A favorite on its way to a network.
package struct FavoriteDraft: Sendable, Equatable {
    /// The ``ObservedPost/address`` of the post.
    package var address: String
    /// The same for every attempt at this favorite, different for every other one; as
    /// ``Draft/key``.
    package var key: String
    /// When the favorite was decided for good: on networks where its giver dates it, its date.
    package var createdAt: Date

    package init(address: String, key: String, createdAt: Date) {
        self.address = address
        self.key = key
        self.createdAt = createdAt
    }
}

/// The identifiers and date of a post that the network has just published.
package struct PublishedPost: Sendable, Equatable {
    package var id: PostID
    package var address: String
    package var createdAt: Date
    /// Published, but not as the reply that it was meant to be: the server no longer knew the
    /// answered post.
    package var isMisplaced = false

    package init(id: PostID, address: String, createdAt: Date, isMisplaced: Bool = false) {
        self.id = id
        self.address = address
        self.createdAt = createdAt
        self.isMisplaced = isMisplaced
    }
}
