import Formats
import Localization
package import Networks
import Posts

/// The value of a server's habit, and the source from which it is known.
struct Known<Value: Equatable & Sendable>: Equatable, Sendable {
    let value: Value
    /// A file of the program's source, its documentation, the version on which it was seen, or
    /// `doctor --probe`.
    let source: LocalizedText

    init(_ value: Value, source: LocalizedText) {
        self.value = value
        self.source = source
    }
}

/// A server program of the Mastodon family, with the habits that matter here and that a client
/// cannot request from the server.
///
/// The initial values are those of an unknown program. They are safe to assume for every server:
/// even if one is wrong, no post is published twice, shown to more people than intended, or taken
/// for deleted although it exists. A known program lists only its differences from them. The
/// findings of `doctor --probe` overrule both (``overruled(by:)``).
struct MastodonProgram: Equatable, Sendable {
    /// The form of a post's id in the interface, if the post's public address ends with this id.
    enum AddressIDForm: Equatable, Sendable {
        case decimal, ulid
        /// The address of a post does not contain its id.
        case other
    }

    /// The source of a value that is not known, but safe to assume.
    private static let assumed = LocalizedText("assumed")

    private let title: LocalizedText

    var name: String { title.description }

    // MARK: Publishing

    /// A second request with the same `Idempotency-Key` creates no second post for at least an
    /// hour.
    var keepsIdempotencyKeys = Known(false, source: assumed)
    /// A reply to a deleted post is refused instead of published as a post of its own.
    var refusesRepliesToDeletedPosts = Known(false, source: assumed)
    /// The answer to the request that publishes a reply has the reply's id.
    var returnsReplyID = Known(true, source: assumed)
    /// A link in a text counts as a fixed number of characters, which the server states.
    var shortensLinks = Known(false, source: assumed)
    /// The field `content_type` of a new post is supported.
    var takesContentType = Known(false, source: assumed)

    // MARK: Audiences

    /// A post has the requested visibility.
    var keepsVisibility = Known(true, source: assumed)
    /// A direct post is visible only to the people whom it names.
    var keepsDirect = Known(true, source: assumed)
    /// The posts whose audience the program does not return, in words that complete `the server
    /// runs …`; nil if it returns the audience of every post.
    ///
    /// docs/audience.md has more sources.
    var audienceGap = Known<LocalizedText?>(nil, source: assumed)

    // MARK: Reading

    /// The visibilities of posts that an account's list shows to its owner.
    ///
    /// A post of another visibility may exist although it is not in the list.
    var listedVisibilities = Known<Set<Visibility>>([.public, .unlisted], source: assumed)
    /// The number of newest items that a feed's list contains, notifications of every type
    /// included; no entry for a feed whose list is complete.
    var depths = Known<[Feed: Int]>([:], source: assumed)
    /// The account ids in a post identify the answered person and the mentioned people.
    ///
    /// In posts of other programs these ids may mean something else, or be missing.
    var idsIdentifyPeople = Known(false, source: assumed)
    var addressIDForm = Known(AddressIDForm.other, source: assumed)
    /// Notifications of the type `update` can be requested.
    var supportsUpdateType = Known(false, source: assumed)
    /// The request limit of a server that counts requests by IP address even with a login; nil if
    /// it counts them by account.
    var addressLimit = Known<AddressLimit?>(nil, source: assumed)

    // MARK: Changing and deleting

    /// The text of a published post can be changed.
    var editsPosts = Known(false, source: assumed)
    /// An edited post keeps its visibility.
    var keepsVisibilityInEdits = Known(true, source: assumed)
    /// An edited post states the time of the change.
    var marksEdits = Known(false, source: assumed)
    /// A deleted post is not shown to a client that requests it by its id.
    var hidesDeletedPosts = Known(false, source: assumed)
    /// The account's own profile can be read as its owner wrote it, and changed.
    var keepsProfiles = Known(true, source: assumed)

    // MARK: Logins

