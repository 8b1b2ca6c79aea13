import Localization
import Redis
import Storage

/// The configuration of a command: the settings of its process, and those of its mirror.
package struct MirrorConfiguration: Sendable {
    package var process: ProcessSettings
    package var mirror: MirrorSettings

    package init(process: ProcessSettings, mirror: MirrorSettings) {
        self.process = process
        self.mirror = mirror
    }

    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - environment: Other variables of the process, see
    ///     ``ProcessSettings/init(_:environment:)``.
    ///   - readsAccounts: See ``MirrorSettings/init(_:readsAccounts:)``.
    /// - Throws: ``ConfigurationError`` for a value that is not usable.
    package init(_ values: SettingValues, environment: [String: String], readsAccounts: Bool = true)
        throws
    {
        self.init(
            process: try ProcessSettings(values, environment: environment),
            mirror: try MirrorSettings(values, readsAccounts: readsAccounts))
    }

    /// All problems of the values beyond their form; contacts no server.
    ///
    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - environment: Other variables of the process.
    /// - Returns: An error for each setting at fault, in the order of ``AnySetting/all``.
    package static func problems(in values: SettingValues, environment: [String: String])
        -> [ConfigurationError]
    {
        var problems = SettingProblems()
        MirrorSettings.check(values, &problems)
        ProcessSettings.check(values, environment: environment, &problems)
        let positions = Dictionary(
            uniqueKeysWithValues: AnySetting.all.enumerated().map { position, setting in
                (setting.name, position)
            })
        // Problems at the same position keep their order.
        func rank(_ offset: Int, _ problem: ConfigurationError) -> (Int, Int) {
            (positions[problem.setting] ?? .max, offset)
        }
        return problems.all.enumerated()
            .sorted { first, second in
                rank(first.offset, first.element) < rank(second.offset, second.element)
            }
            .map(\.element)
    }
}

/// Problems of settings, at most one of each.
struct SettingProblems {
    private(set) var all: [ConfigurationError] = []

    /// Runs `body`, and records its error: for the setting that the error names, or else for
    /// `setting`.
    mutating func check<Value>(_ setting: Setting<Value>, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error = error as? ConfigurationError ?? Self.problem(setting.name, error)
            if !all.contains(where: { $0.setting == error.setting }) { all.append(error) }
        }
    }

    /// Converts an error of the code that uses a setting to an error about the setting.
    private static func problem(_ setting: String, _ error: any Error) -> ConfigurationError {
        let cause =
            switch error {
            case let error as StorageError: error.cause
            case let error as RedisError: error.message
            default: "\(error)"
            }
        let beginsWithName = cause.hasPrefix(setting + " ")
        return ConfigurationError(
            setting,
            beginsWithName
                ? String(cause.dropFirst(setting.count + 1)) : localized("cannot be used: \(cause)")
        )
    }
}
