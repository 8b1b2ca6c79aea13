import Foundation

/// Starting other programs without leaking file descriptors into them.
package enum ChildProcess {
    /// Held while a pipe exists whose ends are not yet marked close-on-exec,
    /// so that no child started meanwhile keeps another child's pipe open.
    private static let spawning = NSLock()

    /// A running child and our end of the pipe it reads or writes.
    struct Handle {
        let pid: pid_t
        let pipe: Int32
    }

    enum Pipe {
        /// The child reads what we write.
        case input
        /// We read what the child writes to its output and error output.
        case output
    }

    /// Starts a program in a process group of its own.
    static func spawn(_ arguments: [String], pipe kind: Pipe) throws -> Handle {
        try spawning.withLock {
            var ends: [Int32] = [-1, -1]
            guard Foundation.pipe(&ends) == 0 else { throw failure("make a pipe", errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let (theirs, ours) = kind == .input ? (ends[0], ends[1]) : (ends[1], ends[0])
            defer { close(theirs) }
            do {
                return Handle(pid: try start(arguments, theirs: theirs, kind: kind), pipe: ours)
            } catch {
                close(ours)
                throw error
            }
        }
    }

    private static func start(_ arguments: [String], theirs: Int32, kind: Pipe) throws -> pid_t {
        try ProcessSpawn.start(arguments) { actions in
            switch kind {
            case .input:
                posix_spawn_file_actions_adddup2(&actions, theirs, 0)
                posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
                posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
            case .output:
                posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
                posix_spawn_file_actions_adddup2(&actions, theirs, 1)
                posix_spawn_file_actions_adddup2(&actions, theirs, 2)
            }
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: What it printed, both outputs together.
    /// - Throws: ``TestSupportError`` with that text if it ended with another
    ///   status than 0.
    @discardableResult
    package static func run(_ arguments: [String]) async throws -> String {
        try await onThread { try runBlocking(arguments) }
    }

    /// Runs blocking work on a thread of its own.
    ///
    /// Not on a global queue: its few threads also run Swift's tasks.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value)
        async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: work)) }.start()
        }
    }

    private static func runBlocking(_ arguments: [String]) throws -> String {
        let child = try spawn(arguments, pipe: .output)
        let output = String(decoding: readToEnd(child.pipe), as: UTF8.self)
        close(child.pipe)
        guard wait(for: child.pid) == 0 else {
            throw TestSupportError("could not run \(arguments[0]): \(output)")
        }
        return output
    }

    /// Waits until a child has ended; 0 is success.
    static func wait(for pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    private static func readToEnd(_ descriptor: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                output += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                return output
            }
        }
    }

    private static func failure(_ action: String, _ code: Int32) -> TestSupportError {
        TestSupportError("could not \(action): \(String(cString: strerror(code)))")
    }
}
