import Configuration
package import Foundation
import Logging
package import Mirroring
package import Settings
package import TestSupport
import Testing

/// A mirror's database without any network, for tests of what is stored.
package struct BareMirror {
    package static let now = Date(timeIntervalSince1970: 1_795_000_000)

    package let folder: TemporaryDirectory
    private let variables: [String: String]

    /// Makes the tables.
    ///
    /// - Parameters:
    ///   - engine: Where the data is.
    ///   - variables: Settings besides that of the database.
    /// - Throws: What went wrong.
    package init(_ engine: Engine = .sqlite, variables: [String: String] = [:]) async throws {
        folder = try TemporaryDirectory()
        var all = ["MIRROR": "test", "MIRROR_BOT_HOME": folder.path].merging(variables) { $1 }
        if engine == .postgres {
            let url = try await MigratedDatabase.onPostgres()
            OpenMirrors.current?.add { await PostgresServer.drop(url) }
            all["DATABASE_URL"] = url
        } else {
            try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
        }
        self.variables = all
    }

    package var databasePath: String { folder.path("mirror-bot.sqlite") }

    package var keyPath: String { databasePath + ".key" }

    package func configuration(_ changes: [String: String] = [:]) throws -> MirrorConfiguration {
        try MirrorFixture.configuration(variables.merging(changes) { $1 })
    }

    /// Opens the mirror as one more process does; the suite's trait closes it.
    ///
    /// - Parameters:
    ///   - changes: Settings that differ; empty ones count as not set.
    ///   - log: Receives what is logged.
    ///   - clock: Tells the time.
    ///   - rehearsal: How the process differs from one in earnest.
    /// - Returns: The mirror.
    /// - Throws: What went wrong.
    package func open(
        _ changes: [String: String] = [:], log: Recorder<String> = Recorder(),
        clock: any WallClock = SystemClock(),
        rehearsal: Rehearsal = .off
    ) async throws -> HumanMirror {
        let closing = try #require(OpenMirrors.current)
        let mirror = try await HumanMirror.open(
            try configuration(changes), clock: clock, rehearsal: rehearsal,
            logger: Logger(label: "test") { _ in LogRecorder(lines: log) },
            opening: OpenMirrors.open)
        closing.add { [folder] in
            await mirror.close()
            // The folder goes with the last reference, and not before what is in it.
            withExtendedLifetime(folder) {}
        }
        return mirror
    }
}
