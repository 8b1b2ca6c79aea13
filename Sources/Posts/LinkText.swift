import Foundation

/// The form that a link takes in plain text.
enum LinkText: Equatable {
    /// The link's words alone, because they are a hashtag.
    case words
    /// The link's address alone, because the words are the address or a beginning of it.
    case address
    /// The link's words, and the address in parentheses.
    case both

    /// The longest words, in bytes, that are checked for a shortened address or a hashtag.
    private static let maximumShown = 4_096

    /// - Parameters:
    ///   - shown: The link's words, without surrounding white space.
    ///   - address: The link's web address.
    init(shown: String, address: String) {
        if shown.isEmpty {
            self = .address
        } else if shown.utf8.count > Self.maximumShown {
            self = .both
        } else if Self.isHashtag(shown) {
            self = .words
        } else {
            self = Self.isBeginning(shown, of: address) ? .address : .both
        }
    }

    /// Whether `text` is a hash sign and one word that is more than a number.
    static func isHashtag(_ text: String) -> Bool {
        guard text.hasPrefix("#") || text.hasPrefix("＃") else { return false }
        let word = text.unicodeScalars.dropFirst()
        return word.allSatisfy { !$0.properties.isWhitespace && $0 != "#" && $0 != "/" }
            && word.contains {
                $0.properties.isAlphabetic || $0.properties.isEmoji && $0.value > 0xFF
            }
    }

    /// Whether `shown` is `address`, or an abbreviated form of it.
    ///
    /// The scheme and `www.` may be missing, the end may be cut off or replaced by an ellipsis, and
    /// `shown` or `address` may be percent-encoded. A beginning must have a dot or a scheme,
    /// because a single word may happen to be the beginning of a host.
    static func isBeginning(_ shown: String, of address: String) -> Bool {
        let shown = AbbreviatedAddress(shown)
        let address = AbbreviatedAddress(address)
        guard !shown.text.isEmpty else { return shown.hasScheme }
        if let ellipsis = shown.text.range(of: "…") ?? shown.text.range(of: "...") {
            let head = shown.text[..<ellipsis.lowerBound]
            let tail = shown.text[ellipsis.upperBound...]
            return !head.isEmpty && address.text.hasPrefix(head) && address.text.hasSuffix(tail)
                && head.count + tail.count <= address.text.count
        }
        if shown.text == address.text || shown.text == address.text + "/" { return true }
        if address.text.hasPrefix(shown.text) {
            return shown.hasScheme || shown.text.contains(".")
        }
        // A host with non-ASCII letters is spelled differently in the address.
        let isPunycode = address.host.contains("xn--")
        let isUnicodeHost =
            shown.host.contains(".") && shown.host.utf8.contains { $0 >= 0x80 }
        let restOfAddress = address.text.dropFirst(address.host.count)
        let restOfShown = shown.text.dropFirst(shown.host.count)
        return isPunycode && isUnicodeHost && restOfAddress.hasPrefix(restOfShown)
    }

    /// An address without the parts that people omit.
    private struct AbbreviatedAddress {
        let text: String
        let hasScheme: Bool

        init(_ written: String) {
            var address = (written.removingPercentEncoding ?? written).lowercased()[...]
            let scheme = ["https://", "http://"].first(where: address.hasPrefix)
            if let scheme { address = address.dropFirst(scheme.count) }
            if address.hasPrefix("www.") { address = address.dropFirst(4) }
            text = String(address)
            hasScheme = scheme != nil
        }

        var host: Substring { text.prefix { !"/?#:".contains($0) } }
    }
}
