import Expectations
import Foundation
import Synchronization
import Testing

@testable import Web

/// Pages are made on their own thread, so that they do not delay the worker of the same process.
@Suite(.timeLimit(.minutes(30))) struct PageThreadTests {
    /// A thread, as it reads the clock.
    private struct Place: Hashable {
        let name: String?
        let niceness: Int

        static var present: Place {
            Place(
                name: Thread.current.name,
                niceness: Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)))
        }
    }

    private final class PlaceList: Sendable {
        private let places = Mutex<[Place]>([])

        func add(_ place: Place) { places.withLock { $0.append(place) } }

        /// Returns all that were added since the last call.
        func take() -> [Place] {
            places.withLock { places in
                defer { places = [] }
                return places
            }
        }
    }

    @Test(
        arguments: [
            "/", "/m/mika", "/m/mika/actions", "/m/mika/health", "/m/mika/settings", "/metrics",
            "/public/mika",
        ])
    func pagesAreMadeOnAThreadThatWaitsForOthers(_ path: String) async throws {
        let places = PlaceList()
        try await WebStand.with(
            ["mika", "other"], variables: ["PUBLIC_PAGE": "yes"], onClock: { places.add(.present) }
        ) { stand in
            _ = places.take()
            let answer = try await stand.client.send(path)
            #expect(answer.status == 200)
            let readers = Set(places.take())
            expect(readers) { $0.count == 1 }
            expect(readers.first?.name, equals: "web-pages")
            #if os(Linux)
                // The value is greater than 10 only if the tests run under `nice` with a greater
                // one.
                expect(readers.first?.niceness, equals: max(Place.present.niceness, 10))
            #endif
        }
    }

    /// So that a service which restarts what does not answer has no reason to.
    @Test(arguments: [
        ("/healthz", true), ("/readyz", true), ("/style.css", true), ("/live.js", true),
        ("/metrics", false),
    ])
    func filesAndProbesWaitForNoPage(_ path: String, _ isQuick: Bool) {
        #expect(WebSite.isQuick(path) == isQuick)
    }
}
