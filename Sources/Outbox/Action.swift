package import Foundation
package import Posts

/// The kinds of actions.
package enum ActionKind: String, CaseIterable, Codable, Sendable {
    /// Publishing one of the human's old posts at a planned minute.
    case post
    /// Answering a mention with one of the human's old replies to that person.
    case reply
    /// Favoriting a post on the bot's home timeline.
    case favorite
}

/// The state of an action.
///
/// `planned → claimed → sending → done`. The other states are final, except `suggested`, which
/// waits for a person.
package enum ActionState: String, CaseIterable, Codable, Sendable {
    case planned
    /// A worker holds the action; nothing is sent.
    case claimed
    /// The final text is stored, and a request may have been sent.
    case sending
    case done
    /// The action will not be done, for a stored reason.
    case skipped
    /// The action was not sent in time.
    case expired
    /// The network refused the action for good, or it was sent and never confirmed.
    case failed
    case suggested
    case undone
}

/// One thing that the bot does, did or decided not to do: a row of `actions`.
///
/// The ``payload`` holds the data that only a post, a reply or a favorite has.
package struct Action: Equatable, Identifiable, Sendable {
    /// A short identifier for people and logs: twelve hexadecimal digits, derived from kind and
    /// subject.
    package var id: String
    package var payload: Payload
    package var state: ActionState
    package var due: Date
    package var expires: Date
    /// The idempotency key, the same for every attempt.
    package var key: String
    /// The time of the first request, on the clock of the worker that sent it.
    package var sending: Date?
    /// The time of that request by the network's clock; nil if the worker did not know it.
    package var serverSending: Date?
    package var remoteID: String?
    package var remoteAddress: String?
    /// The number of requests, including those that certainly did nothing; the backoff grows with
    /// it.
    package var attempts = 0
    /// The number of requests that may have acted; it limits sending again.
    package var sends = 0
    /// The time of the next step: a request while `planned`, a look-up while `sending`, another
    /// look-up after ending unconfirmed.
    package var nextAttempt: Date?
    /// Why the action ended or waits.
    package var reason: ReasonCode?
    package var explanation: Explanation?
    /// Whether a person chose its time or text, so that only a person may change these.
    package var isPinned = false
    /// Whether a person chose its text, so that no other text may be sent in its place.
    ///
    /// False if a person only moved it to another time.
    package var keepsText: Bool { isPinned && explanation?.movedFrom == nil }
    /// The bot's own post that it continues; nil unless it is a later part of a thread.
    package var parent: Parent?
    /// The pictures already uploaded, until the post is published.
    package var uploads: [Upload] = []
    /// The request to undo it; nil if there is none.
    package var undo: Undo?
    /// Whether the bot's previous account did it, so that the present one cannot undo it.
    package var isOfAnotherAccount = false
    package var created: Date
    package var updated: Date
    /// The number of changes of the row's state, time, text or requests; zero for a new action.
    ///
    /// A change names the revision that its caller read, and does nothing if the row has another.
    package var revision: Int64 = 0

    package var kind: ActionKind { payload.kind }
    /// The key of the action within its kind; see ``Payload/subject``.
    package var subject: String { payload.subject }
    package var target: Target? { payload.target }
    package var wording: Wording? { payload.wording }
    package var text: String? { payload.wording?.text }
    /// Its text, and the texts of the later parts of its thread.
    package var texts: [String] { payload.wording.map { [$0.text] + $0.rest.map(\.text) } ?? [] }
}

// MARK: Data of some kinds

extension Action {
    /// The kind of an action with its own data.
    package enum Payload: Equatable, Sendable {
        /// A post in a slot; without a text if no archived text was usable.
        case post(Slot.Name, Wording?)
        case reply(Reply)
        case favorite(Target)
        /// A mention whose data no database can store, except its identity; it is never answered.
        case undecidable(mention: String)
    }

    /// One of the human's texts, and the attributes with which it is published.
    package struct Wording: Equatable, Sendable {
        /// The archived post that the text is from.
        package var source: PostID
        package var text: String
        package var language: String?
        package var visibility: Visibility
        /// The content warning to publish; nil for none.
        package var warning: String?
        /// The pictures to publish with it; only for a post.
        package var pictures: [Picture]
        /// The later parts of its thread; only for a post.
        package var rest: [Part] = []
        /// A line below the human's text, which says that a bot repeats old words; nil for none.
        package var note: String?

        /// The text and the note, as they are published.
        package var published: String { published(text) }

        /// Returns a part of the text with the note, as they are published.
        ///
        /// - Parameter text: The part of the human's text that is published.
        package func published(_ text: String) -> String { note.map(text.noted) ?? text }

        package init(
            source: PostID, text: String, language: String? = nil, visibility: Visibility,
            warning: String? = nil,
            pictures: [Picture] = []
        ) {
            self.source = source
            self.text = text
            self.language = language
            self.visibility = visibility
            self.warning = warning
            self.pictures = pictures
        }
    }

    /// A later part of a thread.
    package struct Part: Codable, Equatable, Sendable {
        package var source: PostID
        package var text: String
        package var language: String?
        package var visibility: Visibility
        package var warning: String?
        package var pictures: [Picture]

        package init(_ wording: Wording) {
            source = wording.source
            text = wording.text
            language = wording.language
            visibility = wording.visibility
            warning = wording.warning
            pictures = wording.pictures
        }

        package var wording: Wording {
            Wording(
                source: source, text: text, language: language, visibility: visibility,
                warning: warning,
                pictures: pictures)
        }
    }

