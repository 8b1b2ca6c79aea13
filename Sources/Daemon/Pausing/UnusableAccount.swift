import Networks

/// An account that nothing can be done with until a person has done something.
///
/// Ends the worker, which throws the cause.
struct UnusableAccount: Error, CustomStringConvertible {
    let cause: NetworkError

    var description: String { cause.description }
}
