import Foundation
import Posts

/// An account as the wire has it.
struct XUser: Decodable {
    let id: String
    let username: String
    let name: String
    let description: String
    let descriptionLinks: [XWireLink]
    /// Only followers see the account's posts; nil if the server does not tell.
    let isProtected: Bool?

    private enum CodingKeys: String, CodingKey {
        case id, username, name, description, entities
        case isProtected = "protected"
    }

    private enum EntityKeys: CodingKey {
        case description
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let id = container.text(.id), XID.isUsable(id), let username = container.text(.username),
            Self.isName(username)
        else { throw XShapeError() }
        self.id = id
        self.username = username
        name = container.text(.name) ?? ""
        description = container.text(.description) ?? ""
        let entities = try? container.nestedContainer(keyedBy: EntityKeys.self, forKey: .entities)
        descriptionLinks = entities?.value(XEntities.self, .description)?.links ?? []
        isProtected = container.flag(.isProtected)
    }

    /// Letters, digits and `_`; old accounts have names that are shorter or longer than new ones may be.
    private static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }
}

/// A link in a text, which X has shortened.
struct XWireLink: Decodable {
    let short: String
    let expanded: String?
    /// The link only leads to a picture or video of the post itself.
    let isMedia: Bool

    private enum CodingKeys: String, CodingKey {
        case url
        case expandedURL = "expanded_url"
        case mediaKey = "media_key"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let short = container.text(.url) else { throw XShapeError() }
        self.short = short
        expanded = container.text(.expandedURL).flatMap { text in
            text.hasPrefix("https://") || text.hasPrefix("http://") ? text : nil
        }
        isMedia = container.isPresent(.mediaKey) || expanded.map(Self.leadsToMedia) ?? false
    }

    /// `https://x.com/name/status/1/photo/1`.
    private static func leadsToMedia(_ address: String) -> Bool {
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        return postID(in: address) != nil && parts.count == 8 && (parts[6] == "photo" || parts[6] == "video")
    }

    /// The id of the post that an address of X leads to.
    static func postID(in address: String) -> String? {
        let parts = address.split(separator: "/", omittingEmptySubsequences: false)
        let hosts: Set<Substring> = ["x.com", "twitter.com", "www.x.com", "www.twitter.com", "mobile.twitter.com"]
        guard parts.count >= 6, hosts.contains(parts[2]), parts[4] == "status" else { return nil }
        let id = String(parts[5].prefix { $0 != "?" })
        return XID.isUsable(id) ? id : nil
    }
}

/// What X found in a text.
struct XEntities: Decodable {
    let links: [XWireLink]
    let mentionedIDs: [String]

    private struct Mention: Decodable {
        let id: String?

        private enum CodingKeys: CodingKey {
            case id
        }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).text(.id)
        }
    }

    private enum CodingKeys: CodingKey {
        case urls, mentions
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        links = container.list(of: XWireLink.self, .urls)
        mentionedIDs = container.list(of: Mention.self, .mentions).compactMap(\.id).filter(XID.isUsable)
    }
}

/// A value lacks what nothing can be done without.
struct XShapeError: Error {}
