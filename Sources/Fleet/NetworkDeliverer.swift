package import Archive
import Conduct
import Control
package import Foundation
package import Logging
import Mirroring
package import Networks
package import Outbox
import Posts

/// Sends actions through a network, and looks up their outcome.
package struct NetworkDeliverer: Deliverer {
    /// The number of seconds before a request from which on the bot's own posts are read, because
    /// clocks differ.
    private static let clockMargin: TimeInterval = 3_600
    /// The reason why an action without a text or target cannot be looked up.
    private static let nothingToLookFor = "it lacks what it could be recognised by"

    let network: any SocialNetwork
    let people: People?
    /// The archive; nil if texts are not prepared.
    let archive: Archive?
    /// The source of pictures; nil if none are sent.
    let pictures: PictureSource?
    let logger: Logger

    /// - Parameters:
    ///   - network: The bot's network, with the bot's credentials.
    ///   - people: The known people, for names in the log.
    ///   - archive: The archive with the links of the human's posts; nil to leave links as they are
    ///     in the text.
    ///   - pictures: The source of the human's pictures; nil if none are sent.
    ///   - logger: The logger of posts that arrived with differences.
    package init(
        network: any SocialNetwork, people: People? = nil, archive: Archive? = nil,
        pictures: PictureSource? = nil,
        logger: Logger = Logger(label: "mirror-bot")
    ) {
        self.network = network
        self.people = people
        self.archive = archive
        self.pictures = pictures
        self.logger = logger
    }

    package var requestDeadline: Duration { network.capabilities.requestDeadline }

    package var resendWindow: Duration? { network.capabilities.resendWindow }

    package var clockLead: TimeInterval? { network.clockLead }

    package func prepare(_ action: Action) async -> RequestPreparation {
        do {
            if case .favorite(let target) = action.payload {
                guard !target.address.isEmpty else {
                    return Self.incomplete(action, lacking: "target")
                }
                let departure = try await network.prepare(
                    FavoriteDraft(
                        address: target.address, key: action.key,
                        createdAt: action.sending ?? action.due))
                return .ready(
                    request(departure) { _ in
                        .delivered(remoteID: target.post, remoteAddress: target.address)
                    })
            }
            guard let text = action.text, !text.isEmpty else {
                return Self.incomplete(action, lacking: "text")
            }
            guard action.pictureUploads != nil else {
                return Self.incomplete(action, lacking: "picture")
            }
            guard let draft = try await draft(of: action) else {
                return Self.incomplete(action, lacking: "target")
            }
            return .ready(
                request(try await network.prepare(draft)) { published in
                    if published.isMisplaced { await noteMisplaced(action) }
                    return .delivered(
                        remoteID: published.id.value, remoteAddress: published.address)
                })
        } catch let error as NetworkError {
            return preparation(failedBy: error)
        } catch {
            return .notNow(reason: .outbox(.interrupted), retryAfter: nil)
        }
    }

    /// Makes a request and returns its outcome.
    private func request<Answer: Sendable>(
        _ departure: Departure<Answer>,
        _ outcome: @escaping @Sendable (Answer) async -> DeliveryOutcome
    ) -> PreparedRequest {
        PreparedRequest { mayLeave in
            do {
                return await outcome(try await departure.send(while: mayLeave))
            } catch let error as NetworkError {
                return self.outcome(of: error)
            } catch {
                return .unknown(reason: .outbox(.interrupted))
            }
        } withdrawal: {
            await departure.withdraw()
        }
    }

    private func noteMisplaced(_ action: Action) async {
        let metadata = await people?.metadata(of: action) ?? [LogKeys.action: "\(action.id)"]
        logger.notice(
            "Reply published as a post of its own: its server no longer knew the answered post",
            metadata: metadata)
    }

    package func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
        -> LookUpOutcome
    {
        do {
            if case .favorite(let target) = action.payload {
                return try await lookUpFavorite(of: target)
            }
            guard let wording = action.wording, !wording.text.isEmpty else {
                return .undecided(detail: Self.nothingToLookFor)
            }
            let knownIDs = Set(others.compactMap(\.remoteID))
            var posts = try await network.ownPosts(since: departure - Self.clockMargin)
            // Evaluated here, because the network knows its server's program only after a read.
            let isListed = network.capabilities.listedVisibilities.contains(wording.visibility)
            if !isListed, let address = action.answeredAddress {
                posts += try await network.ownAnswers(to: address)
            }
            let candidates = posts.distinct.filter {
                isAtSamePlace($0, as: action) && !knownIDs.contains($0.post.id.value)
            }
            let outcome = find(
                wording.published, of: action, in: candidates, otherActions: others)
            guard case .absent = outcome, !isListed else { return outcome }
            return .undecided(
                detail:
                    "the server's list of the bot's posts leaves out those for few, such as this one"
            )
        } catch let error as NetworkError {
            return .unavailable(
                reason: .network(error.code), cause: error.retryCause, retryAfter: error.retryAfter)
        } catch {
            return .unavailable(reason: .outbox(.interrupted), retryAfter: nil)
        }
    }

    /// Finds the post with a text among the candidates.
    ///
    /// The candidates are the bot's posts that answer the same post as the action and that belong
    /// to no other known action.
    private func find(
        _ text: String, of action: Action, in candidates: [ObservedPost], otherActions: [Action]
    ) -> LookUpOutcome {
        guard !network.capabilities.supportsIdempotencyKey else {
            let sent = SentText(text)
            guard let match = candidates.first(where: { sent.isSame(as: $0.post.text) }) else {
                return .absent
            }
            return Self.found(match)
        }
        return Self.findRewritten(
            text, in: candidates,
            sentThere: otherActions.filter { $0.answeredAddress == action.answeredAddress })
    }

    /// Finds a text on a server that may have rewritten it.
    ///
    /// Such a server also publishes a repeated request twice. So a text counts as absent only if
    /// none of the candidates could be its post, and no other sent text reads like it.
    ///
    /// - Parameters:
    ///   - candidates: The bot's posts that answer the same post as the action and that belong to
    ///     no other known action.
    ///   - otherActions: Actions that sent other texts to the same place.
    private static func findRewritten(
        _ text: String, in candidates: [ObservedPost], sentThere otherActions: [Action]
    ) -> LookUpOutcome {
        let letters = TextRules.stableLetters(of: text)
        let sentText = SentText(text)
        let matches = candidates.filter { item in
            // A text without words is compared by all its characters.
            letters.isEmpty
                ? sentText.hasSameCharacters(as: item.post.text)
                : sentText.isSame(as: item.post.text)
                    || TextRules.stableLetters(of: item.post.text) == letters
        }
        let similarActions = otherActions.filter {
            TextRules.stableLetters(of: $0.wording?.published ?? "") == letters
        }
        // Each similar action whose post is not known yet may have made one of the matches. So
        // there must be more matches than such actions.
        let unknownCount = similarActions.count { $0.remoteID == nil }
        if let match = matches.last, matches.count > unknownCount {
            return found(match)
        }
        if !matches.isEmpty || !similarActions.isEmpty {
            return .undecided(
                detail:
                    "what the network shows may be another of the bot's posts that reads the same")
        }
        if letters.isEmpty {
            return .undecided(
                detail: "the network may show the text, which has no words, in another form")
        }
        guard candidates.isEmpty else {
            return .undecided(
                detail:
                    "the network shows a post of the bot that nothing here made: it may be this one, rewritten"
            )
        }
        return .absent
    }

    private static func found(_ post: ObservedPost) -> LookUpOutcome {
        .found(remoteID: post.post.id.value, remoteAddress: post.address)
    }

    /// Whether a post of the bot answers the same post as the action; for an action that is not a
    /// reply, whether the post is not a reply either.
    ///
    /// The answered post is the same if its address or its identity is equal. Both are compared,
    /// because an address may name one version of the post. If the server has forgotten the
    /// answered post, as after its deletion, a mention of the answered person in the text is
    /// enough.
    private func isAtSamePlace(_ item: ObservedPost, as action: Action) -> Bool {
        if let parent = action.parent {
            return item.replyToAddress == parent.address
                || item.post.replyTo?.post?.value == parent.post
        }
        guard let target = action.target else { return item.replyToAddress == nil }
        if item.replyToAddress == target.address { return true }
        if let parent = item.post.replyTo?.post { return parent.value == target.post }
        return item.replyToAddress == nil && network.capabilities.replyNeedsMention
    }

    private func lookUpFavorite(of target: Action.Target) async throws -> LookUpOutcome {
        guard !target.address.isEmpty else { return .undecided(detail: Self.nothingToLookFor) }
        return switch try await network.isFavorited(target.address) {
        case true?: .found(remoteID: target.post, remoteAddress: target.address)
        case false?: .absent
        // The favorite would be gone with the post; if the post returns, a later look-up shows it.
        case nil: .undecided(detail: "the network says that the post is gone")
        }
    }

    /// Makes the draft of the action; nil without a text, or for a reply without a target.
    private func draft(of action: Action) async throws -> Draft? {
        guard let wording = action.wording, action.target?.address.isEmpty != true else {
            return nil
        }
        let cleaned = try await network.withoutCustomEmoji(
            wording.text, warning: wording.warning, from: wording.source.network)
        var draft = Draft(
            text: wording.published(cleaned.text), replyTo: action.answeredAddress,
            bystanders: action.payload.reply?.bystanders ?? [],
            visibility: wording.visibility, language: wording.language, warning: cleaned.warning,
            pictures: zip(action.pictureUploads ?? [], wording.pictures).map {
                PictureReference(name: $0.reference, picture: $1)
            }, key: action.key,
            createdAt: action.sending ?? action.due)
        if network.capabilities.linksWords {
            draft.linkWords = try await archive?.post(wording.source)?.linkWords ?? []
        }
        return draft
    }

    private static func incomplete(_ action: Action, lacking part: String) -> RequestPreparation {
        .refused(
            reason: .outbox(.incomplete),
            detail: "the \(action.kind.rawValue) has no \(part), so nothing was sent")
    }

    /// Returns the result for an action whose preparation failed, before its request.
    private func preparation(failedBy error: NetworkError) -> RequestPreparation {
        if error.isPermanent, !error.stopsActor {
            return .refused(reason: .network(error.code), detail: error.description)
        }
        return .notNow(
            reason: .network(error.code), cause: error.retryCause, retryAfter: error.retryAfter)
    }

    private func outcome(of error: NetworkError) -> DeliveryOutcome {
        let notSent = DeliveryOutcome.notSent(
            reason: .network(error.code), cause: error.retryCause, retryAfter: error.retryAfter)
        let refused = DeliveryOutcome.refused(
            reason: .network(error.code), detail: error.description)
        if error.stopsActor { return notSent }
        switch error.outcome {
        // A permanent error before the request was sent counts as a refusal, too.
        case .notSent: return error.isPermanent ? refused : notSent
        case .unknown: return .unknown(reason: .network(error.code))
        case .refused where error.code == .duplicate: return .duplicate
        case .refused: return error.isPermanent ? refused : notSent
        }
    }
}

