package import Foundation
import NetworkNames
package import Posts

/// The content of a post of a Mastodon-compatible server, before it is converted to a `Post`.
///
/// Both wire forms fill it: a status of the client API, saved or requested, and a note of an
/// archive's outbox. Differences between the two forms are resolved here, so that a post reads the
/// same from either.
package struct FediversePost: Sendable {
    /// A person whom the post mentions.
    package struct Mention: Sendable {
        package var account: AccountID
        /// `user@host`, with the case in which the name is written.
        package var name: String
        /// The addresses of the profile and the actor; links in the content lead to one of them, or
        /// to another usual place.
        package var addresses: [String]

        package init(account: AccountID, name: String, addresses: [String]) {
            self.account = account
            self.name = name
            self.addresses = addresses
        }

        /// Whether a content contains the address of the profile or the actor, or `@user@host`, as
        /// a whole.
        ///
        /// `@user` alone does not count, because on another server it may be another person.
        package func isNamed(in html: String) -> Bool {
            let text = PlainText.fromHTML(html).lowercased()
            return addresses.contains { !$0.isEmpty && Self.holds(html, $0) }
                || Self.holds(text, "@\(name)".lowercased())
        }

        /// Whether `text` contains `name` as a whole, not as the beginning of a longer name.
        private static func holds(_ text: String, _ name: String) -> Bool {
            var rest = text[...]
            while let found = rest.firstRange(of: name) {
                let end = text[found.upperBound...]
                let goesOn =
                    end.first.map { $0.isLetter || $0.isNumber || "_-/@".contains($0) } ?? false
                // A full stop ends the name, unless a letter follows, as in a host.
                let isLonger =
                    end.first == "."
                    && end.dropFirst().first.map { $0.isLetter || $0.isNumber } == true
                if !goesOn, !isLonger { return true }
                rest = end
            }
            return false
        }
    }

    /// The candidates for the post's global identity, the best first.
    package var identities: [String]
    package var author: AccountID
    /// HTML; empty for none.
    package var content = ""
    /// HTML by language, if the wire has it.
    package var contentByLanguage: [String: String] = [:]
    package var language: String?
    /// The words of a content warning; empty for none.
    package var warning = ""
    package var isSensitive = false
    /// The people for whom the post is meant.
    package var audience = PostAudience()
    /// The time of publication, unparsed.
    package var written: String?
    package var updated: Date?
    package var replyTo: ReplyTarget?
    package var isRepost = false
    package var mentions: [Mention] = []
    /// Whether the server may list people whom the text does not mention.
    package var mentionsAreLoose = false
    /// The addresses of the post's hashtags.
    package var hashtags: [String] = []
    /// Whether the wire says that it quotes a post.
    package var isQuote = false
    /// The attached pictures, `nil` for each attachment that is not a still picture.
    package var attachments: [Picture?] = []
    package var hasPoll = false
    /// The text without markup, if the wire has it; used instead of the content.
    package var caption: String?
    /// The author's client program.
    package var client: String?

    package init(identities: [String?], author: AccountID) {
        self.identities = identities.compactMap(\.self)
        self.author = author
    }

    /// The most mentions that are read of a post.
    private static let maximumMentions = 100

    /// The post's global identity; `nil` if no candidate can be one.
    package var identity: String? { Self.identity(among: identities) }

    /// Returns the first candidate that can be a post's global identity.
    package static func identity(among candidates: [String?]) -> String? {
        candidates.compactMap(\.self).first(where: ActorAddress.isOneWord)
    }

    /// When the author last changed the post; nil if never.
    package var editedAt: Date? {
        let published = written.flatMap { Date(rfc3339: $0) } ?? .distantPast
        return updated.flatMap { $0 > published ? $0 : nil }
    }

    /// The post in our own terms.
    ///
    /// - Parameters:
    ///   - noticedAt: When a server first saw the post; `nil` if only the post is known.
    ///   - now: The present, the latest possible time of a post.
    /// - Returns: Nil for a post without an identity.
    package func post(noticedAt: Date? = nil, now: Date) -> Post? {
        guard let identity else { return nil }
        // A server's word is better than the number in the identity, which is missing on most
        // servers.
        let keyed = noticedAt == nil ? PostTime.keyed(mastodon: identity) : nil
        let time = PostTime(written, keyed: keyed, noticedAt: min(noticedAt ?? now, now))
        let named = distinct(mentions.prefix(Self.maximumMentions))
        // A caption has no markup, so nothing is derived from markup.
        let html = HTMLText(
            caption == nil ? chosenContent.html : "", names: Self.names(of: named),
            hashtags: Set(hashtags.map { $0.lowercased() }))
        let text = caption.map(PlainText.cleaned) ?? html.text
        let warning = PlainText.cleaned(warning)
        var audience = audience
        audience.narrow(byEndOf: text)
        var post = Post(
            id: PostID(network: .mastodon, value: identity), author: author, text: text,
            createdAt: time.date, isTimeTrusted: time.isTrusted, replyTo: replyTo,
            isRepost: isRepost, visibility: audience.visibility,
            language: chosenContent.language.flatMap(LanguageTag.naming),
            hasMedia: !attachments.isEmpty || hasPoll || html.hasMedia,
            isSensitive: isSensitive || !warning.isEmpty, mentions: namedMentions.map(\.account),
            warning: warning.isEmpty ? nil : warning, client: client,
            // Pictures in the content are also among the attachments, if they can be sent at all.
            pictures: Picture.all(attachments, besides: hasPoll),
            isQuote: isQuote || html.quotesPost)
        post.isTimeLimited = audience.isTimeLimited
        post.linkWords = html.linkWords
        return post
    }

    // MARK: Content

    /// The HTML to read, and its language if the post has a single one.
    private var chosenContent: (html: String, language: String?) {
        let versions = contentByLanguage.sorted { $0.key < $1.key }
        let same = versions.filter { $0.value == content }
        let candidates = same.count == 1 ? same : versions
        let chosen = candidates.count == 1 ? candidates.first : nil
        return (content.isEmpty ? versions.first?.value ?? "" : content, language ?? chosen?.key)
    }

    // MARK: People

    /// The people whom the author mentions.
    ///
    /// If the server lists people of its own accord, only those whose name or address the content
    /// contains are returned.
    package var namedMentions: [Mention] {
        let named = distinct(mentions.prefix(Self.maximumMentions))
        guard mentionsAreLoose, !named.isEmpty else { return named }
        let html = chosenContent.html
        let text = PlainText.fromHTML(html).lowercased()
        return named.filter { mention in
            mention.addresses.contains { !$0.isEmpty && html.contains($0) }
                || text.contains("@\(mention.name.prefix { $0 != "@" })".lowercased())
        }
    }

    private func distinct(_ mentions: ArraySlice<Mention>) -> [Mention] {
        var seen: Set<AccountID> = []
        return mentions.filter { seen.insert($0.account).inserted }
    }

    /// Returns the names that replace the links to people, by link.
    ///
    /// A mention may name people by the address of their actor while the text links to their
    /// profile, which servers put at one of a few places.
    private static func names(of mentions: [Mention]) -> [String: String] {
        var names: [String: String] = [:]
        for mention in mentions {
            for address in mention.addresses where !address.isEmpty {
                names[address] = mention.name
            }
        }
        for mention in mentions {
            for address in mention.addresses {
                guard let (host, last) = parts(of: address) else { continue }
                let users = [
                    mention.name.prefix { $0 != "@" }.lowercased(),
                    last.drop { $0 == "@" }.lowercased(),
                ]
                for user in Set(users) where !user.isEmpty {
                    for folder in ["@", "users/", "", "profile/", "channel/", "u/"] {
                        let link = "https://\(host)/\(folder)\(user)"
                        if names[link] == nil { names[link] = mention.name }
                    }
                }
            }
        }
        return names
    }

    /// The host of a web address, with its port, and the part after its last slash; nil for any
    /// other text.
    private static func parts(of address: String) -> (host: String, last: Substring)? {
        guard PlainText.isWebAddress(address), let scheme = address.firstRange(of: "://") else {
            return nil
        }
        let rest = address[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let parts = rest.split(separator: "/")
        guard let host = parts.first, parts.count > 1, let last = parts.last else { return nil }
        return (host.lowercased(), last)
    }
}
