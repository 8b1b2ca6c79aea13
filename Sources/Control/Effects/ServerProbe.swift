import Foundation
import Localization
package import Mirroring
package import Networks
package import Posts
import ServiceLifecycle
import Storage

/// Tests the behavior of a server with an unlisted post and a direct reply to it, which are then
/// deleted.
///
/// The probe makes the requests itself (`PlainServer`), because a client that adapts to the
/// server's program would measure its own adaptations.
///
/// Both posts are stored as an `Effect` before their first request, and contain unique words. So
/// the next command or a worker finds the posts of an interrupted probe.
package struct ServerProbe: Sendable {
    /// The result of a probe.
    package struct Result: Sendable {
        /// Whether each promise is kept; `nil` if that cannot be observed.
        ///
        /// Promises that were not tested are missing.
        package var kept: [ServerPromise: Bool?] = [:]
        /// The addresses of the posts that could not be deleted.
        package var left: [String] = []
        /// Why some steps were not tried; nil if all were.
        package var error: String?
    }

    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: Account

    /// - Parameters:
    ///   - network: The bot's network.
    ///   - account: The bot's account.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, account: Account) {
        self.mirror = mirror
        self.network = network
        self.account = account
    }

    /// Runs the probe: publishes, reads, answers, edits and deletes its posts.
    ///
    /// A probe takes ten seconds longer if the server still shows a deleted post.
    ///
    /// The posts are deleted even if a later step fails, the task is cancelled or a graceful
    /// shutdown begins: these end the probe, but not the deletion.
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
            problem = localized("it was interrupted")
        } catch {
            problem = "\(error)"
        }
        // A separate task is not cancelled with this one.
        return await Task { [problem] in await attempt.end(problem) }.value
    }

    // MARK: The mark

    private static let markStart = "probe "
    private static let markDigits = 12

    private static func newMark() -> String {
        let digits = UUID().uuidString.lowercased().replacing("-", with: "")
        return markStart + String(digits.prefix(markDigits))
    }

    /// Whether a text is the mark of a probe, which no post of a person contains.
    static func isMark(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(markStart.utf8.count)
        return text.hasPrefix(markStart) && digits.count == markDigits
            && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}

