package import Foundation
package import Posts

/// A post as one account sees it on one server.
package struct ObservedPost: Sendable, Equatable {
    package var post: Post
    package var author: Account
    /// The address that calls to this server use to answer or favorite the post.
    package var address: String
    /// The address of the answered post; nil if the post is not a reply.
    package var replyToAddress: String?
    /// The time of the last edit; nil if there was none, or if the network does not return it.
    package var editedAt: Date?
    /// The time at which an edit added the mention of the requesting account; nil if it was there
    /// from the beginning, or if unknown.
    package var mentionAddedAt: Date?
    /// Whether the requesting account has favorited the post.
    package var isFavorited: Bool
    /// The identifier shared by all posts of the conversation, if the network returns it with each
    /// post.
    package var conversation: String?
    /// The authors of the posts above this one in the conversation, if the network returns them
    /// with each post.
    package var threadAuthors: Set<AccountID>
    /// Whether a reply by this account waits for the author's approval or is refused.
    package var replyNeedsApproval: Bool
    /// Whether a favorite by this account waits for the author's approval or is refused.
    package var favoriteNeedsApproval: Bool

    package init(
        post: Post, author: Account, address: String, replyToAddress: String? = nil,
        editedAt: Date? = nil, mentionAddedAt: Date? = nil, isFavorited: Bool = false,
        conversation: String? = nil, threadAuthors: Set<AccountID> = [],
        replyNeedsApproval: Bool = false, favoriteNeedsApproval: Bool = false
    ) {
        self.post = post
        self.author = author
        self.address = address
        self.replyToAddress = replyToAddress
        self.editedAt = editedAt
        self.mentionAddedAt = mentionAddedAt
        self.isFavorited = isFavorited
        self.conversation = conversation
        self.threadAuthors = threadAuthors
        self.replyNeedsApproval = replyNeedsApproval
        self.favoriteNeedsApproval = favoriteNeedsApproval
    }

    /// The time at which the mention of the requesting account was written, if there is one.
    package var calledAt: Date { mentionAddedAt ?? post.createdAt }

    /// A text that is equal for two copies of the same post in one feed.
    ///
    /// Some servers give reposts the identity of the original, which may be in the same feed.
    package var repetitionKey: String {
        post.isRepost ? "repost \(address)" : post.id.value
    }
}

/// A text to be published.
package struct Draft: Sendable, Equatable {
    /// The text to publish, mentions included; within the account's ``SocialNetwork/limits()``.
    package var text: String
    /// The ``ObservedPost/address`` of the post to answer.
    package var replyTo: String?
    /// The accounts that the answered post names besides its author and the account itself; the
    /// answer goes to none of them.
    ///
    /// Used only on X, which would otherwise notify them.
    package var bystanders: [AccountID]
    package var visibility: Visibility
    /// A BCP 47 language tag; nil if the language is unknown.
    package var language: String?
    /// A content warning, or Bluesky's labels separated by spaces; nil for none, and on X, which
    /// has none.
    package var warning: String?
    /// The attached pictures, which were uploaded before.
    package var pictures: [PictureReference]
    /// Words in the text that are followed by an address in parentheses: on networks with links on
    /// words, the words become the link and the address is removed.
    package var linkWords: [String] = []
    /// The idempotency key: the same for every attempt to publish this draft, different for every
    /// other draft; 1 through 64 letters, digits and hyphens.
    package var key: String
    /// The time at which the draft was completed; the post's date on networks where the client sets
    /// it.
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
    /// Whether the post should be hidden until a reader asks for it.
    package var isSensitive: Bool {
        warning != nil || pictures.contains { $0.picture.isSensitive == true }
    }
}

/// A picture to be uploaded.
package struct PictureUpload: Sendable, Equatable {
    package var bytes: [UInt8]
    package var format: PictureFormat
    /// The description of the picture; empty if there is none.
    package var alt: String

    package init(bytes: [UInt8], format: PictureFormat, alt: String) {
        self.bytes = bytes
        self.format = format
        self.alt = alt
    }
}

/// A picture that was uploaded, as part of a draft.
package struct PictureReference: Sendable, Equatable {
    /// The name returned by ``SocialNetwork/upload(_:)``.
    package var name: String
    /// The picture with its description, which some networks store in the post rather than with the
    /// picture.
    package var picture: Picture

    package init(name: String, picture: Picture) {
        self.name = name
        self.picture = picture
    }
}

/// A favorite to be given.
package struct FavoriteDraft: Sendable, Equatable {
    /// The ``ObservedPost/address`` of the post.
    package var address: String
    /// The idempotency key: the same for every attempt at this favorite, different for every other
    /// one.
    ///
    /// It has the form of ``Draft/key``.
    package var key: String
    /// The time at which the favorite was finally decided; its date on networks where the client
    /// sets it.
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
    /// Whether the post was published, but not as a reply, because the server no longer had the
    /// answered post.
    package var isMisplaced = false

    package init(id: PostID, address: String, createdAt: Date, isMisplaced: Bool = false) {
        self.id = id
        self.address = address
        self.createdAt = createdAt
        self.isMisplaced = isMisplaced
    }
}
