import ArgumentParser
import Foundation
import Mirroring
import Control
import Settings

/// `mirror-bot set`.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set values for this mirror, which win over the environment and .env.",
        discussion: """
            A running worker takes them up within a minute. Without words it shows what is set. Secrets, logins and \
            what belongs to the process, such as DATABASE_URL, cannot be set; mirror-bot config tells all names.
            """)

    @Argument(help: ArgumentHelp("As MAX_PER_DAY=5; several at once.", valueName: "name=value"))
    var words: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let values = try values()
        try await options.withMirror(
            making: values.isEmpty ? .database : .mirror, opening: openWithoutSettings
        ) { mirror in
            if !values.isEmpty { try await mirror.set(values, now: mirror.clock.now) }
            let all = try await SettingTable(storage: mirror.storage, mirror: mirror.name).all()
            guard !json else { return try JSONOutput.print(SetReport(mirror: mirror.name, settings: all)) }
            let shown = values.isEmpty ? all : values
            if shown.isEmpty { print("nothing is set for mirror \(mirror.name)") }
            for (name, value) in shown.sorted(by: { $0.key < $1.key }) { print("\(name)=\(Printable.line(value))") }
        }
    }

    private func values() throws -> [String: String] {
        var values: [String: String] = [:]
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw ValidationError("\"\(word)\" is no NAME=VALUE; mirror-bot unset NAME forgets a value")
            }
            let (name, value) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
            guard !value.isEmpty else {
                throw ValidationError("\(name) has no value; mirror-bot unset \(name) forgets the one that is set")
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
        commandName: "unset", abstract: "Forget values that were set for this mirror.")

    @Argument(help: ArgumentHelp("As MAX_PER_DAY; several at once.", valueName: "name"))
    var names: [String]

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(making: .database, opening: openWithoutSettings) { mirror in
            let table = SettingTable(storage: mirror.storage, mirror: mirror.name)
            let removed = try await table.remove(names)
            guard !json else {
                return try JSONOutput.print(SetReport(mirror: mirror.name, settings: try await table.all()))
            }
            for name in names {
                let name = Printable.line(name)
                print(removed.contains(name) ? "\(name) is no longer set" : "nothing to do: \(name) was not set")
            }
        }
    }
}

/// Opens the mirror without what is set for it, which may be what is to be mended.
private func openWithoutSettings(
    _ configuration: MirrorConfiguration, _ making: HumanMirror.Making
) async throws -> HumanMirror {
    var configuration = configuration
    configuration.ignoresSettings = true
    return try await HumanMirror.open(configuration, making: making)
}

/// What is set for a mirror, for programs.
private struct SetReport: Encodable {
    let schema = "mirror-bot/set/1"
    let mirror: String
    /// By the names of the variables, which stay as they are.
    let settings: [Entry]

    struct Entry: Encodable {
        let name: String
        let value: String
    }

    init(mirror: String, settings: [String: String]) {
        self.mirror = mirror
        self.settings = settings.sorted { $0.key < $1.key }.map { Entry(name: $0.key, value: $0.value) }
    }
}
