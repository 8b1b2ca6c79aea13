import Foundation
import Posts

/// What a server says about itself, in version 1 or 2 of the answer.
struct MastodonInstance: Decodable, Equatable {
    /// The host of the names of the server's own accounts; nil where it does not tell.
    let domain: String?
    let maximumCharacters: Int?
    let charactersPerURL: Int?
    let software: MastodonSoftware

    /// A server that tells nothing.
    static let unknown = MastodonInstance()

    private init() {
        domain = nil
        maximumCharacters = nil
        charactersPerURL = nil
        software = .other
    }

    private enum CodingKeys: String, CodingKey {
        case domain, uri, configuration, version
        case accountDomain = "account_domain"
        case maximumTootCharacters = "max_toot_chars"
        case versions = "api_versions"
        case source = "source_url"
    }

    private enum ConfigurationKeys: CodingKey {
        case statuses
    }

    private enum StatusesKeys: String, CodingKey {
        case maximumCharacters = "max_characters"
        case charactersPerURL = "characters_reserved_per_url"
    }

    private enum VersionKeys: CodingKey {
        case mastodon
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // GoToSocial names the host of its accounts apart where it differs from the host of its interface.
        domain =
            [CodingKeys.accountDomain, .domain, .uri].lazy
            .compactMap { container.text($0).flatMap(Self.hostName) }.first
        let statuses = try? container.nestedContainer(keyedBy: ConfigurationKeys.self, forKey: .configuration)
            .nestedContainer(keyedBy: StatusesKeys.self, forKey: .statuses)
        maximumCharacters = (statuses?.integer(.maximumCharacters) ?? container.integer(.maximumTootCharacters))
            .flatMap { (1...10_000_000).contains($0) ? $0 : nil }
        charactersPerURL = statuses?.integer(.charactersPerURL).flatMap { (1...1_000).contains($0) ? $0 : nil }
        let versions = try? container.nestedContainer(keyedBy: VersionKeys.self, forKey: .versions)
        software = MastodonSoftware(
            version: container.text(.version) ?? "", source: container.text(.source),
            hasMastodonAPI: versions?.integer(.mastodon) != nil)
    }

    /// The limits for a text.
    ///
    /// Servers other than Mastodon may count code points, which are never fewer than graphemes, and links in full; so
    /// what fits by that way of counting fits everywhere. Drafts have no content warning, which some would count too.
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
    static func read(_ ask: (MastodonCall) async throws -> MastodonInstance) async throws -> MastodonInstance {
        func instance(version: String) async throws -> MastodonInstance {
            try await ask(MastodonCall(operation: .readLimits, path: ["api", version, "instance"]))
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
