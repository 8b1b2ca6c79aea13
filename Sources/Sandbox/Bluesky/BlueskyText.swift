/// A text of the script in Bluesky's form: plain, with facets that mark its parts.
struct BlueskyText: Equatable, Sendable {
    enum Feature: Equatable, Sendable {
        case mention(did: String)
        case link(uri: String)
        case tag(String)
    }

    /// A part of the text by the offsets of its UTF-8 bytes.
    struct Facet: Equatable, Sendable {
        var start: Int
        var end: Int
        var feature: Feature
    }

    static let maximumCharacters = 300
    static let maximumBytes = 3_000
    private static let shownLinkCharacters = 24

    private(set) var text = ""
    private(set) var facets: [Facet] = []

    /// - Parameters:
    ///   - source: The text in Mastodon's form, in which `@user`, `@user@host`, `#tag` and
    ///     addresses have a meaning.
    ///   - people: The people whom the names mean, and their handles here.
    init(_ source: String, people: SandboxDirectory) {
        for piece in StatusText.pieces(of: source) {
            switch piece {
            case .plain(let plain): text += plain
            case .link(let link): append(Self.displayText(of: link), .link(uri: link))
            case .hashtag(let tag): append("#" + tag, .tag(tag))
            case .mention(let user, let host):
                let name = host.map { "\(user)@\($0)" } ?? user
                if let index = people.population.index(of: name) {
                    append("@" + people.handles[index], .mention(did: people.ids[index]))
                } else {
                    text += "@" + name
                }
            }
        }
        cut()
    }

    private mutating func append(_ part: String, _ feature: Feature) {
        let start = text.utf8.count
        text += part
        facets.append(Facet(start: start, end: text.utf8.count, feature: feature))
    }

    /// The address without its scheme, shortened for display.
    private static func displayText(of link: String) -> String {
        let scheme = link.hasPrefix("https://") ? "https://" : "http://"
        let addressWithoutScheme = link.dropFirst(scheme.count)
        return addressWithoutScheme.count > shownLinkCharacters
            ? addressWithoutScheme.prefix(shownLinkCharacters - 3) + "..."
            : String(addressWithoutScheme)
    }

    /// Truncates a text that is too long, and removes the facets beyond its end.
    private mutating func cut() {
        guard text.utf8.count > Self.maximumCharacters,
            text.count > Self.maximumCharacters || exceedsBytes
        else {
            return
        }
        var keptText = text.prefix(Self.maximumCharacters - 1)
        while keptText.utf8.count > Self.maximumBytes - 3 { keptText = keptText.dropLast() }
        let end = keptText.utf8.count
        text = keptText + "…"
        facets.removeAll { $0.end > end }
    }

    private var exceedsBytes: Bool { text.utf8.count > Self.maximumBytes }

    /// The facets in the form of a record.
    var facetRecords: RecordValue {
        .list(
            facets.map { facet in
                [
                    "index": [
                        "byteStart": .integer(Int64(facet.start)),
                        "byteEnd": .integer(Int64(facet.end)),
                    ],
                    "features": [facet.feature.record],
                ]
            })
    }
}

extension BlueskyText.Feature {
    fileprivate var record: RecordValue {
        switch self {
        case .mention(let did): ["$type": "app.bsky.richtext.facet#mention", "did": .text(did)]
        case .link(let uri): ["$type": "app.bsky.richtext.facet#link", "uri": .text(uri)]
        case .tag(let tag): ["$type": "app.bsky.richtext.facet#tag", "tag": .text(tag)]
        }
    }
}
