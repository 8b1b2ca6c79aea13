import Foundation
import TestSupport

/// How a program is started: what it is told and where its streams lead.
struct Launch: Sendable {
    var path: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    /// The folder it runs in.
    var folder: String
    /// What its standard input says; nil is an empty input.
    var input: String?
    /// Descriptors that take the place of its streams.
    var replaced: [Int32: Int32] = [:]
}

/// What a program left when it ended.
struct Ending: Sendable {
    /// The exit code; 128 and the signal for one that was killed.
    var status: Int32
    var output: String
    var error: String
}

/// A program that runs beside the test and writes into files.
///
/// It does not outlive the value.
final class RunningProgram: Sendable {
    private let streams: TemporaryDirectory
    private let process: pid_t
    private let status = Promise<Int32>()

    init(_ launch: Launch) throws {
        streams = try TemporaryDirectory()
        try streams.write(Data((launch.input ?? "").utf8), to: "input")
        process = try Self.spawn(launch, streams)
        let process = process
        let status = status
        Thread {
            var raw: Int32 = 0
            while waitpid(process, &raw, 0) < 0 && errno == EINTR {}
            // What the C macros WIFSIGNALED, WTERMSIG and WEXITSTATUS do.
            status.fulfill(raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + raw & 0x7F)
        }.start()
    }

    deinit { send(SIGKILL) }

    /// What it has written to its error output so far.
    var errorSoFar: String { text("error") }

    /// The file that holds it.
    var errorPath: String { streams.path("error") }

    var hasEnded: Bool { status.isFulfilled }

    /// Whether it is held by `SIGSTOP`: the state behind its name in proc(5).
    var isStopped: Bool {
        let text = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
        return String(decoding: text, as: UTF8.self).split(separator: ") ").last?.first == "T"
    }

    /// Whether a signal has no effect on it: a bit of `SigIgn` in proc(5).
    func ignores(_ signal: Int32) -> Bool {
        let data = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
        let mask = String(decoding: data, as: UTF8.self).firstMatch(of: /SigIgn:\s*([0-9a-f]+)/)
            .flatMap { UInt64($0.output.1, radix: 16) }
        return mask.map { $0 & 1 << UInt64(signal - 1) != 0 } ?? false
    }

    /// Sends a signal, unless the program has ended.
    func send(_ signal: Int32) {
        if !status.isFulfilled { kill(process, signal) }
    }

    /// Waits until the program has written `text` to its error output.
    ///
    /// - Throws: ``TestSupportError`` with what it wrote instead, once it has ended.
    func waitForError(_ text: String) async throws {
        try await waitForError(text) { $0.contains(text) }
    }

    private func waitForError(_ text: String, _ isThere: @escaping @Sendable (String) -> Bool)
        async throws
    {
        let isFound = await wait(every: 50) { [self] in isThere(errorSoFar) }
        if !isFound { throw TestSupportError("waited for \(text); instead came: \(errorSoFar)") }
    }

    /// Waits until a condition holds or the program has ended; a cancelled test kills the program.
    ///
    /// - Parameters:
    ///   - milliseconds: The time between two looks.
    ///   - holds: The condition.
    /// - Returns: Whether the condition holds.
    @discardableResult
    func wait(every milliseconds: Int32 = 10, until holds: @escaping @Sendable () -> Bool) async
        -> Bool
    {
        let outcome = Promise<Bool>()
        Thread { [self] in
            while true {
                let hasEnded = status.isFulfilled
                let isSo = holds()
                if isSo || hasEnded { return outcome.fulfill(isSo) }
                _ = poll(nil, 0, milliseconds)
            }
        }.start()
        return await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            send(SIGKILL)
        }
    }

    /// Waits until the last line of the error output contains `end`.
    ///
    /// - Throws: ``TestSupportError`` with what it wrote instead, once it has ended.
    func waitForQuestion(_ end: String) async throws {
        try await waitForError("\"\(end)\" at its end") {
            $0.split(separator: "\n").last?.contains(end) == true
        }
    }

    /// Waits until the program has logged that a post was sent; favorites may come first.
    func waitForFirstPost() async throws {
        try await waitForError("a post that is done") { text in
            text.split(separator: "\n").contains {
                $0.contains("action.kind=post") && $0.contains("action.state=done")
            }
        }
    }

    /// Waits for the end; a cancelled test kills the program.
    func ending() async -> Ending {
        let code = await withTaskCancellationHandler {
            await status.value
        } onCancel: {
            send(SIGKILL)
        }
        return Ending(status: code, output: text("output"), error: errorSoFar)
    }

    private func text(_ stream: String) -> String {
        String(
            decoding: FileManager.default.contents(atPath: streams.path(stream)) ?? Data(),
            as: UTF8.self)
    }

    private static func spawn(_ launch: Launch, _ streams: TemporaryDirectory) throws -> pid_t {
        // The folder is entered by `env`, which becomes the program.
        let words = ["/usr/bin/env", "-C", launch.folder, launch.path] + launch.arguments
        return try ProcessSpawn.start(words, environment: launch.environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, streams.path("input"), O_RDONLY, 0)
            posix_spawn_file_actions_addopen(
                &actions, 1, streams.path("output"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_addopen(
                &actions, 2, streams.path("error"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
            for (stream, descriptor) in launch.replaced {
                posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
            }
        }
    }
}
