import Logging

/// The names under which values appear in the log, declared once.
enum LogKeys {
    static let account = "account"
    static let action = "action.id"
    static let attempt = "retry.attempt"
    static let count = "count"
    static let day = "plan.day"
    static let error = "error"
    static let feed = "feed"
    static let kind = "action.kind"
    static let mirror = "mirror"
    static let network = "network.name"
    static let reason = "reason"
    static let state = "action.state"
    static let until = "until"
}
