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
        return ForgetReport(outcome, in: try await desk.zone(), wayBack: outcome.isNew ? wish.wayBack : nil)
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

/// What a person wants to be forgotten, as they type it.
package enum ForgettingWish: Codable, Equatable, Sendable {
    /// The address or id of an archived post; to take it back also the digest that is shown of it.
    case post(String)
    case word(String)
    /// A day of every year, as `12-24`, or of one, as `2019-12-24`.
    case day(String)
    /// The days from one to another, both included; without an end that day and all after it.
    case days(from: String, to: String?)

    /// The wish that forgot something, by what ``Forgetting/list()`` says of it; nil for a person, whom other operations
    /// forget.
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
        case .days(let from, let to?): WayBack(RememberText.self, "forget", "--undo", "--from", from, "--to", to)
        }
    }
}

extension Desk {
    package func forgetting() async throws -> Forgetting { Forgetting(mirror: mirror, zone: try await zone()) }
}
