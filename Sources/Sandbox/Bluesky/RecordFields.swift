import Foundation

/// The members of a record or of a part of it, read as strictly as its lexicon requires.
struct RecordFields {
    let collection: String
    /// The position in the record: `Record`, `Record/reply/root`.
    let path: String
    private let members: [String: RecordValue]

    /// - Throws: `InvalidRequest` unless the value is an object with known members only.
    init(
        _ value: RecordValue?, of collection: String, path: String = "Record", allowed: Set<String>
    ) throws(BlueskyRefusal) {
        self.collection = collection
        self.path = path
        guard case .map(let members) = value else {
            throw Self.refusal(of: collection, at: path, "must be an object")
        }
        self.members = members
        if let unknown = members.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw Self.refusal(
                of: collection, at: path, "has an unknown field \(unknown.prefix(40))")
        }
    }

    private static func refusal(
        of collection: String, at path: String, _ message: String
    ) -> BlueskyRefusal {
        .invalid("Invalid \(collection) record: \(path) \(message)")
    }

    /// Returns the refusal for a member.
    func refusal(_ name: String, _ message: String) -> BlueskyRefusal {
        Self.refusal(of: collection, at: "\(path)/\(name)", message)
    }

    /// Returns the refusal for the whole object.
    func refusalOfObject(_ message: String) -> BlueskyRefusal {
        Self.refusal(of: collection, at: path, message)
    }

    func value(_ name: String) -> RecordValue? { members[name] }

    func text(_ name: String) throws(BlueskyRefusal) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.text else { throw refusal(name, "must be a string") }
        return text
    }

    func requiredText(_ name: String) throws(BlueskyRefusal) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    /// Returns a text, after checking its limits.
    func text(_ name: String, characters: Int, bytes: Int) throws(BlueskyRefusal) -> String? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.count <= bytes else {
            throw refusal(name, "must not be longer than \(bytes) bytes")
        }
        guard text.count <= characters else {
            throw refusal(name, "must not be longer than \(characters) graphemes")
        }
        return text
    }

    func offset(_ name: String) throws(BlueskyRefusal) -> Int {
        guard let value = members[name] else { throw missing(name) }
        guard case .integer(let number) = value else { throw refusal(name, "must be an integer") }
        guard let offset = Int(exactly: number), offset >= 0 else {
            throw refusal(name, "can not be less than 0")
        }
        return offset
    }

    func list(_ name: String, atMost maximum: Int = .max) throws(BlueskyRefusal) -> [RecordValue]? {
        guard let value = members[name] else { return nil }
        guard let items = value.list else { throw refusal(name, "must be an array") }
        guard items.count <= maximum else {
            throw refusal(name, "must not have more than \(maximum) elements")
        }
        return items
    }

    func requiredDate(_ name: String) throws(BlueskyRefusal) -> Date {
        guard let date = RecordSyntax.date(try requiredText(name)) else {
            throw refusal(name, "must be a datetime with zone")
        }
        return date
    }

    /// The member's own members; nil if it is absent.
    func fields(_ name: String, allowed: Set<String>) throws(BlueskyRefusal) -> RecordFields? {
        guard let value = members[name] else { return nil }
        return try RecordFields(value, of: collection, path: "\(path)/\(name)", allowed: allowed)
    }

    func requiredFields(_ name: String, allowed: Set<String>) throws(BlueskyRefusal) -> RecordFields
    {
        guard let fields = try fields(name, allowed: allowed) else { throw missing(name) }
        return fields
    }

    func missing(_ name: String) -> BlueskyRefusal {
        refusalOfObject("must have the property \"\(name)\"")
    }

    /// - Throws: `InvalidRequest` unless the record's `$type` is `type`.
    func requireType(_ type: String) throws(BlueskyRefusal) {
        let actual = try requiredText("$type")
        guard actual == type else { throw refusal("$type", "must be \(type)") }
    }

    /// Returns a member that is the address and the identifier of a record.
    func reference(_ name: String) throws(BlueskyRefusal) -> StrongReference {
        let fields = try requiredFields(name, allowed: ["$type", "uri", "cid"])
        let uri = try fields.requiredText("uri")
        let cid = try fields.requiredText("cid")
        guard RecordAddress(uri) != nil else {
            throw fields.refusal("uri", "must be a valid at-uri")
        }
        guard ContentID.bytes(of: cid) != nil else {
            throw fields.refusal("cid", "must be a cid string")
        }
        return StrongReference(uri: uri, cid: cid)
    }

    /// The labels that the author gave the record.
    func selfLabels() throws(BlueskyRefusal) -> [String] {
        guard let fields = try fields("labels", allowed: ["$type", "values"]) else { return [] }
        try fields.requireType("com.atproto.label.defs#selfLabels")
        guard let values = try fields.list("values", atMost: 10) else {
            throw fields.missing("values")
        }
        var labels: [String] = []
        for (index, value) in values.enumerated() {
            let label = try RecordFields(
                value, of: collection, path: "\(fields.path)/values/\(index)",
                allowed: ["$type", "val"])
            guard let text = try label.text("val", characters: 128, bytes: 128) else {
                throw label.missing("val")
            }
            labels.append(text)
        }
        return labels
    }
}

