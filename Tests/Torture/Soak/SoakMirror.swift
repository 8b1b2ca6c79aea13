import Configuration
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Settings

/// The settings of a soaked mirror.
enum SoakMirror {
    static let name = "soak"
    /// Low enough to be reached on the first day: a month must show that what comes in goes out
    /// again.
    static let archiveLimit = 1_600
    static let exampleLimit = 800
    static let favoritesPerDay = 10
    /// The most posts of a day.
    static let slotsPerDay = 20
    /// The most that an example adds to the counts, pairs of words included.
    static let featuresPerExample = 16

    /// Where the data is, as this process was told.
    static func storeVariables() -> [String: String] {
        ProcessInfo.processInfo.environment.filter {
            ["DATABASE_URL", "REDIS_URL"].contains($0.key)
        }
    }

    static func configuration(home: String, _ variables: [String: String]) throws
        -> MirrorConfiguration
    {
        var all = [
            "MIRROR": name, "MIRROR_BOT_HOME": home, "TIME_ZONE": SamplePeople.timeZoneIdentifier,
            "ARCHIVE_LIMIT": "\(archiveLimit)", "EXAMPLE_LIMIT": "\(exampleLimit)",
            "FAVORITES_PER_DAY": "\(favoritesPerDay)", "MAX_PER_DAY": "\(slotsPerDay)",
        ]
        if let dictionary = ProcessInfo.processInfo.environment["MECAB_DICTIONARY"] {
            all["MECAB_DICTIONARY"] = dictionary
        }
        all.merge(variables) { _, given in given }
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: all))
        return try MirrorConfiguration(values, environment: [:])
    }

    /// What a person would set to use the two accounts of a sandbox.
    static func accounts(of sandbox: Sandbox, on network: NetworkName) -> [String: String] {
        var variables: [String: String] = [:]
        for role in SandboxRole.allCases {
            variables.merge(sandbox.settings(of: role, on: network)) { $1 }
        }
        // A month of reading at the prices of X; nothing is paid here.
        if network == .x { variables["X_BUDGET_USD_PER_MONTH"] = "10000" }
        return variables
    }
}
