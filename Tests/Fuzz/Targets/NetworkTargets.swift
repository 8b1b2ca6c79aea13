import Formats
import Foundation
import NetworkNames
import Posts

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import Transport
@testable import X

/// Answers of the three networks: refusals, and pages of feeds.
extension FuzzTarget {
    static let networks = [
        mastodonErrors, blueskyErrors, xErrors, mastodonPages, blueskyPages, xPages,
    ]

    /// What no error may show.
    private static let token = "eyJhbGciOiJFUzI1NksifQ.planted.secret-Token_1234567890"

    private static let now = Date(timeIntervalSince1970: 1_763_650_000)

    /// Nothing is sent; the client is one for all inputs, as each has a thread.
    private static let http = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "fuzz"))

    private static let errorSeeds = [
        "HTTP/1.1 401 Unauthorized\r\nX-Request-Id: a-1\r\n\r\n{\"error\":\"The access token is invalid \(token)\"}",
        "HTTP/1.1 429 Slow\r\nRetry-After: 60\r\n\r\n{\"error\":\"RateLimitExceeded\",\"message\":\"Too Many\"}",
        "HTTP/1.1 400 Bad\n\n{\"error\":\"InvalidRequest\","
            + "\"message\":\"Record/text must not be longer than 300 \(token)\"}",
        "HTTP/1.1 403 No\n\n{\"title\":\"Forbidden\",\"detail\":\"You are not permitted\","
            + "\"type\":\"https://api.x.com/2/problems/client-forbidden\",\"reason\":\"client-not-enrolled\"}",
        "HTTP/1.1 403 No\n\n{\"errors\":[{\"code\":187,\"message\":\"Status is a duplicate. \(token)\"}]}",
        "HTTP/1.1 502 Bad\r\n\r\n<html><body>Bad gateway \(token)</body></html>",
        "HTTP/1.1 500 x\nx-transaction-id: \(token)\n\nInternalServerError",
        "HTTP/1.1 400 x\n\n{\"error\":\"a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301} \u{202E}x\"}",
    ].map { Array($0.utf8) }

    private static let errorWords = [
        token, "HTTP/1.1 401 \n\n", "HTTP/1.1 403 \n\n", "HTTP/1.1 404 \n\n", "HTTP/1.1 429 \n\n",
        "{\"error\":\"",
        "\"message\":\"",
        "\"errors\":[{\"code\":", "\"type\":\"https://api.x.com/2/problems/",
        "\"title\":\"CreditsDepleted\"",
        "ExpiredToken",
        "X-Request-Id: ", "\"status\":", "eyJ", "\u{301}", "\\u0301", "\u{9B}", "\\u001b",
        "\"detail\":\"",
    ]

    /// What holds for every error of a network.
    private static func holdError(_ error: NetworkError, _ response: HTTPResponse) throws {
        try hold(error.status == response.status, "an error tells the status")
        if let said = error.serverCode {
            try holdPrintable(said, "what the server said", atMost: 640)
        }
        if let id = error.requestID { try holdPrintable(id, "the name of the request", atMost: 80) }
        try holdPrintable("\(error)", "the error", atMost: 2_000)
        try holdHidden(token, in: "\(error)")
        if let date = error.retryAfter {
            try hold(
                date > now && date <= now.addingTimeInterval(90_000),
                "what is refused may be asked again in a day")
        }
    }

    private static let mastodonErrors = FuzzTarget(
        "mastodon-errors", seeds: errorSeeds, words: errorWords
    ) { input in
        let response = Answer(input).response
        let secrets = KnownSecrets()
        secrets.add(Secret(token))
        let client = MastodonClient(
            server: try ServerAddress("https://social.example", network: .mastodon), http: http,
            knownSecrets: secrets,
            now: { now })
        for operation in [NetworkError.Operation.verifyAccount, .publish] {
            let call = NetworkCall(operation: operation, path: ["api"])
            try holdError(client.failure(call, response), response)
            try holdError(client.malformed(call, response, detail: "x"), response)
        }
    }

    private static let blueskyErrors = FuzzTarget(
        "bluesky-errors", seeds: errorSeeds, words: errorWords
    ) { input in
        let response = Answer(input).response
        let server = try ServerAddress("https://bsky.social", network: .bluesky)
        let client = BlueskyClient(server: server, http: http, now: { now })
        for operation in [NetworkError.Operation.logIn, .publish] {
            let call = NetworkCall(operation, "com.atproto.repo.createRecord")
            let refusal = client.at(server, hiding: [Secret(token)]).refusal(call, response)
            try holdError(refusal.error, response)
            try hold(!refusal.saysOccupied || refusal.maySayOccupied, "what is certain is possible")
            // Tokens in the form of JWT are hidden even where nobody knows them.
            try holdHidden(token, in: client.refusal(call, response).error.serverCode ?? "")
        }
    }

    private static let xErrors = FuzzTarget("x-errors", seeds: errorSeeds, words: errorWords) {
        input in
        let response = Answer(input).response
        let signer = OAuthSigner(
            consumerKey: "key", consumerSecret: Secret("consumer-secret"), token: Secret(token))
        let client = try XClient(
            apiBaseURL: nil, signer: signer, http: http, memory: XMemory(), now: { now })
        for operation in [NetworkError.Operation.verifyAccount, .publish] {
            let call = NetworkCall(operation: operation, path: ["2", "tweets"])
            try holdError(client.refuse(call, response), response)
            try holdError(client.malformed(call, response, detail: "x"), response)
            let problems = JSONBody.decoded(XAnswer<XPost>.self, response.body)?.problems ?? []
            try holdError(client.refuse(call, response, problems: problems), response)
        }
    }

    // MARK: Pages

    /// What holds for every page of a feed.
    private static func holdPage(_ page: FeedPage) throws {
        try hold(
            page.items.count + page.unreadable.count <= page.received + page.unreadable.count,
            "no more is given than came")
        try hold(
            Set(page.items.map(\.repetitionKey)).count == page.items.count, "no item is there twice"
        )
        for item in page.items {
            try holdPlain(item.post.text, "a post's text")
            try holdPlain(item.author.displayName, "a name")
            try holdPlain(item.author.bio, "a profile")
            try hold(
                !item.post.id.value.isEmpty && !item.author.id.value.isEmpty,
                "a post and its author have names")
            try hold(
                item.author.id.network == item.post.id.network,
                "a post and its author are on one network")
            if let language = item.post.language {
                try hold(LanguageTag.isWellFormed(language), "a language is a tag")
            }
            try hold(
                item.post.createdAt.milliseconds >= -86_400_000,
                "a post is not older than its network")
        }
    }

    private static let mastodonPages = FuzzTarget(
        "mastodon-pages", seeds: NetworkSeeds.mastodon,
        words: [
            "{\"id\":\"", "\"uri\":\"https://", "\"account\":{\"id\":\"1\",\"acct\":\"",
            "\"content\":\"<p>",
            "\"mentions\":[{",
            "\"created_at\":\"2026-11-20T08:15:30.250Z\"", "\"in_reply_to_id\":", "\"reblog\":{",
            "\"type\":\"mention\"",
            "\"status\":{", "\"ancestors\":[",
            "\"configuration\":{\"statuses\":{\"max_characters\":", "null", "true",
            "\\ud800",
            "\"pleroma\":{\"in_reply_to_account_acct\":", "\"quote\":{", "\"quote_id\":\"",
            "\"tags\":[{\"url\":\"",
            "\"media_attachments\":[{\"type\":\"image\",\"url\":\"https://", "\"access_token\":\"",
            "\"expires_in\":",
            "1e999", "-0",
        ]
    ) { input in
        let response = Answer(input).response
        let translator = MastodonTranslator(
            domain: "social.example", serverHost: "www.example",
            ownAccount: MastodonOwnAccount(id: "1", acct: "bot", domain: "social.example"),
            idsIdentifyPeople: input.count % 2 == 0, now: { now })
        let memory = MastodonMemory()
        _ = JSONBeginning(response.body)
        let digests = JSONBody.digests(of: response.body)
        try hold(digests.allSatisfy { $0.count == 32 }, "a digest has 32 digits")
        let notices = JSONBody.decoded([LenientElement<MastodonNotification>].self, response.body)
        let statuses = JSONBody.decoded([LenientElement<MastodonStatus>].self, response.body)
        for entries in [
            statuses?.map(MastodonList.Entry.init), notices?.map(MastodonList.Entry.init),
        ].compactMap(
            \.self)
        {
            for feed in Feed.allCases {
                var list = MastodonList(
                    entries: entries, link: LinkHeader(response.headers.all("Link")), feed: feed,
                    memory: memory,
                    rateLimit: nil)
                try holdPage(list.page(with: translator, .newest))
                _ = list.append(list)
                _ = list.removeItems(notNewerThan: list.newerCursor ?? "3")
                list.removeItems(notOlderThan: list.olderCursor ?? "3", pageSize: 20)
                try holdPage(list.page(with: translator, .newer(than: "1")))
            }
        }
        if let context = JSONBody.decoded(MastodonContext.self, response.body) {
            for status in context.ancestors { _ = translator.post(status) }
        }
        if let account = JSONBody.decoded(MastodonAccount.self, response.body) {
            try hold(translator.account(account).handle.contains("@"), "a handle has a host")
        }
        if let instance = JSONBody.decoded(MastodonInstance.self, response.body) {
            try hold((1...10_000_000).contains(instance.limits.maximumCharacters), "a limit is one")
            if let domain = instance.domain { try holdOneWord(domain, "a host") }
        }
        if let tokens = JSONBody.decoded(MastodonTokens.self, response.body) {
            let old = MastodonCredentials(accessToken: Secret("old"))
            try hold(
                !tokens.credentials(after: old, now: now).accessToken.isEmpty, "a token is there")
        }
        _ = JSONBody.decoded(MastodonApplication.self, response.body)
        _ = JSONBody.decoded(MastodonServerMetadata.self, response.body)
    }

    private static let blueskyPages = FuzzTarget(
        "bluesky-pages", seeds: NetworkSeeds.bluesky,
        words: [
            "{\"feed\":[", "{\"records\":[", "{\"notifications\":[",
            "\"uri\":\"at://did:plc:a/app.bsky.feed.post/3k\"",
            "\"cid\":\"bafy\"",
            "\"author\":{\"did\":\"did:plc:a\"", "\"record\":{\"text\":\"",
            "\"createdAt\":\"2026-11-20T08:15:30.250Z\"", "\"reason\":\"reply\"",
            "\"facets\":[{\"index\":{\"byteStart\":0,\"byteEnd\":",
            "\"features\":[{\"$type\":\"app.bsky.richtext.facet#mention\",\"did\":\"",
            "\"reply\":{\"root\":{", "\"labels\":[{\"val\":\"bot\"", "\"viewer\":{",
            "\"threadgate\":{\"record\":{\"allow\":[", "\"didDoc\":{",
            "\"service\":[{\"id\":\"#atproto_pds\",\"serviceEndpoint\":\"https://", "\"posts\":[",
            "\"cursor\":\"",
            "[[[[[[[[", "1e999",
        ]
    ) { input in
        let body = Answer(input).response.body
        let did = "did:plc:a"
        let translator = BlueskyTranslator(now: now)
        func list<Element: Decodable & Sendable>(_ type: Element.Type) -> [Element] {
            JSONBody.decoded(BlueskyList<Element>.self, body)?.elements.compactMap(\.value) ?? []
        }
        let entries =
            list(BlueskyListedRecord<BlueskyPostRecord>.self).compactMap {
                BlueskySlice.Entry($0, of: did)
            }
            + list(BlueskyListedRecord<BlueskyLikeRecord>.self).compactMap {
                BlueskySlice.Entry($0, of: did)
            }
            + list(BlueskyFeedItem.self).map { BlueskySlice.Entry($0, seenAt: now) }
            + list(BlueskyNotification.self).map { BlueskySlice.Entry($0, to: did, seenAt: now) }
        var page = FeedPage(items: [], received: entries.count)
        let own = Account(
            id: AccountID(network: .bluesky, value: did), handle: "a.example", address: did)
        for entry in entries {
            switch entry.content {
            case .record(let reference, let record):
                page.items.append(translator.post(reference, record, by: own, noticedAt: nil))
            case .view(let view, let isRepost):
                page.items.append(translator.post(view, isRepost: isRepost, bio: "b"))
            case .notification(let notification, let author, let record):
                page.items.append(
                    translator.post(
                        notification.reference, record, by: translator.account(author),
                        noticedAt: notification.indexedAt))
            case .favorite, .other, .unreadable: break
            }
        }
        var keys: Set<String> = []
        page.items.removeAll { !keys.insert($0.repetitionKey).inserted }
        try holdPage(page)
        for item in page.items {
            try hold(RecordReference(item.address) != nil, "a post can be answered by its address")
        }
        let cursor = BlueskyCursor(itemKeys: entries.map(\.itemKey), isWhole: false, at: now)
        try hold(BlueskyCursor(try cursor.text()) == cursor, "a cursor survives being stored")
        try hold(!entries.contains { cursor.window.isNew($0.itemKey) }, "what was seen is not new")
        if let views = JSONBody.decoded(BlueskyViews.self, body) {
            for view in views.readable.values { _ = translator.post(view) }
        }
        let hosts = try BlueskyHosts(apiBaseURL: nil)
        if let document = JSONBody.decoded(DIDDocument.self, body),
            let server = document.server(of: did, hosts: hosts)
        {
            try hold(
                server.base.hasPrefix("https://"), "no server is asked that others can listen to")
            try hold(server.isPublicOnly, "no server of this machine or its network is asked")
        }
        if let value = JSONBody.decoded(JSONValue.self, body) {
            let again = JSONBody.decoded(JSONValue.self, try JSONBody.encoded(value))
            try hold(again == value, "what is put back is what was there")
        }
    }

    private static let xPages = FuzzTarget(
        "x-pages", seeds: NetworkSeeds.x,
        words: [
            "{\"data\":[{\"id\":\"", "\"text\":\"", "\"author_id\":\"1\"",
            "\"includes\":{\"users\":[{",
            "\"meta\":{\"next_token\":\"",
            "\"referenced_tweets\":[{\"type\":\"replied_to\",\"id\":\"",
            "\"entities\":{\"urls\":[{\"url\":\"https://t.co/a\"", "\"note_tweet\":{",
            "\"expanded_url\":\"https://x.com/a/status/1/photo/1\"", "\"edit_history_tweet_ids\":[",
            "\"errors\":[{",
            "\"protected\":true",
            "18446744073709551615", "29700859247", "\"lang\":\"iw\"",
        ]
    ) { input in
        let body = Answer(input).response.body
        guard let answer = JSONBody.decoded(XAnswer<XPost>.self, body) else { return }
        var list = XList(answer, body: body, rateLimit: nil)
        let own = Account(id: AccountID(network: .x, value: "1"), handle: "me", address: "1")
        let translator = XTranslator(
            own: own, isOwnProtected: false, users: list.users, now: { now })
        for feed in Feed.allCases { try holdPage(list.page(of: feed, with: translator)) }
        for user in list.users { try holdPlain(XTranslator.account(user).bio, "a profile") }
        if let newest = XID.newest(of: list.ids), let oldest = XID.oldest(of: list.ids) {
            try hold(!XID.isNewer(oldest, than: newest), "the oldest is not newer than the newest")
            let arrivals = Arrivals(newest: newest, gap: Arrivals.Gap(since: oldest, until: newest))
            let again = Arrivals(arrivals.text(separator: ";"), separator: ";", where: XID.isUsable)
            try hold(again == arrivals, "a cursor survives being stored")
            if let earlier = XID.id(60, secondsBefore: newest) {
                try hold(XID.isNewer(newest, than: earlier), "what is earlier is not newer")
            }
        }
        list.append(list)
        _ = list.keep(since: list.ids.last, until: list.ids.first)
        list.keep(first: 3)
        if let written = JSONBody.decoded(XAnswer<XWritten>.self, body) { _ = written.isEmpty }
    }
}
