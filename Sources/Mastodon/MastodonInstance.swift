import Formats
import Foundation
import Localization
import NetworkNames
import Networks
import Posts

/// A server's description of itself, in version 1 or 2 of the answer.
struct MastodonInstance: Decodable, Equatable {
    /// The host in the names of the server's own accounts; nil if the server does not state it.
    let domain: String?
    let maximumCharacters: Int?
    let charactersPerURL: Int?
    /// The size limits of an account's profile.
    let profileLimits: AccountProfile.Limits
    /// The server's program, with the findings of `doctor --probe`.
    private(set) var program: MastodonProgram
    /// Whether the server lists `text/plain` among the types of a new post, as glitch-soc and
    /// GoToSocial do.
    private let listsPlainText: Bool

    /// The instance of a server that states nothing.
    static let unknown = MastodonInstance()

    private init() {
        domain = nil
        maximumCharacters = nil
        charactersPerURL = nil
        profileLimits = Self.profileLimits(statedIn: nil)
        program = .other
        listsPlainText = false
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        // GoToSocial states the host of account names separately if it differs from the host of its
        // interface.
        domain =
            ["account_domain", "domain", "uri"].lazy
            .compactMap { wire.text($0).flatMap(Self.hostName) }.first
        let statuses = wire.object("configuration")?.object("statuses")
        maximumCharacters = (statuses?.integer("max_characters") ?? wire.integer("max_toot_chars"))
            .flatMap { (1...10_000_000).contains($0) ? $0 : nil }
        charactersPerURL = statuses?.integer("characters_reserved_per_url").flatMap {
            (1...1_000).contains($0) ? $0 : nil
        }
        profileLimits = Self.profileLimits(
            statedIn: wire.object("configuration")?.object("accounts"))
        let versions = wire.object("api_versions")
        program = .recognized(
            version: wire.text("version") ?? "", source: wire.text("source_url"),
            hasMastodonAPI: versions?.integer("mastodon") != nil)
        // Pleroma and Akkoma list the types elsewhere.
        listsPlainText =
            statuses?.list(of: String.self, "supported_mime_types").contains(
                MastodonNetwork.plainText) ?? false
    }

    /// Whether the server supports the field `content_type`; without it a text is read as the
    /// account's preferences say.
    var takesContentType: Bool { program.takesContentType.value || listsPlainText }

    /// The instance with the findings of `doctor --probe` in place of the known habits of its
    /// program.
    func overruled(by findings: [ServerPromise: Bool]) -> MastodonInstance {
        var instance = self
        instance.program = program.overruled(by: findings)
        return instance
    }

    /// Reads the size limits of a profile.
    ///
    /// A limit that the server does not state is assumed to be Mastodon's, which is the smallest.
    private static func profileLimits(
        statedIn serverLimits: WireObject?
    ) -> AccountProfile.Limits {
        func limit(_ name: String, _ defaultLimit: Int) -> Int {
            serverLimits?.integer(name).flatMap { (1...100_000).contains($0) ? $0 : nil }
                ?? defaultLimit
        }
        return AccountProfile.Limits(
            bio: limit("max_note_length", 500), bioBytes: nil,
            fields: limit("max_profile_fields", 4),
            field: limit("profile_field_value_limit", 255))
    }

    /// The limits for a text.
    ///
    /// Servers other than Mastodon may count code points, which are never fewer than graphemes, and
    /// the full length of links; so a text that fits by this count fits everywhere. Content
    /// warnings count too.
    var limits: PublishingLimits {
        PublishingLimits(
            maximumCharacters: maximumCharacters ?? PublishingLimits.mastodon.maximumCharacters,
            charactersPerURL: program.shortensLinks.value
                ? charactersPerURL ?? PublishingLimits.mastodon.charactersPerURL : nil,
            unit: program.shortensLinks.value ? .graphemes : .codePoints)
    }

    /// The host in `text`, in lower case; some servers write a whole address in place of a host.
    ///
    /// - Returns: Nil if `text` contains no host.
    static func hostName(_ text: String) -> String? {
        let withoutScheme = text.split(separator: "://", maxSplits: 1).last.map(String.init) ?? text
        let host =
            withoutScheme.hasSuffix("/") ? String(withoutScheme.dropLast()) : withoutScheme
        let isHost = host.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "." || $0 == "-"
                || $0 == ":"
        }
        return !host.isEmpty && host.utf8.count <= 253 && isHost ? host.lowercased() : nil
    }
}

extension MastodonInstance {
    /// Requests version 2 of the answer, or else version 1; ``unknown`` if the server has neither.
    ///
    /// The answer of a faulty server, or of a proxy in front of it, is an error: the host in the
    /// answer completes local names, and a wrong host would name other people.
    ///
    /// - Throws: The error of `request`, which makes a call and reads its answer; it is always a
    ///   temporary one.
    static func read(_ request: (NetworkCall) async throws -> MastodonInstance) async throws
        -> MastodonInstance
    {
        func instance(version: String) async throws -> MastodonInstance {
            try await request(
                NetworkCall(operation: .readLimits, path: ["api", version, "instance"]))
        }
        let version2Error: NetworkError
        do {
            return try await instance(version: "v2")
        } catch let error as NetworkError
            where error.code != .transport && error.code != .rateLimited
        {
            version2Error = error
        }
        do {
            return try await instance(version: "v1")
        } catch let error as NetworkError {
            guard saysAbsent(version2Error) else { throw madeTemporary(version2Error) }
            guard saysAbsent(error) else { throw madeTemporary(error) }
            return .unknown
        }
    }

