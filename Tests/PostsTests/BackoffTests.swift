import Expectations
import Foundation
import Posts
import Testing

@Suite struct BackoffTests {
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)
    private let backoff = Backoff(first: 5, longest: 300)

    @Test(arguments: ["", "publisher", "bot-mentions", "a1b2c3d4e5f6"])
    func growsToItsBoundWhateverItIsGiven(key: String) {
        let waits = [.min, 0, 1, 2, 3, 7, 8, 40, 1_000, Int.max].map { backoff.wait(after: $0, key: key) }
        #expect(waits == waits.sorted())
        #expect(waits[0] == waits[2] && (5..<6.25).contains(waits[2]))
        #expect((10..<12.5).contains(waits[3]))
        #expect((300..<375).contains(waits[9]))
    }

    @Test func aServersWishIsNeverLessThanOurOwnWaitNorBelievedForEver() {
        func next(_ asked: TimeInterval?) -> TimeInterval {
            backoff.next(after: 3, key: "feed", asked: asked.map { Self.now + $0 }, now: Self.now, atMost: 600)
                .timeIntervalSince(Self.now)
        }
        let ours = next(nil)
        #expect((20..<25).contains(ours))
        #expect(next(-1) == ours)
        #expect(next(0) == ours)
        #expect(next(1) == ours)
        #expect((62...71).contains(next(60)))
        #expect((602...665).contains(next(1e9)))
    }

    @Test func nobodyComesBackAtTheVerySecond() {
        let end = Self.now + 60
        let times = (0..<100).compactMap {
            Backoff.honouring(asked: end, now: Self.now, atMost: 3_600, key: "action-\($0)")
        }
        #expect(times.count == 100)
        expect(times) { $0.allSatisfy { (2...11).contains($0.timeIntervalSince(end)) } }
        #expect(Set(times).count > 50)
        #expect(Backoff.honouring(asked: nil, now: Self.now, atMost: 3_600, key: "") == nil)
    }
}
