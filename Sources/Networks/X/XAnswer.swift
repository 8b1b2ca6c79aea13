import Posts

/// The body of an answer: what was asked for, what belongs to it, and what is missing.
///
/// A body that is a JSON object can always be read; the parts that are missing or of another shape are empty.
struct XAnswer<Item: Decodable>: Decodable {
    /// One element where one thing was asked for.
    let items: [LenientElement<Item>]
    /// There is a field `data`, be it an empty list.
    let hasData: Bool
    let users: [LenientElement<XUser>]
    /// The ids of the posts that came with what was asked for.
    let includedPostIDs: [String]
    let problems: [XProblem]
    let nextToken: String?
    /// How many items the server says that it sent.
    let resultCount: Int?

    private enum CodingKeys: CodingKey {
        case data, includes, errors, meta
    }

    private enum IncludeKeys: CodingKey {
        case users, tweets, posts
    }

    private enum MetaKeys: String, CodingKey {
        case nextToken = "next_token"
        case resultCount = "result_count"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        hasData = container.isPresent(.data)
        let list = container.value([LenientElement<Item>].self, .data)
        items = list ?? (hasData ? container.value(LenientElement<Item>.self, .data).map { [$0] } : nil) ?? []
        let includes = try? container.nestedContainer(keyedBy: IncludeKeys.self, forKey: .includes)
        users = includes?.value([LenientElement<XUser>].self, .users) ?? []
        includedPostIDs =
            [.tweets, .posts].flatMap { includes?.value([LenientElement<XPost>].self, $0) ?? [] }.compactMap(\.id)
        problems = container.list(of: XProblem.self, .errors)
        let meta = try? container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        nextToken = meta?.text(.nextToken).flatMap { $0.isEmpty || $0.utf8.count > 4_096 ? nil : $0 }
        resultCount = meta?.integer(.resultCount)
    }

    /// Nothing was found, and the server says so.
    var isEmpty: Bool { items.isEmpty && problems.isEmpty && (hasData || resultCount == 0) }
}

/// What X calls a thing that it has published or deleted.
struct XWritten: Decodable {
    let id: String?
    /// As X keeps it: links are shortened.
    let text: String?
    let editHistory: [String]
    let isDeleted: Bool?

    private enum CodingKeys: String, CodingKey {
        case id, text, deleted
        case editHistoryTweetIDs = "edit_history_tweet_ids"
        case editHistoryPostIDs = "edit_history_post_ids"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = container.text(.id).flatMap { XID.isUsable($0) ? $0 : nil }
        text = container.text(.text)
        let history = [.editHistoryTweetIDs, .editHistoryPostIDs].flatMap { key in
            container.value([String].self, key) ?? []
        }
        editHistory = history.filter(XID.isUsable)
        isDeleted = container.flag(.deleted)
    }
}

/// What X says went wrong, in one of its shapes.
struct XProblem: Decodable, Equatable {
    /// The last part of the problem's address, such as `client-forbidden`; nil for `about:blank`.
    let kind: String?
    let title: String?
    let detail: String?
    /// The number that version 1.1 gives to a problem.
    let code: Int?
    let status: Int?
    let reason: String?
    /// `Daily` or `Monthly`, of a cap.
    let period: String?
    /// What kind of thing is missing, such as `tweet`, `post` or `user`.
    let resourceType: String?
    /// What X calls the missing thing.
    let resourceID: String?
    /// What of the request the problem is about, such as `referenced_tweets.id`.
    let parameter: String?

    /// One post is missing from an answer.
    var isAboutPost: Bool { resourceType == "tweet" || resourceType == "post" }

    /// The missing post is one that was asked for, and not one that another refers to.
    var isAboutItem: Bool { isAboutPost && parameter?.hasPrefix("referenced_") != true }

    private enum CodingKeys: String, CodingKey {
        case type, title, detail, message, code, status, reason, period
        case value, parameter
        case resourceType = "resource_type"
        case resourceID = "resource_id"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = container.text(.type).flatMap(Self.kind)
        title = container.text(.title)
        detail = container.text(.detail) ?? container.text(.message)
        code = container.integer(.code)
        status = container.integer(.status)
        reason = container.text(.reason)
        period = container.text(.period)
        resourceType = container.text(.resourceType)
        resourceID = [.resourceID, .value].lazy.compactMap { container.text($0) }.first(where: XID.isUsable)
        parameter = container.text(.parameter)
    }

    /// The hosts of such addresses differ, so only the last part counts.
    private static func kind(_ type: String) -> String? {
        guard type.contains("/problems/"), let last = type.split(separator: "/").last else { return nil }
        let isPlain = last.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        return isPlain && last.utf8.count <= 64 ? String(last) : nil
    }
}