    /// Scopes such as `write:statuses` are supported.
    var knowsFineScopes = Known(false, source: assumed)
    /// A token permits everything, whatever its scopes.
    var ignoresScopes = Known(false, source: assumed)
    /// An application may register several return addresses, one in each line, and a login
    /// redirects the browser to the address in its request, with the `state` of the request.
    ///
    /// Some programs register such an application, but later refuse each of its addresses.
    var supportsReturnAddress = Known(false, source: assumed)

    private init(_ title: LocalizedText, _ describe: (inout MastodonProgram) -> Void = { _ in }) {
        self.title = title
        describe(&self)
    }
}

extension MastodonProgram {
    /// Mastodon and its forks.
    static let mastodon = MastodonProgram("Mastodon") { program in
        program.keepsIdempotencyKeys = Known(
            true, source: "app/services/post_status_service.rb, idempotency_key")
        program.refusesRepliesToDeletedPosts = Known(
            true, source: "app/controllers/api/v1/statuses_controller.rb, set_thread")
        program.shortensLinks = Known(true, source: "app/validators/status_length_validator.rb")
        program.listedVisibilities = Known(
            everyVisibility, source: "app/models/account_statuses_filter.rb")
        program.idsIdentifyPeople = Known(true, source: "app/serializers/rest/status_serializer.rb")
        program.addressIDForm = Known(
            .decimal, source: "app/lib/activitypub/tag_manager.rb, uri_for")
        program.supportsUpdateType = Known(true, source: "app/models/notification.rb")
        program.editsPosts = Known(
            true, source: LocalizedText("app/services/update_status_service.rb, since 3.5"))
        program.marksEdits = Known(
            true, source: "app/serializers/rest/status_serializer.rb, edited_at")
        program.hidesDeletedPosts = Known(
            true, source: "app/controllers/api/v1/statuses_controller.rb, destroy")
        program.knowsFineScopes = Known(true, source: "config/initializers/doorkeeper.rb")
        program.supportsReturnAddress = Known(
            true, source: "app/controllers/api/v1/apps_controller.rb, redirect_uris")
    }

    /// GoToSocial, in the given version.
    ///
    /// - Parameter minorVersion: The second part of version 0.x; nil for another one.
    static func goToSocial(minorVersion: Int?) -> MastodonProgram {
        // An unknown version is taken for a new one.
        let minorVersion = minorVersion ?? .max
        return MastodonProgram("GoToSocial") { program in
            program.refusesRepliesToDeletedPosts = Known(true, source: seenOnGoToSocial)
            program.takesContentType = Known(true, source: "docs/api/swagger.yaml, statusCreate")
            program.listedVisibilities = Known(everyVisibility, source: seenOnGoToSocial)
            program.idsIdentifyPeople = Known(true, source: seenOnGoToSocial)
            program.addressIDForm = Known(.ulid, source: seenOnGoToSocial)
            // The headers of its answers state another limit, which is not this one.
            program.addressLimit = Known(
                AddressLimit(count: 300, period: 300),
                source: LocalizedText("advanced-rate-limit-requests, the default"))
            program.editsPosts = Known(
                minorVersion >= 18, source: LocalizedText("release notes of 0.18"))
            program.marksEdits = program.editsPosts
            program.hidesDeletedPosts = Known(true, source: seenOnGoToSocial)
            program.knowsFineScopes = Known(true, source: seenOnGoToSocial)
            program.ignoresScopes = Known(
                minorVersion < 19, source: LocalizedText("release notes of 0.19"))
            program.supportsReturnAddress = Known(
                minorVersion >= 19,
                source: LocalizedText("internal/processing/application/create.go, since 0.19"))
        }
    }

    /// Pleroma and Akkoma.
    ///
    /// Idempotency keys are kept for hours, unless the operator has disabled the cache; so they are
    /// not relied on.
    static let pleroma = MastodonProgram("Pleroma, Akkoma") { program in
        program.takesContentType = Known(
            true, source: "lib/pleroma/web/api_spec/operations/status_operation.ex")
        program.listedVisibilities = Known(
            everyVisibility, source: "lib/pleroma/web/activity_pub/activity_pub.ex")
        program.idsIdentifyPeople = Known(
            true, source: "lib/pleroma/web/mastodon_api/views/status_view.ex")
        program.editsPosts = Known(
            true,
            source: LocalizedText("lib/pleroma/web/common_api.ex of Akkoma 3.16, make_update_data"))
        program.hidesDeletedPosts = Known(
            true, source: "lib/pleroma/web/mastodon_api/controllers/status_controller.ex")
        program.knowsFineScopes = Known(true, source: "lib/pleroma/web/plugs/o_auth_scopes_plug.ex")
        program.supportsReturnAddress = Known(
            true, source: "lib/pleroma/web/o_auth/o_auth_controller.ex, after_create_authorization")
    }

