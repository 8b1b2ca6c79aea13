import Formats
package import Networks
import Posts

/// A habit of a server, and the source of this knowledge.
struct Known<Value: Equatable & Sendable>: Equatable, Sendable {
    let value: Value
    /// A file of the program's source, its documentation, the version on which it was seen, or
    /// `doctor --probe`.
    let source: String

    init(_ value: Value, _ source: String) {
        self.value = value
        self.source = source
    }
}

/// A server program of the Mastodon family: those of its habits that matter and that a client
/// cannot ask for.
///
/// The initial values are those of an unknown program. They are assumed for every server, because a
/// wrong one of these never publishes a post twice, never shows a post to more people than
/// intended, and never takes an existing post for deleted. A descriptor lists only the known
/// differences. The findings of `doctor --probe` overrule both (``overruled(by:)``).
struct MastodonProgram: Equatable, Sendable {
    /// The form in which the program's ids stand at the end of its posts' addresses.
    enum PostNames: Equatable, Sendable {
        case decimal, ulid
        /// The address of a post does not contain its id.
        case other
    }

    private static let unknown = "assumed"

    let name: String

    // MARK: Publishing

    /// Two requests with one `Idempotency-Key` create one post, for at least an hour.
    var keepsKeys = Known(false, unknown)
    /// A reply to a deleted post is refused instead of published as a post of its own.
    var refusesLostReplies = Known(false, unknown)
    /// The answer to a new reply has the reply's id.
    var namesReplies = Known(true, unknown)
    /// A link counts as a fixed number of characters, which the server states.
    var shortensLinks = Known(false, unknown)
    /// The field `content_type` of a new post is supported.
    var takesContentType = Known(false, unknown)

    // MARK: Audiences

    /// A post has the requested visibility.
    var keepsVisibility = Known(true, unknown)
    /// A direct post is visible only to the people whom it names.
    var keepsDirect = Known(true, unknown)
    /// The posts whose audience the program does not return, as the end of `the server runs …`; nil
    /// for none.
    ///
    /// docs/audience.md has more sources.
    var audienceGap = Known<String?>(nil, unknown)

    // MARK: Reading

    /// The visibilities of posts that an account's list shows to its owner.
    ///
    /// A post of another visibility may exist although it is not in the list.
    var listedVisibilities = Known<Set<Visibility>>([.public, .unlisted], unknown)
    /// The number of newest items in a list, notifications of every type included; no entry for a
    /// complete list.
    var depths = Known<[Feed: Int]>([:], unknown)
    /// The ids in a post identify the answered person and the mentioned ones.
    ///
    /// In posts of other programs such ids may mean something else, or be missing.
    var tellsPeopleByNumber = Known(false, unknown)
    var postNames = Known(PostNames.other, unknown)
    /// Notifications of the type `update` can be requested.
    var tellsUpdates = Known(false, unknown)
    /// The limit of a server that counts requests by address even with a login; nil if it counts by
    /// account.
    var addressLimit = Known<AddressLimit?>(nil, unknown)

    // MARK: Changing and deleting

    /// The text of a published post can be changed.
    var editsPosts = Known(false, unknown)
    /// An edited post keeps its visibility.
    var keepsVisibilityInEdits = Known(true, unknown)
    /// An edited post states the time of the change.
    var marksEdits = Known(false, unknown)
    /// A deleted post is not shown to a client that requests it by its id.
    var hidesDeletedPosts = Known(false, unknown)
    /// The account's own profile can be read as its owner wrote it, and changed.
    var keepsProfiles = Known(true, unknown)

    // MARK: Logins

    /// Scopes such as `write:statuses` are supported.
    var knowsFineScopes = Known(false, unknown)
    /// A token permits everything, whatever its scopes.
    var ignoresScopes = Known(false, unknown)
    /// An application may have several return addresses, one a line, and a login leads to the one
    /// that it names, with its `state`.
    ///
    /// Some programs register such an application, and refuse each of its addresses later.
    var leadsBack = Known(false, unknown)

    private init(_ name: String, _ describe: (inout MastodonProgram) -> Void = { _ in }) {
        self.name = name
        describe(&self)
    }
}

