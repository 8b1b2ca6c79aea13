import Formats
package import Foundation
import Localization
import NetworkNames
package import Networks
package import Posts
package import Transport

/// A server with Mastodon's client interface: Mastodon, GoToSocial, Pleroma, Akkoma, Takahe, snac
/// and others.
///
/// Little depends on the program (`MastodonProgram`). Feeds are paged by the `Link` header, or by
/// the ids of their items if the header is missing. The server's cursors only help to find items:
/// they never decide that an item was already handled.
package struct MastodonNetwork: SocialNetwork {
    /// The server of the account, which may differ from the address of its calls.
    let server: ServerAddress
    let session: MastodonSession
    let memory: MastodonMemory

    var client: MastodonClient { session.client }

    /// Whether the account's own posts are read even from a server that is known to show private
    /// ones as public.
    private let trustsVisibility: Bool
    /// The people who may quote the published posts; `nil` for the account's preference on the
    /// server.
    private let quotes: Audience?
    /// The findings of `doctor --probe` about this server.
    let findings: [ServerPromise: Bool]

    /// Size limit of a page of a feed, in bytes.
    var maximumPage = 8 << 20
    /// Size limit of a thread that is read to find its first post, in bytes.
    ///
    /// Servers send a whole thread, even one of thousands of posts; a larger one is not needed.
    private static let maximumContext = 64 << 10
    /// Size limit of the thread around one of the account's own posts, in bytes.
    private static let maximumReplies = 256 << 10

    /// - Parameters:
    ///   - server: `https://social.example`, or the host alone. It completes local names if the
    ///     server does not state another host for them.
    ///   - apiBaseURL: Another address for calls, such as a proxy; nil for the server's.
    ///   - sessions: Stores the tokens that replace those of `credentials`; if nil, they are lost
    ///     at the end of the process, and a server that revokes old refresh tokens then needs a new
    ///     login.
    ///   - trustsVisibility: False to refuse to read the account's own posts from a server that is
    ///     known to show private ones as public.
    ///   - quotes: The people who may quote the published posts: anyone, followers or nobody; nil
    ///     for the account's preference on the server. Mastodon supports this since 4.5; other
    ///     servers ignore it.
    ///   - findings: Whether the server keeps each promise that `doctor --probe` measured; this
    ///     overrules its program.
    ///   - client: Sends the requests; may be shared with other networks.
    ///   - origin: The mirror that makes the requests.
    ///   - uptime: A function that reads the monotonic clock, in seconds; nil for the system's.
    /// - Throws: `NetworkError` with code `.configuration` if `server` or `apiBaseURL` is not an
    ///   address.
    package init(
        server: String, apiBaseURL: String? = nil, credentials: MastodonCredentials,
        sessions: (any CredentialStore)?, trustsVisibility: Bool = true, quotes: Audience? = nil,
        findings: [ServerPromise: Bool] = [:], client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(),
        now: @escaping @Sendable () -> Date,
        uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        self.trustsVisibility = trustsVisibility
        self.quotes = quotes
        self.findings = findings
        self.server = try ServerAddress(server, network: .mastodon)
        self.session = MastodonSession(
            credentials, store: sessions,
            client: MastodonClient(
                server: try ServerAddress(apiBaseURL ?? server, network: .mastodon), http: client,
                origin: origin,
                knownSecrets: KnownSecrets(), serverClock: ServerClock(uptime: uptime), now: now))
        self.memory = MastodonMemory()
    }

    /// Creates a network with a token that does not expire.
    package init(
        server: String, accessToken: Secret, client: HTTPClient, now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        try self.init(
            server: server, credentials: MastodonCredentials(accessToken: accessToken),
            sessions: nil, client: client,
            now: now)
    }

    package var name: NetworkName { .mastodon }

    package var host: String { server.host }

    package var clockLead: TimeInterval? { client.serverClock.lead(at: client.now()) }

    package var capabilities: Capabilities {
        // Until the server's program is known, the habits of an unknown program are assumed, except
        // for replies.
        let isKnown = memory.lastInstance != nil
        let program = memory.program
        let restrictedVisibilities: Set<Visibility> =
            program.keepsDirect.value ? [.private, .direct] : []
        var capabilities = Capabilities(
            feeds: Set(Feed.allCases),
            visibilities: restrictedVisibilities.union([.public, .unlisted]),
            // Other servers may report any reply below an own post as a mention, whether or not it
            // names the account.
            replies: isKnown && !program.idsIdentifyPeople.value ? .summoned : .anyone,
            replyNeedsMention: true, automaticFavorites: .anyone,
            supportsIdempotencyKey: program.keepsIdempotencyKeys.value,
            requestDeadline: NetworkCall.usualDeadline * maximumRequests)
        capabilities.canEdit = program.canEdit
        // Mastodon accepts 30 deletions in 30 minutes.
        capabilities.deletionPace = Pace(count: 25, period: 1_800)
        // Servers keep keys for an hour; the window is a little shorter.
        capabilities.resendWindow = .seconds(50 * 60)
        capabilities.mayHideEdits = true
        capabilities.listedVisibilities = program.listedVisibilities.value
        return capabilities
    }

    /// The most requests that a prepared change makes: the call with an expired token, the renewal
    /// of the token, and the call again.
    private var maximumRequests: Int { session.canRenew ? 3 : 1 }

    package func verifyAccount() async throws -> Account {
        let verifiedAccount = try await verified()
        return translator(
            MastodonOwnAccount(verifiedAccount.account, domain: verifiedAccount.domain)
        ).account(verifiedAccount.account)
    }

    package func limits() async throws -> PublishingLimits {
        try await instance().limits
    }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        guard let status = try await status(address), try await isListed(status) else { return nil }
        guard let post = try await translator().post(status) else {
            throw client.error(
                .readPost, .malformedResponse, outcome: .refused,
                detail: localized("the post has no author or no address"))
        }
        return post
    }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        let ownAccount = try await ownAccount()
        if let address = Self.address(in: identity.value, at: [ownAccount.domain, server.host]),
            memory.program.isID(addressEnd: address)
        {
            guard let post = try await lookUp(address) else { return nil }
            if post.post.id == identity { return post }
        }
        return try await search(identity)
    }

    /// The post's id at the end of its identity, `https://HOST/users/NAME/statuses/ID`; nil for an
    /// identity of another form, or if HOST is none of `hosts`, compared without ports.
    private static func address(in identity: String, at hosts: [String]) -> String? {
        let parts = identity.split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 7, parts[1].isEmpty, parts[3] == "users", parts[5] == "statuses" else {
            return nil
        }
        func withoutPort(_ host: String) -> Substring {
            host.lowercased().prefix { $0 != ":" }
        }
        guard hosts.contains(where: { withoutPort($0) == withoutPort(parts[2]) }),
            MastodonID.isUsable(parts[6])
        else { return nil }
        return parts[6]
    }

    /// Asks the server for its post with this identity.
    ///
    /// - Throws: `NetworkError` with code `.capability` if it does not find one: the post may be
    ///   gone, may never have reached the server, or may not be searchable.
    private func search(_ identity: PostID) async throws -> ObservedPost {
        let call = NetworkCall(
            operation: .readPost, path: ["api", "v2", "search"],
            query: [
                ("q", identity.value), ("type", "statuses"), ("resolve", "true"), ("limit", "5"),
            ])
        func notFound(_ detail: String) -> NetworkError {
            client.error(.readPost, .capability, outcome: .refused, detail: detail)
        }
        let results: [MastodonStatus]
        do {
            results = try await session.value(MastodonSearch.self, call).statuses
        } catch let error as NetworkError {
            // An old token lacks the scope, and some programs have no search.
            guard let status = error.status, (400...499).contains(status),
                ![401, 429].contains(status)
            else {
                throw error
            }
            throw notFound(localized("the server does not look posts up by their addresses"))
        }
        let translator = try await translator()
        for status in results where MastodonStatusReader.identity(of: status) == identity.value {
            guard try await isListed(status), let post = translator.post(status) else { continue }
            return post
        }
        throw notFound(localized("the server does not find the post by its address"))
    }

    package func isShownToAnybody(_ address: String) async throws -> Bool? {
        if try await isShownWithoutLogin(address) { return true }
        // A refusal means either that this post is hidden, or that the server shows no post without
        // a login.
        return try await showsPublicPosts() == true ? false : nil
    }

    /// Whether the server shows a post without a login.
    ///
    /// - Throws: `NetworkError` for an answer that is not the server's own refusal.
    func isShownWithoutLogin(_ address: String) async throws -> Bool {
        let call = NetworkCall(operation: .readPost, path: try path(.readPost, "statuses", address))
        do {
            return try await client.value(MastodonStatus.self, call, token: nil).id == address
        } catch let error as NetworkError {
            guard error.isRefusalOfPost else { throw error }
            return false
        }
    }

    /// Whether the server shows a public post of another account without a login; nil if it lists
    /// none.
    ///
    /// If a post is refused, a public post is requested for comparison: WordPress answers 401 for a
    /// hidden post and 200 for a public one; Pleroma answers 404 for every post if only users with
    /// a login may read.
    private func showsPublicPosts() async throws -> Bool? {
        guard let publicPost = try await publicPostOfAnother() else { return nil }
        return try await isShownWithoutLogin(publicPost.id)
    }

    /// The newest public post of another account on the home timeline, or else on the server's own
    /// timeline.
    private func publicPostOfAnother() async throws -> MastodonStatus? {
        let ownID = try await ownAccount().id
        func newestOfAnother(_ timeline: String) async throws -> MastodonStatus? {
            let call = NetworkCall(
                operation: .readHome, path: ["api", "v1", "timelines", timeline],
                query: [("limit", "40")])
            let posts: [MastodonStatus]
            do {
                posts = try await session.value([LenientElement<MastodonStatus>].self, call)
                    .compactMap(\.value)
            } catch let error as NetworkError where error.isPermanent && !error.stopsActor {
                return nil
            }
            return posts.first { status in
                status.audience.isOpen && status.audience.visibility == .public && !status.isReblog
                    && status.account?.id != ownID && MastodonID.isUsable(status.id)
            }
        }
        if let post = try await newestOfAnother("home") { return post }
        return try await newestOfAnother("public")
    }

    /// Refuses to read the account's own posts if the bot might then publish copies of posts that
    /// the human meant for few people.
    func requireVisibility() throws(NetworkError) {
        guard !trustsVisibility, let audienceGap = memory.program.audienceGap.value else { return }
        throw client.error(
            .readOwnPosts, .configuration, outcome: .refused,
            detail: localized(
                "the server runs \(audienceGap); if the account has none, set TRUST_HUMAN_SERVER=yes"
            )
        )
    }

    package func requireAudiences() throws(NetworkError) {
        let program = memory.program
        guard !program.keepsVisibility.value else { return }
        throw client.error(
            .publish, .configuration, outcome: .refused,
            detail: localized(
                """
                the server runs \(program.name), where a post does not keep its visibility \
                (\(program.keepsVisibility.source)); use an account of another server for the bot
                """)
        )
    }

    package func isFavorited(_ address: String) async throws -> Bool? {
        try await status(address)?.isFavourited
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        guard post.replyToAddress != nil else { return post.post.id.value }
        guard let context = try await context(of: post.address, maximumBytes: Self.maximumContext)
        else { return nil }
        // Servers differ in the order of ancestors.
        let firstPost =
            context.ancestors.first { $0.inReplyToID == nil } ?? context.ancestors.first
        return firstPost.flatMap(MastodonStatusReader.identity) ?? post.post.id.value
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        let context = try await context(of: address, maximumBytes: Self.maximumReplies)
        let translator = try await translator()
        // A reply that does not name the post's author is addressed to others in the thread.
        let addressed = (context?.descendants ?? []).filter { reply in
            reply.inReplyToID == address && translator.mentionsOwnAccount(reply)
        }
        return addressed.compactMap { translator.post($0) }
    }

    package func ownAnswers(to address: String) async throws -> [ObservedPost] {
        let context = try await context(of: address, maximumBytes: Self.maximumReplies)
        let translator = try await translator()
        return (context?.descendants ?? []).filter { $0.inReplyToID == address }
            .compactMap { translator.post($0) }.filter { $0.author.id == translator.ownID }
    }

    /// The posts around a post; `nil` if it is gone.
    private func context(of address: String, maximumBytes: Int) async throws -> MastodonContext? {
        var call = NetworkCall(
            operation: .readConversation,
            path: try path(.readConversation, "statuses", address, "context"))
        call.maximumBytes = maximumBytes
        call.deadline = .seconds(10)
        return try await unlessGone { try await session.value(MastodonContext.self, call) }
    }

    /// Reads a post by its address; nil if it is gone.
    func status(_ address: String) async throws -> MastodonStatus? {
        let call = NetworkCall(operation: .readPost, path: try path(.readPost, "statuses", address))
        return try await unlessGone { try await session.value(MastodonStatus.self, call) }
    }

    /// Makes a request about one of the server's posts; `nil` if the post is gone.
    ///
    /// Some servers report a missing post with a web page, and so does a proxy whose server is
    /// down. So a 404 or 410 with a web page counts as a missing post only if a second request, for
    /// the account, succeeds.
    private func unlessGone<Value: Sendable>(_ request: () async throws -> Value) async throws
        -> Value?
    {
        do {
            return try await request()
        } catch let error as NetworkError where error.code == .notFound {
            return nil
        } catch let error as NetworkError where error.status == 404 || error.status == 410 {
            do {
                _ = try await session.value(MastodonAccount.self, .verification)
            } catch is NetworkError {
                throw error
            }
            return nil
        }
    }

    /// Whether a post is in its author's own list, on a server that keeps showing deleted posts;
    /// true on every other server.
    private func isListed(_ status: MastodonStatus) async throws -> Bool {
        guard memory.lastInstance != nil, !memory.program.hidesDeletedPosts.value else {
            return true
        }
        return try await isInOwnList(status)
    }

    /// Whether a post is in its author's own list, whatever the server's program.
    ///
    /// True for posts of others, and if no list can decide it. A page with both bounds contains
    /// only this post, whatever the order of the list: WordPress sorts by date and cuts by id. If
    /// that page is empty, a page with the upper bound alone is read too, because the server may
    /// not support both bounds.
    private func isInOwnList(_ status: MastodonStatus) async throws -> Bool {
        guard memory.program.listedVisibilities.value.contains(status.audience.visibility),
            let number = UInt64(status.id), number > 0, number < .max
        else { return true }
        let ownID = try await ownAccount().id
        guard status.account?.id == ownID else { return true }
        let path = try path(.readOwnPosts, "accounts", ownID, "statuses")
        func listedIDs(within furtherBounds: [(String, String)]) async throws -> [String] {
            let query = [("max_id", String(number + 1))] + furtherBounds + [("limit", "5")]
            let call = NetworkCall(operation: .readOwnPosts, path: path, query: query)
            return try await session.value([LenientElement<MastodonStatus>].self, call).compactMap(
                \.id)
        }
        let idsWithinBounds = try await listedIDs(within: [("min_id", String(number - 1))])
        if idsWithinBounds.contains(status.id) { return true }
        let idsFromPost = try await listedIDs(within: [])
        if idsFromPost.contains(status.id) { return true }
        // In a list that is not sorted by id, the limit of the page with the upper bound alone may
        // have cut the post off.
        return !idsWithinBounds.isEmpty && MastodonID.contradictsOrder(idsFromPost)
    }

    /// The path `/api/v1/…` with `parts`, each of which is checked, because ids come from outside.
    func path(_ operation: NetworkError.Operation, _ parts: String...) throws(NetworkError)
        -> [String]
    {
        guard parts.allSatisfy(MastodonID.isUsable) else {
            throw client.error(
                operation, .rejected, outcome: .notSent,
                detail: localized("the post's address is not an id of this server"))
        }
        return ["api", "v1"] + parts
    }

    /// The translator of answers into the common model.
    func translator() async throws -> MastodonTranslator { translator(try await ownAccount()) }

    /// The token's account as the server names it.
    func ownAccount() async throws -> MastodonOwnAccount {
        if let remembered = memory.account { return remembered }
        let verifiedAccount = try await verified()
        return MastodonOwnAccount(verifiedAccount.account, domain: verifiedAccount.domain)
    }

    private func verified() async throws -> (account: MastodonAccount, domain: String) {
        let account = try await session.value(MastodonAccount.self, .verification)
        let domain = try await domain(of: account)
        memory.keep(MastodonOwnAccount(account, domain: domain))
        return (account, domain)
    }

    private func translator(_ ownAccount: MastodonOwnAccount) -> MastodonTranslator {
        MastodonTranslator(
            domain: ownAccount.domain, serverHost: server.host, ownAccount: ownAccount,
            idsIdentifyPeople: memory.program.idsIdentifyPeople.value, now: client.now)
    }
}