    /// Whether the server itself says that it lacks the requested part.
    private static func saysAbsent(_ error: NetworkError) -> Bool {
        error.code == .notFound || error.status == 405
    }

    /// The error as a temporary one, because the server's answer may differ later.
    private static func madeTemporary(_ error: NetworkError) -> NetworkError {
        guard error.isPermanent else { return error }
        var error = error
        error.code = .unavailable
        error.detail = localized("the server does not say what it is")
        return error
    }
}

/// Reading the server's description of itself.
extension MastodonNetwork {
    /// The server's description of itself, requested once a day.
    ///
    /// If a refresh fails, the known description is kept for another hour.
    func instance() async throws -> MastodonInstance {
        let time = client.now()
        if let remembered = memory.instance(at: time) { return remembered }
        do {
            let ownDescription = try await MastodonInstance.read {
                try await session.value(MastodonInstance.self, $0)
            }
            let instance = ownDescription.overruled(by: findings)
            memory.keep(instance, until: time.addingTimeInterval(86_400))
            client.origin.gates.learn(instance.program.addressLimit.value, of: client.server)
            return instance
        } catch let error as NetworkError {
            guard let lastInstance = memory.lastInstance else { throw error }
            memory.keep(lastInstance, until: time.addingTimeInterval(3_600))
            return lastInstance
        }
    }

    /// The names of the server's custom emoji, requested once a day.
    ///
    /// If the server does not answer, none are known, and they are requested again in an hour.
    package func emoji() async throws -> Set<String> {
        let time = client.now()
        if let remembered = memory.emoji(at: time) { return remembered }
        let call = NetworkCall(operation: .readEmoji, path: ["api", "v1", "custom_emojis"])
        do {
            let elements = try await session.value([LenientElement<MastodonEmoji>].self, call)
            let emoji = Set(elements.compactMap(\.value?.shortcode))
            memory.keep(emoji: emoji, until: time.addingTimeInterval(86_400))
            return emoji
        } catch let error as NetworkError where error.code != .rateLimited {
            let lastEmoji = memory.lastEmoji ?? []
            memory.keep(emoji: lastEmoji, until: time.addingTimeInterval(3_600))
            return lastEmoji
        }
    }

    /// The host in the names of the server's own accounts, if it is certain.
    ///
    /// The account's own address and the instance both state this host. If they differ, as they do
    /// on servers whose account names have another host than their pages, the server's WebFinger
    /// answer decides. If the server does not answer about its instance, the account's address
    /// decides.
    ///
    /// - Parameter account: The account of the token.
    /// - Returns: The host in lower case, with a port if it has one.
    /// - Throws: A temporary `NetworkError` if it is not certain; or `CancellationError`.
    func domain(of account: MastodonAccount) async throws -> String {
        let statedDomain = try await statedDomain()
        let nameParts = account.acct.split(separator: "@", maxSplits: 1).map(String.init)
        let hostInName = nameParts.count == 2 ? nameParts[1].lowercased() : nil
        if let hostInName, hostInName != server.host { return hostInName }
        guard let accountHost = account.hosts.first ?? hostInName ?? statedDomain else {
            throw uncertain(
                localized("neither the account nor the instance tells the host of its name"))
        }
        if accountHost == statedDomain { return accountHost }
        guard let webFingerHost = try await webFingerDomain(of: "\(nameParts[0])@\(accountHost)")
        else {
            guard statedDomain == nil else {
                throw uncertain(
                    localized("the instance and the account's address name different hosts"))
            }
            return accountHost
        }
        guard
            statedDomain == nil || webFingerHost == statedDomain || webFingerHost == accountHost
        else {
            throw uncertain(
                localized("the instance, the account's address and its name name different hosts"))
        }
        return webFingerHost
    }

    /// The domain that the instance states.
    ///
    /// A server that is reached through another host, such as a proxy, may state that host, which
    /// is not the host of its accounts; the result is then nil.
    private func statedDomain() async throws -> String? {
        guard let statedDomain = try await instance().domain else { return nil }
        let requestedHost = client.server.host
        let isRequestedHost =
            requestedHost != server.host
            && statedDomain.prefix { $0 != ":" } == requestedHost
        return isRequestedHost ? nil : statedDomain
    }

    /// The host of an account's name in the server's WebFinger answer (RFC 7033); nil if it has
    /// none.
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
        else { throw uncertain(localized("what the server tells others is about another account")) }
        return host
    }

    func uncertain(_ cause: String) -> NetworkError {
        client.error(.verification, .malformedResponse, outcome: .refused, detail: cause)
    }
}

/// An image that the server shows in place of its name.
private struct MastodonEmoji: Decodable {
    /// The name of the emoji, without colons.
    let shortcode: String
}

/// The server's WebFinger answer about an account.
private struct WebFinger: Decodable {
    /// The account's name, as `acct:user@host`.
    let subject: String
}
