/// Runs a body and then, whether it returned or threw, a cleanup: a `defer` that may await.
///
/// - Parameters:
///   - isolation: The caller's; both closures run in it.
///   - end: The cleanup; runs also after an error or a cancellation.
///   - body: The work.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`, after `end`.
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
