// Tests play each network, and name it.
@_exported import NetworkNames
package import Testing

/// Expects that two values are equal, and shows both if they are not.
///
/// Unlike in a condition of `#expect`, `try` and `await` may stand before the call: the macro shows
/// no values of an expression with effects.
///
/// - Parameters:
///   - actual: The value under test.
///   - expected: The value it should have.
///   - comment: More about the circumstances.
///   - sourceLocation: The line that fails.
package func expect<Value: Equatable>(
    _ actual: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(actual == expected, comment(), sourceLocation: sourceLocation)
}

/// Expects that a condition holds for a value, and shows the value if it does not.
///
/// - Parameters:
///   - value: The value under test.
///   - comment: More about the circumstances.
///   - sourceLocation: The line that fails.
///   - condition: The claim about the value.
package func expect<Value>(
    _ value: Value, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    that condition: (Value) throws -> Bool
) rethrows {
    let isTrue = try condition(value)
    if !isTrue {
        let seen = "the condition does not hold for \(String(reflecting: value))"
        Issue.record(
            Comment(
                rawValue: [seen, comment()?.rawValue].compactMap(\.self).joined(separator: ": ")),
            sourceLocation: sourceLocation)
    }
}
