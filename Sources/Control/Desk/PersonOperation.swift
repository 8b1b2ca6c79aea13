package import Posts
import Settings

/// A person's change of a mirror, as a value that ``Desk`` carries out.
package protocol PersonOperation: Codable, Equatable, Sendable {
    /// The outcome.
    associatedtype Outcome: PersonOutcome

    /// A stable name in kebab case, for programs and forms.
    static var name: String { get }

    /// Makes the change.
    ///
    /// - Parameters:
    ///   - desk: The mirror and its zone.
    ///   - seen: The digest of the item as the person saw it; nil to change without comparing.
    /// - Throws: `ChangeRefusal` if the change is impossible; `SeenChanged`, without any change, if
    ///   the item differs from what was seen; the store's error.
    func perform(at desk: Desk, seen: Seen?) async throws -> Outcome

    /// Returns the outcome if the mirror is already as the operation would leave it, so that a form
    /// that was sent twice is no error; else nil.
    ///
    /// Called only after ``perform(at:seen:)`` with a digest threw `SeenChanged`, or a refusal with
    /// the code `over`.
    func outcomeIfDone(at desk: Desk) async throws -> Outcome?
}

extension PersonOperation {
    package func outcomeIfDone(at desk: Desk) async throws -> Outcome? { nil }
}

/// The outcome of an operation, for people and programs.
package protocol PersonOutcome: Codable, Equatable, Sendable {
    /// The name and version of its JSON, such as `mirror-bot/change/1`.
    var schema: String { get }
    /// The operation that reverts the change; nil if nothing was changed, or if it cannot be
    /// reverted.
    var wayBack: WayBack? { get }
}

extension PersonOutcome {
    package var wayBack: WayBack? { nil }
}

/// The operation that reverts another one: as a command for a shell, and as a request for a page.
package struct WayBack: Sendable {
    package let operation: any PersonOperation
    /// The digest of the item after the change; nil to revert it without comparing.
    package var seen: Seen?
    /// The words of the operation's command line, such as `plan`, `restore`, `2026-11-24#2`.
    package let arguments: [String]

    package init(
        _ operation: any PersonOperation, seen: Seen? = nil, _ arguments: String...
    ) {
        self.init(operation, seen: seen, arguments)
    }

    package init(_ operation: any PersonOperation, seen: Seen? = nil, _ arguments: [String]) {
        self.operation = operation
        self.seen = seen
        self.arguments = arguments
    }

    /// The command as typed in a shell.
    package var command: String {
        (["mirror-bot"] + arguments.map(Self.quoted)).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        // A `#` in the middle of a word begins no comment of the shell.
        let isSlot =
            word.first?.isNumber == true
            && word.allSatisfy { $0.isNumber || $0 == "-" || $0 == "#" }
        return isSlot ? word : ShellWord.quoted(word)
    }
}

/// An operation and the digest of what the person saw.
package struct PersonRequest<Operation: PersonOperation>: Codable, Equatable, Sendable {
    package var operation: Operation
    package var seen: Seen?

    package init(_ operation: Operation, seen: Seen? = nil) {
        self.operation = operation
        self.seen = seen
    }
}
