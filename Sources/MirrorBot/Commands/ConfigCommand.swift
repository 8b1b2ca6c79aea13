import ArgumentParser
import Mirroring

/// `mirror-bot config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show every setting, its value and where it comes from.",
        discussion: "Secrets are shown as <redacted>. Ends with 78 if a value cannot be used.")

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (_, values) = try await options.configuration()
        let lines = Setting.all.map { setting in
            Line(
                name: setting.name, value: shown(setting, values), origin: values.origin(setting.name).rawValue,
                summary: setting.summary)
        }
        guard !json else { return try JSONOutput.print(lines) }
        let width = lines.map(\.name.count).max() ?? 0
        let terminal = Terminal.output
        for line in lines {
            let value = Printable.line(line.value ?? "not set")
            print(
                terminal.bold(Printable.padded(line.name, to: width)) + "  "
                    + Printable.padded(value, to: 24) + "  " + Printable.padded(line.origin, to: 11) + "  "
                    + terminal.dim(line.summary))
        }
    }

    private func shown(_ setting: Setting, _ values: SettingValues) -> String? {
        guard let text = values.text(setting.name) else { return nil }
        return setting.isSecret ? "<redacted>" : text
    }

    private struct Line: Encodable {
        let name: String
        let value: String?
        let origin: String
        let summary: String
    }
}
