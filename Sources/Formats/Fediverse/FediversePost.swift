package import Foundation
import NetworkNames
package import Posts

/// The content of a post of a Mastodon-compatible server, before it is converted to a `Post`.
///
/// It is read from either of two wire forms: a status of the client API, saved or requested, and a
/// note of an archive's outbox. Differences between the two forms are resolved here, so that the
/// same post has the same result from either form.
package struct FediversePost: Sendable {
    /// A person whom the post mentions.
    package struct Mention: Sendable {
        package var account: AccountID
        /// `user@host`, with the case in which the name is written.
        package var name: String
        /// The addresses of the profile and the actor.
        ///
        /// Links in the content lead to one of them, or to another address at which servers put
        /// profiles.
        package var addresses: [String]

        package init(account: AccountID, name: String, addresses: [String]) {
            self.account = account
            self.name = name
            self.addresses = addresses
        }

        /// Whether `html` contains the address of the profile or the actor, or `@user@host`, and
        /// not only as the beginning of a longer name.
        ///
        /// `@user` alone does not count, because on another server it may be another person.
        package func isNamed(in html: String) -> Bool {
            let text = PlainText.fromHTML(html).lowercased()
            return addresses.contains { !$0.isEmpty && Self.containsName(html, $0) }
                || Self.containsName(text, "@\(name)".lowercased())
        }

        /// Whether `text` contains `name` as a whole, not as the beginning of a longer name.
        private static func containsName(_ text: String, _ name: String) -> Bool {
            var unsearchedText = text[...]
            while let range = unsearchedText.firstRange(of: name) {
                let textAfter = text[range.upperBound...]
                func isLetterOrDigit(_ character: Character?) -> Bool {
                    character?.isLetter == true || character?.isNumber == true
                }
                let next = textAfter.first
                let hasNameSign = if let next { "_-/@".contains(next) } else { false }
                let nameContinues = hasNameSign || isLetterOrDigit(next)
                // A full stop ends the name, unless a letter or digit follows, as in a host.
                let hostContinues = next == "." && isLetterOrDigit(textAfter.dropFirst().first)
                if !nameContinues, !hostContinues { return true }
                unsearchedText = textAfter
            }
            return false
        }
    }

    /// The candidates for the post's global identity, the best first.
    package var identities: [String]
    package var author: AccountID
    /// The content as HTML; empty if there is none.
    package var content = ""
    /// The content as HTML by language, if the wire form has it.
    package var contentByLanguage: [String: String] = [:]
    package var language: String?
    /// The text of a content warning; empty if there is none.
    package var warning = ""
    package var isSensitive = false
    /// The people for whom the post is meant.
    package var audience = PostAudience()
    /// The time of publication, as text in the wire form.
    package var written: String?
    package var updated: Date?
    package var replyTo: ReplyTarget?
    package var isRepost = false
    package var mentions: [Mention] = []
    /// Whether the server may list people whom the text does not mention.
    package var mayListUnmentionedPeople = false
    /// The addresses of the post's hashtags.
    package var hashtags: [String] = []
    /// Whether the wire form says that the post quotes another one.
    package var isQuote = false
    /// The attached pictures, `nil` for each attachment that is not a still picture.
    package var attachments: [Picture?] = []
    package var hasPoll = false
    /// The text without markup, if the wire form has it; used instead of the content.
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

    /// The time at which the author last changed the post; nil if the post was never changed.
    package var editedAt: Date? {
        let published = written.flatMap { Date(rfc3339: $0) } ?? .distantPast
        return updated.flatMap { $0 > published ? $0 : nil }
    }

    /// Converts this to a post of the common model.
    ///
    /// - Parameters:
    ///   - noticedAt: The time at which a server first saw the post; `nil` if it is unknown.
    ///   - now: The present, the latest possible time of a post.
    /// - Returns: Nil for a post without an identity.
    package func post(noticedAt: Date? = nil, now: Date) -> Post? {
        guard let identity else { return nil }
        // The time of a server is more reliable than the time in the identity, which most servers'
        // identities do not contain.
        let timeInIdentity = noticedAt == nil ? PostTime.keyed(mastodon: identity) : nil
        let time = PostTime(written, keyed: timeInIdentity, noticedAt: min(noticedAt ?? now, now))
        let distinctMentions = distinct(mentions.prefix(Self.maximumMentions))
        // A caption has no markup, so nothing is derived from markup.
        let html = HTMLText(
            caption == nil ? chosenContent.html : "", names: Self.names(of: distinctMentions),
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
        let equalVersions = versions.filter { $0.value == content }
        let candidates = equalVersions.count == 1 ? equalVersions : versions
        let onlyVersion = candidates.count == 1 ? candidates.first : nil
        let html = content.isEmpty ? versions.first?.value ?? "" : content
        return (html, language ?? onlyVersion?.key)
    }

    // MARK: People

    /// The people whom the author mentions.
    ///
    /// If the server may list people whom the text does not mention, only those whose name or
    /// address the content contains are returned.
    package var namedMentions: [Mention] {
        let distinctMentions = distinct(mentions.prefix(Self.maximumMentions))
        guard mayListUnmentionedPeople, !distinctMentions.isEmpty else { return distinctMentions }
        let html = chosenContent.html
        let text = PlainText.fromHTML(html).lowercased()
        return distinctMentions.filter { mention in
            mention.addresses.contains { !$0.isEmpty && html.contains($0) }
                || text.contains("@\(mention.name.prefix { $0 != "@" })".lowercased())
        }
    }

    private func distinct(_ mentions: ArraySlice<Mention>) -> [Mention] {
        var accounts: Set<AccountID> = []
        return mentions.filter { accounts.insert($0.account).inserted }
    }

    /// Returns the names that replace the links to people, by link.
    ///
    /// A mention may contain only the address of the person's actor while the text links to their
    /// profile. So the addresses at which servers usually put profiles are included.
    private static func names(of mentions: [Mention]) -> [String: String] {
        var names: [String: String] = [:]
        for mention in mentions {
            for address in mention.addresses where !address.isEmpty {
                names[address] = mention.name
            }
        }
        for mention in mentions {
            for address in mention.addresses {
                guard let (host, lastPart) = parts(of: address) else { continue }
                let users = [
                    mention.name.prefix { $0 != "@" }.lowercased(),
                    lastPart.drop { $0 == "@" }.lowercased(),
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
    private static func parts(of address: String) -> (host: String, lastPart: Substring)? {
        guard PlainText.isWebAddress(address), let scheme = address.firstRange(of: "://") else {
            return nil
        }
        let hostAndPath = address[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let parts = hostAndPath.split(separator: "/")
        guard let host = parts.first, parts.count > 1, let lastPart = parts.last else {
            return nil
        }
        return (host.lowercased(), lastPart)
    }
}
