package import Foundation

/// A mention of the bot that a test or a harness requests; see ``Sandbox/say(_:)``.
package struct SandboxUtterance: Equatable, Sendable {
    /// The speaker: `user@host`, or `user` of the sandbox.
    package var speaker: String
    /// The text after the bot's name.
    package var words: String
    /// Whether the words ask the bot to stop.
    package var asksToStop = false
    package var burden: SandboxBurden?
    package var notice = SandboxNotice.atOnce
    /// The person whose latest post it answers, if there is such a post; `nil` for a mention that
    /// is no reply.
    package var answered: Answered?

    /// The person whom a mention of the bot answers.
    package enum Answered: Sendable {
        case bot
        /// Another person whose posts come to the bot's home.
        case another
    }

    package init(_ speaker: String, _ words: String) {
        self.speaker = speaker
        self.words = words
    }
}

/// A property that makes a post hard to process.
package enum SandboxBurden: Equatable, Hashable, Sendable {
    /// The post has a number of bytes in addition to its text; not on X, which has no such posts.
    case padding(bytes: Int)
    /// The post has a number of generated answers, by no real author; they are only in a server's
    /// answer about its conversation.
    case crowd(posts: Int)
    /// The post's object is not as documented.
    case flaw(SandboxFlaw)
}

/// A defect of a JSON object.
package enum SandboxFlaw: String, CaseIterable, Sendable {
    /// The author is missing.
    case noAuthor = "no-author"
    /// Texts are lists and numbers are texts.
    case wrongTypes = "wrong-types"
    /// The second half of its members is missing.
    case half
    /// The object is null.
    case null
    /// The object has no id and no address.
    case noName = "no-name"

    private static let authors: Set = ["account", "author", "author_id", "did"]
    private static let names: Set = ["id", "uri", "url"]

    /// The object with this flaw; a value other than an object stays unchanged.
    func broken(_ value: WireJSON) -> WireJSON {
        guard case .object(let members) = value else { return value }
        switch self {
        case .noAuthor: return .object(members.filter { !Self.authors.contains($0.0) })
        case .wrongTypes: return .object(members.map { ($0.0, Self.mistyped($0.1)) })
        case .half: return .object(Array(members.prefix(members.count / 2)))
        case .null: return .null
        case .noName: return .object(members.filter { !Self.names.contains($0.0) })
        }
    }

    private static func mistyped(_ value: WireJSON) -> WireJSON {
        switch value {
        case .string, .padded: .array([value])
        case .integer(let number): .string(String(number))
        case .bool(let flag): .integer(flag ? 1 : 0)
        case .null, .array, .object, .raw: value
        }
    }
}

/// The time at which the network notifies the bot of a mention.
package enum SandboxNotice: Equatable, Sendable {
    case atOnce
    /// The network notifies the bot this number of seconds later, at the mention's usual position
    /// in the list; X lists it at once.
    case late(TimeInterval)
    /// The network never notifies the bot: only a client that reads the replies below the answered
    /// post finds the mention.
    case never
}
