import Localization

/// A setting that is missing, unknown or invalid; the process exits with 78.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The name of the environment variable at fault.
    package let setting: String
    /// The problem and its correction; never contains a secret's value.
    package var description: String {
        // A sentence in Japanese has blanks around names in Latin letters only.
        let isJapanese = Language.current == .japanese && setting.last?.isASCII == false
        return "\(setting)\(isJapanese ? "" : " ")\(problem)"
    }
    private let problem: String
    /// Whether the setting is absent; if not, its value is wrong.
    package let isMissing: Bool
    /// The missing part of the setup; nil if the error is about something else.
    package let part: MissingPart?

    package init(
        _ setting: String, _ problem: String, isMissing: Bool = false, part: MissingPart? = nil
    ) {
        self.setting = setting
        self.problem = problem
        self.isMissing = isMissing
        self.part = part
    }

    /// The error with an additional clause at its end.
    func adding(_ clause: String) -> ConfigurationError {
        ConfigurationError(
            setting, localized("\(problem); \(clause)"), isMissing: isMissing, part: part)
    }
}

/// A part of a mirror's setup that a command needs and that is missing.
package enum MissingPart: Equatable, Sendable {
    case account(AccountRole)
    /// The human's posts, which have never been read.
    case posts
    case timeZone
    /// The file of the embedded database.
    case database
    /// A mirror of that name in the database.
    case mirror
}
