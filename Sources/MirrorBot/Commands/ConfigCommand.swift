import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show every setting, its value and origin, and what a change does.",
        discussion: """
            Secrets are shown as <redacted>. Every value is checked without a request to a server, except to the \
            database, which holds the values of "set". Ends with 78 if a value cannot be used.
            """)

    @Argument(
        help: ArgumentHelp("Only settings whose name or text contains it.", valueName: "word"))
    var word: String?

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var (values, problems) = try await options.checkedValues()
        if problems.isEmpty { values = await withSettings(values) }
        let report = ConfigReport(
            values, problems: problems, environment: Console.current.environment, word: word)
        if json {
            try JSONOutput.print(report)
        } else if report.groups.isEmpty {
            print("no setting contains \"\(Printable.line(word ?? ""))\"")
        } else {
            for line in ConfigView.lines(report, terminal: .output) { print(line) }
        }
        guard let last = problems.last else { return }
        for problem in problems.dropLast() {
            StandardError.write("error: \(Printable.lines("\(problem)"))\n")
        }
        throw last
    }

    /// Returns the values, overridden by those that are stored for the mirror.
    ///
    /// If the stored values cannot be read, this prints a warning and returns the given values.
    private func withSettings(_ values: SettingValues) async -> SettingValues {
        do {
            let configuration = try MirrorConfiguration(
                values, environment: Console.current.environment, readsAccounts: false)
            let values = try await configuration.valuesWithSettings()
            MirrorOptions.tellWarnings(about: values)
            return values
        } catch {
            StandardError.write(
                "warning: what is set for the mirror is not shown: \(Printable.line("\(error)"))\n")
            return values
        }
    }
}
