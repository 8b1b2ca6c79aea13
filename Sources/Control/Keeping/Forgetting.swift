import Archive
import Conduct
package import Foundation
import Localization
package import Mirroring
package import Outbox
package import Posts

/// Forgets posts, words and days at a person's request.
///
/// A post, or all posts with a word, leave the archive and are not archived again. Posts of a muted
/// day stay, because their times are needed for the schedule, but they are not sent.
package struct Forgetting: Sendable {
    /// The subject to forget.
    package enum Subject: Equatable, Sendable {
        case post(Post)
        /// A post that is already forgotten.
        case gonePost
        /// A word, a day of every year or a span of days, as it is stored.
        case muted(kind: String, value: String)
    }

    /// The outcome of a request.
    package struct Outcome: Sendable {
        /// False if it was already forgotten or muted.
        package let isNew: Bool
        /// The number of posts that left the archive.
        package let removed: Int
        /// The waiting actions that got another text or were skipped, as they are now.
        package let changed: [Action]
        /// The posts and replies that were in flight at that moment, and may have such a text.
        package let left: [Action]
    }

    private let mirror: HumanMirror
    private let zone: TimeZone

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - zone: The human's time zone.
    package init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
    }

    private var archive: Archive { mirror.archive }

    // MARK: Subjects

    /// The archived post that a typed address or id names.
    ///
    /// - Throws: `ChangeRefusal`; the store's error.
    package func subject(post word: String) async throws -> Subject {
        do {
            return .post(try await NameResolver(mirror: mirror, zone: zone).post(word))
        } catch let error as ChangeRefusal {
            for network in NetworkName.known
            where try await archive.isForgotten(PostID(network: network, value: word)) {
                return .gonePost
            }
            throw error
        }
    }

    /// A word that a person typed.
    ///
    /// - Throws: `ChangeRefusal` if the word is empty or too long.
    package static func subject(word: String) throws -> Subject {
        let problem = localized(
            "the word is empty or longer than \(Muted.longestWord) characters")
        return try subject(Muted.Entry(word: word), problem: problem)
    }

    /// A day of every year, such as `12-24`, or of one year, such as `2019-12-24`.
    package static func subject(day: String) throws -> Subject {
        let entry = LocalDay(day).map { Muted.Entry.span($0...$0) } ?? Muted.Entry(day: day)
        return try subject(
            entry, problem: localized("the day is no date such as 12-24 or 2019-12-24"))
    }

    /// The days from one to another, both included; without an end, all days from the first one on.
    package static func subject(from: String, to: String?) throws -> Subject {
        let first = LocalDay(from)
        let last = to.map { LocalDay($0) } ?? .latest
        guard let first, let last, first <= last else {
            throw ChangeRefusal(
                .unusable,
                saying: localized(
                    "expected two dates, the earlier one first, such as \(control: .days("2019-03-01", "2019-06-30"))"
                ))
        }
        let span = Muted.Entry.span(first...last).stored
        return .muted(kind: span.kind, value: span.value)
    }

    private static func subject(_ entry: Muted.Entry?, problem: String) throws -> Subject {
        guard let stored = entry?.stored else { throw ChangeRefusal(.unusable, problem) }
        return .muted(kind: stored.kind, value: stored.value)
    }

    /// Resolves a request, as a person typed it, to the subject that it names.
    ///
    /// - Throws: `ChangeRefusal` if it names no subject; the store's error.
    package func subject(of wish: ForgettingWish) async throws -> Subject {
        switch wish {
        case .post(let post): try await subject(post: post)
        case .word(let word): try Self.subject(word: word)
        case .day(let day): try Self.subject(day: day)
        case .days(let from, let to): try Self.subject(from: from, to: to)
        }
    }

    /// The digest of a subject as it is shown to a person before they agree; nil for a post that is
    /// gone.
    ///
    /// - Throws: The store's error.
    package func seen(_ subject: Subject) async throws -> Seen? {
        switch subject {
        case .post(let post): return try await archive.seen(of: post.id)
        case .gonePost: return nil
        case .muted(let kind, let value):
            let isMuted = try await archive.muted().contains {
                $0.kind == kind && $0.value == value
            }
            return Archive.seen(kind, value, isMuted: isMuted)
        }
    }

    // MARK: Forgetting

    /// The number of archived posts that would leave the archive, or no longer be used.
    ///
    /// - Throws: The store's error.
    package func reach(of subject: Subject) async throws -> Int {
        switch subject {
        case .post: 1
        case .gonePost: 0
        case .muted(let kind, let value): try await ids(kind, value).count
        }
    }

    private func ids(_ kind: String, _ value: String) async throws -> [PostID] {
        let muted = Muted([Muted.Entry(kind: kind, value: value)].compactMap(\.self))
        let zone = zone
        return try await archive.ids { text, created in
            muted.reason(against: text, of: LocalTime(created, in: zone).day) != nil
        }
    }

    /// Forgets or mutes a subject, and checks the waiting actions.
    ///
    /// - Throws: The store's error.
    package func forget(_ subject: Subject, seen: Seen? = nil, now: Date) async throws -> Outcome {
        var isNew = false
        var removed = 0
        switch subject {
        case .gonePost: break
        case .post(let post):
            try await archive.forgetForGood([post.id], seen: seen, now: now)
            isNew = true
            removed = 1
        case .muted(let kind, let value):
            // The word is muted first, so that no post with it arrives while the others leave.
            isNew = try await archive.mute(kind, value, seen: seen, now: now)
            if kind == "word" {
                let ids = try await ids(kind, value)
                try await archive.forget(ids)
                removed = ids.count
            }
        }
        try await mirror.table.raiseVersion()
        let changed = try await TextReplacement(mirror: mirror, zone: zone).replaceUnwanted(
            now: now)
        return Outcome(
            isNew: isNew, removed: removed, changed: changed,
            left: try await InFlightWait(mirror: mirror).wait { $0.kind != .favorite })
    }

    // MARK: Taking back

    /// Ends the muting of a word or of days; posts that left return only if they are read again.
    ///
    /// - Parameter seen: ``Forgotten/seen`` that the person was shown; nil to change without
    ///   comparing.
    /// - Returns: False if it was not muted.
    /// - Throws: `SeenChanged`; the store's error.
    package func undo(_ subject: Subject, seen: Seen? = nil) async throws -> Bool {
        guard case .muted(let kind, let value) = subject else { return false }
        return try await archive.unmute(kind, value, seen: seen)
    }

    /// Allows a forgotten post to be archived again.
    ///
    /// - Parameter word: The id of the post, or its digest in ``list()``.
    /// - Returns: False if no such post was forgotten.
    /// - Throws: The store's error.
    package func undo(post word: String) async throws -> Bool {
        for network in NetworkName.known
        where try await archive.readmit(PostID(network: network, value: word).forgottenDigest) {
            return true
        }
        return try await archive.readmit(word)
    }

    /// Reads the forgotten and muted entries, the latest first; entries of posts and people contain
    /// only digests.
    ///
    /// - Throws: The store's error.
    package func list() async throws -> [Forgotten] {
        let notes = try await archive.forgotten() + archive.muted()
        let latestFirst = notes.sorted { first, second in
            first.noted == second.noted
                ? (first.kind, first.value) < (second.kind, second.value)
                : first.noted > second.noted
        }
        return latestFirst.map(Forgotten.init)
    }
}

