import Foundation

/// How long a thread works, whatever else the machine does.
enum WorkTime {
    /// What an input of this many bytes may take: generous for time that grows with the length, out
    /// of reach for time that grows with its square.
    static func allowed(for bytes: Int) -> Duration {
        .milliseconds(1_500) + .microseconds(25) * bytes
    }

    /// The processor time that `work` takes on this thread.
    static func measured(_ work: () throws -> Void) rethrows -> Duration {
        let start = now
        try work()
        return now - start
    }

    /// What the calling thread has computed so far.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

/// Long inputs made of short ones, for finding work that grows faster than its input.
enum Pumping {
    /// `input` with the part in `range` repeated until the whole has about `length` bytes; nil for
    /// an empty part.
    static func pumped(_ input: [UInt8], repeating range: Range<Int>, to length: Int) -> [UInt8]? {
        guard !range.isEmpty, range.upperBound <= input.count else { return nil }
        let count = max(1, (length - input.count) / range.count)
        var result = Array(input[..<range.upperBound])
        result.reserveCapacity(length)
        for _ in 0..<count { result.append(contentsOf: input[range]) }
        return result + input[range.upperBound...]
    }
}
