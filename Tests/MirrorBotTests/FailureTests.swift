import ArgumentParser
import Foundation
import Import
import NetworkNames
import Networks
import Posts
import Redis
import Testing

@testable import Archive
@testable import Control
@testable import Favorites
@testable import Fleet
@testable import MeCab
@testable import MirrorBot
@testable import Mirroring
@testable import Outbox
@testable import Settings
@testable import Storage

/// The exit code of every kind of error.
@Suite struct FailureTests {
    private func expectStatus(
        _ status: Int?, _ error: any Error, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            Failure(error, of: MirrorBot.self, under: MirrorBot.self).status.map {
                Int($0.rawValue)
            } == status,
            "\(error)", sourceLocation: location)
    }

    @Test(arguments: [
        (NetworkError.Code.unauthorized, 77), (.missingScope, 77), (.accountDisabled, 77),
        (.configuration, 78), (.redirected, 69), (.rateLimited, 75),
        (.unavailable, 69), (.transport, 69), (.malformedResponse, 69),
        (.notFound, 69), (.rejected, 69),
    ])
    func aNetworkError(_ code: NetworkError.Code, _ status: Int) {
        expectStatus(
            status,
            NetworkError(
                code: code, network: .mastodon, host: "a.example", operation: .verifyAccount,
                outcome: .refused))
    }

    @Test(arguments: [
        (StorageError.Code.configuration, 78), (.outOfDate, 78),
        (.authentication, 77), (.corrupt, 65), (.busy, 75), (.serialization, 75),
        (.unavailable, 69), (.outcomeUnknown, 69), (.readOnly, 69), (.full, 69),
        (.other, 70), (.decoding, 70), (.closed, 70), (.constraint, 70), (.uniqueViolation, 70),
    ])
    func aStorageError(_ code: StorageError.Code, _ status: Int) {
        expectStatus(status, StorageError(code, "read", because: "a test"))
    }

    @Test func ourOwnErrors() {
        expectStatus(78, ConfigurationError("MIRROR", "is wrong"))
        expectStatus(78, MeCabError(.dictionaryNotFound, "no dictionary"))
        expectStatus(65, ImportError(.notFound, path: "/nowhere", "there is nothing"))
        expectStatus(65, ArchiveError(column: "visibility"))
        expectStatus(78, RedisError(.invalidConfiguration, message: "no host"))
        expectStatus(69, RedisError(.unavailable, message: "down"))
        expectStatus(77, RedisError(.authentication, message: "wrong password"))
        expectStatus(78, FavoritesError(.invalidConfiguration, "no"))
        expectStatus(69, FavoritesError(.countsUnavailable, "down"))
        expectStatus(75, OutboxError.leaseLost)
        // So that what keeps the process running starts the program that is there by now.
        expectStatus(
            75,
            OutboxError.outdated(
                StorageError(.outOfDate, "use the database", because: "it is newer")))
        expectStatus(65, OutboxError.unfitting("a1", as: "reply", "text is missing"))
        expectStatus(75, CancellationError())
        expectStatus(65, CommandError(.badData, "no posts"))
    }

    @Test func whatNobodyExpectedIsABug() {
        struct Surprise: Error {}
        expectStatus(70, Surprise())
        expectStatus(70, CocoaError(.fileNoSuchFile))
    }

    @Test func theParserEndsItsOwnErrors() {
        expectStatus(nil, ValidationError("wrong"))
        expectStatus(nil, ExitCode(3))
        expectStatus(nil, CleanExit.helpRequest())
        #expect(throws: (any Error).self) { try MirrorBot.parseAsRoot(["--nonsense"]) }
        do { _ = try MirrorBot.parseAsRoot(["--nonsense"]) } catch { expectStatus(nil, error) }
        do { _ = try MirrorBot.parseAsRoot(["--help"]) } catch { expectStatus(nil, error) }
    }
}
