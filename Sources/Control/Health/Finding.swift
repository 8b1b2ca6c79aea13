import Localization
import MeCab
import Mirroring
import Networks
import Redis
import Settings
import Storage

/// The result of examining one requirement of a mirror.
package struct Finding: Codable, Equatable, Sendable {
    package enum Verdict: String, Codable, Sendable {
        case ok
        /// The mirror works, but with restrictions.
        case warn
        case fail
    }

    /// The party that can fix a failure.
    package enum Cause: String, Codable, Sendable {
        /// A person, in the settings.
        case configuration
        /// A person, at the network or the database, which refuses the credentials.
        case refused
        /// The operator of the resource that is unreachable or unusable.
        case unavailable
        /// Time, or another process.
        case later
    }

    /// The examined item, such as `database`.
    package var subject: String
    package var verdict: Verdict
    /// The result in one sentence.
    package var text: String
    /// The remedy; `nil` if the text contains it, or none is needed.
    package var fix: String?
    /// The party that can fix the failure; `nil` unless the verdict is `fail`.
    package var cause: Cause?

    /// The subject for people; ``subject`` is a stable label for programs.
    package var shownSubject: String { Self.words(ofSubject: subject) }

    /// Returns the words for a subject's label.
    ///
    /// A label that this version does not know is returned unchanged.
    static func words(ofSubject label: String) -> String {
        switch label {
        case "settings": localized("settings")
        case "mirror": localized("mirror")
        case "consent": localized("consent")
        case "bot": localized("bot")
        case "time zone": localized("time zone")
        case "database": localized("database")
        case "worker": localized("worker")
        case "policies": localized("policies")
        case "rules": localized("rules")
        case "archive": localized("archive")
        case "budget": localized("budget")
        case "feeds": localized("feeds")
        case "actions": localized("actions")
        case "unfinished": localized("unfinished")
        case "clock": localized("clock")
        case "silence": localized("silence")
        case "plan": localized("plan")
        case "dictionary": localized("dictionary")
        case "redis": localized("redis")
        case "favorites": localized("favorites")
        case "review": localized("review")
        case "human": localized("human")
        case "bot label": localized("bot label")
        case "link": localized("link")
        case "next month": localized("next month")
        case "operator": localized("operator")
        case "other bots": localized("other bots")
        case "probe": localized("probe")
        case "profile": localized("profile")
        case "scopes": localized("scopes")
        case "server": localized("server")
        case "texts": localized("texts")
        default: label
        }
    }

    /// A passed check.
    package static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(subject: subject, verdict: .ok, text: text)
    }

    package static func warn(_ subject: String, _ text: String, fix: String? = nil) -> Finding {
        Finding(subject: subject, verdict: .warn, text: text, fix: fix)
    }

    package static func fail(_ subject: String, _ text: String, cause: Cause, fix: String? = nil)
        -> Finding
    {
        Finding(subject: subject, verdict: .fail, text: text, fix: fix, cause: cause)
    }

    /// An item that could not be examined, or is broken.
    package static func fail(_ subject: String, _ error: any Error) -> Finding {
        fail(subject, "\(error)", cause: cause(of: error))
    }

    private static func cause(of error: any Error) -> Cause {
        switch error {
        case is ConfigurationError, is MeCabError: .configuration
        case let error as StorageError where [.configuration, .outOfDate].contains(error.code):
            .configuration
        case let error as StorageError where error.code == .authentication: .refused
        case let error as RedisError where error.code == .invalidConfiguration: .configuration
        case let error as RedisError where error.code == .authentication: .refused
        case let error as NetworkError where error.code == .configuration: .configuration
        case let error as NetworkError where error.stopsActor: .refused
        case let error as NetworkError
        where [.rateLimited, .capReached, .creditsDepleted, .overBudget].contains(error.code):
            .later
        default: .unavailable
        }
    }
}
