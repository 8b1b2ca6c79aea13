import Blocking
import Mirroring
import Settings

/// The names of mirrors for a shell that completes words.
enum MirrorNames {
    /// Returns the completions of `--mirror`: the mirrors of the database that the command line and
    /// the environment name.
    ///
    /// Creates no file and prints nothing. Returns an empty list on any error.
    @Sendable static func complete(
        _ words: [String], _ wordIndex: Int, _ beginning: String
    ) async -> [String] {
        // The word after `--home`.
        let home = words.drop { $0 != "--home" }.dropFirst().first
        let environment = Console.current.environment
        let (values, problems) = SettingValues.loadAll(
            flags: home.map { [Setting.home.name: $0] } ?? [:], environment: environment,
            folder: Console.current.folder)
        // Invalid settings name no database.
        guard problems.isEmpty,
            let configuration = try? MirrorConfiguration(
                values, environment: environment, readsAccounts: false)
        else { return [] }
        // A shell cannot display an error during completion.
        let names = try? await names(configuration)
        return (names ?? []).filter { $0.hasPrefix(beginning) }
    }

    private static func names(_ configuration: MirrorConfiguration) async throws -> [String] {
        try configuration.process.requireDatabase()
        let installation = try await Installation.open(configuration)
        return try await afterwards(installation.close) {
            try await MirrorTable.names(in: installation.storage, limit: 200)
        }
    }
}
