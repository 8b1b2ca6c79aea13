import Favorites
import Redis

extension Work {
    /// Classifying posts: their features, their counts from Redis and the check that these are not
    /// outdated.
    ///
    /// The baseline does the same with texts that are cleaned already, and tells no more of a post
    /// than its rate.
    static let classify = Work(name: "classify") { bench, report in
        for choice in ClassifierStage.choices {
            let stage = try await ClassifierStage(
                bench, words: choice.words, postCount: bench.amount(20_000, smoke: 500))
            try await stage.learn()
            try await bench.blocking { try stage.baseline.learn() }
            try await stage.checkCounts()
            let work = ClassifyWork(stage: stage, suffix: choice.suffix, title: choice.title)
            try await work.checkBaseline(bench)
            await report.measure("classify_batches" + choice.suffix) {
                [try await work.batches(bench)]
            }
            await report.measure("classify_single" + choice.suffix) { try await work.singly(bench) }
            await stage.close()
        }
    }
}

private struct ClassifyWork: Sendable {
    let stage: ClassifierStage
    /// Ends the name of each line, and its title.
    let suffix: String
    let title: String

    /// About as many posts as a page of a timeline.
    private static let batch = 100
    private static let singles = 3_000

    private var batches: [Range<Int>] {
        stride(from: 0, to: stage.examples.count, by: Self.batch).map {
            $0..<min($0 + Self.batch, stage.examples.count)
        }
    }

    /// Makes sure that both come to the same rates.
    func checkBaseline(_ bench: Bench) async throws {
        for range in batches.prefix(20) {
            let ours = try await stage.favorites.classify(Array(stage.examples[range])).map(
                \.logRate)
            let theirs = try await bench.blocking { try stage.baseline.classify(range) }
            guard zip(ours, theirs).allSatisfy({ abs($0 - $1) < 1e-9 }) else {
                throw BaselineError(description: "the baseline comes to other rates than we do")
            }
        }
    }

    func batches(_ bench: Bench) async throws -> Line {
        let comparison = try await bench.compare {
            try await bench.elapsed {
                for range in batches {
                    _ = try await stage.favorites.classify(Array(stage.examples[range]))
                }
            }
        } baseline: {
            try await bench.blocking {
                try Bench.time { for range in batches { _ = try stage.baseline.classify(range) } }
            }
        }
        return comparison.line(
            "classify_batches" + suffix,
            "classify posts against Redis counts, in batches of \(Self.batch)" + title,
            amount: stage.examples.count, unit: "posts", target: .atLeast(0.8))
    }

    /// One post a call, each beside a PING through the same client.
    ///
    /// The posts of a round are those of one session, whose first call asks Postgres as well. The
    /// slowest hundredth of the calls is compared with the median PING, and with the slowest
    /// hundredth of the PINGs: where other programs run, these wait for the processor as the calls
    /// do. Two more lines say what is behind these figures: calls that ask Postgres each time, and
    /// the PING itself beside one of hiredis, which waits on the caller's own thread.
    func singly(_ bench: Bench) async throws -> [Line] {
        for post in stage.examples.prefix(500) { _ = try await stage.favorites.classify([post]) }
        var rounds: [Round] = []
        for _ in 0..<bench.pairs { rounds.append(try await round(bench)) }
        let title = "classify one post\(self.title): 99 % of calls, beside"
        return [
            line(
                "classify_single_p99", "\(title) 99 % of PINGs", rounds, \.call.tail, \.ping.tail,
                .atMost(3)),
            line(
                "classify_single_p99_to_median", "\(title) the median PING", rounds, \.call.tail,
                \.ping.middle,
                .atMost(3)),
            line(
                "classify_single_median",
                "classify one post\(self.title): median, beside the median PING", rounds,
                \.call.middle,
                \.ping.middle, .none),
            line(
                "classify_alone_median", "the same, asking Postgres each time", rounds,
                \.alone.middle, \.ping.middle,
                .none),
            line(
                "ping_median", "median PING, beside that of hiredis on its own", rounds,
                \.ping.middle,
                \.bare.middle, .atMost(1.5)),
        ]
    }

    private func line(
        _ name: String, _ title: String, _ rounds: [Round], _ ours: (Round) -> Double,
        _ baseline: (Round) -> Double,
        _ target: Target
    ) -> Line {
        Line(
            name + suffix, title, ours: Figure.text(Spread(rounds.map(ours)).median, "µs"),
            baseline: Figure.text(Spread(rounds.map(baseline)).median, "µs"),
            ratio: Spread(rounds.map { ours($0) / baseline($0) }), target: target)
    }

    /// How long calls took, in microseconds.
    private struct Latency {
        let middle: Double
        let tail: Double

        init(_ times: [Duration]) {
            let sorted = times.map { $0.seconds * 1e6 }.sorted()
            middle = Spread.quantile(0.5, of: sorted)
            tail = Spread.quantile(0.99, of: sorted)
        }
    }

    private struct Round {
        /// A post in a session.
        let call: Latency
        /// A post in a call of its own, which asks Postgres as well.
        let alone: Latency
        let ping: Latency
        /// A PING of hiredis alone.
        let bare: Latency
    }

    private func round(_ bench: Bench) async throws -> Round {
        let posts = stage.examples.prefix(Self.singles)
        let session = stage.favorites.session()
        var calls: [Duration] = []
        var pings: [Duration] = []
        for post in posts {
            calls.append(try await bench.elapsed { _ = try await session.classify([post]) })
            pings.append(
                try await bench.elapsed { _ = try await stage.redis.command(RedisCommand("PING")) })
        }
        var alone: [Duration] = []
        for post in posts {
            alone.append(try await bench.elapsed { _ = try await stage.favorites.classify([post]) })
        }
        let bare = try await bench.blocking {
            try posts.map { _ in try Bench.time { try stage.baseline.ping() } }
        }
        return Round(
            call: Latency(calls), alone: Latency(alone), ping: Latency(pings), bare: Latency(bare))
    }
}
