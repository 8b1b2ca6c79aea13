import Formats
package import Foundation
import Localization
import NetworkNames
package import Networks
package import Posts
package import Transport

/// An account on X, reached through version 2 of its API with requests signed by OAuth 1.0a.
///
/// Reading and writing cost money: a request that could exceed the budget is not sent. Replies go
/// only to people who mentioned the account. Favorites are not given, because X does not allow
/// software to give them; a person has to.
package struct XNetwork: SocialNetwork {
    let client: XClient
    let memory: XMemory
    let options: XOptions
    let purse: XPurse
    let prices = XPrices.current

    /// - Parameters:
    ///   - credentials: The keys of the application, and the token of the account to act for.
    ///   - client: Sends the requests; may be shared with other networks.
    ///   - origin: The mirror that makes the requests.
    ///   - now: A function that reads the wall clock, whose time is in the signatures.
    ///   - uptime: A function that reads the monotonic clock, in seconds; nil for the system's.
    /// - Throws: `NetworkError` with code `.configuration` if the base URL of the options is not
    ///   an address.
    package init(
        credentials: XCredentials, options: XOptions, book: any SpendingBook, client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(), now: @escaping @Sendable () -> Date,
        uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        let signer = OAuthSigner(
            consumerKey: credentials.consumerKey, consumerSecret: credentials.consumerSecret,
            token: credentials.accessToken, tokenSecret: credentials.accessTokenSecret)
        let memory = XMemory(uptime: uptime)
        let xClient = try XClient(
            apiBaseURL: options.apiBaseURL, signer: signer, http: client, origin: origin,
            memory: memory, now: now)
        self.client = xClient
        self.memory = memory
        self.options = options
        self.purse = XPurse(book: book, memory: memory, client: xClient)
    }

    package var name: NetworkName { .x }

    package var host: String { client.server.host }

    package var clockLead: TimeInterval? { client.memory.serverClock.lead(at: client.now()) }

    package var capabilities: Capabilities {
        var capabilities = Capabilities(
            feeds: Set(Feed.allCases).subtracting(options.homePostsPerDay > 0 ? [] : [.home]),
            // X has no visibilities: every draft becomes public.
            visibilities: [.public, .unlisted], replies: .summoned, replyNeedsMention: false,
            automaticFavorites: .nobody, supportsIdempotencyKey: false,
            // A change may need two requests: one whose signing time X refuses, and the same one
            // signed with X's time.
            requestDeadline: NetworkCall.usualDeadline * 2)
        capabilities.canFavorite = false
        capabilities.canPublish = options.mayPublish
        // X accepts 50 in 15 minutes.
        capabilities.deletionPace = Pace(count: 45, period: 900)
        capabilities.unfavoritePace = Pace(count: 45, period: 900)
        capabilities.depths = [.ownPosts: 3_200, .mentions: 800]
        capabilities.largestPicture = 5 << 20
        capabilities.lookUpsAtOnce = Self.fullPage
        capabilities.hasQuotaPerFeed = true
        return capabilities
    }

    /// Whether the last answer stated an access level that permits writing; ``verifyAccount()`` is
    /// enough to know it, because every answer of X states the level.
    package var canWrite: Bool? { memory.accessLevel.map { $0.lowercased().contains("write") } }

    package func verifyAccount() async throws -> Account {
        let call = NetworkCall(
            operation: .verifyAccount, path: ["2", "users", "me"], query: [Self.userFields])
        let (answer, response) = try await paidRead(XUser.self, call, atMost: prices.userRead) {
            answer in
            let names = answer.items.compactMap(\.id).map { "user \($0)" }
            return Dictionary(names.map { ($0, prices.userRead) }) { first, _ in first }
        }
        guard let user = answer.items.first?.value else {
            guard answer.problems.isEmpty else {
                throw client.refuse(call, response, problems: answer.problems)
            }
            throw client.malformed(call, response, detail: localized("the answer has no account"))
        }
        let account = XTranslator.account(user)
        memory.keep(account, isProtected: user.isProtected)
        return account
    }

    package func limits() async throws -> PublishingLimits { .x }

    package func price(ofReading items: Int, from feed: Feed) -> Money? {
        prices.price(
            ofReading: items, from: feed, ownsApp: options.ownsApp, fieldNames: options.fieldNames)
    }

    package func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money? {
        let priceOfPictures = (prices.upload + prices.mediaMetadata) * pictures
        let pricesOfTexts = texts.enumerated().map { index, text in
            // Each text after the first one is published as a reply to the one before it.
            prices.price(ofPublishing: text, isReply: isReply || index > 0)
        }
        return pricesOfTexts.reduce(priceOfPictures, +)
    }

    package var priceOfOwnPost: Money? {
        prices.priceOfLookUp(of: .own, fieldNames: options.fieldNames)
    }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        try await lookUp(address, for: .others)
    }

    package func lookUpOwn(_ address: String) async throws -> ObservedPost? {
        try await lookUp(address, for: .own)
    }

    private func lookUp(_ address: String, for reader: XReader) async throws -> ObservedPost? {
        var call = NetworkCall(
            operation: .readPost, path: ["2", "tweets", try checkedID(address, .readPost)])
        call.query = reader.parameters(options.fieldNames)
        let ownAccount = try await account()
        let answer: XAnswer<XPost>
        let response: HTTPResponse
        do {
            let price = prices.priceOfLookUp(of: reader, fieldNames: options.fieldNames)
            (answer, response) = try await paidRead(XPost.self, call, atMost: price) {
                bill(of: $0, each: prices.postRead)
            }
        } catch let error as NetworkError where error.code == .notFound {
            return nil
        }
        if let item = answer.items.first {
            let translator = translator(own: ownAccount, users: answer.users.compactMap(\.value))
            guard let post = item.value.flatMap({ translator.post($0, for: reader) }) else {
                throw client.malformed(
                    call, response, detail: localized("the post has no text or no author"))
            }
            return post
        }
        if answer.isEmpty { return nil }
        guard !answer.problems.isEmpty else {
            throw client.malformed(call, response, detail: localized("there is no post"))
        }
        let failure = client.refuse(call, response, problems: answer.problems)
        // The post is gone, or visible only to others.
        if failure.code == .notFound || failure.code == .forbidden { return nil }
        throw failure
    }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        try await lookUpOwn(identity.value)
    }

    /// X bills only the posts that it returns; requested posts that are missing cost nothing.
    package func ownPosts(at addresses: [String]) async throws -> (
        asked: [String], shown: [ObservedPost]
    ) {
        let addresses = Array(addresses.filter(XID.isUsable).prefix(Self.fullPage))
        guard !addresses.isEmpty else { return ([], []) }
        var call = NetworkCall(operation: .readPost, path: ["2", "tweets"])
        // The requested ids identify the read if its answer is lost.
        call.query = [(name: "ids", value: addresses.joined(separator: ","))]
        let ownAccount = try await account()
        let countsToTry = Self.halves(of: addresses.count, downTo: 1)
        let priceOfPost = prices.priceOfLookUp(of: .own, fieldNames: options.fieldNames)
        return try await purse.pay(countsToTry.map { priceOfPost * $0 }, for: .originals, call) {
            index, time in
            let requested = Array(addresses.prefix(countsToTry[index]))
            var call = call
            call.query =
                XReader.own.parameters(options.fieldNames) + [
                    ("ids", requested.joined(separator: ","))
                ]
            let (answer, response) = try await client.answer(of: XPost.self, call)
            if answer.items.isEmpty, !answer.problems.allSatisfy(\.isAboutPost) {
                throw client.refuse(call, response, problems: answer.problems)
            }
            let translator = translator(own: ownAccount, users: answer.users.compactMap(\.value))
            let shownPosts = answer.items.compactMap(\.value).compactMap {
                translator.post($0, for: .own)
            }
            return (
                (requested, shownPosts),
                memory.buy(bill(of: answer, each: prices.postRead), at: time)
            )
        }
    }

    /// Always fails, because X's API does not tell whether a post is favorited, and this program
    /// gives no favorites through it.
    package func isFavorited(_ address: String) async throws -> Bool? {
        throw notAllowed(
            .readPost, localized("X does not tell which posts the account has favorited"))
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        if let conversation = post.conversation { return conversation }
        guard post.replyToAddress != nil else { return post.post.id.value }
        return try await lookUp(post.address).map { $0.conversation ?? $0.post.id.value }
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        throw notAllowed(.readConversation, localized("looking for replies on X costs money"))
    }

    // MARK: For the parts of this type

    static let userFields = (
        name: "user.fields", value: "description,entities,name,protected,username"
    )

    /// Returns the numbers of items to try to pay for: `count`, half of it, and so on down to
    /// `minimum`.
    package static func halves(of count: Int, downTo minimum: Int) -> [Int] {
        var counts = [max(count, minimum)]
        while let last = counts.last, last > minimum { counts.append(max(last / 2, minimum)) }
        return counts
    }

    /// The account of the credentials.
    func account() async throws -> Account {
        if let account = memory.account { return account }
        return try await verifyAccount()
    }

    /// The translator of answers into the common model.
    func translator(own: Account, users: [XUser]) -> XTranslator {
        XTranslator(own: own, isOwnProtected: memory.isProtected, users: users, now: client.now)
    }

    /// Returns the address if it is an id of X, so that it can be put into a path.
    func checkedID(_ address: String, _ operation: NetworkError.Operation) throws(NetworkError)
        -> String
    {
        guard XID.isUsable(address) else {
            throw client.error(
                operation, .rejected, outcome: .notSent,
                detail: localized("the post's address is not an id of X"))
        }
        return address
    }

    /// The error for an operation that X does not allow this account.
    func notAllowed(_ operation: NetworkError.Operation, _ cause: String) -> NetworkError {
        client.error(operation, .capability, outcome: .notSent, detail: cause)
    }

    /// Pays for a request for single objects, and returns its answer.
    private func paidRead<Item: Decodable>(
        _ type: Item.Type, _ call: NetworkCall, atMost price: Money,
        bill: (XAnswer<Item>) -> [String: Money]
    ) async throws -> (XAnswer<Item>, HTTPResponse) {
        try await purse.pay([price], for: .lookUp, call) { _, time in
            let answer = try await client.answer(of: type, call)
            return (answer, memory.buy(bill(answer.answer), at: time))
        }
    }

    /// The price of each object that X bills for an answer with posts, by the object's name.
    func bill(of answer: XAnswer<XPost>, each price: Money) -> [String: Money] {
        var bill: [String: Money] = [:]
        for id in answer.includedPostIDs { bill["post \(id)"] = prices.postRead }
        for user in answer.users.compactMap(\.id) { bill["user \(user)"] = prices.userRead }
        for (index, item) in answer.items.enumerated() {
            bill["post \(item.id ?? "without id \(index)")"] = price
        }
        return bill
    }
}

