import Foundation
import Posts

/// What a server says about itself, in version 1 or 2 of the answer.
struct MastodonInstance: Decodable, Equatable {
    /// The host of the names of the server's own accounts; nil where it does not tell.
    let domain: String?
    let maximumCharacters: Int?
    let charactersPerURL: Int?
    /// How much fits into what an account says of itself.
    let profileLimits: AccountProfile.Limits
    let software: MastodonSoftware
    /// Whether the server knows the field `content_type`, without which a text is read as the account's preferences say.
    let takesContentType: Bool

    /// A server that tells nothing.
    static let unknown = MastodonInstance()

    private init() {
        domain = nil
        maximumCharacters = nil
        charactersPerURL = nil
        profileLimits = Self.profileLimits(nil)
        software = .other
        takesContentType = false
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        // GoToSocial names the host of its accounts apart where it differs from the host of its interface.
        domain =
            ["account_domain", "domain", "uri"].lazy
            .compactMap { wire.text($0).flatMap(Self.hostName) }.first
        let statuses = wire.object("configuration")?.object("statuses")
        maximumCharacters = (statuses?.integer("max_characters") ?? wire.integer("max_toot_chars"))
            .flatMap { (1...10_000_000).contains($0) ? $0 : nil }
        charactersPerURL = statuses?.integer("characters_reserved_per_url").flatMap {
            (1...1_000).contains($0) ? $0 : nil
        }
        profileLimits = Self.profileLimits(wire.object("configuration")?.object("accounts"))
        let versions = wire.object("api_versions")
        software = MastodonSoftware(
            version: wire.text("version") ?? "", source: wire.text("source_url"),
            hasMastodonAPI: versions?.integer("mastodon") != nil)
        // glitch-soc and GoToSocial list the types, Pleroma and Akkoma elsewhere.
        let types = statuses?.list(of: String.self, "supported_mime_types") ?? []
        let isKnown: Bool =
            switch software {
            case .goToSocial, .pleroma: true
            case .mastodon, .snac, .wordPress, .takahe, .misskey, .friendica, .other: false
            }
        takesContentType = isKnown || types.contains(MastodonNetwork.plainText)
    }

    /// Where a server does not tell, those of Mastodon, which are the smallest.
    private static func profileLimits(_ told: WireObject?) -> AccountProfile.Limits {
        func limit(_ name: String, _ usual: Int) -> Int {
            told?.integer(name).flatMap { (1...100_000).contains($0) ? $0 : nil } ?? usual
        }
        return AccountProfile.Limits(
            bio: limit("max_note_length", 500), bioBytes: nil, fields: limit("max_profile_fields", 4),
            field: limit("profile_field_value_limit", 255))
    }

    /// The limits for a text.
    ///
    /// Servers other than Mastodon may count code points, which are never fewer than graphemes, and links in full; so
    /// what fits by that way of counting fits everywhere. Content warnings count too.
    var limits: PublishingLimits {
        PublishingLimits(
            maximumCharacters: maximumCharacters ?? PublishingLimits.mastodon.maximumCharacters,
            charactersPerURL: software.shortensLinks
                ? charactersPerURL ?? PublishingLimits.mastodon.charactersPerURL : nil,
            unit: software == .mastodon ? .graphemes : .codePoints)
    }

    /// The host in `text`, which on some servers is a whole address; nil if it is no host.
    static func hostName(_ text: String) -> String? {
        let bare = text.split(separator: "://", maxSplits: 1).last.map(String.init) ?? text
        let host = bare.hasSuffix("/") ? String(bare.dropLast()) : bare
        let isHost = host.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "." || $0 == "-" || $0 == ":"
        }
        return !host.isEmpty && host.utf8.count <= 253 && isHost ? host.lowercased() : nil
    }
}

