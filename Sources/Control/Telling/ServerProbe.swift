package import Foundation
package import Mirroring
package import Networks
package import Posts
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

    private let network: any SocialNetwork
    private let account: Account
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - network: The bot's.
    ///   - account: The bot.
    ///   - now: Reads the wall clock.
    package init(network: any SocialNetwork, account: Account, now: @escaping @Sendable () -> Date) {
        (self.network, self.account, self.now) = (network, account, now)
    }

    /// Publishes, looks, answers, edits and deletes.
    ///
    /// What was published is deleted also where a later step fails.
    package func run() async -> Result {
        var result = Result()
        var published: [PublishedPost] = []
        do {
            try await tryOut(&result, &published)
        } catch {
            result.error = "\(error)"
        }
        guard let first = published.first else { return result }
        // The answer first: some servers delete what is below a post with it. It may be there though its name was not told.
        var addresses = published.reversed().map(\.address)
        do {
            let own = try await network.ownPosts(since: first.createdAt - 60)
            addresses =
                own.filter { Self.isOurs($0, of: account) }.map(\.address).filter { !addresses.contains($0) }
                + addresses
        } catch {
            result.error = result.error ?? "\(error)"
        }
        for address in addresses {
            do {
                _ = try await network.delete(address) { Self.isOurs($0, of: account) }
            } catch {
                result.left.append(address)
                result.error = result.error ?? "\(error)"
            }
        }
        guard result.left.isEmpty else { return result }
        do {
            result.kept[.deletes] = try await network.lookUp(first.address) == nil
            result.kept[.unlists] = !(try await listed(since: first.createdAt)).contains(first.address)
        } catch {
            result.error = result.error ?? "\(error)"
        }
        return result
    }

    private static let text = "mirror-bot tries out what this server does with a post, and deletes it again at once."

    private static func isOurs(_ post: ObservedPost, of account: Account) -> Bool {
        post.author.id == account.id && post.post.text.contains("mirror-bot tries out")
    }

    private func draft(_ text: String, _ step: String, replyTo: String? = nil) -> Draft {
        let time = now()
        return Draft(
            text: text, replyTo: replyTo, visibility: .unlisted, language: "en",
            key: "probe-\(step)-\(time.milliseconds)", createdAt: time)
    }

    private func tryOut(_ result: inout Result, _ published: inout [PublishedPost]) async throws {
        // A network without unlisted posts has public ones only.
        var first = draft(Self.text, "post")
        if !network.capabilities.visibilities.contains(.unlisted) { first.visibility = .public }
        let post = try await network.publish(first)
        published.append(post)
        let seen = try await network.lookUp(post.address)
        result.kept[.publishes] = seen.map { $0.post.text == Self.text && $0.author.id == account.id } ?? false
        // Where nothing is for few, all that is open is the same.
        let isOneOfMany = network.capabilities.visibilities.contains(.private)
        result.kept[.visibility] =
            isOneOfMany ? seen?.post.visibility == first.visibility : seen?.post.visibility.isOpen == true
        result.kept[.open] = try await network.isShownToAnybody(post.address)
        result.kept[.lists] = try await listed(since: post.createdAt).contains(post.address)

        var answer = draft("@\(account.handle) " + Self.text + " This answers it.", "answer", replyTo: post.address)
        answer.visibility = first.visibility
        result.kept[.answers] = try await isAnswered(post, with: answer, &published)

        guard network.capabilities.canEdit else {
            result.kept[.edits] = false
            return
        }
        let other = Self.text + " This was changed."
        try await network.edit(post.address, draft(other, "edit"))
        let changed = try await network.lookUp(post.address)
        result.kept[.edits] = changed?.post.text == other
        result.kept[.tellsEdits] = changed?.editedAt != nil
    }

    /// Whether a reply is told to answer a post; false, too, for a server that does not tell what it calls the reply.
    private func isAnswered(
        _ post: PublishedPost, with answer: Draft, _ published: inout [PublishedPost]
    ) async throws -> Bool {
        do {
            let reply = try await network.publish(answer)
            published.append(reply)
            guard let seen = try await network.lookUp(reply.address), seen.replyToAddress == post.address else {
                return false
            }
            return seen.post.replyTo?.author.map { $0 == account.id } ?? true
        } catch let error as NetworkError where error.outcome == .unknown {
            return false
        }
    }

    private func listed(since time: Date) async throws -> Set<String> {
        Set(try await network.ownPosts(since: time - 60).map(\.address))
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
