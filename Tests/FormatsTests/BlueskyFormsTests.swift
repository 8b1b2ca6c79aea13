import Expectations
import Formats
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Networks

/// One record of Bluesky in each of its forms.
///
/// The forms are those of the lexicons: a view of `app.bsky.feed.defs#postView`, a record of
/// `com.atproto.repo.listRecords` as the network and a saved page have it, and a repository in a
/// CAR file.
private struct BlueskyForms {
    static let did = "did:plc:z72i7hdynmk6r22z27h6tvur"
    static let cid = "bafyreia111"
    /// When the forms are read.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    let name: String
    /// The fields of the record besides its type; a value of `nil` leaves a field out.
    var fields: [String: Any?]
    /// Whether a server that saw the record reads it as the record reads alone.
    var isSeenAlike = true
    var key = "3kaaaaaaaaaa2"
    let holds: (Post) -> Bool

    init(
        _ name: String, _ fields: [String: Any?], isSeenAlike: Bool = true,
        _ holds: @escaping (Post) -> Bool
    ) {
        self.name = name
        self.fields = fields
        self.isSeenAlike = isSeenAlike
        self.holds = holds
    }

    var record: [String: Any] {
        var record: [String: Any?] = [
            "$type": "app.bsky.feed.post", "text": "hello", "createdAt": "2023-02-18T12:33:11.250Z",
            "langs": ["ja"],
        ]
        record.merge(fields) { $1 }
        return record.compactMapValues(\.self)
    }

    var uri: String { "at://\(Self.did)/app.bsky.feed.post/\(key)" }
    var listed: [String: Any] { ["uri": uri, "cid": Self.cid, "value": record] }

    /// The record as a server shows it.
    var view: [String: Any] {
        [
            "uri": uri, "cid": Self.cid, "record": record, "indexedAt": "2023-02-18T12:33:12.000Z",
            "author": ["did": Self.did, "handle": "ann.example", "labels": [Any]()]
                as [String: Any],
            "labels": [Any](), "viewer": [String: Any](),
        ]
    }

    // MARK: Reading

    private static func data(_ json: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: json)
    }

    private static func imported(_ path: String) throws -> [PostID: Post] {
        var posts: [PostID: Post] = [:]
        _ = try ArchiveReader(path: path, purpose: .scheduler, network: .bluesky, now: now).read {
            if case .post(let post) = $0 { posts[post.id] = post }
        }
        return posts
    }

    /// What is read of a record, by the name of the form.
    static func read(_ samples: [BlueskyForms]) throws -> [[(form: String, post: Post?)]] {
        var first = BlueskyForms("first", [:]) { _ in true }
        first.key = "3kaaaaaaaaaaa"
        var numbered = samples
        for index in numbered.indices { numbered[index].key = "3k\(1_000 + index)" }
        let all = [first] + numbered
        let directory = try TemporaryDirectory()
        try directory.write(try data(["records": all.map(\.listed)]), to: "records.json")
        var writer = RepositoryWriter()
        writer.did = did
        let repository = writer.repository(
            all.map { ("app.bsky.feed.post/\($0.key)", RepositoryWriter.Value(json: $0.record)) })
        try directory.write(Data(repository), to: "repo.car")
        let files = [
            ("records", try imported(directory.path("records.json"))),
            ("repository", try imported(directory.path("repo.car"))),
        ]
        let translator = BlueskyTranslator(now: now)
        let author = Account(id: AccountID(network: .bluesky, value: did), handle: "ann.example")
        return try numbered.map { sample in
            let listed = JSONBody.decoded(
                BlueskyListedRecord<BlueskyPostRecord>.self, Array(try data(sample.listed)))
            let post = listed.flatMap { listed in
                listed.value.map {
                    translator.post(listed.reference, $0, by: author, noticedAt: nil).post
                }
            }
            var read = files.map { ($0.0, $0.1[PostID(network: .bluesky, value: sample.uri)]) }
            read.append(("interface", post.flatMap { $0.isOpen ? $0 : nil }))
            if sample.isSeenAlike {
                let view = JSONBody.decoded(BlueskyPostView.self, Array(try data(sample.view)))
                let post = view.map { translator.post($0).post }
                read.append(("view", post.flatMap { $0.isOpen ? $0 : nil }))
            }
            return read.map { form, post in
                var post = post
                // What calls to the server need.
                post?.address = nil
                return (form, post)
            }
        }
    }
}

extension RepositoryWriter.Value {
    /// A value of JSON in DAG-CBOR.
    fileprivate init(json: Any) {
        switch json {
        case let list as [Any]: self = .array(list.map(Self.init(json:)))
        case let fields as [String: Any]:
            self = .map(fields.sorted { $0.key < $1.key }.map { ($0.key, Self(json: $0.value)) })
        case let text as String: self = .text(text)
        case let flag as Bool: self = .bool(flag)
        case let number as Int: self = .int(number)
        default: self = .null
        }
    }
}

