import Localization
package import Posts
package import Storage

extension Action {
    /// The reasons of the outbox, of its worker and of the people who change its actions.
    ///
    /// The raw value is stored with the action. Rules and networks have codes of their own; an
    /// action's ``Action/reason`` holds any of them.
    package enum Reason: String, CaseIterable, Codable, Sendable {
        /// A request may have acted, but its post was not found in time.
        case unconfirmed
        /// The network said that the text was published before; its error has the same code.
        case duplicate
        /// The server counted more characters than it allows; the network's error and the rule have
        /// the same code.
        case tooLong = "too-long"
        /// The action's time passed before it could be sent.
        case tooLate = "too-late"
        /// The action's time had passed when the mirror was started.
        case beforeStart = "before-start"
        /// No archived text may be used at the action's time.
        case noText = "no-text"
        /// The action's text or target is missing, so it cannot be sent.
        case incomplete
        /// The action was one of many that were late at once, of which only a few are sent.
        case tooManyLate = "too-many-late"
        /// The suggestion was not decided in time.
        case undecided
        /// The recipient is denied; the rule has the same code.
        case denied
        /// A person skipped the action.
        case byPerson = "by-person"
        /// A person dismissed the suggestion.
        case dismissed
        /// A person had the plan of the slot's day drawn again.
        case rerolled
        /// A person excluded the text; the archive stores the same code with the text.
        case never
        /// Another post with the same text was sent meanwhile.
        case saidMeanwhile = "said-meanwhile"
        /// The human no longer shows the post that the text is from.
        case sourceGone = "source-gone"
        /// The human's network does not answer whether it still shows the post that the text is
        /// from.
        case sourceUnasked = "source-unasked"
        /// No network can be asked whether the post that the text is from is still there.
        case sourceUnverified = "source-unverified"
        /// The human changed the post that the text is from.
        case sourceEdited = "source-edited"
        /// The human favorited the bot's post.
        case humanFavorite = "human-favorite"
        /// The human is posting, or was a while ago.
        case humanActive = "human-active"
        /// The action's time was in the quiet hours.
        case quietHours = "quiet-hours"
        /// Favorites were turned off.
        case noFavorites = "no-favorites"
        /// The target post is gone, or hidden from the bot.
        case targetGone = "target-gone"
        /// Posts were turned off.
        case onlyAnswers = "only-answers"
        /// The action waited when the mirror retired, or was undone because the mirror retired.
        case retired
        /// The action waited when an older state of the database was restored.
        case restored
        /// The action was decided for another account of the bot.
        case rebound
        /// The previous part of the thread was not published.
        case threadEnded = "thread-ended"
        /// A part of the thread could not be published, and a thread is published whole or not at
        /// all.
        case threadCut = "thread-cut"
        /// The network is still processing a picture.
        case processing
        /// A picture is no longer at its address.
        case pictureGone = "picture-gone"
        /// A picture has an address that is not requested.
        case pictureUnasked = "picture-unasked"
        /// A picture is larger than the network accepts.
        case pictureTooLarge = "picture-too-large"
        /// An attachment is not a picture of a kind that every network accepts.
        case notAPicture = "not-a-picture"
        /// The action's recipient or text was forgotten.
        case forgotten
        /// The worker ended before the network answered.
        case interrupted
        /// The run is a dry run, which sends no request.
        case dryRun = "dry-run"

        /// The reasons of an undo that no person asked for.
        static let automaticUndos: [Reason] = [.sourceGone, .sourceEdited, .threadCut]
    }
}

extension Action.Reason {
    /// The reason in plain words, without a full stop.
    package var sentence: String {
        switch self {
        case .unconfirmed: localized("the answer was lost, so it may or may not have arrived")
        case .duplicate: localized("the network says that the text was published before")
        case .tooLong: localized("the text is longer than the server allows")
        case .tooLate: localized("its time passed before it could be sent")
        case .beforeStart: localized("its time had passed when the mirror was started")
        case .noText: localized("no archived post may be used at this time")
        case .incomplete: localized("its text or the account to answer is missing")
        case .tooManyLate: localized("too many were late at once, and only a few were sent")
        case .undecided: localized("nothing was decided about the suggestion in time")
        case .denied: localized("the author is on the list of people to leave alone")
        case .byPerson: localized("a person skipped it")
        case .dismissed: localized("a person decided against it")
        case .rerolled: localized("a person had the day drawn again")
        case .never: localized("a person excluded this text")
        case .saidMeanwhile: localized("another post with the same text was sent meanwhile")
        case .sourceGone: localized("the human no longer shows the post that the text is from")
        case .sourceUnasked:
            localized("the human's network does not answer whether it still shows the text's post")
        case .sourceUnverified:
            localized(
                "nobody can be asked whether the text's post is still there, and TRUST_ARCHIVE is not yes"
            )
        case .sourceEdited: localized("the human changed the post that the text is from")
        case .humanFavorite: localized("the human favorited it, which deletes it")
        case .humanActive: localized("the human is posting, or was a while ago")
        case .quietHours: localized("it was in one of the quiet hours")
        case .noFavorites: localized("favorites were turned off")
        case .targetGone: localized("the post that it answers or favorites is gone")
        case .onlyAnswers: localized("posts were turned off")
        case .retired: localized("the mirror has retired")
        case .restored:
            localized(
                "it waited when a backup was restored, after which it could be late or repeat something"
            )
        case .rebound: localized("it was decided for another account of the bot")
        case .threadEnded: localized("the previous part of the thread was not published")
        case .threadCut:
            localized(
                "a part of its thread could not be published, and a thread is published whole or not at all"
            )
        case .processing: localized("the network is still processing a picture")
        case .pictureGone: localized("a picture is no longer at its address")
        case .pictureUnasked: localized("a picture has an address that is not requested")
        case .pictureTooLarge: localized("a picture is larger than the network accepts")
        case .notAPicture: localized("an attachment is no JPEG, PNG or WebP picture")
        case .forgotten: localized("its recipient or its text was forgotten")
        case .interrupted: localized("the worker ended before the network answered")
        case .dryRun: localized("a dry run asks no network")
        }
    }
}

extension ReasonCode {
    /// The code of a reason of the outbox.
    package static func outbox(_ reason: Action.Reason) -> ReasonCode {
        ReasonCode(rawValue: reason.rawValue)
    }
}

extension Action.Reason: SQLConvertible {
    package var sqlValue: SQLValue { .text(rawValue) }
}

extension ReasonCode: SQLConvertible {
    package var sqlValue: SQLValue { .text(rawValue) }
}