/// The purpose of reading a post, which determines the requested fields and expansions.
///
/// X bills each account and each further post in an answer, so the authors' accounts are requested
/// only where their profiles are needed.
package enum XReader: CaseIterable, Sendable {
    /// Reading posts of the account itself, whose author need not be requested.
    case own
    /// Reading favorites, from whose words the program learns; of the author only the id is needed,
    /// which is a field of the post.
    case learned
    /// Reading posts by people whose profile decides whether the program answers them or learns
    /// from their posts.
    case others

    init(_ feed: Feed) {
        switch feed {
        case .ownPosts: self = .own
        case .favorites: self = .learned
        case .home, .mentions: self = .others
        }
    }

    /// The fields of a post.
    package func postFields(_ names: XFieldNames) -> [String] {
        var fields = ["attachments", "created_at", "entities", "lang", "possibly_sensitive"]
        switch names {
        case .tweet:
            fields += ["author_id", "in_reply_to_user_id", "note_tweet", "referenced_tweets"]
        case .post: fields += ["note_post"]
        }
        if self == .others { fields += ["conversation_id", "reply_settings"] }
        return fields.sorted()
    }

    /// The accounts and posts to request with a post.
    package func expansions(_ names: XFieldNames) -> [String] {
        switch (names, self) {
        case (.tweet, .others): ["author_id"]
        case (.tweet, .own), (.tweet, .learned): []
        // In the newer spelling a post has no fields with the ids of people and other posts: these
        // ids come only with the expanded objects.
        case (.post, .own): ["in_reply_to_user_id", "referenced_posts.id"]
        case (.post, .learned), (.post, .others):
            ["author_id", "in_reply_to_user_id", "referenced_posts.id"]
        }
    }

    /// The parameters of a request, by name.
    func parameters(_ names: XFieldNames) -> [(name: String, value: String)] {
        let expansions = expansions(names)
        let fields = (
            name: "\(names.rawValue).fields", value: postFields(names).joined(separator: ",")
        )
        guard !expansions.isEmpty else { return [fields] }
        let expanded = [(name: "expansions", value: expansions.joined(separator: ",")), fields]
        return expansions.contains("author_id") ? expanded + [XNetwork.userFields] : expanded
    }
}