/// Publishing and favoriting.
extension MastodonNetwork {
    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        try requireAudiences()
        let call = try publication(of: draft)
        if let address = draft.replyTo { try await requireAnswered(address, call) }
        let ownAccount = memory.account
        return try await departure(call) { [client] response, call in
            let status = try client.decode(MastodonStatus.self, from: response, call)
            guard let identity = MastodonStatusReader.identity(of: status) else {
                throw client.malformed(
                    call, response, detail: localized("the published post has no address"))
            }
            // With a wrong address, another post would later be deleted, edited or answered. The
            // account's own list has the right address.
            let isOwn =
                ownAccount == nil || status.account == nil || ownAccount?.id == status.account?.id
            guard status.id != draft.replyTo, isOwn else {
                throw client.malformed(
                    call, response,
                    detail: localized("the server's answer names another post than the new one"))
            }
            return PublishedPost(
                id: PostID(network: .mastodon, value: identity), address: status.id,
                createdAt: status.written.flatMap { Date(rfc3339: $0) } ?? client.now(),
                // The reply is published, though not as a reply: a second try would publish it
                // twice, and the people whom it names have been notified.
                isMisplaced: draft.replyTo != nil && status.inReplyToID == nil)
        }
    }

    /// The request that publishes a draft.
    func publication(of draft: Draft) throws -> NetworkCall {
        var call = NetworkCall(operation: .publish, method: .post, path: ["api", "v1", "statuses"])
        guard Self.isKey(draft.key) else {
            throw client.error(
                call, .rejected, outcome: .notSent,
                detail: localized("the draft's key is not 1 through 64 letters and digits"))
        }
        if let address = draft.replyTo, !MastodonID.isUsable(address) {
            throw client.error(
                call, .rejected, outcome: .notSent,
                detail: localized("the answered post's address is not an id of this server"))
        }
        guard draft.pictures.allSatisfy({ MastodonID.isUsable($0.name) }) else {
            throw client.error(
                call, .rejected, outcome: .notSent,
                detail: localized("what a picture is called is not an id of this server"))
        }
        call.headers = [("Idempotency-Key", draft.key)]
        call.body = try body(of: draft)
        return call
    }

    /// The request that changes the text, language and warning of a post to those of a draft.
    func change(of address: String, to draft: Draft) throws -> NetworkCall {
        var call = NetworkCall(
            operation: .edit, method: .put, path: try path(.edit, "statuses", address))
        call.body = try JSONBody.encoded(
            JSONValue.object(leavingOutNil: [
                "status": .text(draft.text),
                "language": Self.language(of: draft).map(JSONValue.text),
                "spoiler_text": .text(draft.warning ?? ""),
                "sensitive": .flag(draft.warning != nil),
                "content_type": contentType,
            ]))
        return call
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        let call = NetworkCall(
            operation: .favorite, method: .post,
            path: try path(.favorite, "statuses", favorite.address, "favourite"), body: [])
        return try await departure(call) { [client] response, call in
            _ = try client.decode(MastodonStatus.self, from: response, call)
        }
    }

    /// A call that is ready to be sent, with a renewed token if necessary.
    private func departure<Answer: Sendable>(
        _ call: NetworkCall, read: @escaping @Sendable (HTTPResponse, NetworkCall) throws -> Answer
    ) async throws -> Departure<Answer> {
        let token = try await session.token()
        return Departure { [session] mayLeave in
            var call = call
            call.mayLeave = mayLeave
            return try read(try await session.send(call, with: token), call)
        }
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        let call = NetworkCall(
            operation: .delete, method: .delete, path: try path(.delete, "statuses", address))
        // For known programs the id is enough; another program may have returned the id of another
        // post.
        let program = try await instance().program
        if !program.idsIdentifyPeople.value {
            // Here a post that the server shows by its id is deleted, even if the account's list
            // lacks it.
            guard let status = try await status(address) else { return .gone }
            let translator = try await translator()
            guard let shownPost = translator.post(status), shownPost.author.id == translator.ownID,
                isOurs(shownPost)
            else {
                throw client.error(
                    call, .rejected, outcome: .notSent,
                    detail:
                        localized(
                            "the server shows another post under the name of the one to delete, so nothing was deleted"
                        )
                )
            }
        }
        do {
            _ = try await session.send(call)
            return .removed
        } catch var error as NetworkError
            where error.status == 404 || error.status == 410
            || error.status == 403 && error.code != .unavailable
        {
            // The post is gone if the server does not show it or its list lacks it; otherwise the
            // server does not support deleting.
            guard let status = try await status(address), try await isInOwnList(status) else {
                return .gone
            }
            if error.status != 403 { error.code = .capability }
            throw error
        }
    }

    package func showsDeleted(_ address: String) async throws -> Bool {
        if try await instance().program.hidesDeletedPosts.value { return false }
        return try await isShownWithoutLogin(address)
    }

    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        let call = NetworkCall(
            operation: .unfavorite, method: .post,
            path: try path(.unfavorite, "statuses", favorite.address, "unfavourite"), body: [])
        do {
            _ = try await session.value(MastodonStatus.self, call)
            return .removed
        } catch let error as NetworkError where error.code == .notFound {
            guard try await status(favorite.address) != nil else { return .gone }
            throw error
        }
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        let call = try change(of: address, to: draft)
        let token = try await session.token()
        return Departure {
            do {
                _ = try client.decode(
                    MastodonStatus.self, from: try await session.send(call, with: token), call)
            } catch var error as NetworkError
                where error.status == 404 || error.status == 405 || error.status == 501
            {
                // Either the post is gone, or the server does not support editing posts.
                if try await status(address) != nil { error.code = .capability }
                throw error
            }
        }
    }

    package func labelAsBot() async throws {
        // The request is a form, because one server accepts the flag only as text. Pleroma calls
        // the flag `actor_type`.
        let call = NetworkCall(
            operation: .labelAccount, method: .patch,
            path: ["api", "v1", "accounts", "update_credentials"],
            form: [("bot", "true"), ("actor_type", "Service")])
        let account: MastodonAccount
        do {
            account = try await session.value(MastodonAccount.self, call)
        } catch var error as NetworkError where error.status == 404 {
            error.code = .capability
            throw error
        }
        guard account.isBot else {
            throw client.error(
                call, .capability, outcome: .refused,
                detail:
                    localized(
                        "the server has no such mark for this account; say in its profile that it is automated"
                    )
            )
        }
    }

    /// Requires that the answered post exists, on servers that would otherwise publish the reply as
    /// a post of its own.
    private func requireAnswered(_ address: String, _ call: NetworkCall) async throws {
        if memory.program.refusesRepliesToDeletedPosts.value { return }
        let exists: Bool
        do {
            exists = try await status(address) != nil
        } catch var error as NetworkError {
            if error.outcome == .unknown { error.outcome = .notSent }
            throw error
        }
        guard exists else {
            throw client.error(
                call, .notFound, outcome: .refused, detail: localized("the answered post is gone"))
        }
    }

    private static func language(of draft: Draft) -> String? {
        draft.language.flatMap { LanguageTag.namesLanguage($0) ? $0 : nil }
    }

    /// The people who may quote the published posts, as a value of Mastodon's field
    /// `quote_approval_policy`.
    private var quotePolicy: String? { quotes == .anyone ? "public" : quotes?.rawValue }

    /// The media type of every text.
    static let plainText = "text/plain"

    /// The media type of the text; `nil` on servers without the field.
    ///
    /// Without the field the account's own default applies, which may turn Markdown signs into
    /// emphasis and lists. A server whose program is unknown gets the field too, because no server
    /// is known to refuse it.
    private var contentType: JSONValue? {
        let takesContentType = memory.lastInstance?.takesContentType ?? true
        return takesContentType ? .text(Self.plainText) : nil
    }

    /// The request body for a draft; the account's preferences on the server apply to fields that
    /// are left out (see docs/html.md).
    private func body(of draft: Draft) throws -> [UInt8] {
        try JSONBody.encoded(
            JSONValue.object(leavingOutNil: [
                "status": .text(draft.text), "in_reply_to_id": draft.replyTo.map(JSONValue.text),
                "visibility": .text(draft.visibility.rawValue),
                "language": Self.language(of: draft).map(JSONValue.text),
                "quote_approval_policy": quotePolicy.map(JSONValue.text),
                "spoiler_text": draft.warning.map(JSONValue.text),
                "sensitive": .flag(draft.isSensitive), "content_type": contentType,
                "media_ids": draft.pictures.isEmpty
                    ? nil : .list(draft.pictures.map { .text($0.name) }),
            ]))
    }

    /// Whether a text can be an idempotency key: 1 through 64 letters, digits and hyphens.
    private static func isKey(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    }
}

