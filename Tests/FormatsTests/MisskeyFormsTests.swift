import Expectations
import Formats
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// One note of Misskey in its export and in the two forms in which its server gives it.
///
/// The forms are those of `ExportNotesProcessorService`, `ApRendererService` and
/// `MfmService.toHtml` of Misskey, and of the statuses that Sharkey and Iceshrimp give.
private struct MisskeyForms {
    static let host = "mk.example"
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let owner = AccountID(network: .mastodon, value: "haruka@mk.example")
    static let file: [String: any Sendable] = [
        "id": "f1", "type": "image/png", "url": "https://mk.example/files/1.png",
        "comment": "a pier",
        "properties": ["width": 4, "height": 3] as [String: Int],
    ]

    let name: String
    /// The text with Misskey's markup.
    var text: String
    /// The text as the server renders it.
    var html: String
    /// The name of each person who is mentioned, without a host for somebody of the server.
    var mentions: [String] = []
    var visibility = "public"
    var warning: String?
    /// Whether a picture is attached, and whether that is marked.
    var picture: (exists: Bool, isSensitive: Bool) = (false, false)
    var hasPoll = false
    var isQuote = false
    var isLocal = false
    let holds: (Post) -> Bool

    private func orNull(_ value: Any?) -> Any { value ?? NSNull() }

    private var files: [[String: Any]] {
        picture.exists
            ? [(Self.file as [String: Any]).merging(["isSensitive": picture.isSensitive]) { $1 }]
            : []
    }

    var note: [String: Any] {
        [
            "id": "9abc", "text": text, "createdAt": "2023-01-31T12:00:00.250Z",
            "fileIds": files.map { _ in "f1" }, "files": files, "replyId": NSNull(),
            "renoteId": orNull(isQuote ? "8xyz" : nil),
            "poll": orNull(hasPoll ? ["choices": ["a"]] : nil), "cw": orNull(warning),
            "visibility": visibility, "visibleUserIds": [Any](), "localOnly": isLocal,
            "reactionAcceptance": NSNull(),
        ]
    }

    private func page(_ name: String) -> String {
        let parts = name.split(separator: "@")
        return parts.count == 1
            ? "https://mk.example/@\(parts[0])" : "https://\(parts[1])/@\(parts[0])"
    }

    var status: [String: Any] {
        let media = files.map { _ -> [String: Any] in
            [
                "id": "f1", "type": "image", "url": "https://mk.example/files/1.png",
                "description": "a pier", "meta": ["original": ["width": 4, "height": 3]],
            ]
        }
        let words = ["home": "unlisted", "followers": "private", "specified": "direct"]
        return [
            "id": "9abc", "uri": "https://mk.example/notes/9abc",
            "url": "https://mk.example/notes/9abc",
            "created_at": "2023-01-31T12:00:00.250Z", "content": html,
            "spoiler_text": warning ?? "",
            "visibility": words[visibility] ?? visibility, "sensitive": picture.isSensitive,
            "local_only": isLocal, "media_attachments": media, "reblog": NSNull(),
            "mentions": mentions.enumerated().map { index, name -> [String: Any] in
                ["id": "m\(index)", "acct": name, "url": page(name)]
            },
            "poll": orNull(hasPoll ? ["id": "9abc"] : nil),
            "quote": orNull(isQuote ? ["id": "8xyz"] : nil),
            "account": ["id": "u1", "acct": "haruka", "url": "https://mk.example/@haruka"],
        ]
    }

    /// What is read of a note that everybody may read.
    func read() throws -> (export: Post?, api: Post?) {
        let directory = try TemporaryDirectory()
        // A file of which nothing can be read is an error.
        let list = try JSONSerialization.data(withJSONObject: [note])
        let path = try directory.write(list, to: "notes-2023.json")
        var export: Post?
        _ = try ArchiveReader(path: path, purpose: .scheduler, owner: Self.owner, now: Self.now)
            .read {
                if case .post(let post) = $0 { export = post }
            }
        let translator = MastodonTranslator(
            domain: Self.host, serverHost: Self.host, ownAccount: nil, idsIdentifyPeople: true,
            now: { Self.now })
        let body = Array(try JSONSerialization.data(withJSONObject: status))
        var api = JSONBody.decoded(MastodonStatus.self, body).flatMap { translator.post($0)?.post }
        api?.address = nil
        return (export, api.flatMap { $0.isOpen ? $0 : nil })
    }
}

