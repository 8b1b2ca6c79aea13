import Foundation
import Localization
import Mirroring

/// Shows the progress of a training: a bar on a terminal, else an occasional plain line.
final class ProgressView: @unchecked Sendable {
    // Sendable because the state is only touched under `lock`.
    /// The number of items at which the first plain line is written.
    private static let firstShown = 1_000
    private static let barWidth = 30
    private static let narrowestBar = 6

    private let lock = NSLock()
    private let stream = Console.current.error
    /// The number of items that the last plain line showed.
    private var lastShown = 0
    private var lastStep: TrainingProgress.Step?
    private var isBarShown = false

    func show(_ progress: TrainingProgress) {
        lock.withLock {
            if let announcement = progress.announcement {
                finishBar()
                stream.show(Printable.lines(announcement) + "\n")
                return
            }
            if progress.step != lastStep {
                finishBar()
                lastStep = progress.step
                lastShown = 0
            }
            if stream.terminal.isInteractive { showBar(progress) } else { showLine(progress) }
        }
    }

    /// Ends the line of the bar.
    func finish() { lock.withLock { finishBar() } }

    private func showBar(_ progress: TrainingProgress) {
        stream.show("\r" + Self.line(progress, columns: stream.terminal.columns - 1))
        isBarShown = true
    }

    /// Returns a line with name, bar and figures, at most `columns` cells wide.
    ///
    /// If there is too little room, the total is left out, and if necessary the bar too.
    static func line(_ progress: TrainingProgress, columns: Int) -> String {
        let name = progress.step.words
        guard let total = progress.total, total > 0 else {
            return Printable.line("\(name) \(progress.done)", columns: columns)
        }
        for figures in [
            localized("\(progress.done) of at most \(total)"), "\(progress.done)/\(total)",
            "\(progress.done)",
        ] {
            let width = min(
                barWidth, columns - Printable.width(name) - Printable.width(figures) - 2)
            guard width >= narrowestBar else { continue }
            let filled = min(width, progress.done * width / total)
            return name + " " + String(repeating: "█", count: filled)
                + String(repeating: "░", count: width - filled)
                + " " + figures
        }
        return Printable.line("\(name) \(progress.done)", columns: columns)
    }

    private func showLine(_ progress: TrainingProgress) {
        // A line is written when the number has doubled, so that a large archive does not fill the
        // log.
        guard progress.done >= max(Self.firstShown, 2 * lastShown) else { return }
        lastShown = progress.done
        stream.show(localized("\(progress.step.words): \(progress.done)") + "\n")
    }

    private func finishBar() {
        if isBarShown { stream.show("\n") }
        isBarShown = false
    }
}
