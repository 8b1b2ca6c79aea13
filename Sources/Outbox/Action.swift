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
///
/// Here is what all actions have in common; what only a post, a reply or a favorite has is the ``payload``.
package struct Action: Equatable, Identifiable, Sendable {
    /// A short identifier for people and logs: twelve hexadecimal digits, derived from kind and subject.
    package var id: String
    package var payload: Payload
    package var state: ActionState
    package var due: Date
    package var expires: Date
    /// The idempotency key, the same for every attempt.
    package var key: String
    /// When the first request left, on the clock of the worker that sent it.
    package var sending: Date?
    /// The same on the network's clock, as far as the worker knew it.
    package var serverSending: Date?
    package var remoteID: String?
    package var remoteAddress: String?
    /// How many requests were made, those that certainly did nothing included: what the waits grow with.
    package var attempts = 0
    /// How many requests may have acted since it was last certain that none did: what limits sending again.
    package var sends = 0
    /// The next thing to do: while planned another request, while sending a look-up, after failing unconfirmed another
    /// look for what may have arrived all the same.
    package var nextAttempt: Date?
    /// A stable kebab-case code of why the action ended or waits.
    package var reason: String?
    package var explanation: Explanation?
    /// A person chose its time or its text: nothing but a person changes these.
    package var isPinned = false
    /// The bot's own post that it goes on from; nil unless it is a further part of a thread.
    package var parent: Parent?
    /// What of its pictures is at the network already, while it is not out.
    package var uploads: [Upload] = []
    /// The wish to take it back; nil while nobody has one.
    package var undo: Undo?
    /// It was done by an account that the bot had before, so that this one cannot take it back.
    package var isOfAnotherAccount = false
    package var created: Date
    package var updated: Date

    package var kind: ActionKind { payload.kind }
    /// What makes the action unique within its kind; see ``Payload/subject``.
    package var subject: String { payload.subject }
    package var target: Target? { payload.target }
    package var wording: Wording? { payload.wording }
    package var text: String? { payload.wording?.text }
    /// Its text, and those of the further parts of its thread.
    package var texts: [String] { payload.wording.map { [$0.text] + $0.rest.map(\.text) } ?? [] }
}

// MARK: What only some have

extension Action {
    /// What is done, with what only that needs.
    package enum Payload: Equatable, Sendable {
        /// Publishing a text in a slot; none where no archived text could be used.
        case post(Slot.Name, Wording?)
        case reply(Reply)
        case favorite(Target)
        /// Answering a mention of which no database takes more than its identity, so that it is never answered.
        case undecidable(mention: String)
    }

    /// A text of the human's, and what it is published with.
    package struct Wording: Equatable, Sendable {
        /// The archived post that the text is from.
        package var source: PostID
        package var text: String
        package var language: String?
        package var visibility: Visibility
        /// What it warns of, which goes along; nil for nothing.
        package var warning: String?
        /// What goes along with it; only with a post.
        package var pictures: [Picture]
        /// What is said after it, as further parts of a thread; only with a post.
        package var rest: [Part] = []

        package init(
            source: PostID, text: String, language: String? = nil, visibility: Visibility, warning: String? = nil,
            pictures: [Picture] = []
        ) {
            (self.source, self.text, self.language, self.visibility) = (source, text, language, visibility)
            (self.warning, self.pictures) = (warning, pictures)
        }
    }

    /// A further part of a thread: a text of the human's, and what it is published with.
    package struct Part: Codable, Equatable, Sendable {
        package var source: PostID
        package var text: String
        package var language: String?
        package var visibility: Visibility
        package var warning: String?
        package var pictures: [Picture]

        package init(_ wording: Wording) {
            (source, text, language) = (wording.source, wording.text, wording.language)
            (visibility, warning, pictures) = (wording.visibility, wording.warning, wording.pictures)
        }

        package var wording: Wording {
            Wording(
                source: source, text: text, language: language, visibility: visibility, warning: warning,
                pictures: pictures)
        }
    }

