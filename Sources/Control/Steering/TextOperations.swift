import Archive
import Conduct
import Favorites
import Mirroring
import Outbox
package import Posts
import Settings
import Storage

/// Forgets a post, a word or a time for good.
package struct ForgetText: PersonOperation {
    package static let name = "forget"
    package var wish: ForgettingWish

    package init(_ wish: ForgettingWish) { self.wish = wish }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ForgetReport {
        let forgetting = try await desk.forgetting()
        let subject = try await forgetting.subject(of: wish)
        let outcome = try await forgetting.forget(subject, seen: seen, now: desk.now)
        return ForgetReport(
            outcome, in: try await desk.zone(),
            wayBack: outcome.isNew
                ? WayBack(RememberText(wish), ["forget", "--undo"] + wish.arguments) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> ForgetReport? {
        let forgetting = try await desk.forgetting()
        let isDone: Bool
        switch try await forgetting.subject(of: wish) {
        case .post: isDone = false
        case .gonePost: isDone = true
        case .muted(let kind, let value):
            isDone = try await forgetting.list().contains { $0.kind == kind && $0.value == value }
        }
        guard isDone else { return nil }
        let outcome = Forgetting.Outcome(isNew: false, removed: 0, changed: [], left: [])
        return ForgetReport(outcome, in: try await desk.zone())
    }
}

/// Takes back that something is forgotten; what left the archive comes back where it is read again.
package struct RememberText: PersonOperation {
    package static let name = "forget-undo"
    package var wish: ForgettingWish

    package init(_ wish: ForgettingWish) { self.wish = wish }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ForgetUndoReport {
        let forgetting = try await desk.forgetting()
        if case .post(let word) = wish {
            return ForgetUndoReport(isUndone: try await forgetting.undo(post: word))
        }
        let isUndone = try await forgetting.undo(
            try await forgetting.subject(of: wish), seen: seen)
        return ForgetUndoReport(
            isUndone: isUndone,
            wayBack: isUndone ? WayBack(ForgetText(wish), ["forget"] + wish.arguments) : nil)
    }
}

/// A person's request to forget something, as they type it.
package enum ForgettingWish: Codable, Equatable, Sendable {
    /// The address or id of an archived post; to take it back also the digest that is shown of it.
    case post(String)
    case word(String)
    /// A day of every year, as `12-24`, or of one, as `2019-12-24`.
    case day(String)
    /// The days from one to another, both included; without an end that day and all after it.
    case days(from: String, to: String?)

    /// The wish that forgot something, by what ``Forgetting/list()`` says of it; nil for a person,
    /// whom other operations forget.
    package init?(_ forgotten: Forgotten) {
        let days = forgotten.value.split(separator: "/").map(String.init)
        switch forgotten.kind {
        case "post": self = .post(forgotten.value)
        case "word": self = .word(forgotten.value)
        case "day": self = .day(forgotten.value)
        case "span" where days.count == 2:
            self = .days(from: days[0], to: days[1] == LocalDay.latest.description ? nil : days[1])
        default: return nil
        }
    }

    /// The words of the command line that name the thing.
    fileprivate var arguments: [String] {
        switch self {
        case .post(let post): [post]
        case .word(let word): ["--word", word]
        case .day(let day): ["--day", day]
        case .days(let from, nil): ["--from", from]
        case .days(let from, let to?): ["--from", from, "--to", to]
        }
    }
}

extension ForgettingWish {
    private enum CodingKeys: CodingKey { case post, word, day, from, to }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value(_ key: CodingKeys) throws -> String? {
            try container.decodeIfPresent(String.self, forKey: key)
        }
        if let post = try value(.post) {
            self = .post(post)
        } else if let word = try value(.word) {
            self = .word(word)
        } else if let day = try value(.day) {
            self = .day(day)
        } else {
            self = .days(
                from: try container.decode(String.self, forKey: .from), to: try value(.to))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .post(let post): try container.encode(post, forKey: .post)
        case .word(let word): try container.encode(word, forKey: .word)
        case .day(let day): try container.encode(day, forKey: .day)
        case .days(let from, let to):
            try container.encode(from, forKey: .from)
            try container.encodeIfPresent(to, forKey: .to)
        }
    }
}

extension Desk {
    package func forgetting() async throws -> Forgetting {
        Forgetting(mirror: mirror, zone: try await zone())
    }
}

/// Keeps a text from ever being sent again, whichever post it came from; waiting slots that have it
/// get another one.
package struct NeverSend: PersonOperation {
    package static let name = "never"
    /// The address or id of an archived post, or a slot that has its text.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> NeverChange {
        let zone = try await desk.zone()
        let now = desk.now
        let mirror = desk.mirror
        let post = try await desk.names().postOrSlotText(post, now: now)
        let key = mirror.neverKey(of: post)
        let isNew = try await mirror.storage.transaction {
            [archive = mirror.archive, labels = mirror.labels] connection in
            // How somebody is answered says nothing of what is posted.
            if !post.isReply { try labels.note(.never, of: post.id, now: now, on: connection) }
            return try archive.neverUse(key, of: post.id, seen: seen, now: now, on: connection)
        }
        try await mirror.table.raiseVersion()
        let replacement = try await desk.replacement()
        var changed: [Action] = []
        for waiting in try await desk.outbox.waitingPosts()
        where waiting.text.map(TextRules.textKey) == key {
            changed += try await replacement.replaceText(
                of: waiting, reason: .outbox(.never), now: now)
        }
        let left = try await LastWord(mirror: mirror).wait { $0.text.map(TextRules.textKey) == key }
        let id = post.id.value
        return NeverChange(
            post: id, text: post.text, isNew: isNew,
            slots: changed.map { ChangedSlot($0, in: zone) },
            left: left.map(LeftAction.init),
            wayBack: isNew ? WayBack(SendAgain(post: id), "never", "--undo", id) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> NeverChange? {
        try await NeverChange(at: desk, post, if: true)
    }
}

/// Lets a text be sent again that a person never wanted to be.
package struct SendAgain: PersonOperation {
    package static let name = "never-undo"
    /// The address or id of an archived post with that text.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> NeverChange {
        let mirror = desk.mirror
        let post = try await desk.names().post(post)
        let key = mirror.neverKey(of: post)
        let isNew = try await mirror.storage.transaction {
            [archive = mirror.archive, labels = mirror.labels] connection in
            try labels.takeBackNever(key, of: post.id, on: connection)
            return try archive.useAgain(key, of: post.id, seen: seen, on: connection)
        }
        try await mirror.table.raiseVersion()
        let id = post.id.value
        return NeverChange(
            post: id, text: post.text, isNew: isNew, slots: [], left: [],
            wayBack: isNew ? WayBack(NeverSend(post: id), "never", id) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> NeverChange? {
        try await NeverChange(at: desk, post, if: false)
    }
}

/// The outcome of forbidding a text for good, or of allowing it again.
package struct NeverChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/never/1"
    /// The id of the post that was named.
    package let post: String
    package let text: String
    /// False if that was so already.
    package let isNew: Bool
    /// The slots that got another text, or were left out.
    package let slots: [ChangedSlot]
    /// The actions with that text whose requests were under way.
    package let left: [LeftAction]
    package let wayBack: WayBack?
}

extension HumanMirror {
    /// The key that identifies a post's text among those that are never to be sent.
    fileprivate func neverKey(of post: Post) -> String {
        TextRules(configuration, limits: .usual(of: configuration.botNetwork)).neverKey(of: post)
    }
}

extension NeverChange {
    /// The outcome of a wish that is fulfilled already; nil if it is not.
    ///
    /// - Parameter isNever: Whether the text was to be sent never, or again.
    fileprivate init?(at desk: Desk, _ post: String, if isNever: Bool) async throws {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard text.isNever == isNever else { return nil }
        self.init(post: text.post, text: text.text, isNew: false, slots: [], left: [], wayBack: nil)
    }
}

/// Lets a text be posted whatever was learned of others; one that was never to be sent is sent
/// again.
package struct KeepText: PersonOperation {
    package static let name = "texts-keep"
    /// The address or id of an archived post that answers nobody.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> KeepChange {
        let now = desk.now
        let mirror = desk.mirror
        let post = try await desk.names().postOfItsOwn(post)
        let key = mirror.neverKey(of: post)
        let before = try await mirror.storage.transaction {
            [archive = mirror.archive, labels = mirror.labels] connection in
            let before = try labels.label(of: post.id, on: connection)
            try labels.takeBackNever(key, of: post.id, on: connection)
            let wasNever = try archive.useAgain(key, of: post.id, seen: seen, on: connection)
            try labels.note(.kept, of: post.id, now: now, on: connection)
            return wasNever ? .never : before
        }
        try await mirror.table.raiseVersion()
        let id = post.id.value
        let wayBack: WayBack? =
            switch before {
            case .kept?: nil
            case .never?: WayBack(NeverSend(post: id), "never", id)
            default: WayBack(UnkeepText(post: id), "texts", "keep", "--undo", id)
            }
        return KeepChange(
            post: id, text: post.text, isKept: true, isNew: before != .kept, wayBack: wayBack)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> KeepChange? {
        try await KeepChange(at: desk, post, ifKept: true)
    }
}

/// Takes back that a text was kept: nothing is learned from it any more.
package struct UnkeepText: PersonOperation {
    package static let name = "texts-unkeep"
    /// The address or id of an archived post that answers nobody.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> KeepChange {
        let mirror = desk.mirror
        let post = try await desk.names().postOfItsOwn(post)
        let isNew = try await mirror.storage.transaction {
            [archive = mirror.archive, labels = mirror.labels] connection in
            try archive.require(seen, of: post.id, on: connection)
            return try labels.takeBack(.kept, of: post.id, on: connection)
        }
        try await mirror.table.raiseVersion()
        let id = post.id.value
        return KeepChange(
            post: id, text: post.text, isKept: false, isNew: isNew,
            wayBack: isNew ? WayBack(KeepText(post: id), "texts", "keep", id) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> KeepChange? {
        try await KeepChange(at: desk, post, ifKept: false)
    }
}

/// The outcome of keeping a text, or of no longer keeping it.
package struct KeepChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/keep/1"
    /// The id of the post that was named.
    package let post: String
    package let text: String
    package let isKept: Bool
    /// False if that was so already.
    package let isNew: Bool
    package let wayBack: WayBack?
}

extension KeepChange {
    /// The outcome of a wish that is fulfilled already; nil if it is not.
    fileprivate init?(at desk: Desk, _ post: String, ifKept isKept: Bool) async throws {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard (text.label == PersonLabel.kept) == isKept else { return nil }
        self.init(post: text.post, text: text.text, isKept: isKept, isNew: false, wayBack: nil)
    }
}
