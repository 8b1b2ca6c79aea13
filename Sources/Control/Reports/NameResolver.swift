import Archive
import Foundation
import Localization
import Mirroring
import Outbox
import Posts

/// Finds the slot, the archived post or the text for a name that a person typed.
struct NameResolver: Sendable {
    private let mirror: HumanMirror
    private let zone: TimeZone
    private let store: OutboxStore

    /// - Parameter zone: The human's time zone, which determines the day of a slot's name.
    init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
        store = mirror.outbox(lease: nil)
    }

    // MARK: Slots

    /// Returns the slot with a typed name, as `TypedSlot` parses it, or with an identifier that
    /// begins with the word.
    ///
    /// If the slot's day is only a preview, its plan is stored first, as it was shown.
    ///
    /// - Throws: `ChangeRefusal` if there is none; the store's error.
    func slot(_ word: String, now: Date) async throws -> Action {
        if case .named(let name) = TypedSlot(word, today: LocalTime(now, in: zone).day) {
            try await PlanRedraw(mirror: mirror, zone: zone).settle(name.day, now: now)
            guard let slot = try await store.action(.post, subject: name.description) else {
                let count = try await store.slots(of: name.day).count { $0.parent == nil }
                throw ChangeRefusal(.unknown, saying: ActionNameError.noSlot(name, of: count).text)
            }
            return slot
        }
        do {
            let (action, isStored) = try await mirror.action(named: word, in: zone, now: now)
            guard case .post(let name, _) = action.payload else {
                throw ChangeRefusal(
                    .unusable,
                    saying: localized(
                        "\(control: .action(word)) is a \(action.kind.word) and no slot of a plan"))
            }
            return isStored ? action : try await slot(name.description, now: now)
        } catch let error as ActionNameError {
            throw ChangeRefusal(.unknown, saying: error.text)
        }
    }

    /// Returns the slot with a typed name, unless it is a further part of a thread: such a part has
    /// neither a time nor a text to choose.
    func firstPart(_ word: String, now: Date) async throws -> Action {
        let slot = try await slot(word, now: now)
        guard slot.parent == nil else {
            throw ChangeRefusal(
                .unusable,
                saying: localized(
                    "\(control: .part(slot.subject, at: LocalTime(slot.due, in: zone).minute)) continues a thread that has begun; it can only be skipped"
                ))
        }
        return slot
    }

    // MARK: Posts

    /// Returns the archived post with a typed name.
    ///
    /// - Throws: `ChangeRefusal` if there is none, or several; the store's error.
    func post(_ word: String) async throws -> Post {
        try requireOne(await mirror.archive.posts(named: word), word)
    }

    /// Returns the post with a typed name, unless it answers somebody: answers are not judged.
    func postOfItsOwn(_ word: String) async throws -> Post {
        let post = try await post(word)
        guard !post.isReply else {
            throw ChangeRefusal(
                .unusable, localized("that post answers somebody, and is not posted alone"))
        }
        return post
    }

    private func requireOne(_ matches: [Post], _ word: String) throws -> Post {
        guard let post = matches.first else { throw unknownPost(word) }
        guard matches.count == 1 else {
            throw ChangeRefusal(
                .ambiguous,
                localized("\(word) names more than one archived post; give its whole address"))
        }
        return post
    }

    private func unknownPost(_ word: String) -> ChangeRefusal {
        ChangeRefusal(
            .unknown,
            saying: localized(
                "\"\(word.prefix(60))\" names no archived post; give its address\(control: .textID)"
            ))
    }

    // MARK: Texts

    /// Returns the archived post with a typed name, or the one whose text is in the slot with that
    /// name.
    ///
    /// Changes nothing: the plan of a day that is not stored stays a preview.
    ///
    /// - Throws: `ChangeRefusal` if there is none, or several; the store's error.
    func text(named word: String, now: Date) async throws -> Post {
        try await postOrSlotText(word, now: now) { word in
            do {
                return try await mirror.action(named: word, in: zone, now: now).action
            } catch let error as ActionNameError {
                throw ChangeRefusal(.unknown, saying: error.text)
            }
        }
    }

    /// Returns the post that ``text(named:now:)`` finds, for a change: the plan of a slot's day is
    /// stored.
    func postOrSlotText(_ word: String, now: Date) async throws -> Post {
        try await postOrSlotText(word, now: now) { try await slot($0, now: now) }
    }

    /// - Parameter slot: A function that finds a slot by its name.
    private func postOrSlotText(
        _ word: String, now: Date, _ slot: (String) async throws -> Action
    ) async throws -> Post {
        let isSlot = TypedSlot(word, today: LocalTime(now, in: zone).day) != nil
        let posts = try await mirror.archive.posts(named: word)
        if !posts.isEmpty {
            // A short number may name a slot and a post.
            if isSlot { try await requireNoSlot(word, now: now) }
            return try requireOne(posts, word)
        }
        let action: Action
        do {
            action = try await slot(word)
        } catch let refusal as ChangeRefusal
            where !isSlot && [.unknown, .unusable].contains(refusal.code)
        {
            // A word that cannot be the name of a slot was meant as the name of a post.
            throw unknownPost(word)
        }
        guard let source = action.wording?.source, let post = try await mirror.archive.post(source)
        else {
            throw ChangeRefusal(
                .unusable,
                saying: localized(
                    "\(control: .slot(action, in: zone)) has no text of an archived post"))
        }
        return post
    }

    /// Fails if the name of a post is also the name of a slot.
    private func requireNoSlot(_ word: String, now: Date) async throws {
        let slot: Action
        do {
            slot = try await mirror.action(named: word, in: zone, now: now).action
        } catch is ActionNameError {
            return
        }
        throw ChangeRefusal(
            .ambiguous,
            localized(
                "\(word) is an archived post and a slot; write \(slot.subject) for the slot, or the post's address"
            ))
    }

    /// Returns the text with which the post of a typed name would be sent.
    ///
    /// - Throws: `ChangeRefusal` for a word that names no post, and for a post that is not to be
    ///   sent; the store's error.
    func wording(ofPost word: String) async throws -> Action.Wording {
        try await wording(of: post(word))
    }

    /// Returns the text with which a post would be sent.
    ///
    /// - Throws: `ChangeRefusal` for a post that is not to be sent; the store's error.
    func wording(of post: Post) async throws -> Action.Wording {
        let planner = mirror.planMaker(zone: zone, store: store)
        if let reason = try await planner.objection(to: post) {
            throw ChangeRefusal(
                .unfit,
                localized("that post is not to be sent: \(ReportedReason(reason).text)"))
        }
        let rules = planner.judge.rules
        switch rules.wording(of: post, try await mirror.archive.sequel(of: post)) {
        case .success(let wording): return wording
        case .failure(let refusal):
            throw ChangeRefusal(
                .unfit, localized("that post is not fit to be sent: \(refusal)"))
        }
    }
}

extension NamedControl {
    /// The slot as the beginning of a sentence.
    static func slot(_ slot: Action, in zone: TimeZone) -> NamedControl {
        .slot(slot.subject, at: LocalTime(slot.due, in: zone).minute)
    }
}
