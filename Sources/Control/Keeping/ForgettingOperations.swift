import Archive
import Mirroring
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

/// Reverts a request to forget; posts that left the archive return only if they are read again.
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
    /// The address or id of an archived post; for ``RememberText``, a digest may take its place.
    case post(String)
    case word(String)
    /// A day of every year, such as `12-24`, or of one year, such as `2019-12-24`.
    case day(String)
    /// The days from one to another, both included; without an end that day and all after it.
    case days(from: String, to: String?)

    /// Recreates the request from an entry of ``Forgetting/list()``; nil for a person, who is
    /// forgotten by another operation.
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

    /// The words of the command line that name the subject.
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

/// Deletes all data about a person, except for a digest that prevents storing data about them
/// again.
package struct ForgetPerson: PersonOperation {
    package static let name = "people-forget"
    /// One of the person's accounts; linked accounts are included.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PersonForgetting {
        let mirror = desk.mirror
        let now = desk.now
        let id = try await PeopleBook(mirror: mirror).account(account)
        // From here on nothing is prepared for these accounts; requests in flight end before the
        // data is deleted.
        let accounts = try await mirror.beginForgetting(id, seen: seen, now: now)
        let left = try await mirror.waitForRequests(to: accounts)
        return PersonForgetting(forgotten: try await mirror.forget(id, now: now), left: left)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PersonForgetting? {
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await desk.mirror.people.forgotten(among: [id]).contains(id) else { return nil }
        let nothing = PersonForgotten(
            accounts: [id.reference], posts: 0, unlearned: 0, dropped: 0, ended: 0, underWay: 0)
        return PersonForgetting(forgotten: nothing, left: [])
    }
}

/// The outcome of forgetting a person.
package struct PersonForgetting: PersonOutcome {
    package private(set) var schema = "mirror-bot/people-forget/1"
    package let forgotten: PersonForgotten
    /// The actions for these people whose requests were under way.
    package let left: [LeftAction]

    init(forgotten: PersonForgotten, left: [LeftAction]) {
        self.forgotten = forgotten
        self.left = left
    }
}
