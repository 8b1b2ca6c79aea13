import Blocking
import Foundation
import TestSupport

/// How much of each work is done.
enum Effort {
    case full
    /// Fewer repetitions of the same work.
    case quick
    /// Tiny data, once: shows that a line works, and not how fast it is.
    case smoke
}

/// What every work is given: how often to repeat, servers, a folder, and the comparison itself.
final class Bench: Sendable {
    let effort: Effort
    /// How many pairs of a quick work are measured, and of one that takes long.
    let pairs: Int
    let heavyPairs: Int
    let servers = Servers()
    /// For files; removed at the end.
    let folder: TemporaryDirectory
    private let executor = ThreadExecutor(name: "benchmark.c")

    /// - Parameters:
    ///   - effort: How much of each work is done.
    ///   - folder: Where large files go; nil is the system's temporary folder.
    /// - Throws: If that folder cannot be written to.
    init(_ effort: Effort, folder: String?) throws {
        self.effort = effort
        (pairs, heavyPairs) =
            switch effort {
            case .full: (11, 5)
            case .quick: (5, 1)
            case .smoke: (1, 1)
            }
        self.folder = try TemporaryDirectory(in: folder)
    }

    /// Returns an amount of data, or that of a smoke test.
    func amount(_ amount: Int, smoke: Int) -> Int { effort == .smoke ? smoke : amount }

    /// Runs work that blocks, such as all of the C baselines, on a thread of its own.
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        try await executor.run(work)
    }

    /// Measures both in turns, so that whatever else the machine does hits both alike.
    ///
    /// Each runs once before to warm up; then the pairs follow, and whoever was first is second in
    /// the next one. The closures return the time that counts, so that preparations may be left
    /// out; ``elapsed(_:)`` measures it.
    ///
    /// - Parameters:
    ///   - pairs: How many; nil for ``pairs``.
    ///   - ours: Our side of the work.
    ///   - baseline: The same work of the baseline.
    /// - Returns: The times of the pairs.
    /// - Throws: What a closure throws.
    func compare(
        pairs: Int? = nil, ours: () async throws -> Duration, baseline: () async throws -> Duration
    ) async throws -> Comparison {
        _ = try await ours()
        _ = try await baseline()
        var times: [Comparison.Pair] = []
        for number in 0..<(pairs ?? self.pairs) {
            if number.isMultiple(of: 2) {
                let first = try await ours()
                times.append(.init(ours: first, baseline: try await baseline()))
            } else {
                let first = try await baseline()
                times.append(.init(ours: try await ours(), baseline: first))
            }
        }
        return Comparison(pairs: times)
    }

    /// How long something takes that blocks.
    static func time(_ body: () throws -> Void) rethrows -> Duration {
        let start = ContinuousClock.now
        try body()
        return start.duration(to: .now)
    }

    /// How long something takes.
    func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
        let start = ContinuousClock.now
        try await body()
        return start.duration(to: .now)
    }

    /// Tells the person who waits what is going on; the table alone goes to the standard output.
    static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

/// The times of two ways to do the same, measured in turns.
struct Comparison: Sendable {
    struct Pair: Sendable {
        let ours: Duration
        let baseline: Duration
    }

    let pairs: [Pair]

    /// How much we do in the time in which the baseline does 1.
    var speed: Spread { Spread(pairs.map { $0.baseline / $0.ours }) }

    /// How many times the baseline's time we take.
    var slowness: Spread { Spread(pairs.map { $0.ours / $0.baseline }) }

    /// A line of the table with amounts per second.
    ///
    /// - Parameters:
    ///   - name: The key in JSON.
    ///   - title: What was done.
    ///   - amount: How much each run did.
    ///   - unit: Of the amount, in the plural.
    ///   - target: What the ratio has to be.
    /// - Returns: The line.
    func line(_ name: String, _ title: String, amount: Int, unit: String, target: Target) -> Line {
        func rate(_ time: (Pair) -> Duration) -> String {
            Figure.text(Spread(pairs.map { Double(amount) / time($0).seconds }).median, "\(unit)/s")
        }
        return Line(
            name, title, ours: rate(\.ours), baseline: rate(\.baseline), ratio: speed,
            target: target)
    }
}

extension Duration {
    /// With the precision of a double.
    var seconds: Double { self / .seconds(1) }
}
