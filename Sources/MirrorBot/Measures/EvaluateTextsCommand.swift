import ArgumentParser
import Control
import Evaluation
import Foundation
import Mirroring
import Settings

/// `mirror-bot evaluate texts`.
struct EvaluateTextsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Show which texts of an archive make sense alone.",
        discussion: """
            A post is read years later by people who see nothing but it. The rules leave out texts that only made \
            sense on their day, to one person, or beside a picture or a link; some texts fit only certain days or \
            hours. The command shows how many texts each rule leaves out, with examples, so that you can see whether \
            you agree.

            --labels compares the rules with a person: JSON Lines with id, fit (true or false) and, optionally, \
            reason. The same file may be both. With --persons, simulated persons label some of the texts, one in ten \
            wrongly, and the others show what a mirror learns from them.
            """)

    @Option(
        help: ArgumentHelp(
            "A downloaded archive or JSON Lines; - is standard input.", valueName: "path"))
    var from: String

    @Option(
        help: ArgumentHelp("A person's judgement of its texts, as JSON Lines.", valueName: "path"))
    var labels: String?

    @Option(help: ArgumentHelp("Texts to show for each rule.", valueName: "number"))
    var samples = 3

    @Option(
        help: ArgumentHelp(
            "Simulated persons from whose labels texts are learned.", valueName: "number"))
    var persons = 0

    @Option(
        help: ArgumentHelp("The IANA time zone in which days and years begin.", valueName: "zone"))
    var timeZone: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (0...1_000).contains(samples) else {
            throw ValidationError("--samples is \(samples); expected a number from 0 to 1000")
        }
        guard (0...1_000).contains(persons) else {
            throw ValidationError("--persons is \(persons); expected a number from 0 to 1000")
        }
        guard persons == 0 || labels != nil else {
            throw ValidationError("--persons needs --labels")
        }
        if from == "-", labels == "-" {
            throw ValidationError("standard input can be only one of --from and --labels")
        }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError(
                "--time-zone is \"\(timeZone)\"; expected an IANA name such as Asia/Tokyo")
        }
    }

    func run() async throws {
        let console = Console.current
        let values = try SettingValues.load(
            environment: console.environment, folder: console.folder)
        let settings = try MirrorConfiguration(
            values, environment: console.environment, readsAccounts: false)
        let zone = timeZone.flatMap(TimeZone.init(identifier:)) ?? settings.mirror.timeZone
        let evaluator = TextEvaluator(
            settings.mirror, dictionary: settings.process.dictionary, zone: zone, samples: samples,
            persons: persons)
        let report = try await evaluator.evaluate(
            console.path(from), labels: labels.map(console.path))
        if report.problems > 0 {
            StandardError.write("warning: \(report.problems) posts cannot be read\n")
        }
        if json { return try JSONOutput.print(report) }
        for line in TextReportView.lines(report, terminal: .output) { print(line) }
    }
}
