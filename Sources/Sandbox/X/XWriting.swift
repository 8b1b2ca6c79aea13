import Foundation
import NetworkNames
import Posts

/// Publishing, deleting, favoriting.
extension XWire {
    mutating func publish(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer
    {
        let request = try XPostRequest(call.request)
        var parent: SandboxPost?
        if let id = request.replyTo { parent = try answerable(id, in: state, by: call) }
        if !call.habits.publishesRepeats {
            try refuseRepetition(of: request, in: state, by: call.caller)
        }
        try countPost(by: call)
        let words = XText(request.text, directory: call.directory)
        let mentionedPeople = StatusText.pieces(of: request.text).compactMap { piece -> Int? in
            guard case .mention(let user, _) = piece else { return nil }
            return call.directory.person(handle: user)
        }
        let draft = SandboxState.Draft(
            text: request.text, warning: "", isSensitive: false,
            // X has no visibilities: an answer is as public as the answered post.
            visibility: parent?.visibility ?? .public, replyTo: parent?.id, network: .x,
            mentions: mentionedPeople.reduce(into: []) { unique, person in
                if !unique.contains(person) { unique.append(person) }
            },
            notifiesParent: parent.map { !request.excluded.contains(call.directory.ids[$0.author]) }
                ?? false)
        var draftWithMedia = draft
        guard let media = state.unattached(request.media, of: call.caller, at: call.now) else {
            throw .problem(
                400, "Invalid Request", "Your media IDs are invalid.", type: "invalid-request")
        }
        draftWithMedia.media = request.media
        draftWithMedia.pictures = media.map { .init(id: String($0.id), alt: $0.alt) }
        let post = state.publish(draftWithMedia, by: call.caller, at: call.now)
        let price = parent == nil ? XBilling.Price.post : XBilling.Price.summonedReply
        state.ledger.spentMicrodollars += words.hasLink ? XBilling.Price.postWithLink : price
        let objects = XObjects(state, call)
        return .json(
            [
                "data": [
                    "id": .string(String(post.id)),
                    "text": .string(objects.fullText(of: post).delivered),
                ]
            ], status: 201)
    }

    mutating func delete(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer
    {
        let id = try call.id()
        guard let post = state.posts[id], post.visibility.isOpen else {
            throw .problem(
                404, "Not Found Error", "Could not find tweet with id: [\(id)].",
                type: "resource-not-found",
                code: 144, isExpected: state.deleted.contains(id))
        }
        guard post.author == call.caller else {
            throw .forbidden("You are not authorized to delete this Tweet.", code: 183)
        }
        state.delete(id)
        state.recordRemoval(.post, of: id, by: call.caller, at: call.now)
        state.ledger.spentMicrodollars += XBilling.Price.removal
        return .json(["data": ["deleted": true]])
    }

    mutating func favorite(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        try admitFavorite(call)
        guard let text = try XBody(call.request, known: ["tweet_id"]).text("tweet_id"),
            let id = Int64(text)
        else {
            throw .invalidBody("$.tweet_id: must be the id of a post")
        }
        // The copy of the state in `XObjects` is gone after this line: a change of the state while
        // the copy exists would copy all of it.
        let requestedPost = XObjects(state, call).visible(id)
        guard let requestedPost else {
            throw .problem(
                404, "Not Found Error", "Could not find tweet with id: [\(id)].",
                type: "resource-not-found",
                code: 144, isExpected: state.deleted.contains(id))
        }
        let isNew = state.addFavorite(
            by: call.caller, of: requestedPost.repostOf ?? id, at: call.now)
        state.recordFavorite(
            of: requestedPost, by: call.caller, isNew: isNew, from: .x, at: call.now)
        state.ledger.spentMicrodollars += XBilling.Price.interaction
        return .json(["data": ["liked": true]])
    }

    mutating func unfavorite(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        try admitFavorite(call)
        let id = try call.id(at: 1)
        let target = state.posts[id]?.repostOf ?? id
        if state.removeFavorite(by: call.caller, of: target) {
            state.recordRemoval(.favorite, of: target, by: call.caller, at: call.now)
        }
        state.ledger.spentMicrodollars += XBilling.Price.removal
        return .json(["data": ["liked": false]])
    }

    /// - Throws: 403, as since April 2026 for every self-serve app.
    private func admitFavorite(_ call: XCall) throws(XRefusal) {
        guard call.habits.allowsFavorites else { throw .clientForbidden }
        guard call.directory.person(id: String(try call.id())) == call.caller else {
            throw .problem(
                403, "Forbidden", "The id must be that of the authenticating user.",
                type: "not-authorized-for-resource"
            )
        }
    }

    /// The post that is to be answered.
    ///
    /// - Throws: 403 if it is gone, or if its author did not mention the caller in it.
    private func answerable(
        _ id: Int64, in state: SandboxState, by call: XCall
    ) throws(XRefusal) -> SandboxPost {
        let objects = XObjects(state, call)
        guard let post = objects.visible(id) else {
            var refusal = XRefusal.forbidden(
                "You attempted to reply to a Tweet that is deleted or not visible to you.",
                code: 385)
            refusal.isExpected = state.deleted.contains(id)
            throw refusal
        }
        guard post.repostOf == nil, objects.fullText(of: post).mentions.contains(call.caller) else {
            throw .forbidden(
                "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged "
                    + "by the author of the post you are replying to.", code: 433)
        }
        return post
    }

    /// - Throws: 403 for a text that the caller has already published.
    private func refuseRepetition(
        of request: XPostRequest, in state: SandboxState, by caller: Int
    ) throws(XRefusal) {
        let earlierPosts = (state.idsByText[SandboxState.PersonText(caller, request.text)] ?? [])
            .compactMap { state.posts[$0] }
        guard let first = earlierPosts.first else { return }
        var refusal = XRefusal.forbidden(
            "You are not allowed to create a Tweet with duplicate content.", code: 187)
        // The refusal is expected, because only X can know when the same words to different people
        // are too many.
        refusal.isExpected =
            first.replyTo != request.replyTo
            && !earlierPosts.contains { $0.replyTo == request.replyTo }
        throw refusal
    }

    /// Counts a post against the limit of 24 hours, if there is one.
    ///
    /// - Throws: 429 if the limit of 24 hours is exceeded.
    private mutating func countPost(by call: XCall) throws(XRefusal) {
        guard let limit = call.habits.postsPerDay else { return }
        let day = 86_400
        let ownStanding = rates.add(
            by: "posts \(call.caller)", of: .init(amount: limit, period: day), at: call.clock)
        let commonStanding = rates.add(
            ownStanding.isExceeded ? 0 : 1, by: "posts", of: .init(amount: 10_000, period: day),
            at: call.clock)
        headers += Self.headers(ownStanding, "x-user-limit-24hour", at: call.clock)
        headers += Self.headers(commonStanding, "x-app-limit-24hour", at: call.clock)
        guard ownStanding.isExceeded else { return }
        var refusal = XRefusal.tooMany
        // Only the first refusal is expected: it tells the client to wait until the day is over.
        refusal.isExpected = ownStanding.used == limit + 1
        throw refusal
    }
}

/// Uploads of pictures for later posts.
extension XWire {
    private static let largestPicture = 5 << 20
    private static let longestDescription = 1_000

    /// Accepts a whole picture at once, in base 64.
    mutating func upload(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer
    {
        let body = try XBody(
            call.request,
            known: ["media", "media_category", "media_type", "shared", "additional_owners"])
        guard let text = try body.text("media"), let data = Data(base64Encoded: text), !data.isEmpty
        else {
            throw .invalidBody("$.media: must be a file in base 64")
        }
        guard try body.text("media_category") == "tweet_image" else {
            throw .invalidBody("$.media_category: the sandbox takes tweet_image alone")
        }
        let bytes = Array(data)
        guard let type = SandboxMedia.type(of: bytes), try body.text("media_type") ?? type == type
        else {
            throw .invalidBody("$.media_type: is not that of the file")
        }
        guard bytes.count <= Self.largestPicture else {
            throw .invalidBody("$.media: File size exceeds 5242880 bytes.")
        }
        let media = state.upload(
            bytes, type: type, alt: "", by: call.caller, at: call.now, takes: 0)
        state.ledger.spentMicrodollars += XBilling.Price.upload
        return .json([
            "data": [
                "id": .string(String(media.id)), "media_key": .string("3_\(media.id)"),
                "size": .integer(bytes.count), "expires_after_secs": 86_400,
            ]
        ])
    }

    mutating func describe(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        let body = try XBody(call.request, known: ["id", "metadata"])
        let metadata = try body.object(
            "metadata", known: ["alt_text", "allow_download_status", "sensitive_media_warning"])
        guard let id = try body.text("id").flatMap({ Int64($0) }),
            state.media[id]?.owner == call.caller
        else {
            throw .invalidBody("$.id: must be the id of a file of this account")
        }
        guard let alt = try metadata?.object("alt_text", known: ["text"])?.text("text"),
            !alt.isEmpty,
            alt.unicodeScalars.count <= Self.longestDescription
        else {
            throw .invalidBody(
                "$.metadata.alt_text.text: must be 1 to \(Self.longestDescription) characters")
        }
        state.describe(id, as: alt)
        state.ledger.spentMicrodollars += XBilling.Price.metadata
        return .json([
            "data": [
                "id": .string(String(id)),
                "associated_metadata": ["alt_text": ["text": .string(alt)]],
            ]
        ])
    }
}

/// The post that a request asks to publish.
struct XPostRequest: Sendable {
    var text: String
    var replyTo: Int64?
    /// The ids of people who must not be notified of the answer.
    var excluded: Set<String> = []
    /// The numbers of uploaded files.
    var media: [Int64] = []

    private static let knownFields: Set = [
        "text", "reply", "reply_settings", "made_with_ai", "paid_partnership", "nullcast", "media",
        "poll",
        "quote_tweet_id", "community_id", "geo", "edit_options",
    ]
    /// The fields that X has and the sandbox does not, and those that X no longer allows to
    /// self-serve apps.
    private static let withheld = [
        "poll", "quote_tweet_id", "community_id", "geo", "edit_options", "nullcast",
    ]

    /// - Throws: 400 for a body or a text that X refuses, 403 for an operation that the app may not
    ///   do.
    init(_ request: WireRequest) throws(XRefusal) {
        let body = try XBody(request, known: Self.knownFields)
        if Self.withheld.contains(where: body.has) { throw .clientForbidden }
        guard let text = try body.text("text") else { throw .invalidBody("$.text: is missing") }
        if let objection = XWeight.objection(to: text) {
            throw .invalidBody("$.text: \(objection)")
        }
        if let settings = try body.text("reply_settings"),
            !["following", "mentionedUsers", "subscribers", "verified"].contains(settings)
        {
            throw .invalidBody(
                "$.reply_settings: is not one of following, mentionedUsers, subscribers, verified")
        }
        _ = try body.flag("made_with_ai")
        _ = try body.flag("paid_partnership")
        if Self.cashtags(in: text) > 1 { throw .forbidden("A post may hold one cashtag at most.") }
        self.text = text
        if let media = try body.object("media", known: ["media_ids", "tagged_user_ids"]) {
            self.media = try media.texts("media_ids").compactMap { Int64($0) }
            guard !self.media.isEmpty else { throw .invalidBody("$.media.media_ids: must be ids") }
        }
        guard
            let reply = try body.object(
                "reply", known: ["in_reply_to_tweet_id", "exclude_reply_user_ids"])
        else {
            return
        }
        guard let id = try reply.text("in_reply_to_tweet_id").flatMap({ Int64($0) }), id > 0 else {
            throw .invalidBody("$.reply.in_reply_to_tweet_id: must be the id of a post")
        }
        replyTo = id
        excluded = Set(try reply.texts("exclude_reply_user_ids"))
    }

    /// The number of words such as `$ABC`.
    private static func cashtags(in text: String) -> Int {
        text.split(whereSeparator: \.isWhitespace).count { word in
            guard word.first == "$" else { return false }
            let letters = word.dropFirst().prefix { $0.isASCII && $0.isLetter }
            let next = word[letters.endIndex...].first
            return (1...6).contains(letters.count) && next?.isLetter != true
                && next?.isNumber != true
        }
    }
}

/// The JSON body of a request.
struct XBody: Sendable {
    private let members: [String: RecordValue]
    private let path: String

    /// - Throws: 400 for a body that is no JSON object, and for unknown members.
    init(_ request: WireRequest, known: Set<String>) throws(XRefusal) {
        guard request.mediaType == "application/json" else {
            throw .invalidBody("The content type must be application/json")
        }
        guard let members = RecordValue.members(ofJSON: request.body) else {
            throw .invalidBody("The body is not a JSON object")
        }
        try self.init(members, known: known, path: "$")
    }

    private init(_ members: [String: RecordValue], known: Set<String>, path: String)
        throws(XRefusal)
    {
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw .invalidBody(
                "\(path).\(unknown.prefix(40)): is not defined in the schema and the schema does not allow more"
            )
        }
        self.members = members
        self.path = path
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    func text(_ name: String) throws(XRefusal) -> String? {
        switch members[name] {
        case .text(let text): return text
        case nil: return nil
        default: throw .invalidBody("\(path).\(name): must be a text")
        }
    }

    func flag(_ name: String) throws(XRefusal) -> Bool? {
        switch members[name] {
        case .bool(let flag): return flag
        case nil: return nil
        default: throw .invalidBody("\(path).\(name): must be true or false")
        }
    }

    /// The texts of a list; empty without it.
    func texts(_ name: String) throws(XRefusal) -> [String] {
        guard let value = members[name] else { return [] }
        guard case .list(let values) = value else {
            throw .invalidBody("\(path).\(name): must be a list")
        }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else {
                throw .invalidBody("\(path).\(name): must hold texts")
            }
            texts.append(text)
        }
        return texts
    }

    func object(_ name: String, known: Set<String>) throws(XRefusal) -> XBody? {
        guard let value = members[name] else { return nil }
        guard case .map(let members) = value else {
            throw .invalidBody("\(path).\(name): must be an object")
        }
        return try XBody(members, known: known, path: "\(path).\(name)")
    }
}
