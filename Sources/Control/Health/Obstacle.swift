package import Foundation
import Localization
import Mirroring

/// One condition that keeps a mirror from a part of its work, or of which its operator should know.
package struct Obstacle: Codable, Equatable, Sendable {
    /// The parts of a mirror's work.
    package enum Work: String, CaseIterable, Codable, Sendable {
        /// Publishing posts and replies.
        case sending
        /// Reading the mentions of the bot.
        case hearing
        /// Giving or suggesting favorites.
        case favorites
        /// Archiving the human's new posts, and learning from their favorites and timelines.
        case learning
    }

    /// How much of the work in ``Obstacle/stops`` is lost.
    package enum Weight: String, CaseIterable, Codable, Sendable {
        /// All of it, until somebody or something ends the condition.
        case stops
        /// A part of it, or all of it for a while that passes by itself.
        case hinders
        /// All or a part of it, because a setting or a person wants it so.
        case wanted
        /// Nothing is lost; the condition is only worth knowing.
        case note
    }

    /// The way to end the condition.
    package struct Remedy: Codable, Equatable, Sendable {
        /// A command to run; nil if a setting or something else helps.
        package var command: String?
        /// A setting to change, by its name; nil if a command or something else helps.
        package var setting: String?
        /// The end of a sentence, such as `run mirror-bot train scheduler`; nil where the cause
        /// says what to do.
        package var text: String?

        static func run(_ command: String, text: String) -> Remedy {
            Remedy(command: command, text: text)
        }

        static func set(_ setting: String, text: String? = nil) -> Remedy {
            Remedy(setting: setting, text: text)
        }

        static func doing(_ text: String) -> Remedy { Remedy(text: text) }
    }

    package var code: Code
    /// When the condition began; nil if that is not known.
    package var since: Date?
    /// The parts of the work that the condition concerns; empty for a ``Weight/note`` that concerns
    /// none.
    package var stops: [Work]
    package var weight: Weight
    /// The condition in words, with times on the mirror's clock.
    ///
    /// May contain a server's answer.
    package var cause: String
    /// The condition without texts of a server or another person, for messages that leave this
    /// machine.
    package var brief: String
    /// The remedy; nil if no person has to act, or if ``cause`` says what to do.
    package var remedy: Remedy?
    /// The party that can end the condition; determines exit codes.
    package var mender: Finding.Cause

    /// Whether the whole of a kind of work that people wait for is lost: posts and replies, or
    /// mentions.
    package var isFatal: Bool {
        weight == .stops && (stops.contains(.sending) || stops.contains(.hearing))
    }

    /// The obstacle in one sentence, such as `nothing is sent: no worker is running; start one with
    /// mirror-bot run`.
    package var sentence: String {
        code.consequence.map { localized("\($0): \(reason)") } ?? reason
    }

    /// ``sentence`` without the remedy.
    var sentenceWithoutRemedy: String {
        code.consequence.map { localized("\($0): \(cause)") } ?? cause
    }

    /// The cause and what to do about it.
    package var reason: String { remedy?.text.map { localized("\(cause); \($0)") } ?? cause }
}

