package import Posts

/// The people for whom a post is meant, and whether it is meant to stay.
///
/// Programs say so in more than one field. Each field can only narrow what another one says, and so
/// does a word that is not known. docs/audience.md lists the fields by program.
package struct PostAudience: Equatable, Sendable {
    /// The visibility of the post: the narrowest one that was read, or the named people if none
    /// was.
    package var visibility: Visibility { narrowest ?? .direct }
    /// Whether the post is to disappear at some time.
    package private(set) var isTimeLimited = false
    private var narrowest: Visibility?

    package init() {}

    /// Whether everybody may read the post, for as long as it is not deleted.
    package var isOpen: Bool { visibility.isOpen && !isTimeLimited }

    // MARK: Fields

    /// Fields that hold a word; kmyblue and Fedibird have the second one for what clients of
    /// Mastodon do not know.
    private static let words: [StaticString] = ["visibility", "visibility_ex"]
    /// Circles, lists and the like; whatever one of these says, the post is for few.
    private static let circles: [StaticString] = [
        "limited_scope", "limitedScope", "circle_id", "directMessage",
    ]
    /// Flags of posts that do not leave their server.
    private static let localFlags: [StaticString] = ["local_only", "localOnly"]
    /// Flags of posts that leave it.
    private static let federatedFlags: [StaticString] = ["federated"]
    /// When, or after what time, a post is to disappear.
    private static let ends: [StaticString] = ["expires_at", "expires_in", "expiry", "deleteAt"]
    /// Objects with further fields of a program's own; `local` in `pleroma` says where a post was
    /// made, not for whom.
    private static let extensions: [StaticString] = ["pleroma", "akkoma"]

    /// The names of all fields that are read, wherever they stand.
    package static var fieldNames: [String] {
        (words + circles + localFlags + federatedFlags + ends).map(\.description)
    }

    /// Reads a status of Mastodon's interface, from the interface itself or as somebody saved it.
    package init(status fields: some WireFields) {
        read(fields)
        // A post that does not say for whom it is.
        if !fields.isPresent("visibility") { narrow(to: .direct) }
    }

    /// Reads a note of ActivityPub, without its addresses, or a line of JSON Lines.
    package init(note fields: some WireFields) { read(fields) }

    private mutating func read(_ fields: some WireFields) {
        for name in Self.words where fields.isPresent(name) {
            guard fields.truth(name) == nil, let word = fields.text(name) else {
                narrow(to: .direct)
                continue
            }
            narrow(byWord: word)
        }
        if Self.circles.contains(where: { Self.isMeant($0, in: fields) }) { narrow(to: .direct) }
        if Self.localFlags.contains(where: { Self.isMeant($0, in: fields) }) { narrow(to: .local) }
        if Self.federatedFlags.contains(where: { Self.isDenied($0, in: fields) }) {
            narrow(to: .local)
        }
        let places = [fields] + Self.extensions.compactMap { fields.child($0) }
        isTimeLimited = places.contains { place in
            Self.ends.contains { Self.isMeant($0, in: place) }
        }
    }

    /// Whether a field says anything but `false`, `0`, `none` or nothing.
    private static func isMeant(_ name: StaticString, in fields: some WireFields) -> Bool {
        guard fields.isPresent(name) else { return false }
        if let truth = fields.truth(name) { return truth }
        return fields.text(name).map { !["", "0", "false", "none"].contains($0) } ?? true
    }

    /// Whether a field is there and says anything but `true` or `1`.
    private static func isDenied(_ name: StaticString, in fields: some WireFields) -> Bool {
        guard fields.isPresent(name) else { return false }
        if let truth = fields.truth(name) { return !truth }
        return fields.text(name).map { !["1", "true"].contains($0) } ?? true
    }

    // MARK: Narrowing

    /// Narrows the audience by a program's word for who may see a post.
    package mutating func narrow(byWord word: String) {
        switch word {
        case "public": narrow(to: .public)
        case "unlisted", "home", "public_unlisted": narrow(to: .unlisted)
        case "private", "followers", "login": narrow(to: .private)
        case "local", "local_only": narrow(to: .local)
        default: narrow(to: .direct)
        }
    }

    /// Narrows the audience to one that somebody named in another way; a wider one changes nothing.
    package mutating func narrow(to visibility: Visibility) {
        narrowest = narrowest.map { max($0, visibility) } ?? visibility
    }

    /// The names that ActivityPub has for everybody.
    private static let everybody: Set<String> = [
        "https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public",
    ]

    /// Narrows the audience to those to whom ActivityPub sends a post.
    ///
    /// Akkoma and Pleroma address everybody at a server by `https://HOST/#Public`.
    ///
    /// - Parameters:
    ///   - to: Collections and people in the first place.
    ///   - cc: Those in the second place.
    ///   - followers: The collection of the author's followers, where it is known.
    package mutating func narrow(to: [String], cc: [String], followers: String?) {
        if to.contains(where: Self.everybody.contains) {
            narrow(to: .public)
        } else if cc.contains(where: Self.everybody.contains) {
            narrow(to: .unlisted)
        } else if (to + cc).contains(where: { $0.hasSuffix("#Public") }) {
            narrow(to: .local)
        } else {
            let isForFollowers = (to + cc).contains {
                $0 == followers || $0.hasSuffix("/followers")
            }
            narrow(to: isForFollowers ? .private : .direct)
        }
    }

    /// Narrows the audience by the labels that the author of a Bluesky record gave it.
    ///
    /// Those that begin with `!` are about who sees it; others warn of what it shows.
    package mutating func narrow(byLabels labels: some Sequence<String>) {
        for label in labels where label.hasPrefix("!") {
            switch label {
            case "!warn": break
            case "!no-unauthenticated": narrow(to: .private)
            default: narrow(to: .direct)
            }
        }
    }

    /// Narrows the audience by what the author wrote into the text.
    ///
    /// glitch-soc keeps a post that ends with an eye at its server; its archives show nothing else
    /// of that.
    package mutating func narrow(byEndOf text: String) {
        let scalars = text.unicodeScalars.reversed().drop {
            $0.properties.isWhitespace || $0 == "\u{FE0F}"
        }
        if scalars.first == "\u{1F441}" { narrow(to: .local) }
    }
}
