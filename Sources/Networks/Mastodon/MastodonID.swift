/// The ids that a Mastodon-compatible server gives to posts and notifications.
///
/// They are opaque text, but those of the common servers tell which is newer.
enum MastodonID {
    /// Longer than every id in use, in bytes.
    private static let maximumLength = 256
    private static let lengthOfULID = 26
    /// Of the ids of Pleroma and its descendants: 128 bits in letters of both cases and digits.
    private static let lengthOfFlake = 18

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

    /// Whether a server finds its place in a feed by such an id even when the item itself is gone.
    ///
    /// Hashes do not tell their place: a server that does not find the item sends nothing for ever.
    static func keepsItsPlace(_ id: String) -> Bool {
        isDecimal(id) || isULID(id)
            || (id.utf8.count == lengthOfFlake
                && id.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                })
    }

    /// Whether some item of a page, which a server sent newest first, is newer by its id than the one before.
    static func contradictsOrder(_ ids: [String]) -> Bool {
        zip(ids, ids.dropFirst()).contains { isNewer($1, than: $0) == true }
    }

    /// Whether each item of a page is newer by its id than the one before: the page is the wrong way round.
    static func isAscending(_ ids: [String]) -> Bool {
        ids.count > 1 && zip(ids, ids.dropFirst()).allSatisfy { isNewer($1, than: $0) == true }
    }

    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isULID(_ text: String) -> Bool {
        text.utf8.count == lengthOfULID
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}
