/// Runs a body and then, whether it returned or threw, a cleanup: a `defer` that may await.
///
/// - Parameters:
///   - isolation: The isolation of the caller, in which both closures run.
///   - cleanup: The cleanup; runs also after an error or a cancellation.
///   - body: The work.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`, after `cleanup`.
package func afterwards<Value>(
    isolation: isolated (any Actor)? = #isolation, _ cleanup: () async -> Void,
    _ body: () async throws -> Value
) async throws -> Value {
    do {
        let value = try await body()
        await cleanup()
        return value
    } catch {
        await cleanup()
        throw error
    }
}
