import Foundation
package import Storage
import TestSupport
package import Testing

/// Closes what the tests of a suite opened.
///
/// So that test functions need no closures around their bodies: there the
/// compiler (6.3) mixes up closures inside and outside of expectations.
package struct MirrorsTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true
    /// Whether the tests count statements, which a strict engine would double.
    package var countsStatements = false

    package init(countsStatements: Bool = false) { self.countsStatements = countsStatements }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let open = OpenMirrors(countsStatements: countsStatements)
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
    package static var mirrors: Self { MirrorsTrait() }
    /// The same for tests that count statements.
    package static var countedMirrors: Self { MirrorsTrait(countsStatements: true) }
}

/// What a test has to close at its end, in the opposite order.
package final class OpenMirrors: Sendable {
    @TaskLocal package static var current: OpenMirrors?

    private let actions = Recorder<@Sendable () async -> Void>()
    private let countsStatements: Bool

    package init(countsStatements: Bool = false) { self.countsStatements = countsStatements }

    /// Opens a database that, as an embedded one, finds bodies which cannot be repeated.
    ///
    /// These tests look at whole tables themselves, so that only those of the domain find
    /// statements that are not of one mirror. The same bodies run on a server, where each statement
    /// takes several times as long.
    @Sendable package static func open(_ location: StorageLocation) async throws
        -> any StorageEngine
    {
        let engine = try await Storage.open(location)
        if current?.countsStatements == true || engine.kind == .postgres { return engine }
        return StrictEngine(engine, requiresMirror: false) { Issue.record(Comment(rawValue: $0)) }
    }

    package func add(_ close: @escaping @Sendable () async -> Void) { actions.add(close) }

    package func close() async {
        for action in actions.values.reversed() { await action() }
    }
}
