package import Foundation
package import Posts

/// A record of the requests that the sandbox received from the bot, with an assessment.
///
/// The summary of a demo is based on it, never on what the bot believes about itself.
package struct SandboxLedger: Sendable {
    /// A post of the bot.
    package struct Delivery: Equatable, Sendable {
        package var id: String
        /// The worldwide id of the post: its URI, its id on X, or its at-uri, depending on the
        /// network that received it.
        package var identity: String
        package var text: String
        /// The id of the answered post.
        package var replyTo: String?
        /// Whether it answers a mention of the bot and mentions its author, who is therefore
        /// notified.
        package var isHeard: Bool
        package var date: Date
        package var visibility: Visibility
        package var language: String?
        package var idempotencyKey: String?
        /// The handles of the people named in the text.
        package var mentioned: [String]
        /// The attached pictures.
        package var pictures: [Picture] = []
        package var isSensitive = false
        /// The people who may quote it, in the network's words; `nil` if the request did not say.
        package var quoters: String?
        /// The people who may answer it, in the network's words; `nil` if the request did not say.
        package var repliers: [String]?
    }

    /// A favorite by the bot.
    package struct Favorite: Equatable, Sendable {
        package var postID: String
        /// The worldwide id of the post, on the network that received the favorite.
        package var identity: String
        /// The handle of the author.
        package var author: String
        package var date: Date
        /// Whether the human would have favorited the post too.
        package var isLoved: Bool
        /// The reason why the bot should have left the post alone; nil if there is none.
        package var objection: String?
        /// Whether the post asks the bot to stop; then the favorite confirms the request, and does
        /// not express the human's taste.
        package var confirmsStop = false
    }

    /// A notification of a person about an action of the bot.
    package struct Notification: Equatable, Sendable {
        package enum Kind: Sendable {
            case mention
            case favorite
        }

        /// The handle of the notified person.
        package var recipient: String
        package var kind: Kind
        package var postID: String
        package var date: Date
        /// The reason why this person should have been left alone; nil if there is none.
        package var objection: String?
    }

    /// A request that was refused.
    package struct Rejection: Equatable, Sendable {
        package var date: Date
        package var method: String
        package var path: String
        package var status: Int
        package var reason: String
        /// Whether the client is not to blame: for an injected fault, or a deleted post.
        package var isExpected: Bool

        /// The reason for refusing a request on X whose signature was seen before.
        package static let repeatedNonce = "the nonce was used before"
        /// The reason for refusing a request on X whose signature has another time than the server.
        package static let otherTime = "the timestamp is not of these minutes"
    }

    /// An action that the bot repeated.
    package struct Duplicate: Equatable, Sendable {
        package enum Kind: Sendable {
            /// The bot answered one post twice.
            case reply
            /// The bot published the same text twice as a post, or in answer to the same post.
            case text
            case favorite
        }

        package var kind: Kind
        package var postID: String
        package var date: Date
    }

    /// A mention of the bot that has happened.
    package struct Mention: Equatable, Sendable {
        package var id: String
        /// The worldwide id of the post, on the network of
        /// ``SandboxWorld/Configuration/botNetwork``.
        package var identity: String
        package var handle: String
        package var kind: SandboxMention.Kind
        package var date: Date
        package var deservesReply: Bool
        package var burden: SandboxBurden?
        package var notice = SandboxNotice.atOnce
        /// The id of the bot's notification about it; `nil` if there is none.
        package var notification: String?
        /// The id of the answered post.
        package var parent: String?
        /// Whether a person other than its author, the human and the bot wrote one of the posts
        /// above it.
        package var isBelowOthers = false
    }

    /// An object that was refused individually; see ``SandboxRefusals``.
    package struct RefusedObject: Equatable, Sendable {
        package var object: SandboxRefusals.Object
        /// The name of the object in the first request for it, and for a page its position.
        package var name: String
        package var answer: SandboxRefusals.Answer
        /// The time of the first request for the object.
        package var since: Date
        /// The time from which the object is returned again; nil for never.
        package var until: Date?
    }

    /// An action of the bot that its own request took back.
    package struct Removal: Codable, Equatable, Sendable {
        package enum Kind: String, Codable, Sendable {
            case post, favorite
        }

        package var kind: Kind
        /// The id of the post, as in ``Delivery/id`` and ``Favorite/postID``.
        package var postID: String
        package var date: Date
    }

    /// A new text that the bot gave to one of its posts.
    package struct Edit: Codable, Equatable, Sendable {
        package var postID: String
        package var text: String
        package var date: Date
    }

    /// What the bot took back, in the order in which the server executed the requests.
    package internal(set) var removals: [Removal] = []
    package internal(set) var edits: [Edit] = []
    package internal(set) var deliveries: [Delivery] = []
    package internal(set) var favorites: [Favorite] = []
    /// Every uploaded picture, whether or not a post contains it.
    package internal(set) var uploads: [Upload] = []
    package internal(set) var notifications: [Notification] = []
    package internal(set) var rejections: [Rejection] = []
    package internal(set) var duplicates: [Duplicate] = []
    package internal(set) var mentions: [Mention] = []
    /// In the order in which they were first requested.
    package internal(set) var refusedObjects: [RefusedObject] = []
    /// The ids of answers with a larger audience than the mention they answer.
    package internal(set) var widenedReplies: [String] = []
    /// The number of posts that came to the bot's home during the run and that the bot may
    /// favorite.
    package internal(set) var eligiblePosts = 0
    /// The number of the ``eligiblePosts`` that the human would favorite.
    package internal(set) var lovedPosts = 0
    /// The cost of the requests so far by X's price list, in millionths of a US dollar.
    package internal(set) var spentMicrodollars = 0
    /// Every request to publish, reply or favorite, in the order in which the server handled it.
    package internal(set) var writes: [Write] = []
    /// The writes that the server accepted by ``SandboxFault/actLate(after:)`` and will execute at
    /// their date.
    package internal(set) var pendingWrites: [Write] = []
    /// The number of writes that the server executed, or will execute, although the client cannot
    /// have received the whole answer.
    ///
    /// The answer was cut by a planned fault, or because the client left. A refused request counts
    /// too, because a client without the refusal cannot know of it. A request that the server never
    /// executed does not count; see ``Write/Effect/notActed``.
    package internal(set) var cutAnswers = 0

    /// The ids of the posts that `deliveries` answer.
    private var answeredIDs: Set<String> = []
    /// The texts of `deliveries`, each with the id of the post that it answers.
    private var sentTexts: Set<SentText> = []

    private struct SentText: Hashable {
        var text: String
        var replyTo: String?
    }

    package init() {}

    /// Adds a delivery, and a duplicate if the bot sent an equal one before.
    mutating func record(_ delivery: Delivery) {
        let text = SentText(text: delivery.text, replyTo: delivery.replyTo)
        let isNew = sentTexts.insert(text).inserted
        if let parent = delivery.replyTo, !answeredIDs.insert(parent).inserted {
            duplicates.append(.init(kind: .reply, postID: delivery.id, date: delivery.date))
        } else if !isNew {
            duplicates.append(.init(kind: .text, postID: delivery.id, date: delivery.date))
        }
        deliveries.append(delivery)
    }
}

