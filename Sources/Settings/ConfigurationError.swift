/// A setting that is missing, unknown or not of its form; the process ends with 78.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The variable at fault.
    package let setting: String
    /// The problem and its correction; never holds a secret's value.
    package var description: String { "\(setting) \(problem)" }
    private let problem: String
    /// The setting is absent, not wrong.
    package let isMissing: Bool
    /// The part of the setup that is not done yet; nil if the error is about something else.
    package let part: MissingPart?

    package init(
        _ setting: String, _ problem: String, isMissing: Bool = false, part: MissingPart? = nil
    ) {
        self.setting = setting
        self.problem = problem
        self.isMissing = isMissing
        self.part = part
    }

    /// The same error with another clause at its end.
    func adding(_ clause: String) -> ConfigurationError {
        ConfigurationError(setting, "\(problem); \(clause)", isMissing: isMissing, part: part)
    }
}

/// A part of a mirror that a command needs and that is not there yet.
package enum MissingPart: Equatable, Sendable {
    case account(AccountRole)
    /// The human's posts, which were never read.
    case posts
    case timeZone
    /// The file of the embedded database.
    case database
    /// A mirror of that name in the database.
    case mirror
}
