import Formats
import Foundation
import Posts

@testable import Import
@testable import Mastodon
@testable import Networks

/// The two wire forms of a post of a Mastodon-compatible server, which one function reads.
extension FuzzTarget {
    static let fediverse = [twoForms]

    private static let me = "https://social.example/users/ann"
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The first bytes choose the fields beside the content.
    private static let twoForms = FuzzTarget(
        "two-forms",
        texts: [
            "0000<p><a href=\"https://far.example/@mei\">@mei</a> <a href=\"https://e.org/1\">a page</a></p>",
            "1231<p class=\"quote-inline\">RE: <a href=\"https://o.example/1\">x</a></p><p>so true</p>",
            "3333<a href=\"https://social.example/tags/cats\">#cats</a> <img alt=\"😀\"><blockquote>q</blockquote>",
            "2111♲ bob@o.example:<br><ol start=3><li>a</ol>",
        ],
        words: [
            "<a href=\"https://far.example/users/mei\">",
            "<a href=\"https://social.example/tags/cats\">", "</a>",
            "@mei", "#",
            "class=\"mention\"", "class=\"shared_content\"", "class=\"quote-inline\"",
            "<img src=x>", "<li>", "♲ ",
        ]
    ) { text in
        let choices = text.utf8.prefix(4).map { Int($0 & 3) } + [0, 0, 0, 0]
        let html = String(text.dropFirst(4))
        guard html.utf8.count <= 20_000 else { return }
        guard
            let archived = try archived(html, choices),
            let asked = translated(html, choices)
        else { throw FuzzFinding("not true: both forms are posts") }
        try hold(archived == asked, "both forms are the same post")
        try holdPlain(archived.text, "the text")
        try hold(choices[0] == 0 || archived.isQuote, "what is told to quote does")
        try hold(archived.pictures.isEmpty || archived.hasMedia, "pictures are media")
    }

    private static func archived(_ html: String, _ choices: [Int]) throws -> Post? {
        let quotes = [nil, "quote", "quoteUrl", "_misskey_quote"]
        var note: [String: Any] = [
            "id": me + "/statuses/1", "type": "Note", "published": "2023-05-01T10:00:00Z",
            "content": html,
            "to": ["as:Public"], "contentMap": ["en": html], "sensitive": choices[3] == 1,
            "tag": [
                [
                    "type": "Mention", "href": "https://far.example/users/mei",
                    "name": "@mei@far.example",
                ],
                ["type": "Hashtag", "href": "https://social.example/tags/cats", "name": "#cats"],
            ],
            "attachment": (0..<choices[1]).map {
                [
                    "type": "Document", "mediaType": "image/png", "url": "https://e.org/\($0).png",
                    "name": "\($0)",
                ]
            },
        ]
        if let name = quotes[choices[0]] { note[name] = "https://o.example/1" }
        if choices[2] == 1 { note["summary"] = "careful" }
        let activity: [String: Any] = [
            "type": "Create", "actor": me, "to": ["as:Public"], "object": note,
        ]
        var converter = MastodonPostConverter(
            localHost: "social.example", maximumOwnPosts: 1, now: now)
        let wire = try WireActivity(
            try JSON(Array(try JSONSerialization.data(withJSONObject: activity))))
        return try wire.note.flatMap { try converter.post($0, in: wire) }
    }

    private static func translated(_ html: String, _ choices: [Int]) -> Post? {
        let quotes: [[String: Any]] = [
            [:], ["quote": ["state": "accepted"]],
            ["pleroma": ["quote_url": "https://o.example/1"]], ["quote_id": "1"],
        ]
        let status: [String: Any] = [
            "id": "1", "uri": me + "/statuses/1", "created_at": "2023-05-01T10:00:00Z",
            "content": html,
            "visibility": "public", "language": "en", "sensitive": choices[3] == 1,
            "account": ["id": "1", "acct": "ann"], "spoiler_text": choices[2] == 1 ? "careful" : "",
            "mentions": [
                ["id": "2", "acct": "mei@far.example", "url": "https://far.example/@mei"]
            ],
            "tags": [["name": "cats", "url": "https://social.example/tags/cats"]],
            "media_attachments": (0..<choices[1]).map {
                ["type": "image", "url": "https://e.org/\($0).png", "description": "\($0)"]
            },
        ]
        let translator = MastodonTranslator(
            domain: "social.example", serverHost: "social.example", ownAccount: nil,
            idsIdentifyPeople: true,
            now: { now })
        guard
            let body = try? JSONSerialization.data(
                withJSONObject: status.merging(quotes[choices[0]]) { $1 }),
            var post = JSONBody.decoded(MastodonStatus.self, Array(body)).flatMap({
                translator.post($0)?.post
            })
        else { return nil }
        post.address = nil
        return post
    }
}
