import Foundation

/// What a post record says, after all its rules are checked.
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

    /// - Throws: `InvalidRequest` that says which rule the record breaks.
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
                facet, of: fields.collection, path: "Record/facets/\(index)", allowed: ["$type", "index", "features"])
            try read(facet)
        }
        try Self.checkTags(fields)
        let hasEmbed = try Self.checkEmbed(fields)
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

    /// Only that the embed is of a known kind: the sandbox has no store of files.
    private static func checkEmbed(_ fields: RecordFields) throws(BlueskyRefusal) -> Bool {
        guard let embed = fields.value("embed") else { return false }
        guard let type = embed["$type"]?.text, embeds.contains(type) else {
            throw fields.refusal("embed", "must be one of \(embeds.joined(separator: ", "))")
        }
        return true
    }

    /// Checks a facet and keeps whom it names.
    private mutating func read(_ facet: RecordFields) throws(BlueskyRefusal) {
        let index = try facet.requiredFields("index", allowed: ["$type", "byteStart", "byteEnd"])
        let (start, end) = (try index.offset("byteStart"), try index.offset("byteEnd"))
        let bytes = text.utf8
        guard start < end, end <= bytes.count else { throw index.refusal(nil, "is not within the text") }
        for offset in [start, end] where offset < bytes.count {
            // A byte of the form 10xxxxxx goes on with the character before it.
            guard bytes[bytes.index(bytes.startIndex, offsetBy: offset)] & 0xC0 != 0x80 else {
                throw index.refusal(nil, "cuts a character in two")
            }
        }
        guard let features = try facet.list("features"), !features.isEmpty else { throw facet.missing("features") }
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
            guard RecordSyntax.isDID(did) else { throw feature.refusal("did", "must be a valid did") }
            if !mentions.contains(did) { mentions.append(did) }
        case "app.bsky.richtext.facet#link":
            guard RecordSyntax.isURI(try feature.requiredText("uri")) else {
                throw feature.refusal("uri", "must be a uri")
            }
        case "app.bsky.richtext.facet#tag":
            guard let tag = try feature.text("tag", characters: 64, bytes: 640) else { throw feature.missing("tag") }
            guard !tag.isEmpty else { throw feature.refusal("tag", "must not be empty") }
        default:
            throw feature.refusal("$type", "must be mention, link or tag of app.bsky.richtext.facet")
        }
    }
}
