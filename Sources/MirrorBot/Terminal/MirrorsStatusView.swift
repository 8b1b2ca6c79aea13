import Control
import Foundation
import Posts

/// The answer of `mirror-bot status --all`.
enum MirrorsStatusView {
    static func lines(_ status: MirrorsStatus, terminal: Terminal) -> [String] {
        guard status.total > 0 else { return ["no mirrors were found"] }
        let stateCounts = Health.Verdict.State.allCases.compactMap { state in
            status.states[state.rawValue].map { "\($0) \(state.rawValue)" }
        }
        let noun = status.total == 1 ? "mirror" : "mirrors"
        var lines = [
            terminal.bold("\(status.total) \(noun): ") + stateCounts.joined(separator: ", ")
        ]
        let width = status.mirrors.map { Printable.width($0.name) }.max() ?? 0
        lines += status.mirrors.map { line($0, nameWidth: width, terminal) }
        lines += (status.unableWorkers ?? []).map { Printable.line(worker($0)) }
        if status.pages > 1 {
            lines.append(
                "page \(status.page) of \(status.pages); --page N shows another, --search WORDS finds one"
            )
        }
        return lines
    }

    private static func worker(_ worker: MirrorsStatus.UnableWorker) -> String {
        let extent = worker.isIdle ? "nothing" : "only a part of the work"
        let noun = worker.mirrors == 1 ? "mirror" : "mirrors"
        return "worker \(worker.worker) can do \(extent) since \(worker.since.rfc3339), "
            + "holds \(worker.mirrors) \(noun): \(worker.reason)"
    }

    private static func line(_ mirror: MirrorsStatus.Line, nameWidth: Int, _ terminal: Terminal)
        -> String
    {
        let otherObstacles = mirror.obstacles > 1 ? " (+\(mirror.obstacles - 1))" : ""
        let waitingSuggestions =
            mirror.suggestions > 0 ? "; \(mirror.suggestions) suggestions wait" : ""
        let start = "\(Printable.padded(mirror.name, to: nameWidth))  "
        let end = otherObstacles + waitingSuggestions
        let textColumns = terminal.columns - 2 - Printable.width(start) - Printable.width(end)
        let text =
            terminal.hasWidth
            ? Printable.line(mirror.text, columns: max(20, textColumns))
            : Printable.line(mirror.text)
        return StatusView.stateSign(mirror.state, terminal) + " " + start + text + end
    }
}
