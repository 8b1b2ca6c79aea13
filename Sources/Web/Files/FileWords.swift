import Localization
import Outbox

/// The localized words in files for the names of kinds, states and reasons.
///
/// Reports contain these names, which are meant for programs. A name without a localized word is
/// shown unchanged.
enum FileWords {
    /// Returns the word for the name of a kind of action, such as `reply`.
    static func kind(_ name: String) -> String {
        ActionKind(rawValue: name).map(kind) ?? name
    }

    static func kind(_ kind: ActionKind) -> String {
        switch kind {
        case .post: localized("post")
        case .reply: localized("reply")
        case .favorite: localized("favorite")
        }
    }

    /// Returns the word for the name of an action's state, such as `done`.
    static func state(_ name: String) -> String {
        if let state = ActionState(rawValue: name) { return self.state(state) }
        return name == "preview" ? localized("preview") : name
    }

    static func state(_ state: ActionState) -> String {
        switch state {
        case .planned: localized("planned")
        case .claimed: localized("claimed")
        case .sending: localized("sending")
        case .done: localized("done")
        case .skipped: localized("skipped")
        case .expired: localized("expired")
        case .failed: localized("failed")
        case .suggested: localized("suggested")
        case .undone: localized("undone")
        }
    }

    /// Returns the word for the name of the state in which a post was learned, such as `favorite`.
    static func learned(_ name: String) -> String {
        switch name {
        case "seen": localized("seen")
        case "seen-favorite": localized("seen-favorite")
        case "favorite": localized("favorite")
        default: name
        }
    }

    /// Returns the word for the name of a stance on a person, such as `deny`.
    static func stance(_ name: String?) -> String {
        switch name {
        case "deny": localized("deny")
        case "allow": localized("allow")
        case nil: localized("nothing")
        case let other?: other
        }
    }

    /// Returns the word for the name of the reason for a stance, such as `operator`.
    static func stanceReason(_ name: String) -> String {
        switch name {
        case "operator": localized("operator")
        case "asked-to-stop": localized("asked-to-stop")
        case "forgotten": localized("forgotten")
        default: name
        }
    }
}