/// The content of a post record that satisfies all rules.
struct PostRecord {
    private static let allowed: Set = [
        "$type", "text", "createdAt", "langs", "facets", "reply", "embed", "labels", "tags",
    ]
    private static let embeds = ["images", "video", "external", "record", "recordWithMedia"].map {
        "app.bsky.embed.\($0)"
    }

    var text: String
    var createdAt: Date
    var language: String?
    /// The DIDs that the facets name, each once, in order.
    var mentions: [String] = []
    var reply: (root: StrongReference, parent: StrongReference)?
    var labels: [String]
    var images: [(cid: String, type: String, alt: String)] = []

    /// - Throws: `InvalidRequest` with the rule that the record breaks.
    init(_ record: RecordValue) throws(BlueskyRefusal) {
        let fields = try RecordFields(record, of: RecordAddress.posts, allowed: Self.allowed)
        try fields.requireType(RecordAddress.posts)
        let text = try fields.text(
            "text", characters: BlueskyText.maximumCharacters, bytes: BlueskyText.maximumBytes)
        guard let text else { throw fields.missing("text") }
        self.text = text
        createdAt = try fields.requiredDate("createdAt")
        labels = try fields.selfLabels()
        language = try Self.languages(fields).first
        for (index, facet) in (try fields.list("facets") ?? []).enumerated() {
            let facet = try RecordFields(
                facet, of: fields.collection, path: "Record/facets/\(index)",
                allowed: ["$type", "index", "features"])
            try read(facet)
        }
        try Self.checkTags(fields)
        let hasEmbed = try Self.checkEmbed(fields)
        images = try Self.images(fields)
        guard hasEmbed || text.contains(where: { !$0.isWhitespace }) else {
            throw fields.refusal("text", "is empty, and there is no embed")
        }
        if let reply = try fields.fields("reply", allowed: ["$type", "root", "parent"]) {
            self.reply = (try reply.reference("root"), try reply.reference("parent"))
        }
    }

    private static func languages(_ fields: RecordFields) throws(BlueskyRefusal) -> [String] {
        var languages: [String] = []
        for value in try fields.list("langs", atMost: 3) ?? [] {
            guard let language = value.text, RecordSyntax.isLanguage(language) else {
                throw fields.refusal("langs", "must be well-formed BCP 47 language tags")
            }
            languages.append(language)
        }
        return languages
    }

    private static func checkTags(_ fields: RecordFields) throws(BlueskyRefusal) {
        for value in try fields.list("tags", atMost: 8) ?? [] {
            guard let tag = value.text, !tag.isEmpty, tag.count <= 64, tag.utf8.count <= 640 else {
                throw fields.refusal("tags", "must be strings of at most 64 graphemes")
            }
        }
    }

