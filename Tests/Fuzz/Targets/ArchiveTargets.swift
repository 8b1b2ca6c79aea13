import Foundation
import NetworkNames
import Posts

@testable import Import

/// What a person downloaded.
extension FuzzTarget {
    static let archives = [
        xArchive, xNotice, mastodonArchive, savedStatuses, misskeyNotes, misskeyMarkup,
        blueskyRecords, jsonLines,
        packed,
        anyFile,
    ]

    private static let xArchive = FuzzTarget(
        "x-archive", texts: ArchiveSeeds.x,
        words: [
            "=== data/tweets.js\n", "=== data/like.js\n", "=== data/note-tweet.js\n",
            "=== data/account.js\n",
            "=== data/manifest.js\n", "=== data/js/tweets/2013_05.js\n",
            "=== data/account-timezone.js\n",
            "\"id_str\":\"", "\"full_text\":\"", "\"created_at\":\"", "\"entities\":{",
            "\"urls\":[", "\"media\":[",
            "\"indices\":[\"0\"", "\"in_reply_to_user_id_str\":", "https://t.co/", "RT @",
            "\"noteTweet\":{\"core\":{\"text\":", "=== data/community-tweet.js\n",
            "=== tweets.csv\n",
            "\"tweet_id\",\"timestamp\",\"text\"\n",
            "\"edit_info\":{\"initial\":{\"editTweetIds\":[", "&amp;",
            "\\ud83d",
            "\"edit\":{\"editControlInitial\":{", "{learnmore}", "\"isPartialArchive\":true",
            ",\"\",", "…",
        ]
    ) { text in try holdArchive(Members(text), XArchive.self) }

    private static let xNotice = FuzzTarget(
        "x-notice",
        texts: [
            "This Post is from a suspended account. {learnmore}",
            "You’re unable to view this Tweet because. Learn more",
            "このポストは表示できません。{learnmore}", "A text. Learn more https://t.co/x",
        ],
        words: ["{learnmore}", "Learn more", "{", "}", ". ", "。", "This Post ", "://", "…"]
    ) { text in
        let text = PlainText.cleaned(text)
        let isNotice = XNotice.isNotice(text)
        try hold(!isNotice || text.utf8.count <= 1_000, "no long text is a notice")
        if text.utf8.count < 900 {
            try hold(XNotice.isNotice(text + "{learnmore}"), "the placeholder tells a notice")
        }
    }

    private static let mastodonArchive = FuzzTarget(
        "mastodon-archive", texts: ArchiveSeeds.mastodon,
        words: [
            "=== outbox.json\n", "=== actor.json\n", "=== likes.json\n", "\"orderedItems\":[",
            "\"type\":\"Create\"",
            "\"type\":\"Note\"", "\"object\":{", "\"content\":\"", "\"contentMap\":{",
            "\"inReplyTo\":", "as:Public",
            "\"tag\":[{\"type\":\"Mention\",\"href\":\"", "\"attributedTo\":", "\"to\":[",
            "\"cc\":", "/followers",
            "\"quote\":", "\"quoteUrl\":\"https://",
            "\"type\":\"Link\",\"mediaType\":\"application/activity+json\"",
            "\"updated\":\"", "\"oneOf\":[", "\"attachment\":[{\"type\":\"Link\"", "false",
        ]
    ) { text in try holdArchive(Members(text), MastodonArchive.self) }

    private static let savedStatuses = FuzzTarget(
        "saved-statuses", texts: ArchiveSeeds.statuses,
        words: [
            "=== social.example.user.ann.json\n", "=== pixelfed-statuses.json\n", "{\"statuses\":[",
            "\"favourites\":[",
            "\"account\":{\"acct\":\"", "\"uri\":\"https://", "\"content\":\"",
            "\"content_text\":\"",
            "\"visibility\":\"public\"",
            "\"created_at\":\"", "\"reblog\":{", "\"in_reply_to_account_id\":",
            "\"mentions\":[{\"acct\":\"",
            "\"media_attachments\":[{\"type\":\"image\",\"url\":\"", "\"note\":\"",
        ]
    ) { text in try holdArchive(Members(text), SavedStatuses.self) }

