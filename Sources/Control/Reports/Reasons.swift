import Archive
import Conduct
import Mirroring
import Networks
import Outbox
import Posts
import Settings

/// Why something was not done, or ended otherwise than it was meant.
package struct ReportedReason: Codable, Equatable, Sendable {
    /// The stable code that is stored with an action.
    package var code: String
    /// What it says, as a plain sentence without a full stop.
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

    /// What a code says; the code itself if it is of another version of the program.
    private static func sentence(_ code: String) -> String {
        Refusal.Reason(rawValue: code)?.sentence ?? sentences[code] ?? code
    }

    /// Whether the program knows what a code says.
    static func isKnown(_ code: String) -> Bool { sentence(code) != code }

    private static let sentences: [String: String] = [
        Action.Reason.unconfirmed: "the answer was lost, and nobody knows whether it arrived",
        Action.Reason.duplicate: "the network says that the text was published before",
        Action.Reason.tooLate: "its time passed before it could be sent",
        Action.Reason.incomplete: "it lacks a text or somebody to answer",
        Action.Reason.tooManyLate: "too many were late at once, and only a few of them left",
        Action.Reason.undecided: "nobody decided about the suggestion in time",
        "before-start": "its time had passed when the mirror was started",
        "no-text": "no archived post may be used at this time",
        Action.Reason.sourceGone: "the human no longer shows the post that the text is from",
        Action.Reason.sourceEdited: "the human changed the post that the text is from",
        Action.Reason.humanFavorite: "the human favorited it, which deletes it",
        Action.Reason.byPerson: "a person left it out",
        Action.Reason.rerolled: "a person had the day drawn anew",
        Action.Reason.humanActive: "the human is posting, or was a while ago",
        Action.Reason.quietHours: "it was in one of the quiet hours",
        Action.Reason.noFavorites: "the bot is to give no favorites any more",
        Action.Reason.targetGone: "the post that it was for is gone",
        Action.Reason.onlyAnswers: "the bot is to make no posts of its own",
        Action.Reason.saidMeanwhile: "another post said the same while this one waited",
        Action.Reason.forgotten: "whom it was for, or what it said, was forgotten",
        Action.Reason.restored: "it waited when a backup was restored, after which it could be late or said twice",
        Action.Reason.threadEnded: "the part of the thread before it is not out",
        Action.Reason.threadCut: "a part of its thread could not be said, and threads are said whole or not at all",
        Action.Reason.processing: "the network looks through a picture that goes along",
        Action.Reason.pictureGone: "a picture that was to go along is not where it was",
        Action.Reason.pictureUnasked: "a picture that was to go along has an address that is not asked",
        Action.Reason.pictureTooLarge: "a picture that was to go along is larger than the network takes",
        Action.Reason.notAPicture: "what was to go along is no JPEG, PNG or WebP picture",
        Archive.never: "a person never wants this text to be sent",
        Action.Reason.dismissed: "a person decided against it",
        "rebound": "it was decided for another account of the bot",
        "interrupted": "the worker ended before the network answered",
        NetworkError.Code.unauthorized.rawValue: "the network refuses the bot's credentials",
        NetworkError.Code.missingScope.rawValue: "the bot's token does not allow it",
        NetworkError.Code.accountDisabled.rawValue: "the bot's account is suspended, has moved or waits for approval",
        NetworkError.Code.forbidden.rawValue: "the network does not allow this one",
        NetworkError.Code.notFound.rawValue: "the post is gone, or the bot may not see it",
        NetworkError.Code.rateLimited.rawValue: "the network wants fewer requests",
        NetworkError.Code.rejected.rawValue: "the network refuses it as it is",
        NetworkError.Code.conflict.rawValue: "the same request is under way",
        NetworkError.Code.unavailable.rawValue: "the network is overloaded or out of order",
        NetworkError.Code.transport.rawValue: "the network cannot be reached",
        NetworkError.Code.malformedResponse.rawValue: "the network's answer cannot be read",
        NetworkError.Code.tooLarge.rawValue: "the network's answer is too large",
        NetworkError.Code.redirected.rawValue: "the server sends the request elsewhere",
        NetworkError.Code.capability.rawValue: "the network cannot do this",
        NetworkError.Code.configuration.rawValue: "a setting of the bot's account cannot be used",
        NetworkError.Code.creditsDepleted.rawValue: "the network wants to be paid first",
        NetworkError.Code.capReached.rawValue: "what the network allows in a day or month is used up",
        NetworkError.Code.overBudget.rawValue: "it would cost more than what is left of the month's money",
    ]

    /// What changes a rule, where a setting does.
    private static let settings: [String: String] = [
        Action.Reason.sourceEdited: Setting.followEdits.name,
        Action.Reason.humanFavorite: Setting.deleteOnFavorite.name,
        Refusal.Reason.personCap.rawValue: Setting.repliesPerPerson.name,
        Refusal.Reason.threadCap.rawValue: Setting.repliesPerThread.name,
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
    /// Why it ended or waits, in the most exact words that are stored; nil where nothing is to be said.
    var told: ReportedReason? {
        guard let reason else { return nil }
        if state == .undone, reason == Reason.byPerson { return ReportedReason(reason, text: "a person took it back") }
        // What a mention is skipped for is explained where that was decided; what failed, by the network.
        let exact = explanation?.outcome ?? (kind == .reply && state == .skipped ? explanation?.summary : nil)
        return ReportedReason(reason, text: exact)
    }
}

/// Somebody whom an action is about.
package struct ReportedPerson: Codable, Equatable, Sendable {
    /// As a person types it: `user@host`, `x:12345`, `did:plc:…`.
    package var account: String
    /// What they are called where they live, with `@`.
    package var name: String

    package init(account: String, name: String) { (self.account, self.name) = (account, name) }
}
