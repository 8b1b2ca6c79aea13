import ArgumentParser
import Control
import Expectations
import Foundation
import Networks
import Outbox
import Settings
import Testing

@testable import MirrorBot

/// The alerts and the dashboard of `deploy/`, and what the documentation says of metrics, beside
/// what the program measures.
///
/// Whether Prometheus takes them, and when the alerts fire, `make check-deploy` tests.
@Suite struct MonitoringFilesTests {
    private static let rules = "deploy/prometheus/mirror-bot.rules.yml"
    private static let dashboard = "deploy/grafana/mirror-bot.json"
    private static let all = Set(MetricsReport.Metric.allCases.map(\.name))

    /// The metrics that a text names, a histogram by its own name.
    private func metrics(in text: String) -> Set<String> {
        let histogram = MetricsReport.Metric.requestDuration.name
        return Set(
            text.matches(of: /mirrorbot_[a-z_]+/).map { String($0.output) }.map { name in
                ["_bucket", "_sum", "_count"].contains { name == histogram + $0 } ? histogram : name
            })
    }

    @Test(arguments: [rules, "deploy/prometheus/mirror-bot.rules.test.yml", dashboard])
    func onlyWhatIsMeasuredIsAskedFor(_ path: String) throws {
        let named = metrics(in: try Repository.text(of: path))
        #expect(named.count > 5)
        #expect(named.subtracting(Self.all) == [], "\(path)")
    }

    @Test func theDashboardShowsEverything() throws {
        #expect(Self.all.subtracting(metrics(in: try Repository.text(of: Self.dashboard))) == [])
    }

    @Test func theDocumentationListsEverythingOnce() throws {
        let rows = try Repository.text(of: "docs/run.md").matches(
            of: /(?m)^\| `(?<name>mirrorbot_[a-z_]+)`/)
        expect(rows.map { String($0.output.name) }.sorted(), equals: Self.all.sorted())
    }

    /// The values of labels that it selects by.
    private func selected(by label: String, in text: String) -> Set<String> {
        Set(
            text.matches(of: /(?<label>[a-z]+)=~?\\?"(?<values>[a-z|-]+)\\?"/).filter {
                $0.output.label == label
            }
            .flatMap { $0.output.values.split(separator: "|").map(String.init) })
    }

    @Test(arguments: [rules, dashboard]) func onlyValuesThatThereAreAreSelected(_ path: String)
        throws
    {
        let text = try Repository.text(of: path)
        let known: [String: [String]] = [
            "code": Obstacle.Code.allCases.map(\.rawValue),
            "weight": Obstacle.Weight.allCases.map(\.rawValue),
            "state": Health.Verdict.State.allCases.map(\.rawValue)
                + ActionState.allCases.map(\.rawValue),
            "window": AccountRole.allCases.map(\.rawValue),
        ]
        for (label, values) in known {
            #expect(selected(by: label, in: text).subtracting(values) == [], "\(label) in \(path)")
        }
        #expect(!selected(by: path == Self.rules ? "code" : "weight", in: text).isEmpty)
    }

    /// Each alert waits, and tells in words what it is and which command tells more.
    @Test func alertsNameACommandThatThereIs() throws {
        let alerts = try Repository.text(of: Self.rules).components(separatedBy: "- alert: ")
            .dropFirst()
        #expect(alerts.count >= 12)
        for alert in alerts {
            let words = alert.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let name = words.prefix { $0 != " " }
            let wait = words.firstMatch(
                of: /for: \d+[mh] labels: \{ severity: (critical|warning) \}/)
            #expect(wait != nil, "\(name)")
            #expect(words.contains(" summary: ") && words.contains(" description: >- "), "\(name)")
            let commands = words.matches(of: /`mirror-bot (?<words>[^`]+)`/).map {
                $0.output.words.replacing(/\{\{ \$labels\.mirror \}\}/, with: "mika")
            }
            #expect(!commands.isEmpty, "\(name)")
            for command in commands {
                #expect(throws: Never.self, "\(command)") {
                    _ = try MirrorBot.parseAsRoot(command.split(separator: " ").map(String.init))
                }
            }
        }
    }
}
