import ArgumentParser
import Daemon
import Foundation

/// The flags of every command that works on a mirror.
struct MirrorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Which human and bot pair; overrides MIRROR.", valueName: "name"))
    var mirror: String?

    @Option(help: ArgumentHelp("The human's IANA time zone; overrides TIME_ZONE.", valueName: "zone"))
    var timeZone: String?

    @Option(help: ArgumentHelp("Folder of the embedded database; overrides MIRROR_BOT_HOME.", valueName: "folder"))
    var home: String?

    @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("logfmt, json or pretty.", valueName: "format"))
    var logFormat: String?

    /// The settings as flags, environment and `.env` give them.
    func settings() async throws -> SettingValues {
        let flags: [String: String?] = [
            "MIRROR": mirror, "TIME_ZONE": timeZone, "MIRROR_BOT_HOME": home, "LOG_LEVEL": logLevel,
            "LOG_FORMAT": logFormat,
        ]
        return try await SettingValues.load(flags: flags.compactMapValues(\.self))
    }

    /// The configuration, with its settings.
    func configuration() async throws -> (MirrorConfiguration, SettingValues) {
        let values = try await settings()
        return (try MirrorConfiguration(values, environment: ProcessInfo.processInfo.environment), values)
    }

    /// Opens the mirror, runs `body` on it and closes it again.
    func withMirror<Value>(_ body: (MirrorStores) async throws -> Value) async throws -> Value {
        let (configuration, values) = try await configuration()
        LogOutput.install(values)
        let stores = try await MirrorStores.open(configuration)
        do {
            let value = try await body(stores)
            await stores.close()
            return value
        } catch {
            await stores.close()
            throw error
        }
    }
}
