/// Which program a server runs, where its habits matter and cannot be asked for.
enum MastodonSoftware: Equatable {
    /// Mastodon itself, and what was made from it.
    case mastodon
    /// GoToSocial; nil for a version that cannot be read.
    case goToSocial(minorVersion: Int?)
    case snac
    /// Pleroma, Akkoma, Takahe and whatever else there is.
    case other

    /// - Parameters:
    ///   - version: What the server calls its version.
    ///   - source: Where its source text is, in version 2 of the answer.
    ///   - hasMastodonAPI: It tells a version of Mastodon's interface.
    init(version: String, source: String?, hasMastodonAPI: Bool) {
        let version = version.lowercased()
        let source = source?.lowercased()
        if version.contains("gotosocial") || source?.contains("gotosocial") == true {
            let parts = version.split(separator: ".", maxSplits: 2).map { Int($0) }
            self = .goToSocial(minorVersion: parts.count > 1 && parts[0] == 0 ? parts[1] : nil)
        } else if version.contains("snac/") {
            self = .snac
        } else if !version.isEmpty, !Self.isRelease(version) {
            // `2.7.2 (compatible; Pleroma 2.6.0)`, `takahe/0.11.0`
            self = .other
        } else {
            // Before 4.3 Mastodon told no version of its interface.
            let isOldMastodon = !version.isEmpty && (source.map { $0.contains("mastodon") } ?? true)
            self = hasMastodonAPI || isOldMastodon ? .mastodon : .other
        }
    }

    /// A link counts what the server says, and not its length.
    ///
    /// GoToSocial advertises 25 and counts all of it; Takahe and Pleroma measure the whole text too.
    var shortensLinks: Bool { self == .mastodon }

    /// A reply to a post that is gone is refused, and not published as a post of its own.
    var refusesLostReplies: Bool {
        switch self {
        case .mastodon, .goToSocial: true
        case .snac, .other: false
        }
    }

    /// Two requests with one `Idempotency-Key` make one post, for an hour at least.
    ///
    /// GoToSocial, Takahe and snac are known to ignore the key. Pleroma keeps an answer for hours, but not where its
    /// cache is switched off; of what nobody knows nothing is believed.
    var keepsIdempotencyKeys: Bool { self == .mastodon }

    /// A token can do everything, whatever scopes it was given: GoToSocial before 0.19, and snac.
    var ignoresScopes: Bool {
        switch self {
        case .snac: true
        case .goToSocial(let minorVersion): minorVersion.map { $0 < 19 } ?? false
        case .mastodon, .other: false
        }
    }

    /// `4.2.1`, `4.3.0-rc.1+glitch`: 2 or newer, and no other program's name.
    private static func isRelease(_ version: String) -> Bool {
        let number = version.prefix { $0.isNumber || $0 == "." }
        guard let major = number.split(separator: ".").first.flatMap({ Int($0) }), major >= 2 else { return false }
        let rest = version[number.endIndex...]
        return (rest.isEmpty || rest.first == "-" || rest.first == "+") && !rest.contains { " ()/;".contains($0) }
    }
}