/// The spelling of a post's fields in requests; answers are read in either spelling.
package enum XFieldNames: String, CaseIterable, Sendable {
    /// The names until July 2026, such as `tweet.fields` and `referenced_tweets`, which X still
    /// accepts.
    case tweet
    /// The names since July 2026, such as `post.fields` and `referenced_posts`.
    case post
}

/// The operator's options for an account on X.
package struct XOptions: Sendable {
    /// Another host for calls, such as a proxy or a test server; nil for `https://api.x.com`.
    package var apiBaseURL: String?
    /// Whether texts may be published, because the operator states to have read X's rules for
    /// automated accounts.
    package var mayPublish: Bool
    /// The most posts of the home timeline that are read in a day; 0 to read none.
    package var homePostsPerDay: Int
    /// Whether the account owns the developer app, so that reading its own data is cheaper.
    package var ownsApp: Bool
    /// The spelling of request parameters.
    package var fieldNames: XFieldNames

    package init(
        apiBaseURL: String? = nil, mayPublish: Bool = false, homePostsPerDay: Int = 0,
        ownsApp: Bool = false,
        fieldNames: XFieldNames = .tweet
    ) {
        self.apiBaseURL = apiBaseURL
        self.mayPublish = mayPublish
        self.homePostsPerDay = homePostsPerDay
        self.ownsApp = ownsApp
        self.fieldNames = fieldNames
    }
}