    /// Checks only that the embed is of a known kind.
    private static func checkEmbed(_ fields: RecordFields) throws(BlueskyRefusal) -> Bool {
        guard let embed = fields.value("embed") else { return false }
        guard let type = embed["$type"]?.text, embeds.contains(type) else {
            throw fields.refusal("embed", "must be one of \(embeds.joined(separator: ", "))")
        }
        return true
    }

    private static let largestImage = 1_000_000

    /// The pictures of an embed without other parts; only their form is checked.
    private static func images(_ fields: RecordFields) throws(BlueskyRefusal) -> [(
        cid: String, type: String, alt: String
    )] {
        guard fields.value("embed")?["$type"]?.text == "app.bsky.embed.images" else { return [] }
        let embed = try fields.requiredFields("embed", allowed: ["$type", "images"])
        guard let items = try embed.list("images", atMost: 4) else { throw embed.missing("images") }
        var images: [(cid: String, type: String, alt: String)] = []
        for (index, item) in items.enumerated() {
            let image = try RecordFields(
                item, of: fields.collection, path: "\(embed.path)/images/\(index)",
                allowed: ["$type", "alt", "image", "aspectRatio"])
            let blob = try image.requiredFields(
                "image", allowed: ["$type", "ref", "mimeType", "size"])
            try blob.requireType("blob")
            let cid = try blob.requiredFields("ref", allowed: ["$link"]).requiredText("$link")
            guard ContentID.bytes(of: cid) != nil else {
                throw blob.refusal("ref", "must be a cid link")
            }
            let type = try blob.requiredText("mimeType")
            guard type.hasPrefix("image/") else {
                throw blob.refusal("mimeType", "must match image/*")
            }
            guard try blob.offset("size") <= largestImage else {
                throw blob.refusal("size", "must not be larger than \(largestImage) bytes")
            }
            if let ratio = try image.fields("aspectRatio", allowed: ["$type", "width", "height"]) {
                guard try ratio.offset("width") > 0, try ratio.offset("height") > 0 else {
                    throw ratio.refusalOfObject("must be at least 1")
                }
            }
            images.append((cid, type, try image.requiredText("alt")))
        }
        return images
    }

    /// Checks a facet and stores the people whom it names.
    private mutating func read(_ facet: RecordFields) throws(BlueskyRefusal) {
        let index = try facet.requiredFields("index", allowed: ["$type", "byteStart", "byteEnd"])
        let start = try index.offset("byteStart")
        let end = try index.offset("byteEnd")
        let bytes = text.utf8
        guard start < end, end <= bytes.count else {
            throw index.refusalOfObject("is not within the text")
        }
        for offset in [start, end] where offset < bytes.count {
            // A byte of the form 10xxxxxx continues the character before it.
            guard bytes[bytes.index(bytes.startIndex, offsetBy: offset)] & 0xC0 != 0x80 else {
                throw index.refusalOfObject("cuts a character in two")
            }
        }
        guard let features = try facet.list("features"), !features.isEmpty else {
            throw facet.missing("features")
        }
        for (number, feature) in features.enumerated() {
            let feature = try RecordFields(
                feature, of: facet.collection, path: "\(facet.path)/features/\(number)",
                allowed: ["$type", "did", "uri", "tag"])
            try read(feature: feature)
        }
    }

    private mutating func read(feature: RecordFields) throws(BlueskyRefusal) {
        switch try feature.requiredText("$type") {
        case "app.bsky.richtext.facet#mention":
            let did = try feature.requiredText("did")
            guard RecordSyntax.isDID(did) else {
                throw feature.refusal("did", "must be a valid did")
            }
            if !mentions.contains(did) { mentions.append(did) }
        case "app.bsky.richtext.facet#link":
            guard RecordSyntax.isURI(try feature.requiredText("uri")) else {
                throw feature.refusal("uri", "must be a uri")
            }
        case "app.bsky.richtext.facet#tag":
            guard let tag = try feature.text("tag", characters: 64, bytes: 640) else {
                throw feature.missing("tag")
            }
            guard !tag.isEmpty else { throw feature.refusal("tag", "must not be empty") }
        default:
            throw feature.refusal(
                "$type", "must be mention, link or tag of app.bsky.richtext.facet")
        }
    }
}

