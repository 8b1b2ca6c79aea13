import Foundation
import Localization
import Mirroring
import Posts

/// Runs the operator's program with one notice on its standard input, on a thread of its own.
///
/// No shell is involved. The program inherits none of our files, signals or secrets, and of the
/// environment only the usual variables and those of a user session. Processes that it leaves
/// running are not touched, unless its time is up.
///
/// The class is sendable because `isCancelled` is only touched under `lock`; the rest never
/// changes.
final class NoticeCommand: @unchecked Sendable {
    /// The variables of our environment that the program gets.
    private static let variables = [
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    ]
    /// The most output that is kept, in bytes.
    private static let keptOutput = 200

    private let words: [String]
    private let input: [UInt8]
    private let limit: Duration
    private let lock = NSLock()
    private var isCancelled = false

    /// - Parameters:
    ///   - words: The program, as a path or a name on `PATH`, and its arguments.
    ///   - input: The contents of its standard input; less than a pipe's capacity.
    ///   - limit: The time after which it is killed, with its child processes.
    init(_ words: [String], input: [UInt8], limit: Duration) {
        self.words = words
        self.input = input
        self.limit = limit
    }

    /// Runs the program to its end.
    ///
    /// - Returns: Why it failed; nil if it exited with 0.
    func run() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.runBlocking()) }
            }
        } onCancel: {
            lock.withLock { isCancelled = true }
        }
    }

    private func runBlocking() -> String? {
        guard let input = PipeEnds(), let output = PipeEnds() else {
            return localized("could not make a pipe")
        }
        // The input is written while its reading end is still open here, so that there is no
        // SIGPIPE if the program does not read.
        guard input.fill(self.input) else { return localized("could not write into a pipe") }
        var process: pid_t = 0
        let result = start(&process, input: input.reading, output: output.writing)
        guard result == 0 else {
            return localized("could not start it: \(String(cString: strerror(result)))")
        }
        input.close()
        output.closeWriting()
        var outputBytes: [UInt8] = []
        guard let status = wait(for: process, reading: output.reading, into: &outputBytes) else {
            return localized("took longer than \(limit.components.seconds) s and was ended")
        }
        guard status != 0 else { return nil }
        let text = String(decoding: outputBytes.prefix(Self.keptOutput), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        // As WTERMSIG and WEXITSTATUS take them from the status.
        let signal = status & 0x7F
        let exitCode = status >> 8 & 0xFF
        let outcome =
            signal == 0
            ? localized("ended with \(exitCode)") : localized("ended by signal \(signal)")
        return text.isEmpty ? outcome : localized("\(outcome): \(text)")
    }

    /// Waits for the program's end.
    ///
    /// - Returns: The status as of waitpid(2); nil if the time was up.
    private func wait(
        for process: pid_t, reading descriptor: Int32, into outputBytes: inout [UInt8]
    )
        -> Int32?
    {
        let deadline = ContinuousClock.now + limit
        var status: Int32 = 0
        var isOpen = true
        while true {
            if isOpen { isOpen = read(descriptor, into: &outputBytes) }
            let endedProcess = waitpid(process, &status, WNOHANG)
            if endedProcess == process {
                if isOpen { _ = read(descriptor, into: &outputBytes, timeout: 0) }
                return status
            }
            if endedProcess < 0, errno != EINTR { return 0 }
            if ContinuousClock.now >= deadline || lock.withLock({ isCancelled }) {
                // A negative id stands for the whole process group.
                kill(-process, SIGKILL)
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                return nil
            }
            // After the end of the output, nothing else delays the next check.
            if !isOpen { _ = poll(nil, 0, Self.checkInterval) }
        }
    }

    /// The interval between two checks of the program, in milliseconds.
    private static let checkInterval: Int32 = 50

    /// Reads the program's output and keeps the beginning; returns false at its end.
    ///
    /// - Parameter timeout: How long to wait for output, in milliseconds.
    private func read(
        _ descriptor: Int32, into outputBytes: inout [UInt8], timeout: Int32 = checkInterval
    ) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, timeout) > 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        let freeBytes = max(0, Self.keptOutput - outputBytes.count)
        outputBytes += buffer.prefix(min(count, freeBytes))
        return true
    }

    /// Prevents the program from inheriting descriptors except its streams, with a function of the
    /// C library that is not visible to Swift.
    ///
    /// If the C library lacks that function, close-on-exec, which libraries set on their
    /// descriptors, has the same effect.
    private static func closeOthers(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>) {
        typealias Function =
            @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let address = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(address, to: Function.self)(actions, 3)
    }

    /// Starts the program in a process group of its own, with no signal blocked or ignored.
    private func start(_ process: inout pid_t, input: Int32, output: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        Self.closeOthers(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let environment = ProcessInfo.processInfo.environment.filter {
            Self.variables.contains($0.key)
        }
        var argv = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for case let text? in argv + variables { free(text) } }
        return posix_spawnp(&process, words[0], &actions, &attributes, &argv, &variables)
    }
}

/// Both ends of a pipe, which are closed when the value is released.
private final class PipeEnds {
    let reading: Int32
    private(set) var writing: Int32
    private var isOpen = true

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reading = ends[0]
        writing = ends[1]
    }

    deinit { close() }

    /// Writes all bytes, without waiting for a reader.
    func fill(_ bytes: [UInt8]) -> Bool {
        // Only the writing end is nonblocking, because a program with nonblocking input may fail.
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        return Foundation.write(writing, bytes, bytes.count) == bytes.count
    }

    func closeWriting() {
        if writing >= 0 { Foundation.close(writing) }
        writing = -1
    }

    func close() {
        closeWriting()
        if isOpen { Foundation.close(reading) }
        isOpen = false
    }
}