    private static let misskeyNotes = FuzzTarget(
        "misskey-notes", texts: ArchiveSeeds.notes,
        words: [
            "=== notes-2023.json\n", "{\"id\":\"9a\",", "\"text\":\"", "\"createdAt\":\"",
            "\"visibility\":\"home\"",
            "\"replyId\":\"9a\"", "\"renoteId\":null",
            "\"files\":[{\"type\":\"image/png\",\"url\":\"https://",
            "\"cw\":\"",
            "$[x2 ", "](https://", "<b>", "**",
        ]
    ) { text in try holdArchive(Members(text), MisskeyNotes.self) }

    private static let misskeyMarkup = FuzzTarget(
        "misskey-markup",
        texts: [
            "$[x2 $[tada a] b] c", "[w](https://a.example) ?[v](http://b.example)",
            "<b>**bold**</b> <https://a.example>",
        ],
        words: [
            "$[x2 ", "$[", "]", "[", "](https://", ")", "<b>", "</b>", "<https://", ">", "**", "?[",
        ]
    ) { text in
        let plain = MisskeyMarkup.read(text).text
        try holdPlain(plain, "a note's text")
        if !text.contains(where: { "$<[*".contains($0) }) {
            try hold(plain == PlainText.cleaned(text), "a text without markup stays")
        }
        let names = MisskeyNames(in: plain, on: "mk.example")
        try hold(names.text.utf8.count >= plain.utf8.count, "names only become longer")
        try hold(names.people.isEmpty || plain.contains("@"), "nobody is named without a sign")
    }

    private static let blueskyRecords = FuzzTarget(
        "bluesky-records", texts: ArchiveSeeds.bluesky,
        words: [
            "{\"records\":[", "\"uri\":\"at://did:plc:", "/app.bsky.feed.post/", "\"value\":{",
            "\"facets\":[{\"index\":{",
            "\"byteStart\":", "\"byteEnd\":", "\"features\":[{", "\"createdAt\":\"",
            "\"reply\":{\"parent\":{\"uri\":",
            "\"langs\":[",
        ]
    ) { text in
        let file = try ScratchFile(Array(text.utf8))
        for purpose in [ImportPurpose.scheduler, .classifier] {
            let request = ImportRequest(
                path: file.path, purpose: purpose, network: .bluesky, localHost: nil,
                limits: smallLimits)
            try holdReading { try BlueskyRecords(request).read($0) }
        }
    }

    private static let jsonLines = FuzzTarget(
        "json-lines", texts: ArchiveSeeds.lines,
        words: [
            "{\"id\":\"", "\"author\":\"", "\"text\":\"", "\"created_at\":\"", "\"favorite\":true",
            "\"visibility\":\"",
            "\"reply_to_author\":\"", "\"language\":\"ja\"", "2026-11-20T08:15:30+09:00", "\n",
            "\u{FEFF}", "\\ud800",
        ]
    ) { text in
        let file = try ScratchFile(Array(text.utf8))
        for (purpose, host) in [(ImportPurpose.scheduler, "here.example"), (.classifier, nil)] {
            let reader = JSONLinesReader(
                path: file.path, purpose: purpose, network: .mastodon, localHost: host,
                limits: smallLimits)
            try holdReading { try reader.read($0) }
        }
    }

