import Foundation

/// The files of an X archive that are read; there is no case for any other file.
enum XMember: Equatable {
    case account, manifest, timeZone, deletedPosts, longTexts, posts, likes
    /// The archives before 2014: one file a month, and who the account is.
    case monthlyPosts, monthlyAccount

    init?(name: String) {
        let parts = name.split(separator: "/")
        guard parts.first == "data", let file = parts.last, file.hasSuffix(".js") else { return nil }
        let stem = String(file.dropLast(3))
        switch parts.count {
        case 2: self.init(stem: Self.withoutPart(stem))
        case 3 where parts[1] == "js" && stem == "user_details": self = .monthlyAccount
        case 4 where parts[1] == "js" && parts[2] == "tweets" && Self.isMonth(stem): self = .monthlyPosts
        default: return nil
        }
    }

    private init?(stem: String) {
        switch stem {
        case "account": self = .account
        case "manifest": self = .manifest
        case "account-timezone": self = .timeZone
        case "deleted-tweets", "deleted-tweet": self = .deletedPosts
        case "note-tweet", "note-tweets": self = .longTexts
        case "tweets", "tweet": self = .posts
        case "like", "likes": self = .likes
        default: return nil
        }
    }

    /// `tweets` of `tweets-part12`.
    private static func withoutPart(_ stem: String) -> String {
        guard let range = stem.range(of: "-part") else { return stem }
        let number = stem[range.upperBound...]
        let isNumber = (1...6).contains(number.count) && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? String(stem[..<range.lowerBound]) : stem
    }

    /// Whether `stem` looks like `2013_05`.
    private static func isMonth(_ stem: String) -> Bool {
        let parts = stem.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2] && parts.joined().allSatisfy { (0x30...0x39).contains($0) }
    }
}
