extension XWirePost {
    /// Reads a post that stands there as X writes posts now; nil if it is written otherwise, whatever that means.
    ///
    /// Gives what ``init(from:)`` gives, at a small part of its cost.
    ///
    /// - Parameter bytes: `{"tweet":{…}}`, valid UTF-8.
    init?(plain bytes: [UInt8]) {
        let post: XWirePost? = bytes.withUnsafeBufferPointer { bytes in
            var json = PlainJSON(bytes)
            return try? XWirePost(element: &json)
        }
        guard let post else { return nil }
        self = post
    }

    private init(element json: inout PlainJSON) throws(PlainJSON.NotPlain) {
        var post: XWirePost?
        try json.object { (json, key) throws(PlainJSON.NotPlain) in
            guard key == "tweet", post == nil else { throw PlainJSON.NotPlain() }
            post = try XWirePost(fields: &json)
        }
        try json.end()
        guard let post else { throw PlainJSON.NotPlain() }
        self = post
    }

    private init(fields json: inout PlainJSON) throws(PlainJSON.NotPlain) {
        var once = Once()
        var numericID: String?
        var shortText: String?
        var entities = Entities()
        var extended = Entities()
        self.init()
        try json.object { (json, key) throws(PlainJSON.NotPlain) in
            if key == "id_str" {
                id = try once(0, json.nonEmptyText())
            } else if key == "id" {
                numericID = try once(1, json.nonEmptyText())
            } else if key == "full_text" {
                text = try once(2, json.text())
            } else if key == "text" {
                shortText = try once(3, json.text())
            } else if key == "created_at" {
                createdAt = try once(4, json.nonEmptyText())
            } else if key == "in_reply_to_status_id_str" {
                replyToPost = try once(5, json.nonEmptyText())
            } else if key == "in_reply_to_user_id_str" {
                replyToUser = try once(6, json.nonEmptyText())
            } else if key == "in_reply_to_screen_name" {
                replyToName = try once(7, json.nonEmptyText())
            } else if key == "lang" {
                language = try once(8, json.nonEmptyText())
            } else if key == "possibly_sensitive" {
                isSensitive = try once(9, json.truth()) ?? false
            } else if key == "entities" {
                entities = try once(10, Entities(&json))
            } else if key == "extended_entities" {
                extended = try once(11, Entities(&json))
            } else {
                if key == "retweeted_status" { isRepost = true }
                try json.skip()
            }
        }
        id = id ?? numericID
        text = text ?? shortText
        links = entities.links
        mentions = entities.mentions
        media = entities.media + extended.media
    }

    /// A post without anything.
    private init() {
        (isSensitive, isRepost) = (false, false)
        (links, media, mentions) = ([], [], [])
    }

    /// Links, pictures and people of a text.
    private struct Entities {
        var links: [XWireLink] = []
        var media: [XWireLink] = []
        var mentions: [XWireMention] = []

        init() {}

        init(_ json: inout PlainJSON) throws(PlainJSON.NotPlain) {
            var once = Once()
            try json.object { (json, key) throws(PlainJSON.NotPlain) in
                if key == "urls" {
                    links = try once(0, json.links())
                } else if key == "media" {
                    media = try once(1, json.links())
                } else if key == "user_mentions" {
                    mentions = try once(2, json.mentions())
                } else {
                    try json.skip()
                }
            }
        }
    }
}

/// Makes sure that no key of interest is there twice: which one counts is the decoder's to say.
private struct Once {
    private var seen: UInt32 = 0

    mutating func callAsFunction<Value>(_ number: Int, _ value: Value) throws(PlainJSON.NotPlain) -> Value {
        guard seen & 1 << number == 0 else { throw PlainJSON.NotPlain() }
        seen |= 1 << number
        return value
    }
}

extension PlainJSON {
    fileprivate mutating func nonEmptyText() throws(NotPlain) -> String? {
        let text = try text()
        return text?.isEmpty == true ? nil : text
    }

    fileprivate mutating func links() throws(NotPlain) -> [XWireLink] {
        var links: [XWireLink] = []
        try list { (json) throws(NotPlain) in
            var once = Once()
            var link = XWireLink()
            var otherShort: String?
            var otherExpanded: String?
            try json.object { (json, key) throws(NotPlain) in
                if key == "url" {
                    link.short = try once(0, json.nonEmptyText())
                } else if key == "expanded_url" {
                    link.expanded = try once(1, json.nonEmptyText())
                } else if key == "shortUrl" {
                    otherShort = try once(2, json.nonEmptyText())
                } else if key == "expandedUrl" {
                    otherExpanded = try once(3, json.nonEmptyText())
                } else {
                    try json.skip()
                }
            }
            link.short = link.short ?? otherShort
            link.expanded = link.expanded ?? otherExpanded
            links.append(link)
        }
        return links
    }

    fileprivate mutating func mentions() throws(NotPlain) -> [XWireMention] {
        var mentions: [XWireMention] = []
        try list { (json) throws(NotPlain) in
            var once = Once()
            var mention = XWireMention()
            var numericID: String?
            try json.object { (json, key) throws(NotPlain) in
                if key == "id_str" {
                    mention.id = try once(0, json.nonEmptyText())
                } else if key == "id" {
                    numericID = try once(1, json.nonEmptyText())
                } else if key == "indices" {
                    mention.start = try once(2, json.firstText())
                } else {
                    try json.skip()
                }
            }
            mention.id = mention.id ?? numericID
            mentions.append(mention)
        }
        return mentions
    }

    /// The first of a list of texts; nil for an empty one.
    private mutating func firstText() throws(NotPlain) -> String? {
        var first: String?
        try list { (json) throws(NotPlain) in
            guard let text = try json.text() else { throw NotPlain() }
            if first == nil { first = text }
        }
        return first
    }
}
