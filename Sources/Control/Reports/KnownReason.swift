import Conduct
import Networks
import Outbox
import Posts
import Settings

/// The reason of a stored code, as a case of the enum that declares the code.
///
/// A code that two of the enums declare has the same sentence in both.
enum KnownReason: Equatable, Sendable {
    case rule(Refusal.Reason)
    case outbox(Action.Reason)
    case network(NetworkError.Code)

    /// Finds the reason of a code; nil for the code of another version of the program.
    init?(_ code: ReasonCode) {
        if let rule = Refusal.Reason(rawValue: code.rawValue) {
            self = .rule(rule)
        } else if let reason = Action.Reason(rawValue: code.rawValue) {
            self = .outbox(reason)
        } else if let failure = NetworkError.Code(rawValue: code.rawValue) {
            self = .network(failure)
        } else {
            return nil
        }
    }

    /// The reason in plain words, without a full stop.
    var sentence: String {
        switch self {
        case .rule(let rule): rule.sentence
        case .outbox(let reason): reason.sentence
        case .network(let failure): failure.sentence
        }
    }

    /// The setting that decides whether this reason applies; nil if none does.
    var setting: AnySetting? {
        switch self {
        case .rule(let rule): rule.setting
        case .outbox(let reason): reason.setting
        case .network(let failure): failure.setting
        }
    }
}

extension Refusal.Reason {
    /// The setting that decides whether the rule applies; nil if none does.
    var setting: AnySetting? {
        switch self {
        case .hasLink: Setting.links.erased
        case .hasMedia: Setting.media.erased
        case .noAltText: Setting.mediaWithoutAlt.erased
        case .threadHead: Setting.threads.erased
        case .dailyCap: Setting.favoritesPerDay.erased
        case .personCap: Setting.repliesPerPerson.erased
        case .threadCap: Setting.repliesPerThread.erased
        case .unlikelyReply: Setting.replies.erased
        case .policyNotAcknowledged: Setting.acknowledgeXPolicy.erased
        case .machineClient, .quotesAPost, .struckOut, .checkIn, .appShare, .cutShare, .mediaLeft,
            .numbersOnly, .linkOnly, .threadPart, .namesSomebody, .tragedy, .greetingSeason,
            .thanksSomebody, .asksSomebody, .event, .dated, .greetingTime, .timeBound, .tagNumber,
            .rareTag, .withLink, .withTag, .goesOn, .onlyReacts, .publicAffairs, .liveShow,
            .followsClosely:
            Setting.fitness.erased
        case .notOpen, .isReply, .notAReply, .isRepost, .longAltText, .sensitive, .truncated,
            .mentionsOthers, .noWords, .tooLong, .badHandle, .ownPost, .botAuthor, .optedOut,
            .denied, .askedToStop, .notMentioned, .closedToReplies, .othersThread,
            .alreadyFavorited, .tooOld, .badTime, .noPastReply, .notLinked, .byHand, .mutedWord,
            .mutedDay, .provesAccount, .stopsMirror, .undecidable, .likeLeftOut:
            nil
        }
    }

    /// Whether the rule is about texts that cannot be understood by themselves.
    var isOfFitness: Bool { setting?.name == Setting.fitness.name }
}

extension Action.Reason {
    /// The setting that decides whether this reason applies; nil if none does.
    fileprivate var setting: AnySetting? {
        switch self {
        case .sourceEdited: Setting.followEdits.erased
        case .sourceUnasked, .sourceUnverified: Setting.trustArchive.erased
        case .humanFavorite: Setting.deleteOnFavorite.erased
        case .humanActive: Setting.holdWhileActive.erased
        case .quietHours: Setting.quietHours.erased
        case .noFavorites: Setting.favoriteMode.erased
        case .onlyAnswers: Setting.maxPerDay.erased
        case .unconfirmed, .duplicate, .tooLong, .tooLate, .beforeStart, .noText, .incomplete,
            .tooManyLate, .undecided, .denied, .byPerson, .dismissed, .rerolled, .never,
            .saidMeanwhile, .sourceGone, .targetGone, .retired, .restored, .rebound, .threadEnded,
            .threadCut, .processing, .pictureGone, .pictureUnasked, .pictureTooLarge, .notAPicture,
            .forgotten, .interrupted, .dryRun:
            nil
        }
    }
}

extension NetworkError.Code {
    /// The setting that decides whether this reason applies; nil if none does.
    fileprivate var setting: AnySetting? {
        switch self {
        case .overBudget: Setting.xBudget.erased
        case .unauthorized, .missingScope, .accountDisabled, .forbidden, .notFound, .rateLimited,
            .rejected, .tooLong, .duplicate, .conflict, .unavailable, .transport,
            .malformedResponse, .tooLarge, .redirected, .capability, .configuration,
            .creditsDepleted, .capReached:
            nil
        }
    }
}
