import Foundation
import Mirroring

/// Shows how far a training is: a bar on a terminal, else a plain line now and then.
final class ProgressView: @unchecked Sendable {
    // Sendable because the state is only touched under `lock`.
    private static let firstLine = 1_000
    private static let barWidth = 30

    private let lock = NSLock()
    private let terminal = Terminal.error
    private var lastLine = 0
    private var lastStep: TrainingProgress.Step?
    private var isBarShown = false

    func show(_ progress: TrainingProgress) {
        lock.withLock {
            if let announcement = progress.announcement {
                finishBar()
                StandardError.write(Printable.lines(announcement) + "\n")
                return
            }
            if progress.step != lastStep {
                finishBar()
                lastStep = progress.step
                lastLine = 0
            }
            if terminal.isInteractive { showBar(progress) } else { showLine(progress) }
        }
    }

    /// Ends the line of the bar.
    func finish() { lock.withLock { finishBar() } }

    private func showBar(_ progress: TrainingProgress) {
        var line = "\r\(Self.name(of: progress.step)) "
        if let total = progress.total, total > 0 {
            let filled = min(Self.barWidth, progress.done * Self.barWidth / total)
            line += String(repeating: "█", count: filled) + String(repeating: "░", count: Self.barWidth - filled)
            line += " \(progress.done) of at most \(total)"
        } else {
            line += "\(progress.done)"
        }
        StandardError.write(line)
        isBarShown = true
    }

    private func showLine(_ progress: TrainingProgress) {
        // Each line stands for twice as many as the one before, so that a large archive does not fill the log.
        guard progress.done >= max(Self.firstLine, 2 * lastLine) else { return }
        lastLine = progress.done
        StandardError.write("\(Self.name(of: progress.step)): \(progress.done)\n")
    }

    private func finishBar() {
        if isBarShown { StandardError.write("\n") }
        isBarShown = false
    }

    private static func name(of step: TrainingProgress.Step) -> String {
        switch step {
        case .posts: "reading posts"
        case .favorites: "reading favorites"
        case .home: "reading the home timeline"
        case .archive: "reading the archive"
        }
    }
}
