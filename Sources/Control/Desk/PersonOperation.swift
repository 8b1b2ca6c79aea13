package import Posts
import Settings

/// A change of a mirror that a person asks for, as a value: a command, a form or a program makes it, and ``Desk`` makes
/// the change.
package protocol PersonOperation: Codable, Equatable, Sendable {
    /// What came of it.
    associatedtype Outcome: PersonOutcome

    /// A stable name in kebab case, for programs and forms.
    static var name: String { get }

    /// Makes the change.
    ///
    /// - Parameters:
    ///   - desk: The mirror, and its zone.
    ///   - seen: What the person saw of the thing that is changed; nil to change without comparing.
    /// - Throws: `ChangeRefusal` if the change cannot be made, `SeenChanged` if the thing is not any more as it was seen; then
    ///   nothing was changed. The store's error.
    func perform(at desk: Desk, seen: Seen?) async throws -> Outcome
}

/// What came of an operation, for people and programs.
package protocol PersonOutcome: Codable, Equatable, Sendable {
    /// The name and version of its JSON, such as `mirror-bot/change/1`.
    var schema: String { get }
    /// What takes the change back; nil where nothing was changed, or nothing takes it back.
    var wayBack: WayBack? { get }
}

extension PersonOutcome {
    package var wayBack: WayBack? { nil }
}

/// The operation that takes another one back.
package struct WayBack: Codable, Equatable, Sendable {
    /// ``PersonOperation/name`` of the operation.
    package let operation: String
    /// The words of the command line that do it, such as `plan`, `restore`, `2026-11-24#2`.
    package let arguments: [String]

    package init<Operation: PersonOperation>(_ operation: Operation.Type, _ arguments: String...) {
        self.init(operation, arguments)
    }

    package init<Operation: PersonOperation>(_ operation: Operation.Type, _ arguments: [String]) {
        (self.operation, self.arguments) = (operation.name, arguments)
    }

    /// The command as a person types it in a shell.
    package var command: String { (["mirror-bot"] + arguments.map(Self.quoted)).joined(separator: " ") }

    private static func quoted(_ word: String) -> String {
        // A sign in the middle of a word begins no comment.
        let isSlot = word.first?.isNumber == true && word.allSatisfy { $0.isNumber || $0 == "-" || $0 == "#" }
        return isSlot ? word : ShellWord.quoted(word)
    }
}

/// An operation and what the person saw when they asked for it.
package struct PersonRequest<Operation: PersonOperation>: Codable, Equatable, Sendable {
    package var operation: Operation
    package var seen: Seen?

    package init(_ operation: Operation, seen: Seen? = nil) { (self.operation, self.seen) = (operation, seen) }
}
