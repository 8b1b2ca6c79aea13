import Foundation
import Posts

/// Reverses the changes that X makes to texts, in archives and in the API.
package enum XText {
    /// The beginning of the addresses with which X replaces links.
    package static let shortLink = "https://t.co/"

    /// The text of a reply without the leading names, which X adds to address it.
    package static func withoutLeadingMentions(_ text: String) -> String {
        var remainingText = text[...]
        while remainingText.first == "@" {
            let name = remainingText.dropFirst().prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")
            }
            let textAfterName = remainingText[name.endIndex...]
            let nameEnds = textAfterName.first?.isWhitespace ?? true
            guard !name.isEmpty, nameEnds else { break }
            remainingText = textAfterName.drop(while: \.isWhitespace)
        }
        return String(remainingText)
    }

    /// The language tag, unless it names no language; obsolete tags of X are replaced by current
    /// ones.
    package static func language(_ tag: String?) -> String? {
        guard let tag, LanguageTag.namesLanguage(tag) else { return nil }
        return ["in": "id", "iw": "he", "ji": "yi"][tag] ?? tag
    }
}

/// A link in a text, which X has shortened.
package struct XLinkEntity: Sendable {
    package let short: String
    /// Nil if it is not a web address.
    package let expanded: String?
    /// Whether the link only leads to a picture or video of a post.
    package let isMedia: Bool

    /// - Parameter isMedia: Whether it is a link to the post's own picture or video.
    package init(short: String, expanded: String?, isMedia: Bool = false) {
        self.short = short
        let page = expanded.flatMap { text in
            text.hasPrefix("https://") || text.hasPrefix("http://") ? text : nil
        }
        self.expanded = page
        let leadsToMedia = page.map(Self.leadsToMedia) ?? false
        self.isMedia = isMedia || leadsToMedia
    }

    /// Returns the replacement for each shortened address: an empty text for the post's own
    /// pictures and for quoted posts.
    ///
    /// - Parameter quoted: The ids of the quoted posts.
    package static func replacements(of links: [XLinkEntity], quoting quoted: Set<String>)
        -> [String: String]
    {
        var replacements: [String: String] = [:]
        for link in links {
            let linkedPost = link.expanded.flatMap(postID)
            let leadsToQuoted = linkedPost.map(quoted.contains) ?? false
            if link.isMedia || leadsToQuoted {
                replacements[link.short] = ""
            } else if let expanded = link.expanded {
                replacements[link.short] = expanded
            }
        }
        return replacements
    }

    /// Whether an address is that of a picture or video, such as
    /// `https://x.com/name/status/1/photo/1`.
    package static func leadsToMedia(_ address: String) -> Bool {
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        return postID(in: address) != nil && parts.count == 8
            && (parts[6] == "photo" || parts[6] == "video")
    }

    /// The id of the post at an address of X.
    package static func postID(in address: String) -> String? {
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        let hosts: Set<Substring> = [
            "x.com", "twitter.com", "www.x.com", "www.twitter.com", "mobile.twitter.com",
        ]
        guard parts.count >= 6, hosts.contains(parts[2]), parts[4] == "status" else { return nil }
        let id = String(parts[5].prefix { $0 != "?" })
        return XID.isUsable(id) ? id : nil
    }
}