/// One probe, with the stored effect that it holds.
private actor ProbeAttempt {
    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: Account
    private let recovery: EffectRecovery
    private var effect: Effect
    private var result = ServerProbe.Result()
    private let server: any PlainServer

    /// Stores the effect.
    init(
        _ mirror: HumanMirror, _ network: any SocialNetwork, _ account: Account, mark: String
    ) async throws {
        self.mirror = mirror
        self.network = network
        self.account = account
        let recovery = EffectRecovery(mirror, network: network, account: account.id)
        let now = mirror.clock.now
        self.recovery = recovery
        server = network.plainServer
        effect = try await mirror.effects.begin(
            .probe, mark: mark, account: account.id, begun: network.present(at: now),
            next: now + recovery.requestLifetime)
    }

    private var text: String {
        "mirror-bot tries out what this server does with a post, and deletes it again at once "
            + "(\(effect.mark))."
    }

    // MARK: Trying out

    func tryOut() async throws {
        // On a network without unlisted posts, the post is public.
        var draft = draft(text, step: "post")
        let visibilities = network.capabilities.visibilities
        if !visibilities.contains(.unlisted) { draft.visibility = .public }
        guard let post = try await publish(draft) else {
            result.kept[.publishes] = false
            return
        }
        try await holdEffect()
        let seen = try await server.read(post)
        result.kept[.publishes] = seen?.text == text
        // On a server without the visibility `private`, any open visibility counts as kept.
        result.kept[.keepsVisibility] =
            visibilities.contains(.private)
            ? seen?.visibility == draft.visibility : seen?.visibility.isOpen == true
        try await holdEffect()
        result.kept[.showsUnlisted] = try await network.isShownToAnybody(post)
        try await holdEffect()
        result.kept[.listsNewPosts] = try await server.newest().contains(post)
        try await answer(post)
        try await change(post, from: seen?.visibility)
        try await delete(post)
    }

    /// Answers the first post with a reply that only its author sees; if the server does not
    /// support that, with the visibility of the first post.
    private func answer(_ post: String) async throws {
        var draft = draft(
            "@\(account.handle) \(text) This answers it.", step: "answer", replyTo: post)
        var isDirect = network.capabilities.visibilities.contains(.direct)
        draft.visibility = isDirect ? .direct : .public
        let reply: String?
        do {
            reply = try await publish(draft)
        } catch let error as NetworkError where isDirect && error.dropsItem {
            isDirect = false
            draft = self.draft(draft.text, step: "open-answer", replyTo: post)
            reply = try await publish(draft)
        } catch let error as NetworkError where error.hasCertainlyEnded && error.outcome == .unknown
        {
            // The reply was published, but the response contains no identifier.
            reply = nil
        }
        guard let reply else {
            result.kept[.namesAnsweredPost] = false
            return
        }
        try await holdEffect()
        let seen = try await server.read(reply)
        result.kept[.namesAnsweredPost] = seen?.answeredAddress == post
        guard isDirect else { return }
        try await holdEffect()
        let isShown = try await server.isShownWithoutLogin(reply) ?? false
        let isReportedOpen = seen?.visibility.isOpen ?? false
        result.kept[.hidesDirect] = !isShown && !isReportedOpen
        try await holdEffect()
        result.kept[.listsDirect] = try await server.newest().contains(reply)
    }

    /// Edits the first post, and checks the result.
    ///
    /// - Parameter visibility: The reported visibility before the edit.
    private func change(_ post: String, from visibility: Visibility?) async throws {
        try await holdEffect()
        let wasShown = try await server.isShownWithoutLogin(post)
        let editedText = text + " This was changed."
        try await holdEffect()
        guard let isAccepted = try await server.change(post, to: draft(editedText, step: "edit"))
        else {
            return
        }
        try await holdEffect()
        let changed = try await server.read(post)
        result.kept[.edits] = isAccepted && changed?.text == editedText
        guard isAccepted, let changed else { return }
        // The reported visibility is not enough: WordPress reports `public` also for a hidden post.
        try await holdEffect()
        let isShown = try await server.isShownWithoutLogin(post)
        result.kept[.editsKeepVisibility] = changed.visibility == visibility && isShown == wasShown
        result.kept[.tellsEdits] = changed.isChanged
    }

    /// The seconds after a deletion at which the post is checked: GoToSocial deletes after its
    /// response, others when a background job runs.
    private static let checkDelays: [TimeInterval] = [1, 3, 10]

    private func delete(_ post: String) async throws {
        // The reply is deleted first, because some servers delete replies with their post.
        for address in [effect.answer, post].compactMap(\.self) {
            try await holdEffect()
            try await server.delete(address)
        }
        let start = mirror.clock.now
        for seconds in Self.checkDelays {
            try await mirror.clock.sleep(until: start + seconds)
            try await holdEffect()
            let isShown = try await server.read(post) != nil
            try await holdEffect()
            let isShownToAnybody = try await server.isShownWithoutLogin(post) ?? false
            let isDeleted = !isShown && !isShownToAnybody
            result.kept[.deletes] = isDeleted
            try await holdEffect()
            let isUnlisted = try await !server.newest().contains(post)
            result.kept[.unlistsDeleted] = isUnlisted
            if isDeleted, isUnlisted { return }
        }
    }

    private func draft(_ text: String, step: String, replyTo: String? = nil) -> Draft {
        Draft(
            text: text, replyTo: replyTo, visibility: .unlisted, language: "en",
            key: "\(step)-\(effect.mark)".replacing(" ", with: "-"), createdAt: mirror.clock.now)
    }

    // MARK: The stored effect

    /// Publishes a draft; the departure of its request is stored before.
    ///
    /// - Returns: The server's id of the post; nil if the response names another one.
    private func publish(_ draft: Draft) async throws -> String? {
        effect.sent = mirror.clock.now
        try await holdEffect()
        let address: String?
        do {
            address = try await server.publish(draft, mark: effect.mark)
        } catch let error as NetworkError where error.hasCertainlyEnded {
            effect.sent = nil
            try await holdEffect()
            throw error
        }
        if draft.replyTo == nil { effect.post = address } else { effect.answer = address }
        effect.sent = nil
        try await holdEffect()
        return address
    }

    /// Stores the effect, so that no worker takes it over before the next request has ended.
    ///
    /// - Throws: ``EffectTaken`` if another process has taken it over; the store's error.
    private func holdEffect() async throws {
        effect.next = mirror.clock.now + recovery.requestLifetime
        try await mirror.effects.note(effect)
    }

    // MARK: The end

    /// Deletes the remaining posts; the results of an unfinished probe are discarded.
    ///
    /// - Parameter problem: Why some steps were not tried; nil if all were.
    func end(_ problem: String?) async -> ServerProbe.Result {
        result.error = problem
        var round = EffectRecovery.Round()
        do {
            try await recovery.takeBack(effect, in: &round)
        } catch {
            result.error = result.error ?? "\(error)"
        }
        result.left = round.left
        if let obstacle = round.obstacle { result.error = result.error ?? "\(obstacle)" }
        if problem != nil { result.kept = [:] }
        return result
    }
}

extension NetworkError {
    /// Whether the request has certainly ended: it was not sent, was refused, or was confirmed in
    /// an unreadable form.
    fileprivate var hasCertainlyEnded: Bool {
        outcome != .unknown || status.map { (200...299).contains($0) } == true
    }
}
