import Archive
import Control
import Favorites
import Foundation
import Mirroring
import NetworkNames
import Outbox
import Posts
import Storage
import TestSupport

/// People, a history and things that wait, for a mirror of a test.
struct MirrorLife: Sendable {
    static let pal = AccountID(network: .mastodon, value: "pal@far.example")
    /// Actions that are left alone by ``fillHistory()``.
    static let skipped = 40

    let mirror: HumanMirror
    let human: AccountID
    let now: Date
    /// Whether everything that others can write is meant to break pages.
    let isHostile: Bool

    /// Two answers of the human, replies that wait, and, where it is hostile, forty people with
    /// something said of them.
    func begin() async throws {
        let answers = (0..<2).map { number in
            Post(
                id: PostID(network: .mastodon, value: "answer-\(number)"), author: human,
                text: "thank you for the bread", createdAt: now - Double(90 + number) * 86_400,
                replyTo: ReplyTarget(author: Self.pal), visibility: .public)
        }
        _ = try await mirror.archive.store(answers, timeZone: .gmt, limit: 10_000)
        for number in 0..<(isHostile ? 30 : 3) { try await suggestReply(number) }
        for number in 0..<(isHostile ? 40 : 0) {
            try await mirror.people.set(
                number % 2 == 0 ? .deny : .allow, for: Self.hostilePerson(number),
                handle: Self.hostile(255, number),
                reason: "operator", at: now)
        }
    }

    // MARK: Words

    static func hostile(_ length: Int, _ number: Int) -> String {
        let text =
            "\(number)\u{202E}\"'</title><script>alert(1)</script><img src=x onerror=\"a\">&lt;字😀"
        // Some have no blank, and one no end.
        let piece = number % 3 == 2 ? "x" : text
        return String(String(repeating: piece, count: length / piece.count + 1).prefix(length))
    }

    static func hostilePerson(_ number: Int) -> AccountID {
        number == 0
            ? AccountID(network: .x, value: "1\"onload=")
            : AccountID(
                network: .mastodon,
                value: "u\(number)" + String(repeating: "x", count: 200) + "@far.example")
    }

    private func person(_ number: Int) -> AccountID {
        isHostile ? Self.hostilePerson(number) : Self.pal
    }

    private func text(_ length: Int, _ number: Int) -> String {
        isHostile ? Self.hostile(length, number) : "text \(number)"
    }

    private func wording(_ number: Int) -> Action.Wording {
        var wording = Action.Wording(
            source: PostID(network: .mastodon, value: "answer-0"), text: text(10_000, number),
            language: "en",
            visibility: .unlisted)
        if isHostile { wording.rest = (0..<4).map { _ in Action.Part(wording) } }
        return wording
    }

    private func explanation(_ number: Int) -> Explanation {
        Explanation(
            text(3_000, number), favoriteRate: 5, threshold: 2, baseLogOdds: -2,
            features: (0..<10).map {
                .init(name: text(200, $0), logOdds: Double($0) - 4, favorites: 31, normals: 14)
            })
    }

    // MARK: What waits

    private func target(_ number: Int) -> Action.Target {
        Action.Target(
            post: "https://far.example/@pal/\(number)", author: person(number),
            address: "\(number)",
            name: isHostile ? Self.hostile(255, number) : nil, text: text(1_000, number))
    }

    private func suggest(_ payload: Action.Payload, _ number: Int, _ explanation: Explanation)
        async throws
    {
        let intent = Intent(
            payload, state: .suggested, due: now, expires: now + Double(number + 1) * 3_600,
            explanation: explanation)
        _ = try await mirror.outbox(lease: nil).propose(intent, now: now)
    }

    /// A reply that waits.
    func suggestReply(_ number: Int) async throws {
        var wording = wording(number)
        wording.rest = []
        let reply = Action.Reply(to: target(number), thread: "thread-\(number)", wording: wording)
        try await suggest(.reply(reply), number, Explanation(text(3_000, number)))
    }

    /// A favorite that waits.
    func suggestFavorite(_ number: Int) async throws {
        try await suggest(.favorite(target(number)), number, explanation(number))
    }

    // MARK: What was done

    /// Actions of all kinds in all states in which they end.
    func fillHistory() async throws {
        for number in 0..<Self.skipped { try await addSkipped(number) }
        for (index, state) in [ActionState.done, .sending, .failed, .expired, .undone, .skipped]
            .enumerated()
        {
            for kind in ActionKind.allCases { try await add(1_000 + index, kind, state) }
        }
    }