extension MastodonProgram {
    /// Mastodon and its forks.
    static let mastodon = MastodonProgram("Mastodon") { program in
        program.keepsKeys = Known(true, "app/services/post_status_service.rb, idempotency_key")
        program.refusesLostReplies = Known(
            true, "app/controllers/api/v1/statuses_controller.rb, set_thread")
        program.shortensLinks = Known(true, "app/validators/status_length_validator.rb")
        program.listedVisibilities = Known(everyVisibility, "app/models/account_statuses_filter.rb")
        program.tellsPeopleByNumber = Known(true, "app/serializers/rest/status_serializer.rb")
        program.postNames = Known(.decimal, "app/lib/activitypub/tag_manager.rb, uri_for")
        program.tellsUpdates = Known(true, "app/models/notification.rb")
        program.editsPosts = Known(true, "app/services/update_status_service.rb, since 3.5")
        program.marksEdits = Known(true, "app/serializers/rest/status_serializer.rb, edited_at")
        program.hidesDeletedPosts = Known(
            true, "app/controllers/api/v1/statuses_controller.rb, destroy")
        program.knowsFineScopes = Known(true, "config/initializers/doorkeeper.rb")
        program.leadsBack = Known(
            true, "app/controllers/api/v1/apps_controller.rb, redirect_uris")
    }

    /// - Parameter minorVersion: The second part of version 0.x; nil for another one.
    static func goToSocial(minorVersion: Int?) -> MastodonProgram {
        MastodonProgram("GoToSocial") { program in
            program.refusesLostReplies = Known(true, seenOnGoToSocial)
            program.takesContentType = Known(true, "docs/api/swagger.yaml, statusCreate")
            program.listedVisibilities = Known(everyVisibility, seenOnGoToSocial)
            program.tellsPeopleByNumber = Known(true, seenOnGoToSocial)
            program.postNames = Known(.ulid, seenOnGoToSocial)
            // The limit in its answers is another one.
            program.addressLimit = Known(
                AddressLimit(count: 300, period: 300), "advanced-rate-limit-requests, the default")
            program.editsPosts = Known(
                minorVersion.map { $0 >= 18 } ?? true, "release notes of 0.18")
            program.marksEdits = program.editsPosts
            program.hidesDeletedPosts = Known(true, seenOnGoToSocial)
            program.knowsFineScopes = Known(true, seenOnGoToSocial)
            program.ignoresScopes = Known(
                minorVersion.map { $0 < 19 } ?? false, "release notes of 0.19")
            program.leadsBack = Known(
                minorVersion.map { $0 >= 19 } ?? true,
                "internal/processing/application/create.go, since 0.19")
        }
    }

    /// Pleroma and Akkoma.
    ///
    /// Keys are kept for hours, unless the operator has disabled the cache.
    static let pleroma = MastodonProgram("Pleroma, Akkoma") { program in
        program.takesContentType = Known(
            true, "lib/pleroma/web/api_spec/operations/status_operation.ex")
        program.listedVisibilities = Known(
            everyVisibility, "lib/pleroma/web/activity_pub/activity_pub.ex")
        program.tellsPeopleByNumber = Known(
            true, "lib/pleroma/web/mastodon_api/views/status_view.ex")
        program.editsPosts = Known(
            true, "lib/pleroma/web/common_api.ex of Akkoma 3.16, make_update_data")
        program.hidesDeletedPosts = Known(
            true, "lib/pleroma/web/mastodon_api/controllers/status_controller.ex")
        program.knowsFineScopes = Known(true, "lib/pleroma/web/plugs/o_auth_scopes_plug.ex")
        program.leadsBack = Known(
            true, "lib/pleroma/web/o_auth/o_auth_controller.ex, after_create_authorization")
    }

    static let snac = MastodonProgram("snac") { program in
        program.listedVisibilities = Known([.public, .unlisted], "seen on snac 2.94")
        program.depths = Known(
            [.ownPosts: 256, .mentions: 64],
            "mastoapi.c, timeline_list with 256 entries and notify_list with 64")
        program.editsPosts = Known(true, "seen on snac 2.94")
        program.marksEdits = Known(true, "seen on snac 2.94")
        program.hidesDeletedPosts = Known(true, "seen on snac 2.94")
        program.knowsFineScopes = Known(true, "seen on snac 2.94")
        program.ignoresScopes = Known(true, "seen on snac 2.94")
    }

    static let takahe = MastodonProgram("Takahe") { program in
        program.audienceGap = Known(
            "Takahe, which shows posts for its own people alone as public",
            "activities/models/post.py, to_mastodon_json")
        program.listedVisibilities = Known(
            [.public, .unlisted], "api/views/accounts.py, account_statuses")
        program.editsPosts = Known(true, "seen on Takahe 0.11")
        program.keepsVisibilityInEdits = Known(
            false, "activities/models/post.py, edit_local: it becomes public")
        program.marksEdits = Known(true, "seen on Takahe 0.11")
        program.hidesDeletedPosts = Known(true, "seen on Takahe 0.11")
    }

    static let friendica = MastodonProgram("Friendica") { program in
        program.listedVisibilities = Known(everyVisibility, seenOnFriendica)
        program.editsPosts = Known(true, seenOnFriendica)
        program.keepsProfiles = Known(false, "\(seenOnFriendica): no `source`")
    }

