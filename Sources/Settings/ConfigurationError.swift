/// A setting that is missing, unknown or not of its form; the process ends with 78.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The variable at fault.
    package let setting: String
    /// What is wrong and what would be right; never holds a secret's value.
    package let description: String
    /// The setting is absent, not wrong.
    package let isMissing: Bool

    package init(_ setting: String, _ problem: String, isMissing: Bool = false) {
        self.setting = setting
        self.description = "\(setting) \(problem)"
        self.isMissing = isMissing
    }

    /// The same error with another clause at its end.
    func adding(_ clause: String) -> ConfigurationError {
        let problem = description.dropFirst(setting.count + 1)
        return ConfigurationError(setting, "\(problem); \(clause)", isMissing: isMissing)
    }
}
