import MeCab
import Mirroring
import Networks
import Redis
import Settings
import Storage

/// The result of examining one thing that a mirror needs.
package struct Finding: Codable, Equatable, Sendable {
    package enum Verdict: String, Codable, Sendable {
        case ok
        /// The mirror works, but not as it should, or not for everybody who looks at it.
        case warn
        case fail
    }

    /// The party that can fix a failure.
    package enum Cause: String, Codable, Sendable {
        /// A person, in the settings.
        case configuration
        /// A person, at the network or the database: it refuses the credentials.
        case refused
        /// Whoever runs what cannot be reached or used.
        case unavailable
        /// Time, or another process.
        case later
    }

    /// The thing examined, such as `database`.
    package var subject: String
    package var verdict: Verdict
    /// The result in one sentence.
    package var text: String
    /// The remedy; `nil` where the text says it, or nothing is to be done.
    package var fix: String?
    /// `nil` unless it failed.
    package var cause: Cause?

    /// Something that is as it should be.
    package static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(subject: subject, verdict: .ok, text: text)
    }

    package static func warn(_ subject: String, _ text: String, fix: String? = nil) -> Finding {
        Finding(subject: subject, verdict: .warn, text: text, fix: fix)
    }

    package static func fail(_ subject: String, _ text: String, _ cause: Cause, fix: String? = nil)
        -> Finding
    {
        Finding(subject: subject, verdict: .fail, text: text, fix: fix, cause: cause)
    }

    /// Something that could not be examined, or was found broken.
    package static func fail(_ subject: String, _ error: any Error) -> Finding {
        fail(subject, "\(error)", cause(of: error))
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