    /// WordPress with the plugin Enable Mastodon Apps.
    static let wordPress = MastodonProgram("WordPress with Enable Mastodon Apps") { program in
        program.namesReplies = Known(false, seenOnWordPress)
        program.keepsVisibility = Known(false, "\(seenOnWordPress): nobody sees an unlisted post")
        program.audienceGap = Known(
            "WordPress, which shows private posts as public", seenOnWordPress)
        program.listedVisibilities = Known(
            everyVisibility, "includes/handler/class-handler.php, get_posts")
        program.editsPosts = Known(true, "includes/class-mastodon-api.php, api_edit_post")
        program.keepsVisibilityInEdits = Known(
            false, "includes/class-mastodon-api.php, api_edit_post: it becomes public")
        program.keepsProfiles = Known(false, seenOnWordPress)
    }

    /// Sharkey, Firefish, Iceshrimp, CherryPick and other descendants of Misskey.
    static let misskey = MastodonProgram("descendants of Misskey") { program in
        program.audienceGap = Known(
            "a descendant of Misskey, which shows posts for its own people alone as public",
            "docs/audience.md")
    }

    /// An unknown program.
    static let other = MastodonProgram("another program")

    /// The known programs, in the order of the documentation.
    static let all = [
        mastodon, goToSocial(minorVersion: nil), pleroma, snac, takahe, friendica, wordPress,
        misskey, other,
    ]

    private static let everyVisibility = Set(Visibility.allCases)
    private static let seenOnGoToSocial = "seen on GoToSocial 57cb4fe"
    private static let seenOnFriendica = "seen on Friendica 2024.09"
    private static let seenOnWordPress = "seen on Enable Mastodon Apps 1.6.1"
}

// MARK: Recognizing a program

extension MastodonProgram {
    /// The names by which descendants of Misskey call themselves.
    private static let misskeys = [
        "misskey", "sharkey", "firefish", "iceshrimp", "cherrypick", "catodon", "calckey",
        "foundkey", "hajkey",
    ]

    /// Recognizes a program by its instance's answer.
    ///
    /// - Parameters:
    ///   - version: The version in the answer.
    ///   - source: The address of the program's source; only version 2 of the answer has it.
    ///   - hasMastodonAPI: Whether the answer states a version of Mastodon's interface.
    static func recognized(version: String, source: String?, hasMastodonAPI: Bool)
        -> MastodonProgram
    {
        let version = version.lowercased()
        let source = source?.lowercased()
        if version.contains("gotosocial") || source?.contains("gotosocial") == true {
            let parts = version.split(separator: ".", maxSplits: 2).map { Int($0) }
            return goToSocial(minorVersion: parts.count > 1 && parts[0] == 0 ? parts[1] : nil)
        }
        // `4.0.0 (not true; really snac/2.74)`
        if version.contains("snac/") { return snac }
        // `2.7.2 (compatible; Pleroma 2.6.0)`
        if version.contains("compatible; pleroma ") || version.contains("compatible; akkoma ") {
            return pleroma
        }
        // `WordPress/6.1.9, EMA/1.6.1`
        if version.contains("wordpress/") { return wordPress }
        if version.contains("takahe/") { return takahe }
        // `3.0.0 (compatible; Sharkey 2025.4.2)`
        if misskeys.contains(where: { version.contains("compatible; \($0) ") }) { return misskey }
        // `2.8.0 (compatible; Friendica 2024.09)`
        if version.contains("compatible; friendica ") { return friendica }
        if !version.isEmpty, !isRelease(version) { return other }
        // Before 4.3 Mastodon did not state the version of its interface.
        let isOldMastodon = !version.isEmpty && (source.map { $0.contains("mastodon") } ?? true)
        return hasMastodonAPI || isOldMastodon ? mastodon : other
    }

    /// Whether the version is like `4.2.1` or `4.3.0-rc.1+glitch`: 2 or newer, without another
    /// program's name.
    private static func isRelease(_ version: String) -> Bool {
        let versionNumber = version.prefix { $0.isNumber || $0 == "." }
        guard let major = versionNumber.split(separator: ".").first.flatMap({ Int($0) }), major >= 2
        else {
            return false
        }
        let suffix = version[versionNumber.endIndex...]
        return (suffix.isEmpty || suffix.first == "-" || suffix.first == "+")
            && !suffix.contains { " ()/;".contains($0) }
    }
}

// MARK: What was measured

