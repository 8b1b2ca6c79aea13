import Archive
import Conduct
import Favorites
import Mirroring
import Outbox
package import Posts
import Settings
import Storage

/// Excludes a text from being sent again, whichever post it came from; waiting slots with it get
/// another text.
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
            // A judgement of a reply says nothing about posts, so a reply gets no label.
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
        let inFlight = try await InFlightWait(mirror: mirror).wait {
            $0.text.map(TextRules.textKey) == key
        }
        let id = post.id.value
        return NeverChange(
            post: id, text: post.text, isNew: isNew,
            slots: changed.map { ChangedSlot($0, in: zone) },
            left: inFlight.map(LeftAction.init),
            wayBack: isNew ? WayBack(SendAgain(post: id), "never", "--undo", id) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> NeverChange? {
        try await NeverChange(at: desk, post, if: true)
    }
}

/// Allows a text again that a person had excluded.
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
    /// False if the text was already excluded, or allowed.
    package let isNew: Bool
    /// The slots that got another text, or were skipped.
    package let slots: [ChangedSlot]
    /// The actions with that text whose requests were under way.
    package let left: [LeftAction]
    package let wayBack: WayBack?
}

extension HumanMirror {
    /// The key that identifies a post's text among the excluded texts.
    fileprivate func neverKey(of post: Post) -> String {
        TextRules(configuration, limits: .usual(of: configuration.botNetwork)).neverKey(of: post)
    }
}

extension NeverChange {
    /// The outcome of a request that is already fulfilled; nil if it is not.
    ///
    /// - Parameter isNever: Whether the request was to exclude the text, or to allow it again.
    fileprivate init?(at desk: Desk, _ post: String, if isNever: Bool) async throws {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard text.isNever == isNever else { return nil }
        self.init(post: text.post, text: text.text, isNew: false, slots: [], left: [], wayBack: nil)
    }
}

/// Records that a text may be posted, whatever was learned from other texts; an excluded text is
/// allowed again.
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

/// Reverts ``KeepText``: nothing is learned from the text any more.
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
    /// False if the text was already kept, or not kept.
    package let isNew: Bool
    package let wayBack: WayBack?
}

extension KeepChange {
    /// The outcome of a request that is already fulfilled; nil if it is not.
    fileprivate init?(at desk: Desk, _ post: String, ifKept isKept: Bool) async throws {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard (text.label == PersonLabel.kept) == isKept else { return nil }
        self.init(post: text.post, text: text.text, isKept: isKept, isNew: false, wayBack: nil)
    }
}
