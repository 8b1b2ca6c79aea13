import Localization
import Mirroring

/// A step of the setup that a person does before a mirror can work.
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
    /// The command that does the step.
    package var command: String
    /// The missing settings, or a note about the value; nil if the text is enough.
    package var detail: String?

    package init(_ kind: Kind, isDone: Bool, text: String, command: String, detail: String? = nil) {
        self.kind = kind
        self.isDone = isDone
        self.text = text
        self.command = command
        self.detail = isDone ? nil : detail
    }

    /// The step as a sentence in `status`, `setup` and every command that needs it.
    package var next: String { localized("next is \(text): \(command)") }
}
