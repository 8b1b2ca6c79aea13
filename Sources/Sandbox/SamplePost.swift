package import Foundation
package import Posts

/// One post of the sample, by the human or by somebody else.
package struct SamplePost: Equatable, Sendable {
    /// The id on the sandbox's server, in decimal: milliseconds since 1970 times 65,536, plus a number that tells posts
    /// of one millisecond apart.
    package var id: String
    package var author: SamplePerson
    package var text: String
    package var createdAt: Date
    package var language: SampleLanguage
    /// What a post by somebody else is about.
    package var topic: SampleTopic?
    package var replyTo: SamplePerson?
    package var visibility: Visibility = .public

    /// The worldwide id of the post.
    package var uri: String { Self.uri(id: id, author: author) }

    /// The worldwide id of a post that the sandbox's server keeps under `id`.
    package static func uri(id: String, author: SamplePerson) -> String {
        "https://\(SamplePeople.host)/users/\(author.userName)/statuses/\(id)"
    }

    /// The server id of a post made at `date`.
    ///
    /// - Parameters:
    ///   - date: When the post was made.
    ///   - sequence: Tells posts of the same millisecond apart, 0 through 65,535.
    /// - Returns: The id in decimal.
    package static func id(at date: Date, sequence: Int) -> String {
        String(UInt64(max(0, date.milliseconds)) << 16 | UInt64(sequence & 0xFFFF))
    }

    /// The post as one line of JSON Lines, without the line break; `favorite` says whether the human favorited it, and
    /// nil leaves that field out.
    package func jsonLine(favorite: Bool? = nil) -> String {
        var fields: [(String, String)] = [
            ("id", Self.quoted(uri)),
            ("author", Self.quoted(author.handle)),
            ("text", Self.quoted(text)),
            ("created_at", Self.quoted(createdAt.rfc3339)),
            ("visibility", Self.quoted(visibility.rawValue)),
            ("language", Self.quoted(language.rawValue)),
        ]
        if let favorite { fields.append(("favorite", favorite ? "true" : "false")) }
        if let replyTo {
            let answered = Self.id(at: createdAt.addingTimeInterval(-600), sequence: 0)
            fields.append(("reply_to_author", Self.quoted(replyTo.handle)))
            fields.append(("reply_to_post", Self.quoted(Self.uri(id: answered, author: replyTo))))
        }
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case let control where control.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