extension SandboxLedger {
    /// The figures of a run, as printed by the demo.
    package struct Summary: Equatable, Sendable {
        /// The number of the bot's posts that are not replies.
        package var posted: Int
        /// The number of answers to mentions that reached the person who mentioned the bot.
        package var replies: Int
        /// The number of mentions so far that deserve an answer.
        package var expectedReplies: Int
        /// The number of favorites, except those that confirm a request to stop.
        package var favorites: Int
        /// The share of the bot's favorites that the human would favorite too; nil without
        /// favorites.
        package var favoritePrecision: Double?
        /// The share of the ``SandboxLedger/eligiblePosts`` that the human would favorite; nil
        /// without such posts.
        package var baseRate: Double?
        /// The number of notifications of people, and of favorites of posts, that the bot should
        /// have left alone.
        package var unsolicited: Int
        /// The number of requests that the client should not have made in this form.
        package var errors: Int
        package var duplicateSends: Int
    }

    package var summary: Summary {
        let tasteFavorites = favorites.filter { !$0.confirmsStop }
        return Summary(
            posted: deliveries.count { $0.replyTo == nil },
            replies: deliveries.count(where: \.isHeard),
            expectedReplies: mentions.count(where: \.deservesReply),
            favorites: tasteFavorites.count,
            favoritePrecision: Self.share(
                tasteFavorites.count(where: \.isLoved), of: tasteFavorites.count),
            baseRate: Self.share(lovedPosts, of: eligiblePosts),
            unsolicited: notifications.count { $0.objection != nil }
                + favorites.count { $0.objection != nil },
            errors: rejections.count { !$0.isExpected },
            duplicateSends: duplicates.count)
    }

    private static func share(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

extension SandboxLedger {
    /// A request to publish, reply or favorite, with its outcome.
    package struct Write: Equatable, Sendable {
        package enum Kind: String, Sendable {
            case post, reply, favorite
        }

        /// The effect of the request on the server's state.
        package enum Effect: String, Sendable {
            case created
            /// The server recognized it by its key or its record key, or found the favorite there
            /// already; nothing new was made.
            case repeated
            /// The server checked and refused the request.
            case refused
            /// The server never checked the request.
            case notActed
        }

        /// The time when the request arrived.
        package var arrived: Date
        /// The time when the server executed the request, or would have; with
        /// ``SandboxFault/actLate(after:)`` it is later than the arrival.
        package var date: Date
        package var kind: Kind
        /// The idempotency key, on Bluesky the record key; nil on networks with neither.
        package var key: String?
        /// The text to publish; `nil` for a favorite, and if the body cannot be read.
        package var text: String?
        /// The id of the answered or favorited post, as in ``Delivery/replyTo`` and
        /// ``Favorite/postID``; nil if the request names none that the server knows.
        package var target: String?
        /// The id of the created or recognized post, or of the favorited one.
        package var postID: String?
        package var effect: Effect
        /// Whether the client was connected until the whole answer had been handed to its
        /// connection.
        package var isAnswered: Bool
        /// The status of the answer, whether or not it arrived; nil if there was none to send.
        package var status: Int?
        /// The fault that was planned for this request.
        package var fault: SandboxFault?
    }

    /// Records whether the client got a write's whole answer; planned cuts are already counted.
    mutating func recordAnswerEnd(of index: Int, isWhole: Bool) {
        if isWhole {
            writes[index].isAnswered = true
        } else if writes[index].effect != .notActed, writes[index].fault?.cutsAnswer != true {
            cutAnswers += 1
        }
    }
}

extension SandboxLedger.Write {
    /// A request as it arrived, before any check.
    init(at date: Date, kind: Kind, key: String? = nil, text: String? = nil, target: String?) {
        self.init(
            arrived: date, date: date, kind: kind, key: key, text: text, target: target,
            effect: .notActed,
            isAnswered: false)
    }
}