extension MastodonInstance {
    /// Version 2 of the answer, or version 1, or nothing where a server has neither.
    ///
    /// A server that is out of order, or something that answers in its place, is an error: what it says about itself
    /// completes local names, and a wrong host would make other people of them.
    ///
    /// - Throws: What `ask` throws, which makes a call and reads its answer; the error is always one that passes.
    static func read(_ ask: (NetworkCall) async throws -> MastodonInstance) async throws -> MastodonInstance {
        func instance(version: String) async throws -> MastodonInstance {
            try await ask(NetworkCall(operation: .readLimits, path: ["api", version, "instance"]))
        }
        let problem: NetworkError
        do {
            return try await instance(version: "v2")
        } catch let error as NetworkError where error.code != .transport && error.code != .rateLimited {
            problem = error
        }
        do {
            return try await instance(version: "v1")
        } catch let error as NetworkError {
            guard saysAbsent(problem) else { throw passing(problem) }
            guard saysAbsent(error) else { throw passing(error) }
            return .unknown
        }
    }

    /// Whether the server itself says that it does not have what was asked for.
    private static func saysAbsent(_ error: NetworkError) -> Bool { error.code == .notFound || error.status == 405 }

    /// Tomorrow the answer may be another one.
    private static func passing(_ error: NetworkError) -> NetworkError {
        guard error.isPermanent else { return error }
        var error = error
        error.code = .unavailable
        error.detail = "the server does not say what it is"
        return error
    }
}

/// Which program a server runs, where its habits matter and cannot be asked for.
enum MastodonSoftware: Equatable {
    /// Mastodon itself, and what was made from it.
    case mastodon
    /// GoToSocial; nil for a version that cannot be read.
    case goToSocial(minorVersion: Int?)
    case snac
    /// Pleroma and Akkoma.
    case pleroma
    /// WordPress with the plugin Enable Mastodon Apps.
    case wordPress
    case takahe
    /// Sharkey, Firefish, Iceshrimp, CherryPick and others that descend from Misskey.
    case misskey
    case friendica
    /// Whatever else there is.
    case other

    /// The names by which descendants of Misskey call themselves.
    private static let misskeys = [
        "misskey", "sharkey", "firefish", "iceshrimp", "cherrypick", "catodon", "calckey", "foundkey", "hajkey",
    ]