    func addSkipped(_ number: Int = Int.random(in: 10_000..<1_000_000)) async throws {
        try await add(number, .favorite, .skipped)
    }

    private func add(_ number: Int, _ kind: ActionKind, _ state: ActionState) async throws {
        let target = Action.Target(
            post: "https://far.example/@pal/\(kind)-\(number)", author: person(number % 30),
            address: "\(number)")
        let payload: Action.Payload =
            switch kind {
            case .favorite: .favorite(target)
            case .reply:
                .reply(Action.Reply(to: target, thread: "t\(number)", wording: wording(number)))
            case .post:
                .post(
                    Slot.Name(day: LocalDay(ordinal: 20_000 + number), number: 1), wording(number))
            }
        let at = now - Double(number % 900) * 60
        let intent = Intent(
            payload, state: .planned, due: at, expires: at + 3_600,
            explanation: kind == .favorite ? explanation(number) : Explanation(text(3_000, number)))
        let action = try await mirror.outbox(lease: nil).propose(intent, now: at).action
        try await mirror.storage.execute(
            """
            UPDATE actions SET state = \(state.rawValue), sending_ms = \(at.milliseconds),
                reason = CASE WHEN \(state.rawValue) IN ('done', 'sending') THEN NULL ELSE 'by-person' END
            WHERE mirror = \(mirror.name) AND id = \(action.id)
            """)
    }

    /// Posts that are out and about which the mirror asks.
    func proposeCopies(_ count: Int) async throws -> [Action] {
        var ids: [String] = []
        for number in 0..<count {
            let slot = Slot.Name(day: LocalDay(ordinal: 19_000 + number), number: 1)
            let at = now - Double(number) * 60
            let intent = Intent(
                .post(slot, wording(number)), state: .planned, due: at, expires: at + 3_600)
            let action = try await mirror.outbox(lease: nil).propose(intent, now: at).action
            try await mirror.storage.execute(
                """
                UPDATE actions SET state = 'done', sending_ms = \(at.milliseconds), remote_id = 'r', remote_address = 'r'
                WHERE mirror = \(mirror.name) AND id = \(action.id)
                """)
            ids.append(action.id)
        }
        let store = mirror.outbox(lease: nil)
        try await store.proposeUndos(ids, reason: .sourceGone)
        let stored = try await store.actions(withIDs: ids)
        return ids.compactMap { stored[$0] }
    }

    // MARK: What was learned and noted

    /// Enough favorites and other posts to know the human's taste, and a measure of how well it is
    /// known.
    func learn() async throws {
        let liked = ["bread", "lake", "garden"]
        let others = ["train", "score", "market"]
        let events = (0..<40).flatMap { number -> [FavoriteEvent] in
            func example(_ kind: String, _ words: [String]) -> Example {
                let word = isHostile ? Self.hostile(200, number) : words[number % words.count]
                return Example(
                    id: PostID(
                        network: .mastodon, value: "https://far.example/@pal/\(kind)-\(number)"),
                    author: isHostile ? "u\(number % 9)@far.example" : "pal@far.example",
                    text: "\(word) of the morning, number \(number)")
            }
            return [.favorited(example("liked", liked)), .seen(example("other", others))]
        }
        _ = try await mirror.favorites().learn(events, at: now)
        try await mirror.keep(DrawingTests.measure)
    }

    /// A worker that works, feeds that are read, findings of an examination, and notices that a
    /// person was told.
    func work() async throws {
        let name = mirror.name
        let ms = now.milliseconds
        let lease = LeaseTable(storage: mirror.storage, mirror: name)
        _ = try await lease.take(owner: "worker-\(name)", after: nil, now: ms)
        for feed in [FeedName.botMentions, FeedName.humanPosts] {
            try await mirror.storage.execute(
                """
                INSERT INTO feeds (mirror, feed, read_ms, newest_ms) VALUES (\(name), \(feed), \(ms - 30_000),
                    \(ms - 600_000))
                """)
        }
        try await mirror.keep(
            (0..<8).map { number -> Finding in
                number % 4 == 3
                    ? .warn(text(40, number), text(4_000, number), fix: text(900, number))
                    : .ok("part \(number)", "it answers")
            }, now: now - 600)
        for number in 0..<3 {
            try await mirror.storage.execute(
                """
                INSERT INTO told (mirror, told_ms, cause, state, text, since_ms) VALUES (\(name),
                    \(ms - Int64(number) * 86_400_000), 'failing', 'began', \(text(600, number)), \(ms))
                """)
        }
    }
}