/// The content of a like record that satisfies all rules.
struct LikeRecord {
    var subject: StrongReference
    var createdAt: Date

    /// - Throws: `InvalidRequest` with the rule that the record breaks.
    init(_ record: RecordValue) throws(BlueskyRefusal) {
        let fields = try RecordFields(
            record, of: RecordAddress.likes, allowed: ["$type", "subject", "createdAt", "via"])
        try fields.requireType(RecordAddress.likes)
        subject = try fields.reference("subject")
        createdAt = try fields.requiredDate("createdAt")
        if fields.value("via") != nil { _ = try fields.reference("via") }
    }
}

/// A threadgate or postgate record, with the rules about who may answer or quote a post.
struct GateRecord {
    private static let rules: Set = ["mentionRule", "followerRule", "followingRule", "listRule"]

    /// The at-uri of the post.
    var post: String
    /// The kinds of people who may answer, without the suffix `Rule`; empty for nobody; `nil` for
    /// everybody, and in a postgate.
    var repliers: [String]?
    /// Whether nobody may quote the post.
    var forbidsQuotes = false

    /// Reads a record of the collection of threadgates, or of postgates.
    ///
    /// - Throws: `InvalidRequest` with the rule that the record breaks.
    init(_ record: RecordValue, in collection: String) throws(BlueskyRefusal) {
        let isThread = collection == RecordAddress.threadGates
        let specificFields: Set =
            isThread ? ["allow", "hiddenReplies"] : ["detachedEmbeddingUris", "embeddingRules"]
        let fields = try RecordFields(
            record, of: collection, allowed: specificFields.union(["$type", "post", "createdAt"]))
        try fields.requireType(collection)
        post = try fields.requiredText("post")
        guard RecordAddress(post) != nil else {
            throw fields.refusal("post", "must be a valid at-uri")
        }
        _ = try fields.requiredDate("createdAt")
        let name = isThread ? "allow" : "embeddingRules"
        guard let ruleRecords = try fields.list(name, atMost: 5) else { return }
        let kinds = ruleRecords.map { $0["$type"]?.text ?? "" }
        let knownRules = isThread ? Self.rules : ["disableRule"]
        guard kinds.allSatisfy({ kind in knownRules.contains { kind == "\(collection)#\($0)" } })
        else {
            throw fields.refusal(name, "must be rules of \(collection)")
        }
        if isThread {
            repliers = kinds.map { String($0.dropFirst(collection.count + 1).dropLast(4)) }
        } else {
            forbidsQuotes = !kinds.isEmpty
        }
    }
}

/// The parts of a profile record that others see.
struct ProfileRecord {
    private static let allowed: Set = [
        "$type", "displayName", "description", "pronouns", "website", "avatar", "banner", "labels",
        "joinedViaStarterPack", "pinnedPost", "createdAt",
    ]

    var displayName: String?
    var description: String?
    var labels: [String]
    var pinnedPost: StrongReference?

    init(displayName: String, description: String, labels: [String], pinnedPost: StrongReference?) {
        self.displayName = displayName
        self.description = description
        self.labels = labels
        self.pinnedPost = pinnedPost
    }

    /// - Throws: `InvalidRequest` with the rule that the record breaks.
    init(_ record: RecordValue) throws(BlueskyRefusal) {
        let fields = try RecordFields(record, of: RecordAddress.profiles, allowed: Self.allowed)
        try fields.requireType(RecordAddress.profiles)
        displayName = try fields.text("displayName", characters: 64, bytes: 640)
        description = try fields.text("description", characters: 256, bytes: 2_560)
        _ = try fields.text("pronouns", characters: 20, bytes: 200)
        if let website = try fields.text("website"), !RecordSyntax.isURI(website) {
            throw fields.refusal("website", "must be a uri")
        }
        labels = try fields.selfLabels()
        if fields.value("pinnedPost") != nil { pinnedPost = try fields.reference("pinnedPost") }
        if fields.value("createdAt") != nil { _ = try fields.requiredDate("createdAt") }
    }
}