    static let snac = MastodonProgram("snac") { program in
        program.listedVisibilities = Known(
            [.public, .unlisted], source: LocalizedText("seen on snac 2.94"))
        program.depths = Known(
            [.ownPosts: 256, .mentions: 64],
            source: LocalizedText(
                "mastoapi.c, timeline_list with 256 entries and notify_list with 64"))
        program.editsPosts = Known(true, source: LocalizedText("seen on snac 2.94"))
        program.marksEdits = Known(true, source: LocalizedText("seen on snac 2.94"))
        program.hidesDeletedPosts = Known(true, source: LocalizedText("seen on snac 2.94"))
        program.knowsFineScopes = Known(true, source: LocalizedText("seen on snac 2.94"))
        program.ignoresScopes = Known(true, source: LocalizedText("seen on snac 2.94"))
    }

    static let takahe = MastodonProgram("Takahe") { program in
        program.audienceGap = Known(
            LocalizedText("Takahe, which shows posts for its own people alone as public"),
            source: "activities/models/post.py, to_mastodon_json")
        program.listedVisibilities = Known(
            [.public, .unlisted], source: "api/views/accounts.py, account_statuses")
        program.editsPosts = Known(true, source: LocalizedText("seen on Takahe 0.11"))
        program.keepsVisibilityInEdits = Known(
            false, source: LocalizedText("activities/models/post.py, edit_local: it becomes public")
        )
        program.marksEdits = Known(true, source: LocalizedText("seen on Takahe 0.11"))
        program.hidesDeletedPosts = Known(true, source: LocalizedText("seen on Takahe 0.11"))
    }

    static let friendica = MastodonProgram("Friendica") { program in
        program.listedVisibilities = Known(everyVisibility, source: seenOnFriendica)
        program.editsPosts = Known(true, source: seenOnFriendica)
        program.keepsProfiles = Known(
            false, source: LocalizedText("seen on Friendica 2024.09: no `source`"))
    }

    /// WordPress with the plugin Enable Mastodon Apps.
    static let wordPress = MastodonProgram(LocalizedText("WordPress with Enable Mastodon Apps")) {
        program in
        program.returnsReplyID = Known(false, source: seenOnWordPress)
        program.keepsVisibility = Known(
            false,
            source: LocalizedText(
                "seen on Enable Mastodon Apps 1.6.1: nobody sees an unlisted post"))
        program.audienceGap = Known(
            LocalizedText("WordPress, which shows private posts as public"), source: seenOnWordPress
        )
        program.listedVisibilities = Known(
            everyVisibility, source: "includes/handler/class-handler.php, get_posts")
        program.editsPosts = Known(true, source: "includes/class-mastodon-api.php, api_edit_post")
        program.keepsVisibilityInEdits = Known(
            false,
            source: LocalizedText(
                "includes/class-mastodon-api.php, api_edit_post: it becomes public"))
        program.keepsProfiles = Known(false, source: seenOnWordPress)
    }

    /// Sharkey, Firefish, Iceshrimp, CherryPick and other descendants of Misskey.
    static let misskey = MastodonProgram(LocalizedText("descendants of Misskey")) { program in
        program.audienceGap = Known(
            LocalizedText(
                "a descendant of Misskey, which shows posts for its own people alone as public"),
            source: "docs/audience.md")
    }

    /// An unknown program.
    static let other = MastodonProgram(LocalizedText("another program"))

    /// The known programs, in the order of the documentation.
    static let all = [
        mastodon, goToSocial(minorVersion: nil), pleroma, snac, takahe, friendica, wordPress,
        misskey, other,
    ]