    /// The bot's own post that a further part of a thread answers.
    package struct Parent: Equatable, Sendable {
        /// Its identity, the same everywhere.
        package var post: String
        /// What calls to the bot's server need to name it.
        package var address: String

        package init(post: String, address: String) { (self.post, self.address) = (post, address) }
    }

    /// A picture that the network has got, and that is in no post yet.
    package struct Upload: Codable, Equatable, Sendable {
        /// The post that it is from, and which of its pictures it is.
        package var source: PostID
        package var place: Int
        /// What the network calls it.
        package var reference: String
        /// When the network took it: in a while it forgets what is in no post.
        package var made: Date
        /// Whether the network has looked through it, so that it may be in a post.
        package var isReady: Bool

        package init(source: PostID, place: Int, reference: String, made: Date, isReady: Bool = true) {
            (self.source, self.place, self.reference) = (source, place, reference)
            (self.made, self.isReady) = (made, isReady)
        }
    }

    /// The uploads of the pictures that go along with the text, in their order; nil unless there is one for each.
    package var pictureUploads: [Upload]? {
        guard let wording else { return [] }
        let found = wording.pictures.indices.map { place in
            uploads.last { $0.source == wording.source && $0.place == place && $0.isReady }
        }
        return found.contains { $0 == nil } ? nil : found.compactMap(\.self)
    }

    /// A post of somebody else that is answered or favorited.
    package struct Target: Equatable, Sendable {
        /// Its identity, the same everywhere.
        package var post: String
        package var author: AccountID
        /// What calls to the bot's server need to name it.
        package var address: String
        /// The author's handle, without `@`; nil where that is their identity, or is not known.
        package var name: String?
        /// What the post says, for the person who decides about the action; stored only while it is suggested.
        package var text: String?

        package init(post: String, author: AccountID, address: String, name: String? = nil, text: String? = nil) {
            (self.post, self.author, self.address) = (post, author, address)
            (self.name, self.text) = (name, text)
        }
    }

    /// An answer to a mention.
    package struct Reply: Equatable, Sendable {
        package var target: Target
        /// Whom else the answered post names; the answer is not for them and must not notify them.
        ///
        /// Only people on the network of the target's author are kept.
        package var bystanders: [AccountID]
        /// What the replies of one conversation share: the mention that began it; in an action a digest of that.
        package var thread: String
        /// Nil where nothing is said.
        package var wording: Wording?

        package init(to target: Target, bystanders: [AccountID] = [], thread: String, wording: Wording? = nil) {
            (self.target, self.bystanders, self.thread, self.wording) = (target, bystanders, thread, wording)
        }
    }
}

extension Action.Payload {
    package var kind: ActionKind {
        switch self {
        case .post: .post
        case .reply, .undecidable: .reply
        case .favorite: .favorite
        }
    }

    /// What makes an action unique within its kind: the slot, the answered mention, the favorited post.
    package var subject: String {
        switch self {
        case .post(let slot, _): slot.description
        case .reply(let reply): reply.target.post
        case .favorite(let target): target.post
        case .undecidable(let mention): mention
        }
    }

    package var target: Action.Target? {
        switch self {
        case .reply(let reply): reply.target
        case .favorite(let target): target
        case .post, .undecidable: nil
        }
    }

    package var wording: Action.Wording? {
        switch self {
        case .post(_, let wording): wording
        case .reply(let reply): reply.wording
        case .favorite, .undecidable: nil
        }
    }

    /// Nil unless a mention is answered.
    package var reply: Action.Reply? {
        guard case .reply(let reply) = self else { return nil }
        return reply
    }
}

// MARK: Before and after

/// Something the mirror decided to do, or not to do, before it is stored.
package struct Intent: Equatable, Sendable {
    package var payload: Action.Payload
    package var state: ActionState
    package var due: Date
    package var expires: Date
    package var reason: String?
    package var explanation: Explanation?
    /// See ``Action/isPinned``.
    package var isPinned = false

    package init(
        _ payload: Action.Payload, state: ActionState = .planned, due: Date, expires: Date, reason: String? = nil,
        explanation: Explanation? = nil
    ) {
        (self.payload, self.state, self.due, self.expires) = (payload, state, due, expires)
        (self.reason, self.explanation) = (reason, explanation)
    }
}

