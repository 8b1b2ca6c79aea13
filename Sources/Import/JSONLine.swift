import Foundation
import Posts

/// One line of JSON Lines, checked.
struct JSONLine: Decodable {
    /// Longer texts are no posts.
    static let maximumTextBytes = 100_000
    private static let maximumNameBytes = 2_048

    var id: String
    var author: String?
    /// As it is in the file, control characters included.
    private let original: String
    var createdAt: Date?
    var favorite: Bool?
    var replyToAuthor: String?
    var replyToPost: String?
    var visibility: Visibility
    var language: String?

    private enum Key: String, CodingKey {
        case id, author, text, favorite, visibility, language
        case createdAt = "created_at"
        case replyToAuthor = "reply_to_author"
        case replyToPost = "reply_to_post"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = try Self.name(try fields.decode(String.self, forKey: .id), "id")
        author = try Self.optionalName(fields, .author)
        original = try fields.decode(String.self, forKey: .text)
        guard original.utf8.count <= Self.maximumTextBytes else {
            throw ItemFault("text is longer than \(Self.maximumTextBytes) bytes")
        }
        createdAt = try fields.decodeIfPresent(String.self, forKey: .createdAt).map { text in
            guard let date = Date(rfc3339: text) else {
                throw ItemFault("created_at is not a time such as 2026-11-20T08:15:30+09:00")
            }
            return date
        }
        favorite = try fields.decodeIfPresent(Bool.self, forKey: .favorite)
        replyToAuthor = try Self.optionalName(fields, .replyToAuthor)
        replyToPost = try Self.optionalName(fields, .replyToPost)
        let visibility = try fields.decodeIfPresent(String.self, forKey: .visibility)
        // A value that we do not know may mean "for few".
        self.visibility = visibility.map { Visibility(rawValue: $0) ?? .private } ?? .public
        language = try fields.decodeIfPresent(String.self, forKey: .language).flatMap(LanguageTag.naming)
    }

    /// The text as it may be posted: control characters are left out.
    var text: String { PlainText.cleaned(original) }

    /// The text as the classifier reads it: control characters part words, as spaces do.
    ///
    /// Texts that went through a wrong conversion have some in place of
    /// apostrophes; without them `it` and `s` would be one word.
    var spacedText: String {
        var scalars = String.UnicodeScalarView()
        for scalar in original.unicodeScalars {
            let isKept = scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
            scalars.append(isKept ? scalar : " ")
        }
        return PlainText.cleaned(String(scalars))
    }

    private static func optionalName(_ fields: KeyedDecodingContainer<Key>, _ key: Key) throws -> String? {
        try fields.decodeIfPresent(String.self, forKey: key).map { try name($0, key.rawValue) }
    }

    /// An id, an address or the name of a person: one word.
    private static func name(_ text: String, _ field: String) throws(ItemFault) -> String {
        let isOneWord = text.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0.properties.generalCategory != .control
        }
        guard !text.isEmpty, text.utf8.count <= maximumNameBytes, isOneWord else {
            throw ItemFault("\(field) is empty, too long or not one word")
        }
        return text
    }
}