    /// - Parameters:
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
        } else if version.contains("compatible; pleroma ") || version.contains("compatible; akkoma ") {
            // `2.7.2 (compatible; Pleroma 2.6.0)`
            self = .pleroma
        } else if version.contains("wordpress/") {
            // `WordPress/6.1.9, EMA/1.6.1`
            self = .wordPress
        } else if version.contains("takahe/") {
            self = .takahe
        } else if Self.misskeys.contains(where: { version.contains("compatible; \($0) ") }) {
            // `3.0.0 (compatible; Sharkey 2025.4.2)`
            self = .misskey
        } else if version.contains("compatible; friendica ") {
            // `2.8.0 (compatible; Friendica 2024.09)`
            self = .friendica
        } else if !version.isEmpty, !Self.isRelease(version) {
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
        case .snac, .pleroma, .wordPress, .takahe, .misskey, .friendica, .other: false
        }
    }

    /// What the program does not tell of who may see a post, as the end of `the server runs …`; nil
    /// if it tells all.
    ///
    /// docs/audience.md names the sources.
    var audienceGap: String? {
        switch self {
        case .wordPress: "WordPress, which shows private posts as public"
        case .takahe: "Takahe, which shows posts for its own people alone as public"
        case .misskey: "a descendant of Misskey, which shows posts for its own people alone as public"
        case .mastodon, .goToSocial, .snac, .pleroma, .friendica, .other: nil
        }
    }

    /// Whether a post's number in the interface stands at the end of what the post is called
    /// everywhere.
    ///
    /// - Parameter number: What stands there.
    func namesPosts(by number: String) -> Bool {
        switch self {
        case .mastodon: MastodonID.isDecimal(number)
        case .goToSocial: MastodonID.isULID(number)
        case .snac, .pleroma, .wordPress, .takahe, .misskey, .friendica, .other: false
        }
    }

    /// Who asks for a post without a login is told truly whether it is there.
    ///
    /// Pleroma and Akkoma say that it is not, where the operator lets only people with a login read.
    var tellsAnybodyWhatIsThere: Bool { self != .pleroma }

    /// The numbers in a post tell whom it answers and whom it names.
    ///
    /// Elsewhere they may mean something else: Friendica gives the author of the thread's first post for that of the
    /// answered one and names people whom nobody named, and snac counts the people of a post from 0.
    var tellsPeopleByNumber: Bool {
        switch self {
        case .mastodon, .goToSocial, .pleroma: true
        case .snac, .wordPress, .takahe, .misskey, .friendica, .other: false
        }
    }

    /// A post that was deleted is not shown to who asks for it by its id.
    ///
    /// Friendica and WordPress go on showing it, and leave it out of the account's list.
    var hidesDeletedPosts: Bool {
        switch self {
        case .mastodon, .goToSocial, .pleroma, .snac, .takahe: true
        case .wordPress, .misskey, .friendica, .other: false
        }
    }

    /// The visibilities of posts that an account's list shows to its owner.
    ///
    /// A post of another visibility may exist although the list lacks it. Seen on GoToSocial 57cb4fe
    /// and Friendica 2024.09; Takahe (`api/views/accounts.py`, `account_statuses`) and snac 2.94
    /// leave out what is for few; WordPress (`includes/handler/class-handler.php`) asks for published
    /// and private posts. Of other programs only open posts are believed to be listed.
    var listedVisibilities: Set<Visibility> {
        switch self {
        case .mastodon, .goToSocial, .pleroma, .friendica, .wordPress: Set(Visibility.allCases)
        case .snac, .takahe, .misskey, .other: [.public, .unlisted]
        }
    }

    /// Two requests with one `Idempotency-Key` make one post, for an hour at least.
    ///
    /// GoToSocial, Takahe and snac are known to ignore the key. Pleroma keeps an answer for hours, but not where its
    /// cache is switched off; of what nobody knows nothing is believed.
    var keepsIdempotencyKeys: Bool { self == .mastodon }

    /// The limit of a server that counts requests by address, with a login too; nil where it counts by account.
    ///
    /// GoToSocial's `advanced-rate-limit-requests`, whose default it is; its answers tell another one.
    var addressLimit: AddressLimit? {
        switch self {
        case .goToSocial: AddressLimit(count: 300, period: 300)
        case .mastodon, .snac, .pleroma, .wordPress, .takahe, .misskey, .friendica, .other: nil
        }
    }

    /// What is published can be given another text: Mastodon since 3.5, GoToSocial since 0.18.
    var editsPosts: Bool {
        switch self {
        case .mastodon: true
        case .goToSocial(let minorVersion): minorVersion.map { $0 >= 18 } ?? true
        case .snac, .pleroma, .wordPress, .takahe, .misskey, .friendica, .other: false
        }
    }

    /// Scopes such as `write:statuses` are known.
    var knowsFineScopes: Bool {
        switch self {
        case .mastodon, .goToSocial, .snac, .pleroma: true
        case .wordPress, .takahe, .misskey, .friendica, .other: false
        }
    }

    /// A token can do everything, whatever scopes it was given: GoToSocial before 0.19, and snac.
    var ignoresScopes: Bool {
        switch self {
        case .snac: true
        case .goToSocial(let minorVersion): minorVersion.map { $0 < 19 } ?? false
        case .mastodon, .pleroma, .wordPress, .takahe, .misskey, .friendica, .other: false
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

/// What the server says about itself.
extension MastodonNetwork {
    /// What the server says about itself, asked once a day.
    ///
    /// A refresh that fails keeps what is known for another hour.
    func instance() async throws -> MastodonInstance {
        let time = client.now()
        if let known = memory.instance(at: time) { return known }
        do {
            let instance = try await MastodonInstance.read { try await session.value(MastodonInstance.self, $0) }
            memory.keep(instance, until: time.addingTimeInterval(86_400))
            client.origin.gates.learn(instance.software.addressLimit, of: client.server)
            return instance
        } catch let error as NetworkError {
            guard let known = memory.lastInstance else { throw error }
            memory.keep(known, until: time.addingTimeInterval(3_600))
            return known
        }
    }

    /// The names of the server's custom emoji, asked once a day.
    ///
    /// A server that does not tell has none as far as anybody knows, and is asked again in an hour.
    package func emoji() async throws -> Set<String> {
        let time = client.now()
        if let known = memory.emoji(at: time) { return known }
        let call = NetworkCall(operation: .readEmoji, path: ["api", "v1", "custom_emojis"])
        do {
            let listed = try await session.value([LenientElement<MastodonEmoji>].self, call)
            let emoji = Set(listed.compactMap(\.value?.shortcode))
            memory.keep(emoji: emoji, until: time.addingTimeInterval(86_400))
            return emoji
        } catch let error as NetworkError where error.code != .rateLimited {
            let known = memory.lastEmoji ?? []
            memory.keep(emoji: known, until: time.addingTimeInterval(3_600))
            return known
        }
    }

    /// The host of the names of the server's own accounts, as far as it is certain.
    ///
    /// The account's own address tells it, and so does the instance. Where they contradict each other, as they do on
    /// servers whose names have another host than their pages, the server's answer for other servers decides. A server
    /// without an instance is believed what the account's address says.
    ///
    /// - Parameter account: The token's own.
    /// - Returns: The host in lower case, with a port if it has one.
    /// - Throws: ``NetworkError`` with a code that passes if it is not certain; or `CancellationError`.
    func domain(of account: MastodonAccount) async throws -> String {
        let told = try await toldDomain()
        let name = account.acct.split(separator: "@", maxSplits: 1).map(String.init)
        if name.count == 2, name[1].lowercased() != server.host { return name[1].lowercased() }
        guard let claimed = account.hosts.first ?? (name.count == 2 ? name[1].lowercased() : told) else {
            throw uncertain("neither the account nor the instance tells the host of its name")
        }
        if claimed == told { return claimed }
        guard let decided = try await webFingerDomain(of: "\(name[0])@\(claimed)") else {
            guard told == nil else { throw uncertain("the instance and the account's address name different hosts") }
            return claimed
        }
        guard told == nil || decided == told || decided == claimed else {
            throw uncertain("the instance, the account's address and its name name different hosts")
        }
        return decided
    }

    /// What the instance calls itself.
    ///
    /// A server that is reached through another host may take that one for its own; it is not.
    private func toldDomain() async throws -> String? {
        guard let told = try await instance().domain else { return nil }
        let asked = client.server.host
        return asked == server.host || told.prefix(while: { $0 != ":" }) != asked ? told : nil
    }

    /// The host of an account's name as the server tells others (RFC 7033); nil if it does not know.
    private func webFingerDomain(of name: String) async throws -> String? {
        let call = NetworkCall(
            operation: .verifyAccount, path: [".well-known", "webfinger"],
            query: [("resource", "acct:\(name)")])
        let subject: String
        do {
            subject = try await client.value(WebFinger.self, call, token: nil).subject
        } catch var error as NetworkError {
            if [404, 405, 410].contains(error.status) { return nil }
            if error.isPermanent { error.code = .unavailable }
            throw error
        }
        let parts = subject.split(separator: "@", omittingEmptySubsequences: false)
        let user = name.prefix { $0 != "@" }.lowercased()
        guard parts.count == 2, parts[0].lowercased() == "acct:\(user)",
            let host = MastodonInstance.hostName(String(parts[1]))
        else { throw uncertain("what the server tells others is about another account") }
        return host
    }

    func uncertain(_ cause: String) -> NetworkError {
        client.error(.verification, .malformedResponse, outcome: .refused, detail: cause)
    }
}

/// A picture that the server shows in the place of its name.
private struct MastodonEmoji: Decodable {
    /// Without colons.
    let shortcode: String
}

/// What a server tells others about an account.
private struct WebFinger: Decodable {
    /// As `acct:user@host`.
    let subject: String
}
