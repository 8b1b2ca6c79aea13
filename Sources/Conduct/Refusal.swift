package import Posts

/// Why something is not sent.
///
/// The code is stable: it is stored with actions and counted in metrics. The
/// message is for people and never quotes anybody's text.
package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The rule that was applied.
    package let reason: Reason
    /// A plain sentence without a full stop.
    package let message: String

    package init(_ reason: Reason, _ message: String? = nil) {
        self.reason = reason
        self.message = message ?? reason.sentence
    }

    /// The stable name of the rule, for example `too-long`.
    package var code: String { reason.rawValue }

    package var description: String { message }
}

extension Refusal {
    /// Every rule there is, by its stable name.
    package enum Reason: String, CaseIterable, Sendable {
        case notOpen = "not-open"
        case isReply = "is-reply"
        case notAReply = "not-a-reply"
        case isRepost = "is-repost"
        case hasMedia = "has-media"
        case noAltText = "no-alt-text"
        case longAltText = "long-alt-text"
        case threadHead = "thread-head"
        case sensitive
        case truncated
        case mentionsOthers = "mentions-others"
        case hasLink = "has-link"
        case noWords = "no-words"
        case tooLong = "too-long"
        case badHandle = "bad-handle"
        case ownPost = "own-post"
        case botAuthor = "bot-author"
        case optedOut = "opted-out"
        case denied
        case askedToStop = "asked-to-stop"
        case notMentioned = "not-mentioned"
        case closedToReplies = "closed-to-replies"
        case othersThread = "others-thread"
        case alreadyFavorited = "already-favorited"
        case tooOld = "too-old"
        case badTime = "bad-time"
        case dailyCap = "daily-cap"
        case personCap = "person-cap"
        case threadCap = "thread-cap"
        case noPastReply = "no-past-reply"
        case notLinked = "not-linked"
        case unlikelyReply = "unlikely-reply"
        case byHand = "by-hand"
        case policyNotAcknowledged = "policy-not-acknowledged"
        case mutedWord = "muted-word"
        case mutedDay = "muted-day"
        case provesAccount = "proves-account"
        case stopsMirror = "stops-mirror"
        case undecidable
        case machineClient = "machine-client"
        case quotesAPost = "quotes-a-post"
        case struckOut = "struck-out"
        case checkIn = "check-in"
        case appShare = "app-share"
        case cutShare = "cut-share"
        case mediaLeft = "media-left"
        case numbersOnly = "numbers-only"
        case linkOnly = "link-only"
        case threadPart = "thread-part"
        case namesSomebody = "names-somebody"
        case tragedy
        case greetingSeason = "greeting-season"
        case thanksSomebody = "thanks-somebody"
        case asksSomebody = "asks-somebody"
        case event
        case dated
        case greetingTime = "greeting-time"
        case timeBound = "time-bound"
        case tagNumber = "tag-number"
        case rareTag = "rare-tag"
        case withLink = "with-link"
        case withTag = "with-tag"
        case goesOn = "goes-on"
        case onlyReacts = "only-reacts"
        case publicAffairs = "public-affairs"
        case liveShow = "live-show"
        case followsClosely = "follows-closely"
        case likeLeftOut = "like-left-out"

        /// The rule's explanation, used where nothing more exact is known.
        package var sentence: String {
            switch self {
            case .notOpen: "the post is not public"
            case .isReply: "the post is a reply"
            case .notAReply: "the post is not a reply"
            case .isRepost: "the post repeats somebody else's words"
            case .hasMedia: "the post has pictures, video, sound or a poll, which are not sent"
            case .noAltText: "one of the post's pictures has no description for who cannot see it"
            case .longAltText:
                "the description of one of the post's pictures is longer than the network takes"
            case .threadHead: "the post begins a thread, and its other parts are not sent"
            case .sensitive: "the post is marked sensitive or has a content warning"
            case .truncated: "the text was cut off by the network or archive"
            case .mentionsOthers: "the post begins by addressing somebody"
            case .hasLink: "the post has a link, and links are switched off"
            case .noWords: "too few words are left once links and mentions are removed"
            case .tooLong: "the text is longer than the server allows"
            case .badHandle: "the account's handle does not have the form of a handle"
            case .ownPost: "the post is by the human or the bot"
            case .botAuthor: "the author is a bot"
            case .optedOut: "the author's profile opts out of bots"
            case .denied: "the author is on the list of people to leave alone"
            case .askedToStop: "the author asks the bot to stop"
            case .notMentioned: "the post does not mention the bot"
            case .closedToReplies: "the author does not let everybody answer the post"
            case .othersThread:
                "the post is in a thread of others, whom the network would notify of an answer"
            case .alreadyFavorited: "the post is a favorite already"
            case .tooOld: "the post is too old to react to"
            case .badTime: "the post's time lies in the future"
            case .dailyCap: "today's limit is reached"
            case .personCap: "today's limit for this person is reached"
            case .threadCap: "the limit for this conversation is reached"
            case .noPastReply: "there is no earlier reply to this person to answer with"
            case .notLinked:
                "nobody whom the human answered on another network is linked to this person"
            case .unlikelyReply: "no earlier reply to this person is likely to answer the mention"
            case .byHand: "the network does not let software give favorites"
            case .policyNotAcknowledged:
                "the operator has not said that the network's rules for bots are known"
            case .mutedWord: "the post has a word that a person muted"
            case .mutedDay: "the post is of a day that a person muted"
            case .provesAccount:
                "the mention says the words that show on the public page whose account it is"
            case .stopsMirror: "the human asks to stop the mirror, which is done"
            case .undecidable: "the post is of a form that cannot be kept"
            case .machineClient:
                "a program wrote the post: most that it wrote leads to the same site"
            case .quotesAPost: "the text speaks about another post, which is not sent with it"
            case .struckOut: "words of the text are struck out"
            case .checkIn: "the text says where the human was"
            case .appShare: "another program wrote the text"
            case .cutShare: "the text is the beginning of something behind its link"
            case .mediaLeft: "the text speaks about a picture that is not sent with it"
            case .numbersOnly: "the text is hardly more than numbers or signs"
            case .linkOnly: "the text is hardly more than its link"
            case .threadPart: "the text goes on from another post, or in one"
            case .namesSomebody: "the text names or addresses somebody"
            case .tragedy: "the text is about a death or a disaster"
            case .greetingSeason: "the text belongs to certain days of the year"
            case .thanksSomebody: "the text thanks or congratulates somebody"
            case .asksSomebody: "the text asks somebody for something"
            case .event: "the text tells of something that was to happen or be had then"
            case .dated: "the text names a day, a month or a year"
            case .greetingTime: "the text belongs to certain hours or weekdays"
            case .timeBound: "the text speaks of its own day"
            case .tagNumber: "the text has a hashtag with a number, as conferences and matches have"
            case .rareTag: "the text has a hashtag that the human used for a while only"
            case .withLink: "the text has a link"
            case .withTag: "the text has a hashtag"
            case .goesOn: "the text goes on from something else"
            case .onlyReacts: "the text does hardly more than react to something"
            case .publicAffairs: "the text is about public affairs"
            case .liveShow: "the text is about a show or a match"
            case .followsClosely: "another post of the human came less than five minutes before"
            case .likeLeftOut: "it reads like texts that were left out"
            }
        }
    }
}

extension ReasonCode {
    /// The code of a rule.
    package static func rule(_ reason: Refusal.Reason) -> ReasonCode {
        ReasonCode(rawValue: reason.rawValue)
    }
}
