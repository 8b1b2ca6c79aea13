import Foundation
import TestSupport

/// A program that runs beside the benchmarks and cannot outlive them.
///
/// A shell waits at the other end of a pipe: when this process ends, even by `SIGKILL`, the pipe
/// closes and the shell ends the program.
final class Program: @unchecked Sendable {
    // Unchecked because of `hasEnded`, which is only touched while `lock` is held.
    let pid: pid_t
    private let words: [String]
    private let outputPath: String
    private let guardian: pid_t
    private let lifeline: Int32
    private let lock = NSLock()
    private var hasEnded = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - environment: Its variables; nil for ours.
    ///   - outputPath: Where both of its outputs go.
    /// - Throws: `TestSupportError` if it cannot be started.
    init(_ words: [String], environment: [String: String]? = nil, outputPath: String) throws {
        self.words = words
        self.outputPath = outputPath
        pid = try ProcessSpawn.start(words, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(
                &actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestSupportError("could not make a pipe") }
        let theirs = ends[0]
        let ours = ends[1]
        defer { close(theirs) }
        _ = fcntl(ours, F_SETFD, FD_CLOEXEC)
        guardian = try ProcessSpawn.start([
            "/bin/sh", "-c", "read -r order || kill -s KILL \(pid) 2>/dev/null",
        ]) {
            posix_spawn_file_actions_adddup2(&$0, theirs, 0)
        }
        lifeline = ours
    }

    deinit { _ = end("KILL") }

    /// What it has written up to now.
    var output: String {
        String(decoding: FileManager.default.contents(atPath: outputPath) ?? Data(), as: UTF8.self)
    }

    /// Whether it has ended by itself and only waits to be asked for its status.
    var isOver: Bool {
        var information = siginfo_t()
        return waitid(P_PID, UInt32(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information._sifields._sigchld.si_pid == pid
    }

    /// Waits until a text stands in the output, and returns how long that took from now on.
    ///
    /// - Throws: `TestSupportError` if the program ends before, or after half a minute.
    func wait(for text: String) throws -> Duration {
        let start = ContinuousClock.now
        while start.duration(to: .now) < .seconds(30) {
            if output.contains(text) { return start.duration(to: .now) }
            if isOver { break }
            usleep(500)
        }
        throw failure("did not say \"\(text)\"")
    }

    /// Waits until it has ended by itself.
    ///
    /// - Parameter look: Called every ten milliseconds while it runs.
    /// - Throws: `TestSupportError` with what it wrote if it failed.
    func finish(looking look: () -> Void = {}) throws {
        while !isOver {
            look()
            usleep(10_000)
        }
        guard end(nil) == 0 else { throw failure("failed") }
    }

    /// Asks it to end, and waits until it has.
    func stop() { _ = end("TERM") }

    /// Sends a signal, if any, and returns the status with which the program ended.
    private func end(_ signal: String?) -> Int32 {
        lock.withLock {
            guard !hasEnded else { return 0 }
            hasEnded = true
            if let signal { kill(pid, signal == "TERM" ? SIGTERM : SIGKILL) }
            let status = Self.reap(pid)
            // An order means that there is nothing left to end.
            _ = write(lifeline, "over\n", 5)
            close(lifeline)
            _ = Self.reap(guardian)
            return status
        }
    }

    private static func reap(_ pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private func failure(_ what: String) -> TestSupportError {
        TestSupportError("\(words.joined(separator: " ")) \(what): \(output.suffix(2_000))")
    }
}

extension Program {
    /// Runs a program to its end and returns how long it took.
    ///
    /// - Throws: `TestSupportError` with what it wrote if it failed.
    @discardableResult
    static func run(_ words: [String], environment: [String: String]? = nil, outputPath: String)
        throws -> Duration
    {
        let start = ContinuousClock.now
        try Program(words, environment: environment, outputPath: outputPath).finish()
        return start.duration(to: .now)
    }
}
