import Foundation

/// How long the calling thread computes, whatever else the machine does.
///
/// For telling time that grows with the input from time that grows with its
/// square, never for how fast something is.
package enum ProcessorTime {
    /// The processor time of `work` in seconds: the least of two runs, as the first one fills
    /// caches.
    package static func seconds(_ work: () -> Void) -> Double {
        min(secondsOnce(work), secondsOnce(work))
    }

    /// The processor time of one run of `work` in seconds, for what is told from minutes.
    package static func secondsOnce(_ work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