    private static let everyVisibility = Set(Visibility.allCases)
    private static let seenOnGoToSocial = LocalizedText("seen on GoToSocial 57cb4fe")
    private static let seenOnFriendica = LocalizedText("seen on Friendica 2024.09")
    private static let seenOnWordPress = LocalizedText("seen on Enable Mastodon Apps 1.6.1")
}

// MARK: Recognizing a program

extension MastodonProgram {
    /// The names by which descendants of Misskey call themselves.
    private static let misskeyDescendants = [
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
        if misskeyDescendants.contains(where: { version.contains("compatible; \($0) ") }) {
            return misskey
        }
        // `2.8.0 (compatible; Friendica 2024.09)`
        if version.contains("compatible; friendica ") { return friendica }
        if !version.isEmpty, !isRelease(version) { return other }
        // Before 4.3 Mastodon did not state the version of its interface.
        let mayBeOfMastodon = source?.contains("mastodon") ?? true
        let isOldMastodon = !version.isEmpty && mayBeOfMastodon
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

// MARK: Measured habits

extension MastodonProgram {
    /// The program with the findings of `doctor --probe` in place of its known habits.
    ///
    /// - Parameter findings: For each measured promise, whether the server keeps it; promises that
    ///   were not measured are missing.
    func overruled(by findings: [ServerPromise: Bool]) -> MastodonProgram {
        var program = self
        let source: LocalizedText = "mirror-bot doctor --probe"
        func measured(_ promise: ServerPromise) -> Known<Bool>? {
            findings[promise].map { isKept in Known(isKept, source: source) }
        }
        program.keepsVisibility = measured(.keepsVisibility) ?? keepsVisibility
        program.keepsDirect = measured(.hidesDirect) ?? keepsDirect
        program.editsPosts = measured(.edits) ?? editsPosts
        program.keepsVisibilityInEdits = measured(.editsKeepVisibility) ?? keepsVisibilityInEdits
        program.marksEdits = measured(.tellsEdits) ?? marksEdits
        program.hidesDeletedPosts = measured(.deletes) ?? hidesDeletedPosts
        var visibilities = listedVisibilities.value
        if let listsOpenPosts = findings[.listsNewPosts] {
            if listsOpenPosts {
                visibilities.formUnion([.public, .unlisted])
            } else {
                visibilities.subtract([.public, .unlisted])
            }
        }
        if let listsDirectPosts = findings[.listsDirect] {
            if listsDirectPosts {
                visibilities.insert(.direct)
            } else {
                visibilities.subtract([.private, .direct])
            }
        }
        if visibilities != listedVisibilities.value {
            program.listedVisibilities = Known(visibilities, source: source)
        }
        return program
    }

    /// Whether a copy may be edited: the server supports it, and keeps the visibility.
    var canEdit: Bool { editsPosts.value && keepsVisibilityInEdits.value }

    /// Whether the last part of a post's address is its id in the interface.
    ///
    /// - Parameter addressEnd: The last part of the address.
    func isID(addressEnd: String) -> Bool {
        switch addressIDForm.value {
        case .decimal: MastodonID.isDecimal(addressEnd)
        case .ulid: MastodonID.isULID(addressEnd)
        case .other: false
        }
    }
}

// MARK: In words

extension MastodonProgram {
    /// The habits in words, in the order of the documentation.
    var habits: [ServerHabit] {
        [
            ServerHabit(
                localized("once rests on"), duplicateProtection,
                source: keepsIdempotencyKeys.source.description),
            Self.habit(
                localized("a repeated request"), keepsIdempotencyKeys,
                ifTrue: localized("publishes once, by its key"),
                ifFalse: localized("publishes twice")),
            Self.habit(
                localized("a reply to a deleted post"), refusesRepliesToDeletedPosts,
                ifTrue: localized("is refused"),
                ifFalse: localized("becomes a post of its own")),
            Self.habit(
                localized("the answer to a new reply"), returnsReplyID,
                ifTrue: localized("names it"),
                ifFalse: localized("names the answered post")),
            Self.habit(
                localized("a post's visibility"), keepsVisibility, ifTrue: localized("is kept"),
                ifFalse: localized("is not kept"),
                measuredAs: .keepsVisibility),
            Self.habit(
                localized("a direct post"), keepsDirect, ifTrue: localized("is shown to few"),
                ifFalse: localized("is shown to strangers"), measuredAs: .hidesDirect),
            ServerHabit(
                localized("posts for few"),
                audienceGap.value == nil
                    ? localized("are told apart") : localized("may be shown as public"),
                source: audienceGap.source.description),
            ServerHabit(
                localized("the account's own list"), Self.words(listedVisibilities.value),
                source: listedVisibilities.source.description,
                measuredAs: .listsNewPosts),
            Self.habit(
                localized("who is named"), idsIdentifyPeople,
                ifTrue: localized("is told by the list"),
                ifFalse: localized("is told by text and list")),
            Self.habit(
                localized("a published post"), editsPosts, ifTrue: localized("can be changed"),
                ifFalse: localized("cannot be changed"), measuredAs: .edits),
            Self.habit(
                localized("a changed post's visibility"), keepsVisibilityInEdits,
                ifTrue: localized("is kept"),
                ifFalse: localized("becomes public"),
                measuredAs: .editsKeepVisibility
            ),
            Self.habit(
                localized("a changed post"), marksEdits, ifTrue: localized("is marked"),
                ifFalse: localized("is told by its text"),
                measuredAs: .tellsEdits),
            Self.habit(
                localized("a deleted post"), hidesDeletedPosts, ifTrue: localized("is denied"),
                ifFalse: localized("stays readable"),
                measuredAs: .deletes),
            Self.habit(
                "mirror-bot profile", keepsProfiles, ifTrue: localized("writes it"),
                ifFalse: localized("is done by hand")
            ),
            Self.habit(
                localized("fine scopes"), knowsFineScopes, ifTrue: localized("are known"),
                ifFalse: localized("are not known")),
            Self.habit(
                localized("a token"), ignoresScopes, ifTrue: localized("can do everything"),
                ifFalse: localized("can do what its scopes say")),
            Self.habit(
                localized("a login"), supportsReturnAddress,
                ifTrue: localized("leads back to the page"),
                ifFalse: localized("shows a code")),
        ]
    }

    /// The reason why a post is not published twice after a lost answer.
    private var duplicateProtection: String {
        if keepsIdempotencyKeys.value { return localized("the key") }
        return switch (listedVisibilities.value.contains(.direct), returnsReplyID.value) {
        case (true, true): localized("the look at the own list")
        case (true, false):
            localized("the look at the own list; an answer is not sent again")
        case (false, true):
            localized("the look at the own list; for few, below the answered post")
        case (false, false):
            localized(
                "the look at the own list; for few, below the answered post; an answer is not sent again"
            )
        }
    }

    private static func habit(
        _ name: String, _ habit: Known<Bool>, ifTrue textIfTrue: String,
        ifFalse textIfFalse: String, measuredAs promise: ServerPromise? = nil
    ) -> ServerHabit {
        ServerHabit(
            name, habit.value ? textIfTrue : textIfFalse,
            source: habit.source.description, measuredAs: promise)
    }

    /// Names the visibilities of the posts that an account's list contains.
    private static func words(_ visibilities: Set<Visibility>) -> String {
        if visibilities == Set(Visibility.allCases) { return localized("has all posts") }
        let names = Visibility.allCases.filter(visibilities.contains).map(name)
        if names.isEmpty { return localized("has no new posts") }
        let list = names.joined(by: .comma)
        return localized("has \(list) posts")
    }

    private static func name(of visibility: Visibility) -> String {
        switch visibility {
        case .public: localized("public")
        case .unlisted: localized("unlisted")
        case .private: localized("private")
        case .local: localized("local")
        case .direct: localized("direct")
        }
    }
}

extension MastodonNetwork {
    package var serverHabits: [ServerHabit] { memory.lastInstance?.program.habits ?? [] }

    /// The habits of every known program, for the documentation.
    package static var knownPrograms: [(name: String, habits: [ServerHabit])] {
        MastodonProgram.all.map { ($0.name, $0.habits) }
    }
}