/// The account of a token.
struct MastodonOwnAccount: Sendable {
    let id: String
    /// The account's name on its server: `user`, or `user@host`.
    let acct: String
    /// The host in the account's name.
    let domain: String
    /// The addresses of its profile and of its actor.
    var addresses: [String] = []
}

extension MastodonOwnAccount {
    init(_ account: MastodonAccount, domain: String) {
        self.init(id: account.id, acct: account.acct, domain: domain, addresses: account.addresses)
    }
}

/// A network's state between calls.
final class MastodonMemory: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var rememberedInstance: (instance: MastodonInstance, until: Date)?
    private var rememberedEmoji: (emoji: Set<String>, until: Date)?
    private var ownAccount: MastodonOwnAccount?
    private var parents: [String: ObservedPost?] = [:]
    /// The maximum number of remembered answered posts; when it is reached, all are forgotten.
    private static let maximumParents = 2_000
    /// The feeds with a page whose ids contradict the order of its items.
    private var unsortedFeeds: Set<Feed> = []

    /// The token's account, once it and the host in its name are certain.
    var account: MastodonOwnAccount? { lock.withLock { ownAccount } }

    /// An answered post by its address; an inner nil if it cannot be read, and nil if it was never
    /// requested.
    func parent(_ address: String) -> ObservedPost?? { lock.withLock { parents[address] } }

    func keep(parent: ObservedPost?, at address: String) {
        lock.withLock {
            if parents.count >= Self.maximumParents { parents = [:] }
            parents[address] = .some(parent)
        }
    }

    var lastInstance: MastodonInstance? { lock.withLock { rememberedInstance?.instance } }

    /// The server's program; ``MastodonProgram/other`` until it is known.
    var program: MastodonProgram { lastInstance?.program ?? .other }

    func instance(at time: Date) -> MastodonInstance? {
        lock.withLock {
            rememberedInstance.flatMap {
                Self.isValid(until: $0.until, at: time) ? $0.instance : nil
            }
        }
    }

    func keep(_ instance: MastodonInstance, until time: Date) {
        lock.withLock { rememberedInstance = (instance, time) }
    }

    func keep(_ account: MastodonOwnAccount) {
        lock.withLock { ownAccount = account }
    }

    func emoji(at time: Date) -> Set<String>? {
        lock.withLock {
            rememberedEmoji.flatMap { Self.isValid(until: $0.until, at: time) ? $0.emoji : nil }
        }
    }

    var lastEmoji: Set<String>? { lock.withLock { rememberedEmoji?.emoji } }

    func keep(emoji: Set<String>, until time: Date) {
        lock.withLock { rememberedEmoji = (emoji, time) }
    }

    /// Whether an entry is still valid; false if its end is more than a day away, because the local
    /// clock was then set back.
    private static func isValid(until end: Date, at time: Date) -> Bool {
        time < end && end.timeIntervalSince(time) <= 86_400
    }

    /// Whether newer items of a feed have higher ids, according to its pages so far.
    func idsAreOrdered(in feed: Feed) -> Bool {
        lock.withLock { !unsortedFeeds.contains(feed) }
    }

    /// Learns from a page, newest first, whether newer items of a feed have higher ids; one
    /// contradicting page is enough to deny it.
    func learnOrder(of feed: Feed, from ids: [String]) {
        guard MastodonID.contradictsOrder(ids) else { return }
        lock.withLock { _ = unsortedFeeds.insert(feed) }
    }
}
