import Archive
import Conduct
import Favorites
import Mirroring
import Networks
import Outbox
import Posts
import Settings

/// Why something was not done, or ended otherwise than it was meant.
package struct ReportedReason: Codable, Equatable, Sendable {
    /// The stable code that is stored with an action.
    package var code: String
    /// The reason as a plain sentence without a full stop.
    package var text: String
    /// The setting that decides it; nil where none does.
    package var setting: String?

    /// - Parameters:
    ///   - code: What is stored with an action, or a rule's stable name.
    ///   - text: What is known more exactly than the code says.
    package init(_ code: String, text: String? = nil) {
        self.code = code
        self.text = text ?? Self.sentence(code)
        let isOfFitness = Refusal.Reason(rawValue: code)?.isOfFitness ?? false
        setting = Self.settings[code] ?? (isOfFitness ? Setting.fitness.name : nil)
    }

    /// Returns the sentence for a code, or the code itself if it is of another version of the
    /// program.
    private static func sentence(_ code: String) -> String {
        Refusal.Reason(rawValue: code)?.sentence ?? sentences[code] ?? code
    }

    /// Whether the program knows what a code says.
    static func isKnown(_ code: String) -> Bool { sentence(code) != code }

    private static let sentences: [String: String] = [
        Action.Reason.unconfirmed: "the answer was lost, so it may or may not have arrived",
        Action.Reason.duplicate: "the network says that the text was published before",
        Action.Reason.tooLate: "its time passed before it could be sent",
        Action.Reason.incomplete: "its text or the account to answer is missing",
        Action.Reason.tooManyLate: "too many were late at once, and only a few were sent",
        Action.Reason.undecided: "nothing was decided about the suggestion in time",
        "before-start": "its time had passed when the mirror was started",
        "no-text": "no archived post may be used at this time",
        Action.Reason.sourceGone: "the human no longer shows the post that the text is from",
        Action.Reason.sourceUnasked:
            "the human's network does not answer whether it still shows the text's post",
        Action.Reason.sourceUnverified:
            "nobody can be asked whether the text's post is still there, and TRUST_ARCHIVE is not yes",
        Action.Reason.sourceEdited: "the human changed the post that the text is from",
        Action.Reason.humanFavorite: "the human favorited it, which deletes it",
        Action.Reason.byPerson: "a person skipped it",
        Action.Reason.rerolled: "a person had the day drawn again",
        Action.Reason.humanActive: "the human is posting, or was a while ago",
        Action.Reason.quietHours: "it was in one of the quiet hours",
        Action.Reason.noFavorites: "favorites were turned off",
        Action.Reason.targetGone: "the post that it answers or favorites is gone",
        Action.Reason.onlyAnswers: "posts were turned off",
        Action.Reason.saidMeanwhile: "another post with the same text was sent meanwhile",
        Action.Reason.forgotten: "its recipient or its text was forgotten",
        Action.Reason.retired: "the mirror has retired",
        Action.Reason.restored:
            "it waited when a backup was restored, after which it could be late or repeat something",
        Action.Reason.threadEnded: "the previous part of the thread was not published",
        Action.Reason.threadCut:
            "a part of its thread could not be published, and a thread is published whole or not at all",
        Action.Reason.processing: "the network is still processing a picture",
        Action.Reason.pictureGone: "a picture is no longer at its address",
        Action.Reason.pictureUnasked: "a picture has an address that is not requested",
        Action.Reason.pictureTooLarge: "a picture is larger than the network accepts",
        Action.Reason.notAPicture: "an attachment is no JPEG, PNG or WebP picture",
        Archive.never: "a person excluded this text",
        PersonLabel.likeLeftOut: "it reads like texts that were left out",
        Action.Reason.dismissed: "a person decided against it",
        "rebound": "it was decided for another account of the bot",
        "interrupted": "the worker ended before the network answered",
        NetworkError.Code.unauthorized.rawValue: "the network refuses the bot's credentials",
        NetworkError.Code.missingScope.rawValue: "the bot's token does not allow it",
        NetworkError.Code.accountDisabled.rawValue:
            "the bot's account is suspended, has moved or waits for approval",
        NetworkError.Code.forbidden.rawValue: "the network does not allow this one",
        NetworkError.Code.notFound.rawValue: "the post is gone, or the bot may not see it",
        NetworkError.Code.rateLimited.rawValue: "the network limits the rate of requests",
        NetworkError.Code.rejected.rawValue: "the network refuses the request",
        NetworkError.Code.conflict.rawValue: "the same request is in progress",
        NetworkError.Code.unavailable.rawValue: "the network is overloaded or fails",
        NetworkError.Code.transport.rawValue: "the network cannot be reached",
        NetworkError.Code.malformedResponse.rawValue: "the network's answer cannot be read",
        NetworkError.Code.tooLarge.rawValue: "the network's answer is too large",
        NetworkError.Code.redirected.rawValue: "the server redirects the request",
        NetworkError.Code.capability.rawValue: "the network cannot do this",
        NetworkError.Code.configuration.rawValue: "a setting of the bot's account cannot be used",
        NetworkError.Code.creditsDepleted.rawValue: "the network requires payment first",
        NetworkError.Code.capReached.rawValue: "the network's limit for a day or month is reached",
        NetworkError.Code.overBudget.rawValue: "it would exceed the month's budget",
    ]

    /// The names of the settings that change rules, by the rule's code.
    private static let settings: [String: String] = [
        Action.Reason.sourceEdited: Setting.followEdits.name,
        Action.Reason.sourceUnasked: Setting.trustArchive.name,
        Action.Reason.sourceUnverified: Setting.trustArchive.name,
        Action.Reason.humanFavorite: Setting.deleteOnFavorite.name,
        Refusal.Reason.personCap.rawValue: Setting.repliesPerPerson.name,
        Refusal.Reason.threadCap.rawValue: Setting.repliesPerThread.name,
        Refusal.Reason.unlikelyReply.rawValue: Setting.replies.name,
        Refusal.Reason.dailyCap.rawValue: Setting.favoritesPerDay.name,
        Refusal.Reason.hasLink.rawValue: Setting.links.name,
        Refusal.Reason.hasMedia.rawValue: Setting.media.name,
        Refusal.Reason.threadHead.rawValue: Setting.threads.name,
        Refusal.Reason.noAltText.rawValue: Setting.mediaWithoutAlt.name,
        Action.Reason.humanActive: Setting.holdWhileActive.name,
        Action.Reason.quietHours: Setting.quietHours.name,
        Action.Reason.noFavorites: Setting.favoriteMode.name,
        Action.Reason.onlyAnswers: Setting.maxPerDay.name,
        Refusal.Reason.policyNotAcknowledged.rawValue: Setting.acknowledgeXPolicy.name,
        NetworkError.Code.overBudget.rawValue: Setting.xBudget.name,
    ]
}

extension Action {
    /// Why it ended or waits, in the most exact words that are stored; nil where nothing is to be
    /// said.
    var told: ReportedReason? {
        guard let reason else { return nil }
        if state == .undone, reason == Reason.byPerson {
            return ReportedReason(reason, text: "a person took it back")
        }
        // What a mention is skipped for is explained where that was decided; what failed, by the
        // network.
        let exact =
            explanation?.outcome
            ?? (kind == .reply && state == .skipped ? explanation?.summary : nil)
        return ReportedReason(reason, text: exact)
    }
}

/// Somebody whom an action is about.
package struct ReportedPerson: Codable, Equatable, Sendable {
    /// As a person types it: `user@host`, `x:12345`, `did:plc:…`.
    package var account: String
    /// The handle on their own network, with `@`.
    package var name: String

    package init(account: String, name: String) {
        self.account = account
        self.name = name
    }
}
