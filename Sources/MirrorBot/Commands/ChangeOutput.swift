import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings

extension MirrorOptions {
    /// Performs an operation at a mirror's desk, and prints the result.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - output: The output options, with the digest that the person saw.
    ///   - needsZone: Whether the operation is about days, which requires a time zone.
    ///   - making: The parts that may be created if they are missing.
    ///   - opening: Opens the mirror.
    ///   - ask: Asks the person first, and returns what they were shown; an error ends the command.
    ///   - lines: The result as text.
    /// - Throws: The error of the desk; as ``withZone``.
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
            let shownDigest = try await ask(desk)
            return try await desk.perform(
                PersonRequest(operation, seen: output.digest ?? shownDigest))
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
    /// The way to revert the change, as a line for the person; empty if it cannot be reverted.
    var wayBackLines: [String] {
        wayBack.map { ["to take it back: \(Printable.line($0.command))"] } ?? []
    }
}
