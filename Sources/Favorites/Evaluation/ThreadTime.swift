import Foundation

/// The time for which the calling thread has computed.
///
/// What else the machine does meanwhile does not count, so that a speed
/// measured with it is the same on a busy machine as on an idle one.
enum ThreadTime {
    static var now: Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
