package import Foundation
package import Posts

/// A post of a Mastodon-compatible server, before it is one of ours.
///
/// Both wire forms fill it: a status of the client API, saved or asked for, and a note of an
/// archive's outbox. What the two say in different ways is read here, so that one post reads the
/// same by either.
package struct FediversePost: Sendable {
    /// Somebody whom the post names.
    package struct Mention: Sendable {
        package var account: AccountID
        /// `user@host`, with the case in which the name is written.
        package var name: String
        /// The address of the profile or the actor; links in the content lead there, or to another
        /// usual place.
        package var addresses: [String]

        package init(account: AccountID, name: String, addresses: [String]) {
            self.account = account
            self.name = name
            self.addresses = addresses
        }

        /// Whether a content holds the address of the profile or the actor, or `@user@host`, as a
        /// whole.
        ///
        /// `@user` alone may be somebody else on another server.
        package func isNamed(in html: String) -> Bool {
            let text = PlainText.fromHTML(html).lowercased()
            return addresses.contains { !$0.isEmpty && Self.holds(html, $0) }
                || Self.holds(text, "@\(name)".lowercased())
        }

        /// Whether `text` holds `name`, and nothing that makes it a longer name follows.
        private static func holds(_ text: String, _ name: String) -> Bool {
            var rest = text[...]
            while let found = rest.firstRange(of: name) {
                let end = text[found.upperBound...]
                let goesOn =
                    end.first.map { $0.isLetter || $0.isNumber || "_-/@".contains($0) } ?? false
                // A point ends a sentence, or goes on a host.
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
    /// HTML by language, where the wire tells it so.
    package var contentByLanguage: [String: String] = [:]
    package var language: String?
    /// The words of a content warning; empty for none.
    package var warning = ""
    package var isSensitive = false
    /// The people for whom the post is meant.
    package var audience = PostAudience()
    /// The time of publication as the wire has it.
    package var written: String?
    package var updated: Date?
    package var replyTo: ReplyTarget?
    package var isRepost = false
    package var mentions: [Mention] = []
    /// Whether the server names people whom the text does not.
    package var mentionsAreLoose = false
    /// The addresses of the post's hashtags.
    package var hashtags: [String] = []
    /// Whether the wire tells that it quotes a post.
    package var isQuote = false
    /// The attached pictures, `nil` for each attachment that is no still picture.
    package var attachments: [Picture?] = []
    package var hasPoll = false
    /// The text, where the wire has it without markup; used in place of the content.
    package var caption: String?
    /// The program that the author wrote it with.
    package var client: String?

    package init(identities: [String?], author: AccountID) {
        self.identities = identities.compactMap(\.self)
        self.author = author
    }

    /// A post names no more people than this in earnest.
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
    ///   - noticedAt: When a server told of it; `nil` where only the post is known.
    ///   - now: The present: nothing was made later.
    /// - Returns: Nil for a post without an identity.
    package func post(noticedAt: Date? = nil, now: Date) -> Post? {
        guard let identity else { return nil }
        // A server's word is better than the number in the identity, which is missing on most
        // servers.
        let keyed = noticedAt == nil ? PostTime.keyed(mastodon: identity) : nil
        let time = PostTime(written, keyed: keyed, noticedAt: min(noticedAt ?? now, now))
        let named = distinct(mentions.prefix(Self.maximumMentions))
        // A caption has no markup, and so nothing that only markup tells.
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
            isSensitive: isSensitive || !warning.isEmpty, mentions: whoIsMeant.map(\.account),
            warning: warning.isEmpty ? nil : warning, client: client,
            // Pictures in the content are attached as well, where they can be sent along at all.
            pictures: Picture.all(attachments, besides: hasPoll),
            isQuote: isQuote || html.quotesPost)
        post.isTimeLimited = audience.isTimeLimited
        post.linkWords = html.linkWords
        return post
    }

    // MARK: Content

    /// The HTML, and its language if the post names just one for it.
    private var chosenContent: (html: String, language: String?) {
        let versions = contentByLanguage.sorted { $0.key < $1.key }
        let same = versions.filter { $0.value == content }
        let candidates = same.count == 1 ? same : versions
        let chosen = candidates.count == 1 ? candidates.first : nil
        return (content.isEmpty ? versions.first?.value ?? "" : content, language ?? chosen?.key)
    }

    // MARK: People

    /// The people whom the post names.
    ///
    /// Where a server names people of its own accord, those count whose name or address the content
    /// holds.
    package var whoIsMeant: [Mention] {
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
    /// A post may name people by the address of their actor while its text links to their profile.
    /// Servers put that at one of a few places.
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

    /// The host of a web address, with its port, and what stands behind its last slash; nil for
    /// what is no web address.
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
