import Expectations
import Foundation
import Testing

@testable import Posts

@Suite struct TimestampIDTests {
    private static let vectors: [(microseconds: Int64, clock: Int, text: String)] = [
        (0, 0, "2222222222222"), (1_700_000_000_000_000, 0, "3ke6kg3wk2222"),
        (1_700_000_000_000_000, 7, "3ke6kg3wk222b"),
        (1_700_000_000_000_000, 1_023, "3ke6kg3wk22zz"),
        (1_767_225_600_123_456, 42, "3mbd3546cm23e"), (1_688_137_381_887_007, 6, "3jzfcijpj2z2a"),
        (1_691_386_272_411_000, 7, "3k4duaz5vfs2b"),
    ]

    @Test(arguments: vectors)
    func writesAndReadsTheVectors(microseconds: Int64, clock: Int, text: String) throws {
        let made = try #require(TimestampID(microseconds: microseconds, clock: clock))
        #expect(made.description == text)
        let read = try #require(TimestampID(text))
        #expect(read == made)
        #expect(read.microseconds == microseconds)
        #expect(read.clock == clock)
    }

    @Test(arguments: ["7777777777777", "3zzzzzzzzzzzz", "jzzzzzzzzzzzz", "3jzfcijpj2z2a"])
    func readsWhatTheSyntaxAllows(text: String) throws {
        try expect(#require(TimestampID(text)).description, equals: text)
    }

    @Test(arguments: [
        "", "3jzfcijpj2z2", "3jzfcijpj2z2aa", "3jzfcijpj2z21", "0000000000000", "3JZFCIJPJ2Z2A",
        "kjzfcijpj2z2a",
        "zzzzzzzzzzzzz", "3jzf-cij-pj2z-2a", "3jzfcijpj2zé", " 3jzfcijpj2z2", "self",
    ])
    func refusesEverythingElse(text: String) {
        #expect(TimestampID(text) == nil)
    }

    @Test(arguments: [
        (Int64(-1), 0), (0, -1), (0, 1_024), (1 << 53, 0), (.max, 0), (.min, 0), (0, .max),
        (0, .min),
    ])
    func refusesNumbersThatDoNotFit(microseconds: Int64, clock: Int) {
        #expect(TimestampID(microseconds: microseconds, clock: clock) == nil)
    }

    @Test func takesTheLargestNumbers() throws {
        let largest = try #require(TimestampID(microseconds: 1 << 53 - 1, clock: 1_023))
        #expect(largest.description == "bzzzzzzzzzzzz")
        #expect(TimestampID("bzzzzzzzzzzzz") == largest)
    }

    @Test func ordersAsItsTextDoes() throws {
        let ids = try Self.vectors.map { try #require(TimestampID($0.text)) }
        #expect(ids.sorted().map(\.description) == Self.vectors.map(\.text).sorted())
    }

    /// What another program would compute from the same draft: SHA-256 of the key, seven bytes, ten
    /// bits for the clock.
    @Test func followsFromTheDraft() throws {
        let time = Date(timeIntervalSince1970: 1_700_000_000.123)
        let id = TimestampID(createdAt: time, key: "k-1")
        #expect(id == TimestampID(createdAt: time, key: "k-1"))
        #expect(id.microseconds / 1_000 == 1_700_000_000_123)
        #expect(id.microseconds == 1_700_000_000_123_143)
        #expect(id.clock == 288)
        #expect(id.description == TimestampID(id.description)?.description)
    }

    @Test func draftsOfOneMillisecondHaveDifferentKeys() {
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let ids = Set((0..<200).map { TimestampID(createdAt: time, key: "slot-\($0)") })
        #expect(ids.count == 200)
        expect(ids) { $0.allSatisfy { $0.microseconds / 1_000 == 1_700_000_000_000 } }
    }

    @Test(arguments: [-1e20, -1, 0, 9e9, 1e20, .infinity, -.infinity, .nan])
    func noTimeIsTooFar(seconds: Double) {
        let id = TimestampID(createdAt: Date(timeIntervalSince1970: seconds), key: "k")
        #expect(TimestampID(id.description) == id)
        #expect(id.microseconds < 1 << 53)
    }
}
