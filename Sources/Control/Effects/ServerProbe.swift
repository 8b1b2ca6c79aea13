package import Foundation
package import Mirroring
package import Networks
package import Posts
import ServiceLifecycle
import Storage

/// What a mirror relies on a server for, and what one post can show.
package enum ServerPromise: String, CaseIterable, Codable, Sendable {
    /// The server's name for a new post leads to that post, with the text that was sent.
    case publishes
    /// Who may see a post is kept, as far as the account itself is told.
    case visibility
    /// A post that is not for few is shown to who has no login.
    case open
    /// The account's own list has what was just published: that is how a lost answer is found.
    case lists
    /// A reply names the post that it answers, and its author.
    case answers
    /// Another text takes the place of the first.
    case edits
    /// A changed post says that it was changed.
    case tellsEdits = "tells-edits"
    /// What was deleted is gone for who asks for it.
    case deletes
    /// What was deleted leaves the account's own list.
    case unlists

    /// What is so if the server keeps it.
    package var text: String {
        switch self {
        case .publishes: "a post arrives with the text that was sent"
        case .visibility: "a post keeps its visibility"
        case .open: "everybody can read the bot's posts"
        case .lists: "the account's list shows what was just published"
        case .answers: "a reply names the post that it answers"
        case .edits: "a post can be changed"
        case .tellsEdits: "a changed post is marked as changed"
        case .deletes: "a deleted post can no longer be read"
        case .unlists: "a deleted post leaves the account's list"
        }
    }

    /// What follows where the server does not keep it.
    package var consequence: String {
        switch self {
        case .publishes: "published posts cannot be recognised, so a post whose answer is lost stays unconfirmed"
        case .visibility: "posts may be visible to more people than intended"
        case .open: "other people cannot see the bot's posts"
        case .lists: "a post whose answer is lost stays unconfirmed"
        case .answers: "the recipient of a reply is unknown, so some mentions stay unanswered"
        case .edits: "a copy is deleted, and not changed, when the human changes the original"
        case .tellsEdits: "changes are found by comparing texts"
        case .deletes: "deleted posts are recognised by the account's list alone"
        case .unlists: "a deleted post may seem to exist still"
        }
    }
}

/// Tries out what a server does, with one unlisted post and an answer to it, which are deleted again.
///
/// Both are an `Effect` before their first request, and hold words that no other post does. So the
/// next command or a worker finds what a probe leaves that is cut.
package struct ServerProbe: Sendable {
    /// What was found.
    package struct Result: Sendable {
        /// Nil of a promise: the server does not let it be seen.
        package var kept: [ServerPromise: Bool?] = [:]
        /// What could not be deleted, by its address.
        package var left: [String] = []
        /// Why not all was tried.
        package var error: String?
    }

    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: Account

    /// - Parameters:
    ///   - network: The bot's.
    ///   - account: The bot.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, account: Account) {
        self.mirror = mirror
        self.network = network
        self.account = account
    }

    /// Publishes, looks, answers, edits and deletes.
    ///
    /// What was published is deleted also where a later step fails, and where the task is cancelled or
    /// a graceful shutdown begins: that ends the probe, and not the deletion.
    package func run() async -> Result {
        let attempt: ProbeAttempt
        do {
            attempt = try await ProbeAttempt(mirror, network, account, mark: Self.newMark())
        } catch {
            return Result(error: "\(error)")
        }
        var problem: String?
        do {
            try await cancelWhenGracefulShutdown { try await attempt.tryOut() }
        } catch is CancellationError {
            problem = "it was interrupted"
        } catch {
            problem = "\(error)"
        }
        let isCut = Task.isCancelled || Task.isShuttingDownGracefully
        // A task of its own is not cancelled with this one.
        return await Task { [problem] in await attempt.end(problem, isCut: isCut) }.value
    }

    // MARK: The mark

    private static let markStart = "probe "
    private static let markDigits = 12

    private static func newMark() -> String {
        let digits = UUID().uuidString.lowercased().replacing("-", with: "")
        return markStart + String(digits.prefix(markDigits))
    }

    /// Whether a text is the mark of a probe, and so in no post that a person wrote.
    static func isMark(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(markStart.utf8.count)
        return text.hasPrefix(markStart) && digits.count == markDigits
            && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}