// MARK: - For programs

/// The outcome of forgetting something.
package struct ForgetReport: PersonOutcome {
    package private(set) var schema = "mirror-bot/forget/1"
    /// False if it was already forgotten or muted.
    package let isNew: Bool
    /// Posts that left the archive.
    package let removed: Int
    /// The slots that got another text, or were skipped.
    package let slots: [ChangedSlot]
    /// Waiting replies that were skipped.
    package let repliesLeftOut: Int
    /// Posts and replies that were in flight at that moment.
    package let left: [LeftAction]
    package let wayBack: WayBack?

    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - zone: The human's time zone.
    ///   - wayBack: The reverse operation; nil if nothing was changed.
    package init(_ outcome: Forgetting.Outcome, in zone: TimeZone, wayBack: WayBack? = nil) {
        self.wayBack = wayBack
        isNew = outcome.isNew
        removed = outcome.removed
        left = outcome.left.map(LeftAction.init)
        slots = outcome.changed.filter { $0.kind == .post }.map { ChangedSlot($0, in: zone) }
        repliesLeftOut = outcome.changed.count - slots.count
    }
}

/// The outcome of undoing an earlier request to forget.
package struct ForgetUndoReport: PersonOutcome {
    package private(set) var schema = "mirror-bot/forget-undo/1"
    /// False if it was not forgotten.
    package let isUndone: Bool
    /// Nil if nothing was undone, and for a post, which has to be read again first.
    package let wayBack: WayBack?

    package init(isUndone: Bool, wayBack: WayBack? = nil) {
        self.isUndone = isUndone
        self.wayBack = wayBack
    }
}