extension Action {
    /// The action that a decision becomes.
    ///
    /// Its names are digests, so that every attempt, after a crash and in another process too, names it the same way.
    package init(_ intent: Intent, of mirror: String, at now: Date) {
        let (kind, subject) = (intent.payload.kind.rawValue, intent.payload.subject)
        id = Self.id(of: intent.payload.kind, subject: subject)
        key = String(StableHash.digest(of: "key/1", mirror, kind, subject).hexadecimal.prefix(32))
        (payload, state, due, expires) = (intent.payload, intent.state, intent.due, intent.expires)
        (reason, explanation, isPinned) = (intent.reason, intent.explanation, intent.isPinned)
        (created, updated) = (now, now)
        guard case .reply(var reply) = payload else { return }
        reply.thread = OutboxStore.forgotten(reply.thread)
        payload = .reply(reply)
    }

    /// The identifier of the action of this kind about this subject, whether there is one or not.
    package static func id(of kind: ActionKind, subject: String) -> String {
        String(StableHash.digest(of: "action/1", kind.rawValue, subject).hexadecimal.prefix(12))
    }

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
        /// Whom it is for is to be left alone.
        package static let denied = "denied"
        /// A person does not want it.
        package static let byPerson = "by-person"
        /// A person decided against a suggestion.
        package static let dismissed = "dismissed"
        /// A person had its day drawn anew.
        package static let rerolled = "rerolled"
        /// Another post said the same while it waited.
        package static let saidMeanwhile = "said-meanwhile"
        /// The human no longer shows the post that the text is from.
        package static let sourceGone = "source-gone"
        /// The human changed the post that the text is from.
        package static let sourceEdited = "source-edited"
        /// The human favorited what the bot posted.
        package static let humanFavorite = "human-favorite"
        /// The human is posting, or was a while ago.
        package static let humanActive = "human-active"
        /// It was in one of the quiet hours.
        package static let quietHours = "quiet-hours"
        /// The bot is to give no favorites any more.
        package static let noFavorites = "no-favorites"
        /// The post that it was for is gone, or not for the bot to see any more.
        package static let targetGone = "target-gone"
        /// The bot is to make no posts of its own.
        package static let onlyAnswers = "only-answers"
        /// It waited when an older state of the database was put back.
        package static let restored = "restored"
        /// The part of the thread before it is not out.
        package static let threadEnded = "thread-ended"
        /// A part of the thread could not be said, and it is said whole or not at all.
        package static let threadCut = "thread-cut"
        /// The network looks through a picture that goes along.
        package static let processing = "processing"
        /// A picture that was to go along is not where it was.
        package static let pictureGone = "picture-gone"
        /// The address of a picture that was to go along is none that is asked.
        package static let pictureUnasked = "picture-unasked"
        /// A picture that was to go along is larger than the network takes.
        package static let pictureTooLarge = "picture-too-large"
        /// What was to go along is no picture of a kind that every network takes.
        package static let notAPicture = "not-a-picture"
        /// Whom it was for, or what it said, was forgotten.
        package static let forgotten = "forgotten"

        /// Why the mirror takes something back without a person who said so.
        static let automaticUndos = [sourceGone, sourceEdited, threadCut]
    }

    /// Whether a person was asked to decide, and either still is or never did.
    package var isSuggestion: Bool { state == .suggested || reason == Reason.undecided }

    /// Whether it ended without anybody knowing if it happened.
    package var isUnconfirmed: Bool { state == .failed && reason == Reason.unconfirmed }
}

/// The plan of one local day, as stored.
package struct StoredPlan: Equatable, Sendable {
    package var day: LocalDay
    package var timeZone: String
    package var seed: String
    package var made: Date
    /// The version of the model that drew it: together with the seed it tells which plan that was.
    package var model: Int

    package init(day: LocalDay, timeZone: String, seed: String, made: Date, model: Int = 1) {
        (self.day, self.timeZone, self.seed, self.made) = (day, timeZone, seed, made)
        self.model = model
    }
}
