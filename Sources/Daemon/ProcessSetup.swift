import Foundation

/// What a process arranges for itself before it does anything else.
package enum ProcessSetup {
    /// Call this first, while the process has one thread.
    package static func run() {
        // A peer that closes its connection must cost an error, not the process.
        signal(SIGPIPE, SIG_IGN)
        // So must a file that may not grow, as beyond a limit of the operator's.
        signal(SIGXFSZ, SIG_IGN)
        leaveNoCore()
        dieAtOnce()
        ProcessHeap.arrange()
    }

    /// A core file would hold every token in the clear, and nobody looks after it.
    private static func leaveNoCore() {
        var limit = rlimit()
        guard getrlimit(core, &limit) == 0 else { return }
        limit.rlim_cur = 0
        _ = setrlimit(core, &limit)
    }

    /// Lets a crash end the process, unless the environment wants it examined with `SWIFT_BACKTRACE`.
    ///
    /// Where the toolchain is installed, the language's own handlers write
    /// registers and what they point at to the log, which may be a part of a
    /// token, and a process that is being examined keeps the next one waiting.
    private static func dieAtOnce() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    #if canImport(Glibc)
        private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
        private static let core = RLIMIT_CORE
    #endif
}