extension SocialNetwork {
    /// Removes the custom emoji of the human's server from a text and its warning.
    ///
    /// On a network without custom emoji, `:name:` is part of the text.
    ///
    /// - Parameters:
    ///   - warning: The content warning; nil for none.
    ///   - origin: The human's network of the text.
    /// - Throws: `NetworkError` if the server's emoji cannot be read now; `CancellationError`.
    func withoutCustomEmoji(
        _ text: String, warning: String?, from origin: NetworkName
    ) async throws -> (text: String, warning: String?) {
        guard origin.traits.hasCustomEmoji, CustomEmoji.occur(in: "\(text)\n\(warning ?? "")")
        else {
            return (text, warning)
        }
        let emoji = try await emoji()
        // A warning that consists of emoji is still a warning, and is kept.
        let cleanedWarning = warning.map { CustomEmoji.removed(from: $0, except: emoji) }
        return (
            CustomEmoji.removed(from: text, except: emoji),
            cleanedWarning?.isEmpty == true ? warning : cleanedWarning
        )
    }
}

extension Action {
    /// The identifier of the answered post in requests to the bot's server; nil for other kinds
    /// than replies.
    fileprivate var answeredAddress: String? { target?.address ?? parent?.address }
}

/// A sent text, for comparison with a server's version of it.
private struct SentText {
    private let key: String
    private let keyWithoutHosts: String

