import Foundation
import Testing

/// Closes what the tests of a suite opened.
///
/// So that test functions need no closures around their bodies: there the
/// compiler (6.3) mixes up closures inside and outside of expectations.
struct MirrorsTrait: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let open = OpenMirrors()
        do {
            try await OpenMirrors.$current.withValue(open) { try await function() }
        } catch {
            await open.close()
            throw error
        }
        await open.close()
    }
}

extension Trait where Self == MirrorsTrait {
    /// Lets tests use ``MirrorFixture/start(_:seed:from:isTrained:variables:)``.
    static var mirrors: Self { MirrorsTrait() }
}

/// What a test has to close at its end, in the opposite order.
final class OpenMirrors: Sendable {
    @TaskLocal static var current: OpenMirrors?

    private let actions = Recorder<@Sendable () async -> Void>()

    func add(_ close: @escaping @Sendable () async -> Void) { actions.add(close) }

    func close() async {
        for action in actions.values.reversed() { await action() }
    }
}
