import Foundation
import TestSupport

/// A running mirror-bot, which writes into a file.
///
/// It does not outlive the value.
final class WorkerProcess: @unchecked Sendable {
    // Sendable because every stored variable is only touched under `lock`.

    /// What has become of the process.
    enum State: Equatable, Sendable {
        case running
        /// Held by `SIGSTOP`.
        case stopped
        case exited(Int32)
        case killed(signal: Int32)

        var hasEnded: Bool {
            switch self {
            case .running, .stopped: false
            case .exited, .killed: true
            }
        }
    }

    /// How often a waiting harness looks.
    private static let glance: Duration = .milliseconds(5)
    /// What a worker logs once it has the lease and knows both accounts.
    private static let beginning = Data("Worker started".utf8)

    let name: String
    let logPath: String
    let process: pid_t
    private let lock = NSLock()
    private var current = State.running
    private var logOffset: UInt64 = 0
    private var logRest = Data()
    private var begun = 0

    /// - Parameters:
    ///   - name: What the run calls it.
    ///   - words: The program and its arguments.
    ///   - environment: All its variables.
    ///   - logPath: Where it writes both its outputs.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    init(name: String, words: [String], environment: [String: String], logPath: String) throws {
        self.name = name
        self.logPath = logPath
        process = try ProcessSpawn.start(words, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(
                &actions, 1, logPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
    }

    deinit {
        guard !state.hasEnded else { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }

    /// What has become of it by now.
    var state: State {
        lock.withLock {
            guard !current.hasEnded else { return current }
            var status: Int32 = 0
            guard waitpid(process, &status, WNOHANG | WUNTRACED | WCONTINUED) == process else {
                return current
            }
            current = Self.state(of: status)
            return current
        }
    }

    /// How often it has begun to work: after it took the lease, and again after it lost and took
    /// it.
    var beginnings: Int {
        lock.withLock {
            readLog()
            return begun
        }
    }

    /// What it has written.
    var output: String {
        String(decoding: FileManager.default.contents(atPath: logPath) ?? Data(), as: UTF8.self)
    }

    /// Sends a signal, unless the process has ended.
    func send(_ signal: Int32) {
        if !state.hasEnded { kill(process, signal) }
    }

    /// Looks again and again until something is so.
    ///
    /// - Parameters:
    ///   - seconds: For how long at most.
    ///   - isSo: Asked of what has become of the process.
    /// - Returns: The state at last.
    func wait(seconds: Double, until isSo: (State) -> Bool) async -> State {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let state = state
            if isSo(state) || ContinuousClock.now >= end { return state }
            do { try await ContinuousClock().sleep(for: Self.glance) } catch { return state }
        }
    }

    /// What the macros of wait(2) do.
    private static func state(of status: Int32) -> State {
        if status == 0xFFFF { return .running }
        if status & 0xFF == 0x7F { return .stopped }
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    /// Counts the beginnings in what was written since the last time.
    private func readLog() {
        guard let file = FileHandle(forReadingAtPath: logPath) else { return }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: logOffset)) != nil, let new = try? file.readToEnd(),
            !new.isEmpty
        else {
            return
        }
        logOffset += UInt64(new.count)
        let text = logRest + new
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        begun += lines.dropLast().count { $0.range(of: Self.beginning) != nil }
        logRest = Data(lines.last ?? Data())
    }
}
