import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings

extension MirrorOptions {
    /// Asks a mirror's desk for a change, and tells what came of it.
    ///
    /// - Parameters:
    ///   - operation: What is to be done.
    ///   - output: How to tell of it, and what the person saw.
    ///   - needsZone: Whether the change is about days, which without a time zone there are none.
    ///   - making: What may be made where it is not there yet.
    ///   - opening: How the mirror is opened.
    ///   - ask: Asks the person first, and returns what they were shown; what it throws ends the
    ///     command.
    ///   - lines: What is told a person.
    /// - Throws: What the desk throws; as ``withZone``.
    func change<Operation: PersonOperation>(
        _ operation: Operation, _ output: ChangeOutput, needsZone: Bool = false,
        making: HumanMirror.Making = .database,
        opening: (MirrorConfiguration, HumanMirror.Making) async throws -> HumanMirror = {
            try await HumanMirror.open($0, making: $1)
        },
        asking ask: (Desk) async throws -> Seen? = { _ in nil },
        _ lines: (Operation.Outcome) -> [String]
    ) async throws {
        func perform(at desk: Desk) async throws -> Operation.Outcome {
            let shown = try await ask(desk)
            return try await desk.perform(PersonRequest(operation, seen: output.digest ?? shown))
        }
        let outcome =
            if needsZone {
                try await withZone(making: making) { try await perform(at: Desk($0, zone: $1)) }
            } else {
                try await withRecord(making: making, opening: opening) { mirror, record in
                    try await perform(at: Desk(mirror, zone: mirror.knownTimeZone(record)))
                }
            }
        if output.json { return try JSONOutput.print(outcome) }
        for line in lines(outcome) { print(line) }
    }
}

extension PersonOutcome {
    /// How the change is taken back, as a line for the person; none where nothing does.
    var wayBackLines: [String] {
        wayBack.map { ["to take it back: \(Printable.line($0.command))"] } ?? []
    }
}