    private static let packed = FuzzTarget(
        "packed", seeds: PackedSeeds.all,
        words: ["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "ustar", "../", "data/tweets.js"]
    ) { input in
        let file = try ScratchFile(input)
        for packing in [Packing.zip, .tar] {
            let source = PackedSource(
                path: file.path, packing: packing, size: input.count, limits: smallLimits)
            var unpacked = 0
            do {
                for name in try source.names(where: { _ in true }) {
                    try hold(!MemberName.isUnsafe(name), "no name leads out of the archive")
                    try holdPrintable(MemberName.shown(name), "a name in a message", atMost: 320)
                }
                try source.read { _ in ByteCounter { unpacked += $0 } }
            } catch let error as ImportError {
                try holdPrintable(error.reason, "the reason of a refusal", atMost: 600)
            }
            try hold(unpacked <= smallLimits.totalBytes, "no more is unpacked than allowed")
        }
    }

    private static let anyFile = FuzzTarget(
        "any-file",
        seeds: PackedSeeds.all + (ArchiveSeeds.bluesky + ArchiveSeeds.lines).map { Array($0.utf8) },
        words: [
            "PK\u{3}\u{4}", "{\"orderedItems\":[", "{\"records\":[", "window.YTD", "eroots",
            "gversion", "\u{FEFF}",
        ]
    ) { input in
        let file = try ScratchFile(input)
        for purpose in [ImportPurpose.scheduler, .classifier] {
            let reader = ArchiveReader(
                path: file.path, purpose: purpose, localHost: "here.example", limits: smallLimits,
                wantsPictures: { _ in true })
            try holdReading { try reader.read($0) }
        }
    }
}

/// Counts what is unpacked.
private final class ByteCounter: MemberSink {
    private let count: (Int) -> Void

    init(_ count: @escaping (Int) -> Void) { self.count = count }

    func feed(_ chunk: UnsafeRawBufferPointer) { count(chunk.count) }

    func finish() {}
}

/// Reads an archive for both purposes, and looks at all that it gives.
private func holdArchive(_ source: Members, _ format: any ArchiveFormat.Type) throws {
    let parts = source.names(where: format.isPart)
    guard format.recognizes(parts) else { return }
    for purpose in [ImportPurpose.scheduler, .classifier] {
        let request = ImportRequest(
            path: "archive", purpose: purpose, network: .mastodon, localHost: "social.example",
            limits: FuzzTarget.smallLimits, includesCommunities: true)
        try holdReading { try format.init(request, parts: parts).read(source, $0) }
    }
}

/// What holds for everything that a reader hands over, and for what it says about it.
private func holdReading(_ read: ((ArchiveItem) throws -> Void) throws -> ImportSummary) throws {
    var count = 0
    do {
        let summary = try read { item in
            if case .picture = item {} else { count += 1 }
            try holdItem(item)
        }
        try hold(
            summary.posts + summary.favorites + summary.normals == count,
            "what is handed over is counted")
        try hold(
            summary.problems.count <= FuzzTarget.smallLimits.problems, "problems are kept in bounds"
        )
        for problem in summary.problems {
            try holdPrintable(problem.reason, "a problem", atMost: 400)
        }
        if let zone = summary.timeZone {
            try hold(TimeZone(identifier: zone) != nil, "a proposed zone is there")
        }
    } catch let error as ImportError {
        try hold(!error.reason.isEmpty, "a refusal has a reason")
    }
}

private func holdItem(_ item: ArchiveItem) throws {
    switch item {
    case .post(let post):
        try holdPlain(post.text, "a post's text")
        try hold(
            !post.id.value.isEmpty && !post.author.value.isEmpty, "a post and its author have names"
        )
        try hold(
            post.createdAt.timeIntervalSince1970 >= -86_400, "a post is not older than its network")
        try hold(post.pictures.count <= Picture.maximumPerPost, "a post has few pictures")
        for picture in post.pictures {
            try hold(picture == picture.cleaned, "a picture is harmless")
        }
        if let language = post.language {
            try hold(LanguageTag.namesLanguage(language), "a language is one")
        }
    case .picture(_, let place, let bytes):
        try hold((0..<Picture.maximumPerPost).contains(place), "a picture is one of a few")
        try hold(
            PictureFormat(bytes) != nil && bytes.count <= Picture.maximumBytes, "a picture is one")
    case .favorite(let example), .normal(let example):
        try holdPlain(example.text, "an example's text")
        try hold(
            !example.text.isEmpty && !example.id.value.isEmpty, "an example has a text and a name")
    }
}