    init(_ text: String) {
        let textWithoutEmoji = CustomEmoji.removed(from: text)
        key = TextRules.textKey(textWithoutEmoji)
        keyWithoutHosts = TextRules.textKey(textWithoutEmoji, ignoringHosts: true)
    }

    /// Whether the texts are equal except for links and custom emoji.
    func hasSameCharacters(as other: String) -> Bool { SentText(other).key == key }

    /// Whether the texts are equal except for links, custom emoji, and host names that a server
    /// turns into links.
    func isSame(as other: String) -> Bool {
        let otherText = SentText(other)
        return otherText.key == key || otherText.keyWithoutHosts == keyWithoutHosts
    }
}

/// Reports what would be sent, and sends nothing.
package struct PretendDeliverer: Deliverer {
    let report: @Sendable (Action) -> Void

    package init(report: @escaping @Sendable (Action) -> Void) { self.report = report }

    package var requestDeadline: Duration { .zero }

    package var resendWindow: Duration? { nil }

    package var clockLead: TimeInterval? { nil }

    package func upload(_ place: Int, of action: Action) async -> UploadOutcome {
        .uploaded(reference: "", isReady: true)
    }

    package func prepare(_ action: Action) async -> RequestPreparation {
        .ready(
            PreparedRequest { _ in
                report(action)
                return .delivered(remoteID: nil, remoteAddress: nil)
            })
    }

    package func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
        -> LookUpOutcome
    {
        .unavailable(reason: .outbox(.dryRun), retryAfter: nil)
    }
}
