import Mirroring
import Settings

/// The names of mirrors for a shell that completes words.
enum MirrorNames {
    /// What may follow `--mirror`: the mirrors of the database that the words and the environment name.
    ///
    /// Makes nothing, says nothing, and finds nothing where something is wrong.
    @Sendable static func complete(_ words: [String], _: Int, _ beginning: String) async -> [String] {
        let home = words.firstIndex(of: "--home").flatMap { words.dropFirst($0 + 1).first }
        let environment = Console.current.environment
        let (values, _) = SettingValues.loadAll(
            flags: home.map { [Setting.home.name: $0] } ?? [:], environment: environment,
            folder: Console.current.folder)
        guard let configuration = try? MirrorConfiguration(values, environment: environment, readsAccounts: false)
        else { return [] }
        let names = try? await MirrorOptions.openWhicheverThereAre(configuration, .nothing).closing { mirror in
            try await MirrorTable.names(in: mirror.storage, limit: 200)
        }
        return (names ?? []).filter { $0.hasPrefix(beginning) }
    }
}
