import Foundation
import TestSupport
import Testing

/// A worker whose files may be forbidden to grow while it runs.
///
/// What it says goes through a pipe, for which that does not hold.
final class LimitedProgram: Sendable {
    let watch: SecretWatch
    private let identifier: String
    private let end: String

    init(_ stage: SecretStage, _ environment: [String: String]) throws {
        identifier = stage.stage.folder.path("process")
        end = stage.stage.folder.path("end")
        let script = """
            echo $$ > "$1"; end=$2; shift 2; trap '' XFSZ
            exec 2> >(cat >&2; : > "$end")
            exec "$@"
            """
        watch = SecretWatch(
            try Self.start(
                script, [identifier, end, try Stage.program(), "run"], environment, stage))
    }

    /// Runs a command to its end that may write nothing into files.
    static func run(
        _ words: [String], _ environment: [String: String], in stage: SecretStage
    ) async throws -> Ending {
        let script = """
            set -o pipefail
            (trap '' XFSZ; ulimit -f 0; exec "$@") 2>&1 | cat >&2
            """
        let ending = try await start(script, [try Stage.program()] + words, environment, stage)
            .ending()
        stage.keep(ending, of: words)
        return ending
    }

    private static func start(
        _ script: String, _ words: [String], _ environment: [String: String], _ stage: SecretStage
    ) throws -> RunningProgram {
        try RunningProgram(
            Launch(
                path: "/bin/bash", arguments: ["-c", script, "bash"] + words,
                environment: stage.stage.environment.merging(environment) { $1 },
                folder: stage.stage.workingFolder))
    }

    /// Sets the limit that the process may lift itself; the other one stays.
    func limitFiles(to size: String) async throws {
        let process = String(
            decoding: FileManager.default.contents(atPath: identifier) ?? Data(), as: UTF8.self)
        let arguments = [
            "--pid", process.trimmingCharacters(in: .newlines), "--fsize=\(size):unlimited",
        ]
        let ending = await
            (try RunningProgram(
                Launch(
                    path: "/usr/bin/prlimit", arguments: arguments, environment: [:], folder: "/")))
            .ending()
        #expect(ending.status == 0, "\(ending.error)")
    }

    /// Waits until the pipe is empty.
    func hasWrittenAll() async throws {
        let isOver = Promise<Bool>()
        let end = end
        Thread {
            while !FileManager.default.fileExists(atPath: end) { _ = poll(nil, 0, 10) }
            isOver.fulfill(true)
        }.start()
        _ = await isOver.value
    }
}
