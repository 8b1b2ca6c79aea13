import CBaseline

/// A baseline that could not do its work.
struct BaselineError: Error, CustomStringConvertible {
    let description: String

    /// The reason that C remembers for this thread; ask on the thread that called.
    static func last() -> BaselineError {
        BaselineError(description: String(cString: baseline_error()))
    }

    /// A result of C, unless it means failure.
    static func check<Number: SignedInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw last() }
        return result
    }
}
