package import Foundation
package import Posts

/// What the bot can do.
package enum ActionKind: String, CaseIterable, Codable, Sendable {
    /// Publishing one of the human's old posts at a planned minute.
    case post
    /// Answering a mention with one of the human's old replies to that person.
    case reply
    /// Favoriting a post on the bot's home timeline.
    case favorite
}

/// Where an action stands.
///
/// `planned → claimed → sending → done`; the other states are ends, except
/// `suggested`, which waits for a person.
package enum ActionState: String, CaseIterable, Codable, Sendable {
    case planned
    /// A worker has taken the action; nothing has been sent.
    case claimed
    /// The final text is stored and a request may have left.
    case sending
    case done
    /// Decided against, with a reason.
    case skipped
    /// Its time passed before it could be sent.
    case expired
    /// Refused for good, or sent without ever being confirmed.
    case failed
    case suggested
    case undone
}

/// One thing the bot does, did or decided not to do: a row of `actions`.
package struct Action: Equatable, Identifiable, Sendable {
    /// A short identifier for people and logs, derived from kind and subject.
    package var id: String
    package var kind: ActionKind
    /// What makes the action unique within its kind: `2026-11-20#3` for a slot, the mention for a reply, the post for a
    /// favorite.
    package var subject: String
    package var state: ActionState
    package var due: Date
    package var expires: Date
    /// A person fixed this slot; rerolling the day leaves it.
    package var isPinned: Bool
    /// The archived post whose text is used.
    package var sourcePost: PostID?
    /// The post that is answered or favorited.
    package var targetPost: String?
    package var targetAuthor: AccountID?
    /// What calls to the bot's server need to name the target.
    package var targetAddress: String?
    /// Whom else the answered post names; the answer is not for them and must not notify them.
    ///
    /// Only people on the network of ``targetAuthor`` are kept.
    package var bystanders: [AccountID] = []
    /// What the replies of one conversation share: the mention that began it.
    package var thread: String?
    package var visibility: Visibility?
    package var language: String?
    package var text: String?
    /// The idempotency key, the same for every attempt.
    package var key: String
    /// When the first request left, on the clock of the worker that sent it.
    package var sending: Date?
    /// The same on the network's clock, as far as the worker knew it.
    package var serverSending: Date?
    package var remoteID: String?
    package var remoteAddress: String?
    /// How many requests were made, those that certainly did nothing included: what the waits grow with.
    package var attempts: Int
    /// How many requests may have acted since it was last certain that none did: what limits sending again.
    package var sends = 0
    /// The next thing to do: while planned another request, while sending a look-up, after failing unconfirmed another
    /// look for what may have arrived all the same.
    package var nextAttempt: Date?
    /// A stable kebab-case code of why the action ended or waits.
    package var reason: String?
    /// JSON for people: what led to the decision.
    package var explanation: String?
    package var created: Date
    package var updated: Date
}

extension Action {
    /// The reasons that the outbox itself gives; others are codes of rules and networks.
    package enum Reason {
        /// A request may have acted, and nothing of it was found in time.
        package static let unconfirmed = "unconfirmed"
        /// The network said that the text was published before.
        package static let duplicate = "duplicate"
        /// Its time passed before it could be sent.
        package static let tooLate = "too-late"
        /// It lacks a text or a target, and nothing can be sent for it.
        package static let incomplete = "incomplete"
        /// One of many that were late at once, and not among the few that leave then.
        package static let tooManyLate = "too-many-late"
        /// Nobody decided about the suggestion in time.
        package static let undecided = "undecided"
    }

    /// Whether a person was asked to decide, and either still is or never did.
    package var isSuggestion: Bool { state == .suggested || reason == Reason.undecided }

    /// Whether it ended without anybody knowing if it happened.
    package var isUnconfirmed: Bool { state == .failed && reason == Reason.unconfirmed }
}

/// Something the mirror decided to do, or not to do, before it is stored.
package struct Intent: Sendable {
    package var kind: ActionKind
    package var subject: String
    package var state: ActionState
    package var due: Date
    package var expires: Date
    package var sourcePost: PostID?
    package var targetPost: String?
    package var targetAuthor: AccountID?
    package var targetAddress: String?
    /// Whom else the answered post names, as ``Action/bystanders``.
    package var bystanders: [AccountID]
    package var thread: String?
    package var visibility: Visibility?
    package var language: String?
    package var text: String?
    package var reason: String?
    package var explanation: String?

    package init(
        kind: ActionKind, subject: String, state: ActionState = .planned, due: Date, expires: Date,
        sourcePost: PostID? = nil, targetPost: String? = nil, targetAuthor: AccountID? = nil,
        targetAddress: String? = nil, bystanders: [AccountID] = [], thread: String? = nil,
        visibility: Visibility? = nil, language: String? = nil, text: String? = nil, reason: String? = nil,
        explanation: String? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.state = state
        self.due = due
        self.expires = expires
        self.sourcePost = sourcePost
        self.targetPost = targetPost
        self.targetAuthor = targetAuthor
        self.targetAddress = targetAddress
        self.bystanders = bystanders
        self.thread = thread
        self.visibility = visibility
        self.language = language
        self.text = text
        self.reason = reason
        self.explanation = explanation
    }
}

/// The plan of one local day, as stored.
package struct StoredPlan: Equatable, Sendable {
    package var day: LocalDay
    package var timeZone: String
    package var seed: String
    package var made: Date

    package init(day: LocalDay, timeZone: String, seed: String, made: Date) {
        self.day = day
        self.timeZone = timeZone
        self.seed = seed
        self.made = made
    }

    /// The subject of the slot with this number, counted from 1.
    package static func subject(day: LocalDay, slot: Int) -> String { "\(day)#\(slot)" }
}