/// Publishing and deleting.
extension XNetwork {
    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        guard options.mayPublish else {
            throw notAllowed(
                .publish,
                "publishing on X is off; read its automation rules, then set X_ACKNOWLEDGE_POLICY=yes"
            )
        }
        guard capabilities.visibilities.contains(draft.visibility) else {
            throw notAllowed(.publish, localized("X has no posts for few eyes"))
        }
        var call = NetworkCall(operation: .publish, method: .post, path: ["2", "tweets"])
        let parent = try draft.replyTo.map { try checkedID($0, .publish) }
        for picture in draft.pictures { _ = try checkedID(picture.name, .publish) }
        call.body = try JSONBody.encoded(requestBody(for: draft, parent))
        let price = prices.price(ofPublishing: draft.text, isReply: parent != nil)
        let (_, reservation) = try await purse.reserve([price], for: .publish, call)
        return Departure { [call] mayLeave in
            var call = call
            call.mayLeave = mayLeave
            let (written, response) = try await sendWrite(call, with: reservation) { written in
                guard let text = written.text else { return price }
                if text.contains(XText.shortLink) { return prices.postCreateWithURL }
                return parent == nil ? prices.postCreate : prices.summonedReply
            }
            guard let address = written.id else {
                throw client.malformed(
                    call, response, detail: localized("the published post has no id"))
            }
            let identity = XID.oldest(of: written.editHistory + [address]) ?? address
            return PublishedPost(
                id: PostID(network: .x, value: identity), address: address,
                createdAt: client.now())
        } withdrawal: {
            await purse.settle(reservation, cost: .zero)
        }
    }

    /// Uploads a picture and then adds its description, in two requests that X bills.
    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        guard options.mayPublish else {
            throw notAllowed(
                .upload,
                "publishing on X is off; read its automation rules, then set X_ACKNOWLEDGE_POLICY=yes"
            )
        }
        var call = NetworkCall(operation: .upload, method: .post, path: ["2", "media", "upload"])
        call.body = try JSONBody.encoded([
            "media": Data(picture.bytes).base64EncodedString(), "media_category": "tweet_image",
            "media_type": picture.format.mediaType,
        ])
        let (written, response) = try await paidWrite(call, atMost: prices.upload) { _ in
            prices.upload
        }
        guard let id = written.id else {
            throw client.malformed(call, response, detail: localized("the picture has no id"))
        }
        guard !picture.alt.isEmpty else { return (id, true) }
        var descriptionCall = NetworkCall(
            operation: .upload, method: .post, path: ["2", "media", "metadata"])
        descriptionCall.body = try JSONBody.encoded(
            JSONValue.object([
                "id": .text(id),
                "metadata": .object(["alt_text": .object(["text": .text(picture.alt)])]),
            ]))
        _ = try await paidWrite(descriptionCall, atMost: prices.mediaMetadata) { _ in
            prices.mediaMetadata
        }
        return (id, true)
    }

    /// The JSON body of the request that publishes a draft; X refuses unknown fields.
    private func requestBody(for draft: Draft, _ parent: String?) -> JSONValue {
        let excluded = bystanders(of: draft).map(JSONValue.text)
        let reply = parent.map {
            JSONValue.object(leavingOutNil: [
                "in_reply_to_tweet_id": .text($0),
                "exclude_reply_user_ids": excluded.isEmpty ? nil : .list(excluded),
            ])
        }
        let media = draft.pictures.map { JSONValue.text($0.name) }
        return .object(leavingOutNil: [
            "text": .text(draft.text), "reply": reply,
            "media": media.isEmpty ? nil : .object(["media_ids": .list(media)]),
        ])
    }

    /// The ids of the people whom X must not notify of a reply.
    ///
    /// Invalid ids are left out, because X would refuse the whole request.
    private func bystanders(of draft: Draft) -> [String] {
        draft.bystanders.filter {
            $0.network == .x && $0 != memory.account?.id && XID.isUsable($0.value)
        }.map(\.value)
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        throw notAllowed(
            .favorite,
            localized("X does not let software give favorites; give it in the app or browser"))
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        let call = NetworkCall(
            operation: .delete, method: .delete,
            path: ["2", "tweets", try checkedID(address, .delete)])
        do {
            let (written, response) = try await paidWrite(call, atMost: prices.delete) { _ in
                prices.delete
            }
            guard written.isDeleted != false else {
                throw client.malformed(
                    call, response, detail: localized("the post was not deleted"))
            }
            return .removed
        } catch let error as NetworkError where error.code == .notFound {
            return .gone
        }
    }

    /// Withdraws a favorite, if X allows the app to do it.
    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        let ownID = try await account().id.value
        let path = ["2", "users", ownID, "likes", try checkedID(favorite.address, .unfavorite)]
        let call = NetworkCall(operation: .unfavorite, method: .delete, path: path)
        do {
            let (written, response) = try await paidWrite(call, atMost: prices.delete) { _ in
                prices.delete
            }
            guard written.isFavorited != true else {
                throw client.malformed(
                    call, response, detail: localized("the favorite was not taken back"))
            }
            return .removed
        } catch let error as NetworkError where error.code == .notFound {
            return .gone
        }
    }

    package func labelAsBot() async throws {
        throw notAllowed(
            .labelAccount,
            localized(
                """
                only a person can label an account on X: log in as the bot and choose Settings, Your account, \
                Account information, Automation, then name the account that runs it
                """))
    }

    /// Sends a change, and returns its answer: `price` is reserved before, `cost` returns the final
    /// cost.
    private func paidWrite(
        _ call: NetworkCall, atMost price: Money, cost: (XWritten) -> Money
    ) async throws -> (XWritten, HTTPResponse) {
        let (_, reservation) = try await purse.reserve([price], for: .publish, call)
        return try await sendWrite(call, with: reservation, cost: cost)
    }

    /// Sends a change for which money is reserved, gives back the unused part, and returns the
    /// answer.
    private func sendWrite(
        _ call: NetworkCall, with reservation: XPurse.Reservation, cost: (XWritten) -> Money
    ) async throws -> (XWritten, HTTPResponse) {
        try await purse.spend(reservation, on: call) {
            let (answer, response) = try await client.answer(of: XWritten.self, call)
            guard let written = answer.items.first?.value else {
                guard answer.problems.isEmpty else {
                    throw client.refuse(call, response, problems: answer.problems)
                }
                throw client.malformed(
                    call, response, detail: localized("the answer does not say what happened"))
            }
            return ((written, response), cost(written))
        }
    }
}
