import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show every setting, its value and where it comes from.",
        discussion: """
            Secrets are shown as <redacted>. Every value is checked as far as it can be without asking a server, but for \
            the database, which knows what is set for the mirror; ends with 78 if one cannot be used.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var (values, problems) = try await options.checkedValues()
        if problems.isEmpty { values = await withSettings(values) }
        let report = ConfigReport(values, problems, environment: Console.current.environment)
        if json {
            try JSONOutput.print(report)
        } else {
            for line in report.lines(terminal: .output) { print(line) }
        }
        guard let last = problems.last else { return }
        for problem in problems.dropLast() { StandardError.write("error: \(Printable.lines("\(problem)"))\n") }
        throw last
    }

    /// The values with what is set for the mirror; a database that cannot be read is no problem of any value.
    private func withSettings(_ values: SettingValues) async -> SettingValues {
        do {
            let configuration = try MirrorConfiguration(
                values, environment: Console.current.environment, readsAccounts: false)
            return try await configuration.valuesWithSettings()
        } catch {
            StandardError.write("warning: what is set for the mirror is not shown: \(Printable.line("\(error)"))\n")
            return values
        }
    }
}

/// Every setting with its value, and what is wrong with them.
private struct ConfigReport: Encodable {
    struct Line: Encodable {
        let name: String
        /// Nil if it is not set; never that of a secret.
        let value: String?
        let origin: String
        let summary: String
        /// Why the value cannot be used; nil if it can.
        let problem: String?
    }

    let schema = "mirror-bot/config/1"
    let settings: [Line]
    /// Each names what it is about; also what is wrong with no single setting.
    let problems: [String]

    init(_ values: SettingValues, _ problems: [ConfigurationError], environment: [String: String]) {
        self.problems = problems.map(\.description)
        settings = Setting.all.map { setting in
            let problem = problems.first { [setting.name, setting.name + "_FILE"].contains($0.setting) }
            let origin = values.origin(setting)
            var line = (value: Self.shown(setting, values, isWrong: problem != nil), origin: origin)
            if setting.name == Setting.home.name, origin == .unset,
                let home = try? ProcessSettings.home(values, environment)
            {
                line = (home, .fallback)
            }
            return Line(
                name: setting.name, value: line.value, origin: line.origin.rawValue, summary: setting.summary,
                problem: problem?.description)
        }
    }

    /// What may be shown of a value: a text that cannot be used may be a secret in the wrong place.
    private static func shown(_ setting: Setting, _ values: SettingValues, isWrong: Bool) -> String? {
        guard let text = values.text(setting) else { return nil }
        if setting.isSecret { return "<redacted>" }
        guard isWrong, case .text = setting.form, !setting.isPath else { return text }
        return "<unusable>"
    }

    // MARK: For people

    private static let originWidth = 11

    func lines(terminal: Terminal) -> [String] {
        let nameWidth = settings.map(\.name.count).max() ?? 0
        let valueWidth = max(12, terminal.columns - nameWidth - Self.originWidth - 4)
        return settings.flatMap { setting -> [String] in
            let value = Printable.chunks(setting.value ?? "not set", columns: valueWidth)
            let head =
                terminal.bold(Printable.padded(setting.name, to: nameWidth)) + "  "
                + Printable.padded(value.first ?? "", to: valueWidth) + "  " + setting.origin
            let rest = value.dropFirst().map { String(repeating: " ", count: nameWidth + 2) + $0 }
            return [head] + rest + notes(setting, terminal)
        }
    }

    /// What the setting means, and what is wrong with it.
    private func notes(_ setting: Line, _ terminal: Terminal) -> [String] {
        let width = max(20, terminal.columns - 4)
        let problem = setting.problem.map { FigureGroup.wrapped(Printable.line($0), columns: width - 2) } ?? []
        return FigureGroup.wrapped(setting.summary, columns: width).map { "    " + terminal.dim($0) }
            + problem.enumerated().map { "    " + ($0 == 0 ? terminal.yellow("!") : " ") + " " + $1 }
    }
}
