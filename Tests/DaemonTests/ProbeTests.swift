import Foundation
import Networks
import Sandbox
import Testing

@testable import Daemon

@Suite(.mirrors) struct ProbeTests {
    @Test(arguments: 0..<24) func probe(_ n: Int) async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        let start = ContinuousClock.now
        try await fixture.live(
            until: 14,
            events: [
                (10, { fixture.sandbox.faults.failNext(.html(status: 503), count: 40, method: "GET") }),
                (10.5, { fixture.sandbox.faults.failNext(.dropRequest, count: 10, method: "GET") }),
            ])
        print("TOOK", n, start.duration(to: .now), fixture.log.values.filter { $0.contains("Timeout") })
    }
}