extension Obstacle {
    /// The kind of a condition.
    ///
    /// The raw value is a stable label for programs and metrics. The cases stand in the order in
    /// which reports list them: conditions that stop the whole work come first.
    package enum Code: String, CaseIterable, Codable, Sendable {
        // The mirror as a whole.
        case settingUnusable = "setting-unusable"
        /// The mirror was moved to another database.
        case moved
        /// The mirror is being moved into this database, and its copy is not complete yet.
        case arriving
        /// The mirror has retired: it is over, as a person wanted it.
        case retired
        /// The mirror retires at a time that a person named, or is about to.
        case retiring
        /// The mirror pauses by itself, because the bot's first post is not shown to the public.
        case firstPostHidden = "first-post-hidden"
        case paused
        /// The human stopped the mirror, and no consent was recorded since.
        case stoppedByHuman = "stopped-by-human"
        /// No consent of the human is recorded.
        case noConsent = "no-consent"
        /// The human's account is a memorial, suspended, switched off or gone, and no person has
        /// decided that the mirror goes on.
        case humanAway = "human-away"
        case noBotAccount = "no-bot-account"
        /// A stored login cannot be opened, or belongs to another network than the settings name.
        case botLoginUnusable = "bot-login-unusable"
        /// The credentials of both roles open one account.
        case sameAccount = "same-account"
        case noTimeZone = "no-time-zone"
        // Refusals and states that the bot's network reports.
        case botRefused = "bot-refused"
        case botLacksScope = "bot-lacks-scope"
        /// The account is suspended, disabled or moved away.
        case botDisabled = "bot-disabled"
        /// The network accepts no posts of the bot for some time.
        case sendingWaits = "sending-waits"
        // The database.
        case storeFull = "store-full"
        case storeReadOnly = "store-read-only"
        case storeAway = "store-away"
        // The worker.
        case workerEnded = "worker-ended"
        case noWorker = "no-worker"
        case workerLate = "worker-late"
        /// `run --once` was called regularly, and is not called any more.
        case passLate = "pass-late"
        case startFails = "start-fails"
        case publisherFails = "publisher-fails"
        case mentionsFail = "mentions-fail"
        // Permissions, learning and budgets.
        case policyUnacknowledged = "policy-unacknowledged"
        case pastUnknown = "past-unknown"
        case archiveEmpty = "archive-empty"
        /// None of the texts may be posted, other than as a reply.
        case noFitText = "no-fit-text"
        /// The bot cannot check whether archived posts still exist.
        case postsUnverified = "posts-unverified"
        case budgetSpent = "budget-spent"
        case mentionsUnpaid = "mentions-unpaid"
        case creditsDepleted = "credits-depleted"
        case mentionsUnread = "mentions-unread"
        // Parts of the work.
        case partFails = "part-fails"
        case feedUnread = "feed-unread"
        case feedWaits = "feed-waits"
        case itemsUnreadable = "items-unreadable"
        /// Items of a feed of some past time cannot be read any more.
        case itemsUnreached = "items-unreached"
        case unconfirmed
        /// Rows of actions cannot be understood by this version.
        case rowsSetAside = "rows-set-aside"
        /// A probe or a change of the profile was interrupted.
        case effectOpen = "effect-open"
        case clockWrong = "clock-wrong"
        case ownPostsUnpaid = "own-posts-unpaid"
        /// The mirror is older than the record of consent, and the operator has not stated one.
        case consentUnstated = "consent-unstated"
        /// The rules of the bot's server about bots differ from those that the operator was shown.
        case rulesChanged = "rules-changed"
        // The plan, as the settings want it.
        /// Minutes are not recorded in the zone `TIME_ZONE` yet.
        case zoneToCome = "zone-to-come"
        /// No person named the time zone.
        case zoneAdopted = "zone-adopted"
        /// `HOLD_WHILE_ACTIVE` has no effect, because no account of the human can be read.
        case holdUseless = "hold-useless"
        case onlyAnswers = "only-answers"
        case noAnswers = "no-answers"
        case alwaysQuiet = "always-quiet"
        case quietHours = "quiet-hours"
        case silentDay = "silent-day"
        // Favorites.
        case homeUnread = "home-unread"
        case favoritesOff = "favorites-off"
        case noFavoritesADay = "no-favorites-a-day"
        case dictionaryMissing = "dictionary-missing"
        case countsUnavailable = "counts-unavailable"
        case tooLittleLearned = "too-little-learned"
        case nothingToLearnFrom = "nothing-to-learn-from"
        case thresholdUnreached = "threshold-unreached"
        case favoritesSpent = "favorites-spent"
        // Decisions that wait for a person.
        case review
        case undoProposed = "undo-proposed"
        // Learning from the human.
        case noHumanAccount = "no-human-account"
        case humanLoginUnusable = "human-login-unusable"
        case humanRefused = "human-refused"
        case humanLacksScope = "human-lacks-scope"
        case humanDisabled = "human-disabled"
        /// The account is gone, private or moved: its posts cannot be found.
        case humanGone = "human-gone"
        /// The human uses another account now, according to the network.
        case humanMoved = "human-moved"

        /// Whether the condition concerns the process that reads the facts, and not the worker.
        var isOfThisProcess: Bool { [.dictionaryMissing, .countsUnavailable].contains(self) }

        /// The subject of the condition in the findings of `doctor`.
        package var subject: String {
            switch self {
            case .settingUnusable: "settings"
            case .moved, .arriving, .retired, .retiring, .firstPostHidden, .paused: "mirror"
            case .stoppedByHuman, .noConsent, .consentUnstated: "consent"
            case .noBotAccount, .botLoginUnusable, .sameAccount, .botRefused, .botLacksScope,
                .botDisabled,
                .sendingWaits:
                "bot"
            case .noTimeZone, .zoneToCome, .zoneAdopted: "time zone"
            case .storeFull, .storeReadOnly, .storeAway: "database"
            case .workerEnded, .noWorker, .workerLate, .passLate, .startFails, .publisherFails,
                .mentionsFail,
                .partFails:
                "worker"
            case .policyUnacknowledged: "policies"
            case .rulesChanged: "rules"
            case .pastUnknown, .archiveEmpty, .noFitText, .postsUnverified: "archive"
            case .budgetSpent, .mentionsUnpaid, .ownPostsUnpaid, .creditsDepleted: "budget"
            case .mentionsUnread, .feedUnread, .feedWaits, .itemsUnreadable, .itemsUnreached:
                "feeds"
            case .unconfirmed, .rowsSetAside: "actions"
            case .effectOpen: "unfinished"
            case .clockWrong: "clock"
            case .holdUseless: "silence"
            case .onlyAnswers, .noAnswers, .alwaysQuiet, .quietHours, .silentDay: "plan"
            case .dictionaryMissing: "dictionary"
            case .countsUnavailable: "redis"
            case .homeUnread, .favoritesOff, .noFavoritesADay, .tooLittleLearned,
                .nothingToLearnFrom,
                .thresholdUnreached, .favoritesSpent:
                "favorites"
            case .review, .undoProposed: "review"
            case .noHumanAccount, .humanLoginUnusable, .humanRefused, .humanLacksScope,
                .humanDisabled, .humanGone,
                .humanAway, .humanMoved:
                "human"
            }
        }

        /// The consequence of the condition, as the beginning of a sentence; `nil` where the cause
        /// says it.
        package var consequence: String? {
            switch self {
            case .settingUnusable, .moved, .arriving, .retired, .firstPostHidden, .paused,
                .stoppedByHuman,
                .noConsent, .humanAway, .noBotAccount, .botLoginUnusable, .sameAccount, .botRefused,
                .botLacksScope,
                .botDisabled, .sendingWaits, .storeFull, .storeReadOnly,
                .storeAway,
                .workerEnded,
                .noWorker, .workerLate, .passLate, .startFails, .publisherFails:
                localized("nothing is sent")
            case .noTimeZone: localized("no plan is made")
            case .policyUnacknowledged, .pastUnknown, .archiveEmpty, .postsUnverified:
                localized("no posts and no replies")
            case .noFitText, .onlyAnswers, .alwaysQuiet: localized("no posts")
            case .quietHours: localized("no posts now")
            case .silentDay: localized("no posts today")
            case .noAnswers: localized("no replies")
            case .mentionsFail: localized("nothing is heard")
            case .homeUnread, .favoritesOff, .noFavoritesADay, .dictionaryMissing,
                .countsUnavailable:
                localized("no favorites")
            case .thresholdUnreached, .tooLittleLearned, .nothingToLearnFrom:
                localized("no favorites yet")
            case .favoritesSpent: localized("no more favorites today")
            case .noHumanAccount, .humanLoginUnusable, .humanRefused, .humanLacksScope,
                .humanDisabled, .humanGone:
                localized("nothing new is learned")
            case .budgetSpent, .mentionsUnpaid, .creditsDepleted, .mentionsUnread, .partFails,
                .feedUnread, .feedWaits,
                .itemsUnreadable, .itemsUnreached, .unconfirmed, .rowsSetAside, .effectOpen,
                .clockWrong,
                .ownPostsUnpaid, .consentUnstated, .rulesChanged, .zoneToCome, .zoneAdopted,
                .holdUseless,
                .review, .undoProposed, .retiring, .humanMoved:
                nil
            }
        }

        /// The notice about the condition; nil if no person has to be notified.
        package var notice: NoticeCause? {
            switch self {
            case .botRefused, .botLacksScope, .botDisabled: .refused
            case .humanRefused, .humanLacksScope, .humanDisabled: .humanRefused
            case .storeFull, .storeReadOnly, .storeAway: .database
            case .startFails, .publisherFails, .mentionsFail, .partFails: .failing
            case .sendingWaits, .mentionsUnread, .feedUnread, .humanGone: .unreachable
            case .budgetSpent, .mentionsUnpaid, .creditsDepleted: .budget
            case .clockWrong: .clock
            case .firstPostHidden, .review, .undoProposed, .humanAway, .humanMoved: .review
            case .stoppedByHuman, .noConsent, .policyUnacknowledged, .pastUnknown, .archiveEmpty,
                .noFitText,
                .postsUnverified:
                .idle
            // Under these conditions a worker sends no notice, or ends with a notice of its own.
            case .settingUnusable, .moved, .arriving, .retired, .retiring, .paused, .noBotAccount,
                .botLoginUnusable, .sameAccount, .noTimeZone, .workerEnded,
                .noWorker, .workerLate, .passLate:
                nil
            case .feedWaits, .itemsUnreadable, .itemsUnreached, .unconfirmed, .rowsSetAside,
                .effectOpen,
                .ownPostsUnpaid, .consentUnstated, .rulesChanged, .zoneToCome, .zoneAdopted,
                .holdUseless,
                .onlyAnswers, .noAnswers,
                .alwaysQuiet, .quietHours, .silentDay, .homeUnread, .favoritesOff, .noFavoritesADay,
                .dictionaryMissing, .countsUnavailable,
                .tooLittleLearned, .nothingToLearnFrom, .thresholdUnreached, .favoritesSpent,
                .noHumanAccount,
                .humanLoginUnusable:
                nil
            }
        }

        /// The position of the obstacle in reports: a smaller number comes first.
        var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
}
