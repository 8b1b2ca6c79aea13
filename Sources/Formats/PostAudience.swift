package import Posts

/// The people for whom a post is meant, and whether it is meant to be permanent.
///
/// Programs use several fields for this. Each field can only narrow the audience, and an unknown
/// value narrows it most. docs/audience.md lists the fields by program.
package struct PostAudience: Equatable, Sendable {
    /// The visibility of the post: the narrowest one that was read, or `.direct` if none was read.
    package var visibility: Visibility { narrowest ?? .direct }
    /// Whether the post is to disappear at some time.
    package private(set) var isTimeLimited = false
    private var narrowest: Visibility?

    package init() {}

    /// Whether everybody may read the post, for as long as it is not deleted.
    package var isOpen: Bool { visibility.isOpen && !isTimeLimited }

    // MARK: Fields

    /// Fields whose value is a word for the visibility; kmyblue and Fedibird use the second one for
    /// words unknown to clients of Mastodon.
    private static let visibilityFields: [StaticString] = ["visibility", "visibility_ex"]
    /// Fields for circles, lists and the like; a post with one of these is meant for few people.
    private static let circles: [StaticString] = [
        "limited_scope", "limitedScope", "circle_id", "directMessage",
    ]
    /// Flags that are set for posts that are not sent to other servers.
    private static let localFlags: [StaticString] = ["local_only", "localOnly"]
    /// Flags that are set for posts that are sent to other servers.
    private static let federatedFlags: [StaticString] = ["federated"]
    /// Fields for the time at which a post is deleted, or for the delay until then.
    private static let expiryFields: [StaticString] = [
        "expires_at", "expires_in", "expiry", "deleteAt",
    ]
    /// Objects with a program's own fields.
    ///
    /// The field `local` in `pleroma` is not read: it says on which server the post was written,
    /// not who may read it.
    private static let extensionObjects: [StaticString] = ["pleroma", "akkoma"]

    /// The names of all fields that are read, at the top level or in an extension object.
    package static var fieldNames: [String] {
        (visibilityFields + circles + localFlags + federatedFlags + expiryFields).map(\.description)
    }

    /// Reads a status of Mastodon's API, requested or saved.
    package init(status fields: some WireFields) {
        read(fields)
        // A status without a visibility is treated as the most private.
        if !fields.isPresent("visibility") { narrow(to: .direct) }
    }

    /// Reads a note of ActivityPub, without its addresses, or a line of JSON Lines.
    package init(note fields: some WireFields) { read(fields) }

    private mutating func read(_ fields: some WireFields) {
        for name in Self.visibilityFields where fields.isPresent(name) {
            guard fields.truth(name) == nil, let word = fields.text(name) else {
                narrow(to: .direct)
                continue
            }
            narrow(byWord: word)
        }
        if Self.circles.contains(where: { Self.isSet($0, in: fields) }) { narrow(to: .direct) }
        if Self.localFlags.contains(where: { Self.isSet($0, in: fields) }) { narrow(to: .local) }
        if Self.federatedFlags.contains(where: { Self.isNotTrue($0, in: fields) }) {
            narrow(to: .local)
        }
        let objects = [fields] + Self.extensionObjects.compactMap { fields.child($0) }
        isTimeLimited = objects.contains { object in
            Self.expiryFields.contains { Self.isSet($0, in: object) }
        }
    }

    /// Whether a field has another value than `false`, `0`, `none` or null.
    private static func isSet(_ name: StaticString, in fields: some WireFields) -> Bool {
        guard fields.isPresent(name) else { return false }
        if let truth = fields.truth(name) { return truth }
        // A list or an object counts as set.
        guard let text = fields.text(name) else { return true }
        return !["", "0", "false", "none"].contains(text)
    }

    /// Whether a field is present with another value than `true` or `1`.
    private static func isNotTrue(_ name: StaticString, in fields: some WireFields) -> Bool {
        guard fields.isPresent(name) else { return false }
        if let truth = fields.truth(name) { return !truth }
        guard let text = fields.text(name) else { return true }
        return !["1", "true"].contains(text)
    }

    // MARK: Narrowing

    /// Narrows the audience to the visibility that a program's word stands for.
    package mutating func narrow(byWord word: String) {
        switch word {
        case "public": narrow(to: .public)
        case "unlisted", "home", "public_unlisted": narrow(to: .unlisted)
        case "private", "followers", "login": narrow(to: .private)
        case "local", "local_only": narrow(to: .local)
        default: narrow(to: .direct)
        }
    }

    /// Narrows the audience to `visibility`; a wider one changes nothing.
    package mutating func narrow(to visibility: Visibility) {
        narrowest = max(narrowest ?? visibility, visibility)
    }

    /// ActivityPub's names for everybody.
    private static let everybody: Set<String> = [
        "https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public",
    ]

    /// Narrows the audience to the addressees of an ActivityPub post.
    ///
    /// Akkoma and Pleroma address all people of a server by `https://HOST/#Public`.
    ///
    /// - Parameters:
    ///   - to: The primary addressees: collections and people.
    ///   - cc: The secondary addressees.
    ///   - followers: The collection of the author's followers, if known.
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

    /// Narrows the audience by the author's labels of a Bluesky record.
    ///
    /// Labels that begin with `!` limit the audience; others are content warnings.
    package mutating func narrow(byLabels labels: some Sequence<String>) {
        for label in labels where label.hasPrefix("!") {
            switch label {
            case "!warn": break
            case "!no-unauthenticated": narrow(to: .private)
            default: narrow(to: .direct)
            }
        }
    }

    /// Narrows the audience by the end of the text.
    ///
    /// glitch-soc does not send a post that ends with an eye to other servers, and its archives
    /// have no other mark for such posts.
    package mutating func narrow(byEndOf text: String) {
        let scalars = text.unicodeScalars.reversed().drop {
            $0.properties.isWhitespace || $0 == "\u{FE0F}"
        }
        if scalars.first == "\u{1F441}" { narrow(to: .local) }
    }
}