/// A record reads the same from a server, a saved page and a repository.
@Suite struct BlueskyFormsTests {
    private static let mei = "did:plc:mei"
    private static let parent = "at://\(mei)/app.bsky.feed.post/3kp"
    private static let root = "at://did:plc:yuki/app.bsky.feed.post/3kr"

    private static func facet(_ start: Int, _ end: Int, _ features: [[String: Any]]) -> [String:
        Any]
    {
        ["index": ["byteStart": start, "byteEnd": end], "features": features]
    }

    private static func link(_ uri: String, type: String? = "app.bsky.richtext.facet#link")
        -> [String: Any]
    {
        type.map { ["$type": $0, "uri": uri] } ?? ["uri": uri]
    }

    private static func labels(_ values: [Any]) -> [String: Any] {
        [
            "$type": "com.atproto.label.defs#selfLabels",
            "values": values.map { ["val": $0] as [String: Any] },
        ]
    }

    private static func answer(_ parent: Any?, root: Any?) -> [String: Any] {
        ["parent": parent, "root": root].compactMapValues(\.self)
    }

    private static func reference(_ uri: String, cid: String? = BlueskyForms.cid) -> [String: Any] {
        cid.map { ["uri": uri, "cid": $0] } ?? ["uri": uri]
    }

    private static func samples() -> [BlueskyForms] {
        var samples: [BlueskyForms] = []
        func add(
            _ name: String, _ fields: [String: Any?], isSeenAlike: Bool = true,
            _ holds: @escaping (Post) -> Bool
        ) {
            samples.append(BlueskyForms(name, fields, isSeenAlike: isSeenAlike, holds))
        }
        // Text
        add("a text", [:]) { $0.text == "hello" && $0.author.value == BlueskyForms.did }
        add("no text", ["text": nil]) { $0.text.isEmpty }
        add("null for a text", ["text": NSNull()]) { $0.text.isEmpty }
        // Parts of the text
        add("a link", ["facets": [facet(0, 5, [link("https://e.org/1")])]]) {
            $0.text == "hello (https://e.org/1)" && $0.linkWords == ["hello"]
        }
        for type in [nil, "app.bsky.richtext.facet#tag", "org.example#link"] {
            add(
                "an address in \(type ?? "no type")",
                ["facets": [facet(0, 5, [link("https://e.org/1", type: type)])]]
            ) {
                $0.text == "hello"
            }
        }
        let mention: [String: Any] = ["$type": "app.bsky.richtext.facet#mention", "did": mei]
        add("people", ["facets": [facet(0, 2, [mention]), facet(2, 4, [mention])]]) {
            $0.mentions.map(\.value) == [mei]
        }
        for did in ["mei.example", "did:plc:", "did:PLC:a", "did:plc:a/b", "did:plc:a b"] {
            let odd: [String: Any] = ["$type": "app.bsky.richtext.facet#mention", "did": did]
            add("a mention of \(did)", ["facets": [facet(0, 2, [odd])]]) { $0.mentions.isEmpty }
        }
        add("a part without a place", ["facets": [["features": [mention]], 7]]) {
            $0.mentions.isEmpty
        }
        add(
            "places that are texts",
            [
                "facets": [
                    [
                        "index": ["byteStart": "0", "byteEnd": "5"],
                        "features": [link("https://e.org/1")],
                    ]
                ]
            ]
        ) {
            $0.linkWords == ["hello"]
        }
        // Language
        add("a language", ["langs": ["pt-BR", "en"]]) { $0.language == "pt-BR" }
        add("a language behind none", ["langs": ["und", "", 7, "en"]]) { $0.language == "en" }
        add("no language", ["langs": ["zxx"]]) { $0.language == nil }
        // Labels
        add("a warning", ["labels": labels(["porn", "graphic-media"])]) {
            $0.isSensitive && $0.warning == "porn graphic-media"
        }
        add("an empty label", ["labels": labels([""])]) { !$0.isSensitive && $0.warning == nil }
        add("the label of a bot", ["labels": labels(["bot"])]) { !$0.isSensitive }
        add("a label that is a number", ["labels": labels([7, NSNull()])]) { !$0.isSensitive }
        // Attachments
        for (type, hasMedia, isQuote) in [
            ("app.bsky.embed.images", true, false), ("app.bsky.embed.video", true, false),
            ("app.bsky.embed.external", false, false), ("app.bsky.embed.record", true, true),
            ("app.bsky.embed.recordWithMedia", true, true), ("org.example.hologram", true, false),
        ] {
            add(type, ["embed": ["$type": type]]) {
                $0.hasMedia == hasMedia && $0.isQuote == isQuote
            }
        }
        add("an attachment without a type", ["embed": ["uri": "x"]]) { $0.hasMedia && !$0.isQuote }
        add("an attachment of an odd type", ["embed": ["$type": 7]]) { $0.hasMedia }
        add("an attachment that is a text", ["embed": "x"]) { $0.hasMedia }
        add("nothing attached", ["embed": NSNull()]) { !$0.hasMedia }
        // Answers
        add("an answer", ["reply": answer(reference(parent), root: reference(root))]) {
            $0.replyTo?.author?.value == mei && $0.replyTo?.post?.value == parent
        }
        add("an answer without a digest", ["reply": answer(reference(parent, cid: nil), root: nil)])
        {
            $0.replyTo?.author?.value == mei && $0.replyTo?.post?.value == parent
        }
        for spelling in [
            "at://mei.example/app.bsky.feed.post/3kp", "at://\(mei)/app.bsky.feed.post/3kp/4",
            "at://\(mei)/posts/3kp", "at://\(mei)/app.bsky.feed.post/3k p",
            "AT://\(mei)/app.bsky.feed.post/3kp",
            "at://\(mei)/app.bsky.feed.post/..", "at://\(mei)/app.bsky.feed.post/3kp#x",
        ] {
            add("an answer to \(spelling)", ["reply": answer(reference(spelling), root: nil)]) {
                $0.replyTo == ReplyTarget(author: nil)
            }
        }
        add("an answer to nobody", ["reply": [String: Any]()]) {
            $0.replyTo == ReplyTarget(author: nil)
        }
        add("an answer that is a number", ["reply": 7]) { $0.replyTo == ReplyTarget(author: nil) }
        add("no answer", ["reply": NSNull()]) { !$0.isReply }
        // Time
        add("a time with an offset", ["createdAt": "2023-02-18T21:33:11.250+09:00"]) {
            $0.utcOffset == 540 && $0.createdAt.rfc3339 == "2023-02-18T12:33:11.250Z"
                && $0.isTimeTrusted
        }
        add("a time without a zone", ["createdAt": "2023-02-18T12:33:11.250"]) {
            !$0.isTimeTrusted && $0.createdAt.rfc3339 == "2023-02-18T12:33:11.250Z"
        }
        // A server knows when it saw a post without a time.
        for (name, time) in [
            ("no time", nil), ("an empty time", ""), ("a time to come", "2033-02-18T12:33:11Z"),
        ] {
            add(name, ["createdAt": time], isSeenAlike: false) { !$0.isTimeTrusted }
        }
        return samples
    }

