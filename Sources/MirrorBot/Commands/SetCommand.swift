import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot set`.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set values for this mirror; they override the environment and .env.",
        discussion: """
            A running worker uses them within a minute. Without arguments the command shows what is set. Secrets, \
            logins and settings of the process, such as \(Setting.databaseURL.name), cannot be set. mirror-bot config WORD explains a \
            setting. These can be set:

            \(AnySetting.storableNames)
            """)

    @Argument(
        help: ArgumentHelp(
            "Such as \(Setting.maxPerDay.name)=5; several are allowed.", valueName: "name=value"))
    var words: [String] = []

    @Flag(help: "Show what the values would change, and change nothing.")
    var dryRun = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let values = try SettingWords.values(words)
        guard values.isEmpty else {
            guard !dryRun else { return try await showForecasts(values) }
            return try await options.change(
                SetValues(values), output, making: .mirror, opening: openWithoutSettings
            ) { change in change.settings.filter { values[$0.name] != nil }.map(\.line) }
        }
        try await options.withMirror(making: .database, opening: openWithoutSettings) { mirror in
            let stored = try await SettingsChange(of: mirror)
            if output.json { return try JSONOutput.print(stored) }
            if stored.settings.isEmpty { print("nothing is set for mirror \(mirror.name)") }
            for entry in stored.settings { print(entry.line) }
        }
    }

    private func showForecasts(_ values: [String: String]) async throws {
        try await options.withRecord(making: .database, opening: openWithoutSettings) {
            mirror, record in
            var forecasts: [SettingForecast] = []
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                forecasts.append(
                    try await SettingForecast(
                        of: mirror, name, to: value, zone: mirror.knownTimeZone(record),
                        now: mirror.clock.now))
            }
            if output.json { return try JSONOutput.print(forecasts) }
            for sentence in forecasts.flatMap(\.sentences) { print(Printable.line(sentence)) }
        }
    }
}

/// Values of settings as arguments.
enum SettingWords {
    /// The values by variable name.
    ///
    /// - Throws: `ValidationError` for a word that is no `NAME=VALUE`, or repeats a variable.
    static func values(_ words: [String]) throws -> [String: String] {
        var values: [String: String] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw ValidationError(
                    "\"\(word)\" is no NAME=VALUE; mirror-bot unset NAME forgets a value")
            }
            let name = String(word[..<equals])
            let value = String(word[word.index(after: equals)...])
            guard !value.isEmpty else {
                throw ValidationError(
                    "\(name) has no value; mirror-bot unset \(name) forgets the one that is set")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw ValidationError("\(name) is given twice")
            }
        }
        return values
    }
}

/// `mirror-bot unset`.
struct UnsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset", abstract: "Remove values that were set for this mirror.")

    @Argument(
        help: ArgumentHelp(
            "Such as \(Setting.maxPerDay.name); several are allowed.", valueName: "name"))
    var names: [String]

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(UnsetValues(names), output, opening: openWithoutSettings) {
            change in
            names.map { name in
                let name = Printable.line(name)
                return change.changed.contains(name)
                    ? "\(name) is no longer set" : "nothing to do: \(name) was not set"
            }
        }
    }
}

/// Opens the mirror without its stored settings, which may be the ones to repair.
private func openWithoutSettings(
    _ configuration: MirrorConfiguration, _ making: HumanMirror.Making
) async throws -> HumanMirror {
    var configuration = configuration
    configuration.mirror.ignoresStored = true
    return try await HumanMirror.open(configuration, making: making)
}

extension SettingsChange.Entry {
    fileprivate var line: String { "\(name)=\(Printable.line(value))" }
}
