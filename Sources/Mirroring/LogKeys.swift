import Logging

/// The names under which values appear in the log, declared once.
package enum LogKeys {
    package static let account = "account"
    package static let action = "action.id"
    package static let attempt = "retry.attempt"
    package static let count = "count"
    package static let day = "plan.day"
    package static let error = "error"
    package static let feed = "feed"
    package static let kind = "action.kind"
    package static let mirror = "mirror"
    package static let network = "network.name"
    package static let reason = "reason"
    package static let state = "action.state"
    package static let until = "until"
}
