package import Foundation

/// Starting programs as a shell would, without leaking anything of ours into them.
package enum ProcessSpawn {
    /// Starts a program in a group of its own, with no signal blocked or ignored and with no open
    /// file but its streams.
    ///
    /// A group of its own, since an interrupt typed at the terminal ends the
    /// tests, and they end the child. Signals are set back because our threads
    /// may block or ignore some that the child needs: a shell without SIGCHLD
    /// waits for ever.
    ///
    /// - Parameters:
    ///   - words: The program, by its path or to be found on `PATH`, and its arguments.
    ///   - environment: Its variables; nil for ours.
    ///   - connect: Says what its standard streams are.
    /// - Returns: The process id; the caller waits for the process.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    package static func start(
        _ words: [String], environment: [String: String]? = nil,
        connect: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        connect(&actions)
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

        closeOthersOnExec()
        let pairs = environment ?? ProcessInfo.processInfo.environment
        var argv = words.map { strdup($0) } + [nil]
        var variables = pairs.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for case let text? in argv + variables { free(text) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, words[0], &actions, &attributes, &argv, &variables)
        guard result == 0 else {
            throw TestSupportError(
                "could not start \(words[0]): \(String(cString: strerror(result)))")
        }
        return process
    }

    /// Marks every open descriptor close-on-exec: a child would keep the sockets of other tests
    /// open after their end.
    private static func closeOthersOnExec() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? [] {
            if let descriptor = Int32(name), descriptor > 2 {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            }
        }
    }
}
