import Favorites
package import Posts

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
            outcome, in: try await desk.zone(), wayBack: outcome.isNew ? wish.wayBack : nil)
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
        return ForgetUndoReport(
            isUndone: try await forgetting.undo(try await forgetting.subject(of: wish), seen: seen))
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

    var wayBack: WayBack {
        switch self {
        case .post(let post): WayBack(RememberText.self, "forget", "--undo", post)
        case .word(let word): WayBack(RememberText.self, "forget", "--undo", "--word", word)
        case .day(let day): WayBack(RememberText.self, "forget", "--undo", "--day", day)
        case .days(let from, nil): WayBack(RememberText.self, "forget", "--undo", "--from", from)
        case .days(let from, let to?):
            WayBack(RememberText.self, "forget", "--undo", "--from", from, "--to", to)
        }
    }
}

extension Desk {
    package func forgetting() async throws -> Forgetting {
        Forgetting(mirror: mirror, zone: try await zone())
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
        let (post, before) = try await desk.plan().keep(post, seen: seen, now: desk.now)
        let wayBack =
            switch before {
            case .kept?: nil as WayBack?
            case .never?: WayBack(NeverSend.self, "never", post.id.value)
            default: WayBack(UnkeepText.self, "texts", "keep", "--undo", post.id.value)
            }
        return KeepChange(
            post: post.id.value, text: post.text, isKept: true, isNew: before != .kept,
            wayBack: wayBack)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> KeepChange? {
        try await KeepChange(at: desk, post, ifKept: true)
    }
}

/// Takes back that a text was kept.
package struct UnkeepText: PersonOperation {
    package static let name = "texts-unkeep"
    /// The address or id of an archived post that answers nobody.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> KeepChange {
        let (post, isNew) = try await desk.plan().unkeep(post, seen: seen)
        return KeepChange(
            post: post.id.value, text: post.text, isKept: false, isNew: isNew,
            wayBack: isNew ? WayBack(KeepText.self, "texts", "keep", post.id.value) : nil)
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
