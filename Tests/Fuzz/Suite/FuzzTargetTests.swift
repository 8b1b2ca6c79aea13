import Blocking
import Expectations
import Testing

/// The targets of `make fuzz` over their seeds and some thousand changes of them, always the same
/// ones.
@Suite struct FuzzTargetTests {
    /// Changes of each target's seeds.
    private static let changes = 100
    /// Short enough for code that is not optimized, long enough to tell its square from it.
    private static let longLength = 1 << 14

    @Test(arguments: FuzzTarget.all)
    func holdsForSeedsAndTheirChanges(_ target: FuzzTarget) async throws {
        try await onThread {
            var generator = SeededGenerator(seed: target.name)
            for seed in target.seeds { try Self.run(target, seed) }
            try Self.run(target, [])
            for _ in 0..<Self.changes {
                try Self.run(target, Mutation(target).changed(using: &generator))
            }
        }
    }

    @Test(arguments: FuzzTarget.all)
    func takesTimeInProportionToTheInput(_ target: FuzzTarget) async throws {
        try await onThread {
            var generator = SeededGenerator(seed: target.name + " long")
            for seed in target.seeds where seed.count > 1 {
                let start = Int.random(in: 0..<seed.count, using: &generator)
                let end = Int.random(in: start + 1...seed.count, using: &generator)
                if let long = Pumping.pumped(seed, repeating: start..<end, to: Self.longLength) {
                    try Self.run(target, long)
                }
            }
        }
    }

    @Test func namesTellTargetsApart() {
        let names = FuzzTarget.all.map(\.name)
        let isPlain = names.allSatisfy {
            $0.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
        }
        #expect(Set(names).count == names.count)
        #expect(isPlain)
        expect(FuzzTarget.all) { $0.allSatisfy { !$0.seeds.isEmpty } }
    }

    @Test func noticesWhatDoesNotHold() {
        let target = FuzzTarget("broken", texts: ["a"]) { text in
            try hold(!text.contains("b"), "there is no b")
        }
        #expect(throws: FuzzFinding.self) { try target.run([0x62]) }
        #expect(throws: Never.self) { try target.run([0x63]) }
    }

    @Test func noticesWhatTakesTooLong() {
        let target = FuzzTarget("slow", texts: ["a"]) { text in
            let start = WorkTime.now
            while WorkTime.now - start <= WorkTime.allowed(for: text.utf8.count) {}
        }
        #expect(throws: FuzzFinding.self) { try target.run([0x61]) }
    }

    /// Parsers that block do so on a thread of their own.
    private func onThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        let executor = ThreadExecutor(name: "mirror-bot.fuzz")
        defer { executor.shutdown() }
        try await executor.run(work)
    }

    private static func run(_ target: FuzzTarget, _ input: [UInt8]) throws {
        do {
            try target.run(input)
        } catch let finding as FuzzFinding {
            let text = String(decoding: input.prefix(2_000), as: UTF8.self)
            throw FuzzFinding(
                "\(target.name): \(finding); input of \(input.count) bytes: \(text.debugDescription)"
            )
        }
    }
}
