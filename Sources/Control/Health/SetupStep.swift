import Mirroring

/// One thing that a person does before a mirror works by itself.
package struct SetupStep: Codable, Equatable, Sendable {
    /// The steps, in the order of the checklist.
    package enum Kind: String, CaseIterable, Codable, Sendable {
        case human, consent, bot, policy, posts, trust
        case timeZone = "time-zone"
        case favorites, profile, start
    }

    package var kind: Kind
    package var isDone: Bool
    package var text: String
    /// The command that does it.
    package var command: String
    /// Settings that are not set, or what is known of the value; nil where the text says all.
    package var detail: String?

    package init(_ kind: Kind, isDone: Bool, text: String, command: String, detail: String? = nil) {
        self.kind = kind
        self.isDone = isDone
        self.text = text
        self.command = command
        self.detail = isDone ? nil : detail
    }

    /// The step in the words in which `status`, `setup` and every command name what is missing.
    package var next: String { "next is \(text): \(command)" }
}
