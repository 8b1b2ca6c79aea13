import Foundation
import Mirroring
import Synchronization

/// The setup of a process, done before everything else.
package enum ProcessSetup {
    /// Does the setup; call this first, while the process has one thread.
    package static func run() {
        // A connection closed by its peer must cause an error and not end the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that exceeds the operator's size limit must cause an error too.
        signal(SIGXFSZ, SIG_IGN)
        disableCoreFiles()
        disableCrashHandlers()
        ProcessHeap.configure()
    }

    /// Prevents core files, which would contain every token in plain text.
    private static func disableCoreFiles() {
        var limit = rlimit()
        guard getrlimit(core, &limit) == 0 else { return }
        limit.rlim_cur = 0
        _ = setrlimit(core, &limit)
    }

    /// Lets a crash end the process, unless the environment requests a backtrace with
    /// `SWIFT_BACKTRACE`.
    ///
    /// With an installed toolchain, Swift's crash handlers write registers and the memory that they
    /// point to into the log, which may include a part of a token. Examining the crashed process
    /// also delays the start of the next one.
    private static func disableCrashHandlers() {
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

/// Keeps the memory use of a worker constant over months.
///
/// It calls functions of the GNU C library; other C libraries lack these functions, and do not need
/// them. They are looked up at run time, because no module has their headers.
package enum ProcessHeap {
    /// Lets all threads share one heap, and keeps large blocks out of it.
    ///
    /// By default the library gives threads separate heaps, and each keeps holes from ended
    /// threads. Measured over a simulated month, memory grew by 300 kB a day without the first
    /// setting.
    ///
    /// A large block is a separate mapping that is returned as a whole, but the library raises the
    /// threshold to the largest block that was ever freed, up to 32 MB. The second setting keeps
    /// the initial threshold. That saved 2 MB after five days.
    static func configure() {
        set(.arenaMaximum, 1)
        set(.mappingThreshold, 131_072)
    }

    /// Allows four heaps, for a process of many mirrors, whose threads would wait for each other at
    /// a single one.
    ///
    /// With 3,000 mirrors on two processors the waits took a tenth of the processor time, while the
    /// heaps cost one megabyte.
    static func allowFourHeaps() { set(.arenaMaximum, 4) }

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

    /// When memory was returned last.
    private static let lastReturn = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns all unused pages to the system, wherever in the heap they are.
    ///
    /// By itself the library does so only at the heap's end. SQLite's readers free their page
    /// caches whenever another connection writes, and allocate them again, thousands of times a
    /// day. Used blocks between the freed ones keep the holes apart, so that the holes had 4 MB
    /// after some days. Ended threads leave holes, too.
    ///
    /// Takes less than a millisecond in a worker, and longer for a larger heap.
    ///
    /// - Parameter pause: The shortest time since the last call with an effect; an earlier call
    ///   does nothing. The machine's clock measures it, because a rehearsal simulates days in
    ///   seconds.
    package static func returnMemory(after pause: Duration = .zero) {
        let isTooSoon = lastReturn.withLock { last in
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