extension MastodonProgram {
    /// The program with the findings of `doctor --probe` in place of its known habits.
    ///
    /// - Parameter findings: Whether the server keeps each promise; a missing one was not measured.
    func overruled(by findings: [ServerPromise: Bool]) -> MastodonProgram {
        var program = self
        let source = "mirror-bot doctor --probe"
        func found(_ promise: ServerPromise) -> Known<Bool>? {
            findings[promise].map { Known($0, source) }
        }
        program.keepsVisibility = found(.visibility) ?? keepsVisibility
        program.keepsDirect = found(.direct) ?? keepsDirect
        program.editsPosts = found(.edits) ?? editsPosts
        program.keepsVisibilityInEdits = found(.editsKeepVisibility) ?? keepsVisibilityInEdits
        program.marksEdits = found(.tellsEdits) ?? marksEdits
        program.hidesDeletedPosts = found(.deletes) ?? hidesDeletedPosts
        var listed = listedVisibilities.value
        if let lists = findings[.lists] {
            listed =
                lists
                ? listed.union([.public, .unlisted]) : listed.subtracting([.public, .unlisted])
        }
        if let lists = findings[.listsDirect] {
            listed = lists ? listed.union([.direct]) : listed.subtracting([.private, .direct])
        }
        if listed != listedVisibilities.value { program.listedVisibilities = Known(listed, source) }
        return program
    }

    /// Whether a copy may be edited: the server supports it, and keeps the visibility.
    var canEdit: Bool { editsPosts.value && keepsVisibilityInEdits.value }

    /// Whether the address of a post ends with its id in the interface.
    ///
    /// - Parameter number: The end of the address.
    func namesPosts(by number: String) -> Bool {
        switch postNames.value {
        case .decimal: MastodonID.isDecimal(number)
        case .ulid: MastodonID.isULID(number)
        case .other: false
        }
    }
}

// MARK: In words

extension MastodonProgram {
    /// The habits in words, in the order of the documentation.
    var habits: [ServerHabit] {
        [
            ServerHabit("once rests on", groundOfOnce, keepsKeys.source),
            Self.habit(
                "a repeated request", keepsKeys, "publishes once, by its key", "publishes twice"),
            Self.habit(
                "a reply to a deleted post", refusesLostReplies, "is refused",
                "becomes a post of its own"),
            Self.habit(
                "the answer to a new reply", namesReplies, "names it", "names the answered post"),
            Self.habit(
                "a post's visibility", keepsVisibility, "is kept", "is not kept", .visibility),
            Self.habit(
                "a direct post", keepsDirect, "is shown to few", "is shown to strangers", .direct),
            ServerHabit(
                "posts for few",
                audienceGap.value == nil ? "are told apart" : "may be shown as public",
                audienceGap.source),
            ServerHabit(
                "the account's own list", "has \(Self.words(listedVisibilities.value))",
                listedVisibilities.source,
                measuredAs: .lists),
            Self.habit(
                "who is named", tellsPeopleByNumber, "is told by the list",
                "is told by text and list"),
            Self.habit(
                "a published post", editsPosts, "can be changed", "cannot be changed", .edits),
            Self.habit(
                "a changed post's visibility", keepsVisibilityInEdits, "is kept", "becomes public",
                .editsKeepVisibility
            ),
            Self.habit(
                "a changed post", marksEdits, "is marked", "is told by its text", .tellsEdits),
            Self.habit(
                "a deleted post", hidesDeletedPosts, "is denied", "stays readable", .deletes),
            Self.habit("mirror-bot profile", keepsProfiles, "writes it", "is done by hand"),
            Self.habit("fine scopes", knowsFineScopes, "are known", "are not known"),
            Self.habit("a token", ignoresScopes, "can do everything", "can do what its scopes say"),
            Self.habit("a login", leadsBack, "leads back to the page", "shows a code"),
        ]
    }

    /// The reason why a post is not published twice after a lost answer.
    private var groundOfOnce: String {
        if keepsKeys.value { return "the key" }
        let lookAtList = "the look at the own list"
        let restrictedPosts =
            listedVisibilities.value.contains(.direct) ? "" : "; for few, below the answered post"
        return lookAtList + restrictedPosts
            + (namesReplies.value ? "" : "; an answer is not sent again")
    }

    private static func habit(
        _ name: String, _ known: Known<Bool>, _ yes: String, _ no: String,
        _ promise: ServerPromise? = nil
    ) -> ServerHabit {
        ServerHabit(name, known.value ? yes : no, known.source, measuredAs: promise)
    }

    private static func words(_ visibilities: Set<Visibility>) -> String {
        if visibilities == Set(Visibility.allCases) { return "all posts" }
        let names = Visibility.allCases.filter(visibilities.contains).map(\.rawValue)
        return names.isEmpty ? "no new posts" : names.joined(separator: ", ") + " posts"
    }
}

extension MastodonNetwork {
    package var serverHabits: [ServerHabit] { memory.lastInstance?.program.habits ?? [] }

    /// The habits of every known program, for the documentation.
    package static var knownPrograms: [(name: String, habits: [ServerHabit])] {
        MastodonProgram.all.map { ($0.name, $0.habits) }
    }
}