/// One probe, and the row that it holds.
private actor ProbeAttempt {
    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: Account
    private let recovery: EffectRecovery
    private var effect: Effect
    private var result = ServerProbe.Result()
    private var first: PublishedPost?

    /// Stores the row.
    init(
        _ mirror: HumanMirror, _ network: any SocialNetwork, _ account: Account, mark: String
    ) async throws {
        self.mirror = mirror
        self.network = network
        self.account = account
        let recovery = EffectRecovery(mirror, network: network, account: account.id)
        let now = mirror.clock.now
        self.recovery = recovery
        effect = try await mirror.effects.begin(
            .probe, mark: mark, account: account.id, begun: network.present(at: now),
            next: now + recovery.patience)
    }

    private var text: String {
        "mirror-bot tries out what this server does with a post, and deletes it again at once "
            + "(\(effect.mark))."
    }

    // MARK: Trying out

    func tryOut() async throws {
        // A network without unlisted posts has public ones only.
        var draft = draft(text, "post")
        if !network.capabilities.visibilities.contains(.unlisted) { draft.visibility = .public }
        let post = try await publish(draft)
        first = post
        try await hold()
        let seen = try await network.lookUp(post.address)
        result.kept[.publishes] =
            seen.map { $0.post.text == text && $0.author.id == account.id } ?? false
        let visibility = seen?.post.visibility
        // Where nothing is for few, all that is open is the same.
        let isOneOfMany = network.capabilities.visibilities.contains(.private)
        result.kept[.visibility] =
            isOneOfMany ? visibility == draft.visibility : visibility?.isOpen == true
        try await hold()
        result.kept[.open] = try await network.isShownToAnybody(post.address)
        try await hold()
        result.kept[.lists] = try await listed(since: post.createdAt).contains(post.address)

        var answer = self.draft(
            "@\(account.handle) \(text) This answers it.", "answer", replyTo: post.address)
        answer.visibility = draft.visibility
        result.kept[.answers] = try await isAnswered(post, with: answer)

        guard network.capabilities.canEdit else {
            result.kept[.edits] = false
            return
        }
        let other = text + " This was changed."
        try await hold()
        try await network.edit(post.address, self.draft(other, "edit"))
        try await hold()
        let changed = try await network.lookUp(post.address)
        result.kept[.edits] = changed?.post.text == other
        result.kept[.tellsEdits] = changed?.editedAt != nil
    }

    private func draft(_ text: String, _ step: String, replyTo: String? = nil) -> Draft {
        Draft(
            text: text, replyTo: replyTo, visibility: .unlisted, language: "en",
            key: "\(step)-\(effect.mark)".replacing(" ", with: "-"), createdAt: mirror.clock.now)
    }

    /// Whether a reply is told to answer a post; false, too, for a server that does not tell what it
    /// calls the reply.
    private func isAnswered(_ post: PublishedPost, with answer: Draft) async throws -> Bool {
        do {
            let reply = try await publish(answer)
            try await hold()
            guard let seen = try await network.lookUp(reply.address),
                seen.replyToAddress == post.address
            else { return false }
            return seen.post.replyTo?.author.map { $0 == account.id } ?? true
        } catch let error as NetworkError where error.outcome == .unknown {
            return false
        }
    }

    private func listed(since time: Date) async throws -> Set<String> {
        Set(try await network.ownPosts(since: time - 60).map(\.address))
    }

    // MARK: The row

    /// Publishes a draft; that its request leaves is stored before.
    private func publish(_ draft: Draft) async throws -> PublishedPost {
        let departure = try await network.prepare(draft)
        effect.sent = mirror.clock.now
        do {
            try await hold()
        } catch {
            effect.sent = nil
            await departure.withdraw()
            throw error
        }
        do {
            let post = try await departure.send()
            if draft.replyTo == nil {
                effect.post = post.address
            } else {
                effect.answer = post.address
            }
            effect.sent = nil
            try await hold()
            return post
        } catch let error as NetworkError where error.isLastWord {
            effect.sent = nil
            try await hold()
            throw error
        }
    }

    /// Stores the row, so that no worker takes it up before the next request is over.
    ///
    /// - Throws: ``EffectTaken`` once another one has taken it up; the store's error.
    private func hold() async throws {
        effect.next = mirror.clock.now + recovery.patience
        try await mirror.effects.note(effect)
    }

    // MARK: The end

    /// Deletes what was published.
    ///
    /// - Parameters:
    ///   - problem: Why not all was tried; nil if all was.
    ///   - isCut: Whether nothing more is to be found out.
    func end(_ problem: String?, isCut: Bool) async -> ServerProbe.Result {
        result.error = problem
        var round = EffectRecovery.Round()
        do {
            try await recovery.takeBack(effect, in: &round)
        } catch {
            result.error = result.error ?? "\(error)"
        }
        result.left = round.left
        if let obstacle = round.obstacle { result.error = result.error ?? "\(obstacle)" }
        guard let first, result.left.isEmpty, !isCut else { return result }
        do {
            result.kept[.deletes] = try await network.lookUp(first.address) == nil
            let left = try await listed(since: first.createdAt)
            result.kept[.unlists] = !left.contains(first.address)
        } catch {
            result.error = result.error ?? "\(error)"
        }
        return result
    }
}