    /// The bot's own post that a later part of a thread answers.
    package struct Parent: Equatable, Sendable {
        /// The post's global identity.
        package var post: String
        /// The post's identifier in requests to the bot's server.
        package var address: String

        package init(post: String, address: String) {
            self.post = post
            self.address = address
        }
    }

    /// An uploaded picture that is in no post yet.
    package struct Upload: Codable, Equatable, Sendable {
        /// The human's post that the picture is from.
        package var source: PostID
        /// The index of the picture in that post.
        package var place: Int
        /// The network's identifier of the upload.
        package var reference: String
        /// The time of the upload; networks delete unused uploads after a while.
        package var made: Date
        /// Whether the network has processed the picture, so that a post may contain it.
        package var isReady: Bool

        package init(
            source: PostID, place: Int, reference: String, made: Date, isReady: Bool = true
        ) {
            self.source = source
            self.place = place
            self.reference = reference
            self.made = made
            self.isReady = isReady
        }
    }

    /// The uploads of the text's pictures, in order; nil unless there is one for each.
    package var pictureUploads: [Upload]? {
        guard let wording else { return [] }
        let readyUploads = wording.pictures.indices.map { place in
            uploads.last { $0.source == wording.source && $0.place == place && $0.isReady }
        }
        return readyUploads.contains { $0 == nil } ? nil : readyUploads.compactMap(\.self)
    }

    /// Another person's post that is answered or favorited.
    package struct Target: Equatable, Sendable {
        /// The post's global identity.
        package var post: String
        package var author: AccountID
        /// The post's identifier in requests to the bot's server.
        package var address: String
        /// The author's handle without `@`; nil if it is unknown or the same as their identity.
        package var name: String?
        /// The text of the post, for the person who decides; stored only while the action is
        /// suggested.
        package var text: String?

        package init(
            post: String, author: AccountID, address: String, name: String? = nil,
            text: String? = nil
        ) {
            self.post = post
            self.author = author
            self.address = address
            self.name = name
            self.text = text
        }
    }

    /// An answer to a mention.
    package struct Reply: Equatable, Sendable {
        package var target: Target
        /// Other people whom the answered post mentions; the answer must not notify them.
        ///
        /// Only people on the network of the target's author are kept.
        package var bystanders: [AccountID]
        /// The key of the conversation: the identity of the mention that began it; in a stored
        /// action, the digest of that identity.
        package var thread: String
        /// The text of the answer; nil to send none.
        package var wording: Wording?

        package init(
            to target: Target, bystanders: [AccountID] = [], thread: String, wording: Wording? = nil
        ) {
            self.target = target
            self.bystanders = bystanders
            self.thread = thread
            self.wording = wording
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

    /// The key of an action within its kind: the slot, the answered mention, or the favorited post.
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

    /// The reply; nil for other kinds.
    package var reply: Action.Reply? {
        guard case .reply(let reply) = self else { return nil }
        return reply
    }
}

// MARK: Decisions and plans

/// A decision to do something, or not, before it is stored.
package struct Intent: Equatable, Sendable {
    package var payload: Action.Payload
    package var state: ActionState
    package var due: Date
    package var expires: Date
    package var reason: ReasonCode?
    package var explanation: Explanation?
    /// See ``Action/isPinned``.
    package var isPinned = false

    package init(
        _ payload: Action.Payload, state: ActionState = .planned, due: Date, expires: Date,
        reason: ReasonCode? = nil,
        explanation: Explanation? = nil
    ) {
        self.payload = payload
        self.state = state
        self.due = due
        self.expires = expires
        self.reason = reason
        self.explanation = explanation
    }
}

extension Action {
    /// Makes the action of a decision.
    ///
    /// Its id and key are digests, so that every attempt has the same ones, also after a crash or
    /// in another process.
    package init(_ intent: Intent, of mirror: String, at now: Date) {
        let kind = intent.payload.kind.rawValue
        let subject = intent.payload.subject
        id = Self.id(of: intent.payload.kind, subject: subject)
        key = String(StableHash.digest(of: "key/1", mirror, kind, subject).hexadecimal.prefix(32))
        payload = intent.payload
        state = intent.state
        due = intent.due
        expires = intent.expires
        reason = intent.reason
        explanation = intent.explanation
        isPinned = intent.isPinned
        created = now
        updated = now
        guard case .reply(var reply) = payload else { return }
        reply.thread = OutboxStore.forgotten(reply.thread)
        payload = .reply(reply)
    }

    /// Returns the identifier of the action of this kind and subject, whether it exists or not.
    package static func id(of kind: ActionKind, subject: String) -> String {
        String(StableHash.digest(of: "action/1", kind.rawValue, subject).hexadecimal.prefix(12))
    }

    /// Whether it waits for a person's decision, or expired without one.
    package var isSuggestion: Bool { state == .suggested || reason == .outbox(.undecided) }

    /// Whether the action tells a person that their request to stop was understood.
    package var confirmsStop: Bool { explanation?.confirmsStop == true }

    /// Whether it ended with an unknown outcome.
    package var isUnconfirmed: Bool { state == .failed && reason == .outbox(.unconfirmed) }
}

/// The plan of one local day, as stored.
package struct StoredPlan: Equatable, Sendable {
    package var day: LocalDay
    package var timeZone: String
    package var seed: String
    package var made: Date
    /// The version of the model that drew the plan; model and seed determine the plan.
    package var model: Int

    package init(day: LocalDay, timeZone: String, seed: String, made: Date, model: Int = 1) {
        self.day = day
        self.timeZone = timeZone
        self.seed = seed
        self.made = made
        self.model = model
    }
}
