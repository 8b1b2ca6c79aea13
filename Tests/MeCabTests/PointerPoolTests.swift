import Expectations
import Foundation
import Testing

@testable import MeCab

/// Idle objects that many threads share.
@Suite struct PointerPoolTests {
    private static func object(_ number: Int) throws -> OpaquePointer {
        try #require(OpaquePointer(bitPattern: number))
    }

    @Test func givesBackWhatWasPutIn() throws {
        let pool = PointerPool()
        #expect(pool.take() == nil)
        #expect(pool.put(try Self.object(8)))
        #expect(pool.put(try Self.object(16)))
        expect(Set([pool.take(), pool.take()]), equals: [try Self.object(8), try Self.object(16)])
        #expect(pool.take() == nil)
    }

    @Test func takesTheLastObjectOfTheSameThreadFirst() throws {
        let pool = PointerPool()
        for _ in 0..<3 {
            let object = try pool.take() ?? Self.object(8)
            expect(object, equals: (try Self.object(8)))
            #expect(pool.put(object))
        }
    }

    @Test func refusesWhatItHasNoRoomFor() throws {
        let pool = PointerPool()
        let kept = try (1...20).filter { pool.put(try Self.object($0 * 8)) }
        #expect(kept == Array(1...8))
        #expect(Set((1...8).map { _ in pool.take() }).count == 8)
        #expect(pool.take() == nil)
    }

    @Test func noObjectIsWithTwoThreadsAtOnce() throws {
        let pool = PointerPool()
        for number in 1...3 { #expect(pool.put(try Self.object(number * 8))) }
        let holders = Holders()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<2_000 {
                guard let object = pool.take() else { continue }
                holders.enter(object)
                holders.leave(object)
                if !pool.put(object) { holders.lose() }
            }
        }
        #expect(holders.faults == 0)
        #expect(Set((1...3).map { _ in pool.take() }).count == 3)
        #expect(pool.take() == nil)
    }

    /// Who has which object, as the threads say.
    private final class Holders: @unchecked Sendable {
        // Sendable: both variables are only touched under `lock`.
        private let lock = NSLock()
        private var held: Set<OpaquePointer> = []
        private var count = 0

        var faults: Int { lock.withLock { count } }

        func enter(_ object: OpaquePointer) {
            lock.withLock { if !held.insert(object).inserted { count += 1 } }
        }

        func leave(_ object: OpaquePointer) { _ = lock.withLock { held.remove(object) } }

        func lose() { lock.withLock { count += 1 } }
    }
}