/// A note reads the same from Misskey's export and from its server.
@Suite struct MisskeyFormsTests {
    private static func samples() -> [MisskeyForms] {
        [
            MisskeyForms(
                name: "a text", text: "a & b\nc", html: "<p><span>a &amp; b<br>c</span></p>"
            ) {
                $0.text == "a & b\nc"
            },
            MisskeyForms(
                name: "the words of a link",
                text: "see [a page](https://e.org/1) or ?[two](https://e.org/2)",
                html:
                    #"<p>see <a href="https://e.org/1">a page</a> or <a href="https://e.org/2">two</a></p>"#
            ) {
                $0.text == "see a page (https://e.org/1) or two (https://e.org/2)"
                    && $0.linkWords == ["a page", "two"]
            },
            MisskeyForms(
                name: "words that are the address", text: "see [e.org](https://e.org/1)",
                html: #"<p>see <a href="https://e.org/1">e.org</a></p>"#
            ) { $0.text == "see https://e.org/1" && $0.linkWords.isEmpty },
            MisskeyForms(
                name: "markup", text: "$[x2 big] **news** <i>now</i> <https://e.org/(x)>",
                html:
                    #"<p><i>big</i> <b>news</b> <i>now</i> <a href="https://e.org/(x)">https://e.org/(x)</a></p>"#
            ) { $0.text == "big news now https://e.org/(x)" },
            MisskeyForms(
                name: "people", text: "with @Mei@far.example and @yuki",
                html:
                    #"<p>with <a href="https://far.example/@Mei" class="u-url mention">@Mei@far.example</a> and "#
                    + #"<a href="https://mk.example/@yuki" class="u-url mention">@yuki</a></p>"#,
                mentions: ["Mei@far.example", "yuki"]
            ) {
                $0.text == "with @Mei@far.example and @yuki@mk.example"
                    && $0.mentions.map(\.value) == ["mei@far.example", "yuki@mk.example"]
            },
            MisskeyForms(name: "a quote", text: "so true", html: "<p>so true</p>", isQuote: true) {
                $0.isQuote && !$0.hasMedia
            },
            MisskeyForms(name: "few lists", text: "x", html: "<p>x</p>", visibility: "home") {
                $0.visibility == .unlisted
            },
            MisskeyForms(name: "a warning", text: "x", html: "<p>x</p>", warning: "food") {
                $0.warning == "food" && $0.isSensitive
            },
            MisskeyForms(name: "a picture", text: "x", html: "<p>x</p>", picture: (true, false)) {
                $0.pictures.map(\.alt) == ["a pier"] && !$0.isSensitive
            },
            MisskeyForms(
                name: "a marked picture", text: "x", html: "<p>x</p>", picture: (true, true)
            ) {
                $0.isSensitive
            },
            MisskeyForms(name: "a poll", text: "x", html: "<p>x</p>", hasPoll: true) {
                $0.hasMedia
            },
        ]
    }

    @Test func everyFieldReadsTheSame() throws {
        for forms in Self.samples() {
            let read = try forms.read()
            #expect(read.export == read.api, "\(forms.name)")
            let post = try #require(read.api, "\(forms.name)")
            expect(post, "\(forms.name)") { forms.holds($0) }
        }
    }

    @Test func whatNotEverybodyMayReadIsLeftOut() throws {
        for visibility in ["followers", "specified"] {
            let read = try MisskeyForms(name: "", text: "x", html: "x", visibility: visibility) {
                _ in true
            }.read()
            #expect(read.export == nil && read.api == nil, "\(visibility)")
        }
        let read = try MisskeyForms(name: "", text: "x", html: "x", isLocal: true) { _ in true }
            .read()
        #expect(read.export == nil && read.api == nil)
    }
}