    @Test func everyFieldReadsTheSame() throws {
        let samples = Self.samples()
        for (sample, read) in zip(samples, try BlueskyForms.read(samples)) {
            let (_, expected) = try #require(read.first)
            for (form, post) in read {
                #expect(post == expected, "\(sample.name) from \(form)")
            }
            let post = try #require(expected, "\(sample.name)")
            expect(post, "\(sample.name)") { sample.holds($0) }
        }
    }

    /// No form hands over what its author keeps from strangers, or what cannot be read.
    @Test func whatNotEverybodyMayReadIsLeftOut() throws {
        let samples = [
            BlueskyForms("few", ["labels": Self.labels(["!no-unauthenticated"])]) { _ in true },
            BlueskyForms("nobody", ["labels": Self.labels(["!hide"])]) { _ in true },
            BlueskyForms("a text that is none", ["text": [Any]()]) { _ in true },
        ]
        for (sample, read) in zip(samples, try BlueskyForms.read(samples)) {
            for (form, post) in read { #expect(post == nil, "\(sample.name) from \(form)") }
        }
    }

    /// A field of any other type reads as the same field from every form.
    @Test func valuesOfTheWrongTypeReadTheSame() throws {
        let values: [(String, Any)] = [
            ("false", false), ("true", true), ("7", 7), ("-1", -1), ("a text", "x"),
            ("an empty text", ""),
            ("null", NSNull()), ("an empty list", [Any]()), ("a list", ["x", 7] as [Any]),
            ("an empty object", [String: Any]()),
            ("an object", ["x": 1, "$type": "y"] as [String: Any]),
        ]
        let names = ["text", "langs", "facets", "labels", "embed", "reply"]
        let samples = names.flatMap { name in
            values.map { title, value in
                BlueskyForms("\(name): \(title)", [name: value]) { _ in true }
            }
        }
        for (sample, read) in zip(samples, try BlueskyForms.read(samples)) {
            let (_, expected) = try #require(read.first)
            for (form, post) in read { #expect(post == expected, "\(sample.name) from \(form)") }
        }
    }
}
