import Foundation
import Posts

/// The address of a record: `at://`, authority, collection and key.
struct RecordAddress: Equatable, Sendable {
    static let posts = "app.bsky.feed.post"
    static let likes = "app.bsky.feed.like"
    static let reposts = "app.bsky.feed.repost"
    static let follows = "app.bsky.graph.follow"
    static let profiles = "app.bsky.actor.profile"
    /// The collection of records with the rules about who may answer a post, each under the key of
    /// the post.
    static let threadGates = "app.bsky.feed.threadgate"
    /// The collection of records with the rules about who may quote a post, each under the key of
    /// the post.
    static let postGates = "app.bsky.feed.postgate"

    /// The owner of the repository, as a DID or a handle.
    var authority: String
    var collection: String
    var key: String

    init(_ authority: String, _ collection: String, _ key: String) {
        self.authority = authority
        self.collection = collection
        self.key = key
    }

    /// Nil unless the text names a record.
    init?(_ text: String) {
        guard text.hasPrefix("at://") else { return nil }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 3, RecordSyntax.isActor(parts[0]), RecordSyntax.isName(parts[1]),
            RecordSyntax.isKey(parts[2])
        else { return nil }
        self.init(parts[0], parts[1], parts[2])
    }

    var uri: String { "at://\(authority)/\(collection)/\(key)" }
}

/// The address of a record and the identifier of its content.
struct StrongReference: Equatable, Sendable {
    var uri: String
    var cid: String

    var value: RecordValue { ["uri": .text(uri), "cid": .text(cid)] }
}

/// The syntax of the protocol's names, dates and language tags.
enum RecordSyntax {
    private static let keyCharacters = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:~".utf8)
    private static let sortableBase32 = Set("234567abcdefghijklmnopqrstuvwxyz".utf8)

    /// Whether a text is a DID of one of the two kinds in use.
    static func isDID(_ text: some StringProtocol) -> Bool {
        if text.hasPrefix("did:plc:") {
            let identifier = text.utf8.dropFirst(8)
            return identifier.count == 24
                && identifier.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x32...0x37).contains($0)
                }
        }
        return text.hasPrefix("did:web:") && text.utf8.count > 8 && text.utf8.count <= 2_048
    }

    /// Whether a text is a host name of at least two labels.
    static func isHandle(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count <= 253 else { return false }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let last = labels.last?.utf8.first, !(0x30...0x39).contains(last)
        else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
                && !label.hasPrefix("-") && !label.hasSuffix("-")
        }
    }

    static func isActor(_ text: some StringProtocol) -> Bool { isDID(text) || isHandle(text) }

    /// Whether a text is the name of a collection or method, such as `app.bsky.feed.post`.
    static func isName(_ text: some StringProtocol) -> Bool {
        let segments = text.split(separator: ".", omittingEmptySubsequences: false)
        return segments.count >= 3 && text.utf8.count <= 317
            && segments.allSatisfy {
                !$0.isEmpty && $0.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
            }
    }

    static func isKey(_ text: some StringProtocol) -> Bool {
        (1...512).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy(keyCharacters.contains)
    }

    /// Whether a text is a key of records that are sorted by time.
    static func isTimestampKey(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count == 13, let first = text.utf8.first, first <= UInt8(ascii: "j") else {
            return false
        }
        return text.utf8.allSatisfy(sortableBase32.contains)
    }

    /// Parses a time with a zone, in the strict form that records require.
    static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 64, bytes[10] == UInt8(ascii: "T"),
            bytes[16] == UInt8(ascii: ":"),
            !text.hasSuffix("-00:00"),
            !text.hasSuffix("z")
        else { return nil }
        return Date(rfc3339: text)
    }

    /// Whether a text has the form of a language tag.
    static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, (2...3).contains(first.utf8.count) || first == "i" else {
            return false
        }
        return first.utf8.allSatisfy { isAlphanumeric($0) && $0 > 0x39 }
            && parts.allSatisfy {
                (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(isAlphanumeric)
            }
    }

    /// Whether a text is an absolute address of any scheme, without white space.
    static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), text.utf8.count <= 8_192 else { return false }
        let scheme = text[..<colon].utf8
        return !scheme.isEmpty
            && scheme.allSatisfy { isAlphanumeric($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
            && text[colon...].utf8.count > 1 && !text.contains(where: \.isWhitespace)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
