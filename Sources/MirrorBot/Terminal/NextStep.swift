import Control
import Foundation
import Localization
import Mirroring

/// Prints the next step, while a mirror is being set up.
enum NextStep {
    /// Whether `mirror-bot setup` leads through the steps, so that its commands need not print the
    /// next one.
    @TaskLocal static var isGuided = false

    /// Prints the step on the standard error, to keep the output clean; does nothing for a working
    /// mirror.
    static func print(for mirror: HumanMirror) async {
        // The command itself has succeeded, so a failure of this look-up is ignored.
        guard !isGuided, let step = try? await mirror.nextStep() else { return }
        StandardError.write(localized("next: \(step.command)") + "\n")
    }

    /// The steps of the setup, with the command of each open one; empty for a working mirror.
    static func lines(_ steps: [SetupStep], terminal: Terminal) -> [String] {
        guard let next = steps.firstIndex(where: { !$0.isDone }) else { return [] }
        return steps.enumerated().flatMap { index, step -> [String] in
            let stepLines = self.stepLines(step, terminal)
            guard !step.isDone else { return stepLines }
            var detail: [String] = []
            if index == next, let text = step.detail {
                detail = wrapped(text, terminal, terminal.dim)
            }
            // The command is on one line, so that it can be copied.
            let command = Printable.line(step.command)
            return stepLines + detail + [
                "    → " + (index == next ? terminal.bold(command) : command)
            ]
        }
    }

    /// The steps of the setup without their commands.
    static func overview(_ steps: [SetupStep], terminal: Terminal) -> [String] {
        steps.flatMap { stepLines($0, terminal) }
    }

    private static func stepLines(_ step: SetupStep, _ terminal: Terminal) -> [String] {
        let mark = "  \(step.isDone ? terminal.green("✔") : "○") "
        let text = wrapped(step.text, terminal)
        return text.isEmpty ? [mark] : [mark + text[0].dropFirst(4)] + text.dropFirst()
    }

    private static func wrapped(
        _ text: String, _ terminal: Terminal, _ style: (String) -> String = { $0 }
    ) -> [String] {
        Printable.wrapped(Printable.line(text), columns: terminal.columns - 4).map {
            "    " + style($0)
        }
    }
}
