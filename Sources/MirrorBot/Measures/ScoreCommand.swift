import ArgumentParser
import Evaluation
import Mirroring
import Settings

/// `mirror-bot score`.
struct ScoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "score",
        abstract: "Measure how well this mirror has learned its human.",
        discussion: """
            Both models learn the first four fifths of what the mirror knows, and predict the rest. The schedule \
            keeps what it learned; favorites are predicted one by one and learned after that, as the mirror does \
            every day. Of the last fifth of the human's answers whose mention is known, each competes with their earlier \
            replies to that person; from then on \(Setting.replies.name) goes by what is found. No network is asked, and what was learned \
            stays as it is; the figures of favorites and replies are kept for mirror-bot stats and the page. Its \
            long form is mirror-bot rehearse, which shows a whole year.
            """)

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try await options.withMirror { mirror in
            let now = mirror.clock.now
            let zone = try await mirror.recordedTimeZone(now: now)
            let report = try await ScoreReporter(mirror: mirror, zone: zone).report(now: now)
            if let scores = report.classifier.scores {
                // If the database is read-only, the figures are printed nevertheless.
                try? await mirror.keep(ClassifierMeasure(scores, at: now))
            }
            if let choices = report.replies.scores?.choices { try? await mirror.keep(choices) }
            if json { return try JSONOutput.print(report) }
            for line in ScoreView.lines(report, terminal: .output) { print(line) }
        }
    }
}
