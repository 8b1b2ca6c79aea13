/// The ids that a Mastodon-compatible server gives to posts and notifications.
///
/// They are opaque text, but those of the common servers tell which is newer.
enum MastodonID {
    /// Longer than every id in use, in bytes.
    private static let maximumLength = 256
    private static let lengthOfULID = 26

    /// Whether `text` can stand in a path and a database.
    static func isUsable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumLength && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isWhitespace
            }
    }

    /// Whether `id` was given later than `other`; nil for ids whose order tells nothing.
    static func isNewer(_ id: String, than other: String) -> Bool? {
        if isDecimal(id), isDecimal(other) {
            let (left, right) = (id.drop { $0 == "0" }, other.drop { $0 == "0" })
            return left.utf8.count == right.utf8.count ? left > right : left.utf8.count > right.utf8.count
        }
        if isULID(id), isULID(other) { return id > other }
        return nil
    }

    /// The newest of `ids`, which a server sent newest first.
    static func newest(of ids: [String]) -> String? {
        ids.dropFirst().reduce(ids.first) { best, id in
            best.map { isNewer(id, than: $0) == true ? id : $0 }
        }
    }

    /// The oldest of `ids`, which a server sent newest first.
    static func oldest(of ids: [String]) -> String? {
        ids.dropFirst().reduce(ids.first) { best, id in
            best.map { isNewer(id, than: $0) == true ? $0 : id }
        }
    }

    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isULID(_ text: String) -> Bool {
        text.utf8.count == lengthOfULID
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}
