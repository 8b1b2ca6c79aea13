/// Does something and then, whatever comes of that, what has to follow: a `defer` that may wait.
///
/// - Parameters:
///   - isolation: Where both run: with the caller.
///   - end: What follows, also after an error or a cancellation.
///   - body: What is done.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, after `end`.
package func afterwards<Value>(
    isolation: isolated (any Actor)? = #isolation, _ end: () async -> Void,
    _ body: () async throws -> Value
) async throws -> Value {
    do {
        let value = try await body()
        await end()
        return value
    } catch {
        await end()
        throw error
    }
}
