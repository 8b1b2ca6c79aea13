import Control
import Foundation
import Mirroring

/// Says what to do next, while a mirror is being set up.
enum NextStep {
    /// Prints the step on the standard error, so that what a command prints stays clean; nothing once the mirror works.
    static func print(for mirror: HumanMirror) async {
        // The command has done what it was asked to do, whatever this finds.
        guard let step = try? await mirror.nextStep() else { return }
        StandardError.write("next: \(step.command)\n")
    }

    /// The checklist of `status`; empty once the mirror works.
    static func lines(_ steps: [SetupStep], terminal: Terminal) -> [String] {
        guard let next = steps.firstIndex(where: { !$0.isDone }) else { return [] }
        return steps.enumerated().flatMap { index, step -> [String] in
            let line = "  \(step.isDone ? terminal.green("✔") : "○") \(Printable.line(step.text))"
            return index == next ? [line, "    → " + terminal.bold(step.command)] : [line]
        }
    }
}