/// Everything that is forgotten or muted.
package struct ForgetList: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/forget-list/1"
    /// The latest first.
    package let forgotten: [Forgotten]

    package init(forgotten: [Forgotten]) { self.forgotten = forgotten }
}

/// A forgotten or muted subject.
package struct Forgotten: Codable, Equatable, Sendable {
    /// `post`, `person`, `word`, `day` or `span`.
    package let kind: String
    /// The muted word, day or span; for a post or a person, a digest.
    package let value: String
    package let noted: Date
    /// The digest of the muting, for ending it; nil for posts and people.
    package let seen: Seen?

    init(_ note: Archive.Note) {
        kind = note.kind
        value = note.value
        noted = note.noted
        seen =
            ["post", "person"].contains(note.kind)
            ? nil : Archive.seen(note.kind, note.value, isMuted: true)
    }
}

// MARK: - People

/// Counts of the data that was forgotten about a person.
package struct PersonForgotten: Codable, Equatable, Sendable {
    /// The accounts as a person types them.
    package let accounts: [String]
    /// The human's posts that answered or named them.
    package let posts: Int
    /// Learned posts of theirs that were unlearned.
    package let unlearned: Int
    /// Waiting replies and favorites that were cancelled.
    package let dropped: Int
    /// Ended actions of which only the outcome is kept.
    package let ended: Int
    /// Actions that may be in flight, or that are still to be undone, and are not forgotten yet.
    package let underWay: Int
}

extension HumanMirror {
    /// Deletes all data about a person, except for a digest that prevents storing data about them
    /// again.
    ///
    /// After an interruption the same call, or a worker, continues: the accounts stay known until
    /// no action is in flight.
    ///
    /// - Parameters:
    ///   - person: One of the person's accounts; linked accounts are included.
    ///   - now: Recorded with the digest.
    /// - Returns: The counts of the deleted data.
    /// - Throws: As ``favorites()``; the store's error.
    package func forget(_ person: AccountID, now: Date) async throws -> PersonForgotten {
        var names: [AccountID: Set<String>] = [:]
        for account in try await people.linked(to: person) {
            names[account] = try await self.names(of: account)
        }
        let accounts = try await beginForgetting(person, now: now)
        try await proofs.forget(names)
        var unlearned = try await unlearn(names, now: now)
        var postsAboutThem: [PostID] = []
        for account in accounts {
            postsAboutThem += try await people.posts(about: account).map(\.id)
        }
        let ledger = try await outbox(lease: nil).forget(
            accounts, quoting: postsAboutThem, now: now)
        try await feeds.forget(accounts)
        let posts = try await people.forget(accounts, keeping: ledger.inUse, now: now)
        // A page of a feed with their posts may have been in flight when they were denied.
        unlearned += try await unlearn(names, now: now)
        try await people.removeRecords(of: accounts, wholly: ledger.underWay == 0)
        return PersonForgotten(
            accounts: accounts.map(\.reference), posts: posts, unlearned: unlearned,
            dropped: ledger.dropped,
            ended: ledger.ended, underWay: ledger.underWay)
    }

    /// Prevents workers from learning from a person and sending to them, until they are forgotten.
    ///
    /// - Parameters:
    ///   - person: One of the person's accounts, which is denied first.
    ///   - seen: `People.Person.seen` of this account that the person was shown; nil to change
    ///     without comparing.
    ///   - now: The time of the request.
    /// - Returns: All accounts of the person.
    /// - Throws: The store's error.
    package func beginForgetting(_ person: AccountID, seen: Seen? = nil, now: Date) async throws
        -> [AccountID]
    {
        let accounts = try await people.linked(to: person)
        for account in accounts {
            try await people.set(
                .deny, for: account, reason: People.forgottenReason,
                seen: account == person ? seen : nil,
                at: now)
        }
        return accounts
    }

    /// Continues unfinished requests to forget, as far as possible now.
    ///
    /// - Parameter now: Recorded with the digests.
    /// - Throws: As ``forget(_:now:)``.
    package func continueForgetting(now: Date) async throws {
        for person in try await people.beingForgotten() { _ = try await forget(person, now: now) }
    }

    private func unlearn(_ names: [AccountID: Set<String>], now: Date) async throws -> Int {
        var unlearned = 0
        for (account, names) in names.sorted(by: { $0.key.reference < $1.key.reference }) {
            unlearned += try await forgetLearning(of: account, called: names, now: now)
        }
        return unlearned
    }
}