extension NetworkError {
    /// Whether the request is over, so that the server does nothing more about it: it did not leave,
    /// was refused, or was answered as done in a form that cannot be read.
    fileprivate var isLastWord: Bool {
        outcome != .unknown || status.map { (200...299).contains($0) } == true
    }
}

/// Which promises a bot's server was found to keep.
package struct ProbeTable: Sendable {
    let storage: any StorageEngine
    let mirror: String

    /// What was found of an account's server; nil as a value where the server does not let it be seen.
    ///
    /// - Throws: The store's error.
    package func findings(of account: AccountID) async throws -> (kept: [ServerPromise: Bool?], at: Date)? {
        let rows = try await storage.query(
            """
            SELECT promise, kept, noted_ms FROM probes
            WHERE mirror = \(mirror) AND account = \(account.canonical.reference)
            """)
        var kept: [ServerPromise: Bool?] = [:]
        var latest = Date(milliseconds: 0)
        for row in rows {
            guard let promise = ServerPromise(rawValue: try row.text("promise")) else { continue }
            kept[promise] = .some(try row.optionalInteger("kept").map { $0 == 1 })
            latest = max(latest, try row.date("noted_ms"))
        }
        return kept.isEmpty ? nil : (kept, latest)
    }

    /// Keeps what was found, in place of what was found of these promises before.
    ///
    /// - Throws: The store's error.
    package func note(_ kept: [ServerPromise: Bool?], of account: AccountID, now: Date) async throws {
        try await storage.transaction { [mirror] connection in
            for (promise, holds) in kept {
                try connection.execute(
                    """
                    INSERT INTO probes (mirror, account, promise, kept, noted_ms)
                    VALUES (\(mirror), \(account.canonical.reference), \(promise.rawValue),
                        \(holds.map { $0 ? 1 : 0 }), \(now.milliseconds))
                    ON CONFLICT (mirror, account, promise)
                    DO UPDATE SET kept = excluded.kept, noted_ms = excluded.noted_ms
                    """)
            }
        }
    }
}

extension HumanMirror {
    /// What the bot's server was found to do.
    package var probes: ProbeTable { ProbeTable(storage: storage, mirror: name) }
}
