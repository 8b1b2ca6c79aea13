import Localization
package import Posts

/// Why something is not sent.
///
/// The code is stable: it is stored with actions and counted in metrics. The
/// message is for people and never quotes anybody's text.
package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The rule that was applied.
    package let reason: Reason
    /// The sentence of this refusal; nil for the usual one of its reason.
    private let detail: String?

    package init(_ reason: Reason, _ message: String? = nil) {
        self.reason = reason
        self.detail = message
    }

    /// A plain sentence without a full stop.
    package var message: String { detail ?? reason.sentence }

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
            case .notOpen: localized("the post is not public")
            case .isReply: localized("the post is a reply")
            case .notAReply: localized("the post is not a reply")
            case .isRepost: localized("the post repeats somebody else's words")
            case .hasMedia:
                localized("the post has pictures, video, sound or a poll, which are not sent")
            case .noAltText:
                localized("one of the post's pictures has no description for who cannot see it")
            case .longAltText:
                localized(
                    "the description of one of the post's pictures is longer than the network takes"
                )
            case .threadHead:
                localized("the post begins a thread, and its other parts are not sent")
            case .sensitive: localized("the post is marked sensitive or has a content warning")
            case .truncated: localized("the text was cut off by the network or archive")
            case .mentionsOthers: localized("the post begins by addressing somebody")
            case .hasLink: localized("the post has a link, and links are switched off")
            case .noWords: localized("too few words are left once links and mentions are removed")
            case .tooLong: localized("the text is longer than the server allows")
            case .badHandle: localized("the account's handle does not have the form of a handle")
            case .ownPost: localized("the post is by the human or the bot")
            case .botAuthor: localized("the author is a bot")
            case .optedOut: localized("the author's profile opts out of bots")
            case .denied: localized("the author is on the list of people to leave alone")
            case .askedToStop: localized("the author asks the bot to stop")
            case .notMentioned: localized("the post does not mention the bot")
            case .closedToReplies: localized("the author does not let everybody answer the post")
            case .othersThread:
                localized(
                    "the post is in a thread of others, whom the network would notify of an answer")
            case .alreadyFavorited: localized("the post is a favorite already")
            case .tooOld: localized("the post is too old to react to")
            case .badTime: localized("the post's time lies in the future")
            case .dailyCap: localized("today's limit is reached")
            case .personCap: localized("today's limit for this person is reached")
            case .threadCap: localized("the limit for this conversation is reached")
            case .noPastReply: localized("there is no earlier reply to this person to answer with")
            case .notLinked:
                localized(
                    "nobody whom the human answered on another network is linked to this person")
            case .unlikelyReply:
                localized("no earlier reply to this person is likely to answer the mention")
            case .byHand: localized("the network does not let software give favorites")
            case .policyNotAcknowledged:
                localized("the operator has not said that the network's rules for bots are known")
            case .mutedWord: localized("the post has a word that a person muted")
            case .mutedDay: localized("the post is of a day that a person muted")
            case .provesAccount:
                localized(
                    "the mention says the words that show on the public page whose account it is")
            case .stopsMirror: localized("the human asks to stop the mirror, which is done")
            case .undecidable: localized("the post is of a form that cannot be kept")
            case .machineClient:
                localized("a program wrote the post: most that it wrote leads to the same site")
            case .quotesAPost:
                localized("the text speaks about another post, which is not sent with it")
            case .struckOut: localized("words of the text are struck out")
            case .checkIn: localized("the text says where the human was")
            case .appShare: localized("another program wrote the text")
            case .cutShare: localized("the text is the beginning of something behind its link")
            case .mediaLeft: localized("the text speaks about a picture that is not sent with it")
            case .numbersOnly: localized("the text is hardly more than numbers or signs")
            case .linkOnly: localized("the text is hardly more than its link")
            case .threadPart: localized("the text goes on from another post, or in one")
            case .namesSomebody: localized("the text names or addresses somebody")
            case .tragedy: localized("the text is about a death or a disaster")
            case .greetingSeason: localized("the text belongs to certain days of the year")
            case .thanksSomebody: localized("the text thanks or congratulates somebody")
            case .asksSomebody: localized("the text asks somebody for something")
            case .event: localized("the text tells of something that was to happen or be had then")
            case .dated: localized("the text names a day, a month or a year")
            case .greetingTime: localized("the text belongs to certain hours or weekdays")
            case .timeBound: localized("the text speaks of its own day")
            case .tagNumber:
                localized("the text has a hashtag with a number, as conferences and matches have")
            case .rareTag: localized("the text has a hashtag that the human used for a while only")
            case .withLink: localized("the text has a link")
            case .withTag: localized("the text has a hashtag")
            case .goesOn: localized("the text goes on from something else")
            case .onlyReacts: localized("the text does hardly more than react to something")
            case .publicAffairs: localized("the text is about public affairs")
            case .liveShow: localized("the text is about a show or a match")
            case .followsClosely:
                localized("another post of the human came less than five minutes before")
            case .likeLeftOut: localized("it reads like texts that were left out")
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
