import Foundation
import Mirroring
import Synchronization

/// The setup of a process, done before anything else.
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

    /// Lets a crash end the process, unless the environment wants it examined with
    /// `SWIFT_BACKTRACE`.
    ///
    /// Where the toolchain is installed, the language's own handlers write
    /// registers and what they point at to the log, which may be a part of a
    /// token, and a process that is being examined keeps the next one waiting.
    private static func dieAtOnce() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number, SIG_DFL)
        }
    }

    #if canImport(Glibc)
        private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
        private static let core = RLIMIT_CORE
    #endif
}

/// Keeps the memory of a worker that runs for months as it was on its first day.
///
/// About the C library of Linux; where its functions are missing, so is the
/// trouble. Their headers are in no module.
package enum ProcessHeap {
    /// Lets all threads share one heap, and keeps large blocks out of it.
    ///
    /// The library gives threads heaps of their own, and threads come and go:
    /// each heap keeps the holes of what once ran there. Measured over a
    /// simulated month, memory grew by 300 kB a day without the first setting.
    ///
    /// A large block is a mapping of its own and goes back whole, but the
    /// library counts as large what is larger than the largest that was ever
    /// freed, up to 32 MB. The second setting keeps the size that it begins
    /// with: 2 MB less after five days.
    static func arrange() {
        set(.arenaMaximum, 1)
        set(.mappingThreshold, 131_072)
    }

    /// Lets threads have four heaps, for a process of many mirrors: at one they wait for each
    /// other.
    ///
    /// With 3,000 mirrors on two processors the waits took a tenth of the processor time, and the
    /// heaps take one megabyte.
    static func divide() { set(.arenaMaximum, 4) }

    /// The parameters of mallopt(3).
    private enum Parameter: Int32 {
        case mappingThreshold = -3
        case arenaMaximum = -8
    }

    private static func set(_ parameter: Parameter, _ value: Int32) {
        typealias Function = @convention(c) (Int32, Int32) -> Int32
        guard let address = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(address, to: Function.self)(parameter.rawValue, value)
    }

    /// When pages were given back last.
    private static let last = Mutex<ContinuousClock.Instant?>(nil)

    /// Gives the pages back in which nothing is left, wherever in the heap they are.
    ///
    /// The library does so only at the heap's end. SQLite's readers drop the
    /// pages that they have read whenever somebody writes and read them again,
    /// thousands of times a day; what comes between them keeps the holes apart,
    /// 4 MB of them after some days; threads that end leave some, too.
    ///
    /// It takes less than a millisecond in a worker, and longer the larger the heap is.
    ///
    /// - Parameter pause: The shortest time since the last call that gave pages back, by the
    ///   machine's clock; a call before that does nothing. A rehearsal lives through days in
    ///   seconds.
    package static func giveBack(after pause: Duration = .zero) {
        let isTooSoon = last.withLock { last in
            let now = ContinuousClock.now
            if let last, last.duration(to: now) < pause { return true }
            last = now
            return false
        }
        guard !isTooSoon else { return }
        typealias Function = @convention(c) (Int) -> Int32
        guard let address = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(address, to: Function.self)(0)
    }
}
