extension Work {
    /// Learning labelled posts: their features, their rows in Postgres and the counts in Redis.
    ///
    /// The baseline stores the same rows in transactions of the same size and adds the same counts.
    /// It has less to do: its texts are cleaned already, and it adds counts without asking whether
    /// they contain what came before.
    static let learn = Work(name: "learn") { bench, report in
        for choice in ClassifierStage.choices {
            await report.measure("learn" + choice.suffix) {
                let stage = try await ClassifierStage(
                    bench, words: choice.words, postCount: bench.amount(20_000, smoke: 500))
                let comparison = try await bench.compare {
                    try await stage.clear(bench)
                    return try await bench.elapsed { try await stage.learn() }
                } baseline: {
                    try await bench.blocking { try stage.baseline.clear() }
                    return try await bench.blocking {
                        try Bench.time { try stage.baseline.learn() }
                    }
                }
                try await stage.clear(bench)
                try await stage.learn()
                try await bench.blocking { try stage.baseline.learn() }
                try await stage.checkCounts()
                await stage.close()
                return [
                    comparison.line(
                        "learn" + choice.suffix,
                        "learn labelled posts into Redis, end to end" + choice.title,
                        amount: stage.events.count, unit: "posts", target: .atLeast(0.8))
                ]
            }
        }
    }
}
