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

/// The names of mirrors for a shell that completes words.
enum MirrorNames {
    /// What may follow `--mirror`: the mirrors of the database that the words and the environment name.
    ///
    /// Makes nothing, says nothing, and finds nothing where something is wrong.
    @Sendable static func complete(_ words: [String], _: Int, _ beginning: String) async -> [String] {
        let home = words.firstIndex(of: "--home").flatMap { words.dropFirst($0 + 1).first }
        let environment = Console.current.environment
        let (values, _) = await SettingValues.loadAll(
            flags: home.map { ["MIRROR_BOT_HOME": $0] } ?? [:], environment: environment,
            folder: Console.current.folder)
        guard let configuration = try? MirrorConfiguration(values, environment: environment, readsAccounts: false)
        else { return [] }
        let names = try? await MirrorOptions.openWhicheverThereAre(configuration, .nothing).closing { mirror in
            try await MirrorTable.names(in: mirror.storage, limit: 200)
        }
        return (names ?? []).filter { $0.hasPrefix(beginning) }
    }
}
