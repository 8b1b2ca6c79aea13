import Blocking

/// Reads counts and makes sure that they are what the examples say.
struct CountReader: Sendable {
    let examples: ExampleTable
    let counts: any CountStore
    /// Lets one repair at a time through; shared with those who learn.
    let turnstile: Turnstile

    /// Counts that contain every batch committed before the call.
    func currentCounts(of features: [String]) async throws -> CountSnapshot {
        // Both servers are asked at once, which saves a round trip. A batch that is committed just between the two
        // answers makes good counts look outdated, so then they are asked again one after the other.
        async let found = counts.counts(of: features)
        let stamp = try await examples.stamp()
        if let snapshot = try await current(await found, stamp, of: features) { return snapshot }
        return try await repairedCounts(of: features)
    }

    /// Counts that carry a stamp which was found to be current before; current ones if they carry another.
    func counts(of features: [String], confirmed: CountStamp) async throws -> CountSnapshot {
        let snapshot = try await counts.counts(of: features)
        if let snapshot, snapshot.stamp == confirmed { return snapshot }
        let stamp = try await examples.stamp()
        if let snapshot = try await current(snapshot, stamp, of: features) { return snapshot }
        return try await repairedCounts(of: features)
    }

    private func repairedCounts(of features: [String]) async throws -> CountSnapshot {
        try await turnstile.pass {
            // What was missing may just have been applied by this process or another.
            if let snapshot = try await countsIfCurrent(of: features) { return snapshot }
            try await counts.rebuild(from: examples)
            if let snapshot = try await countsIfCurrent(of: features) { return snapshot }
            throw FavoritesError(
                .countsUnstable, "could not read the counts: other processes keep changing them; try again")
        }
    }

    private func countsIfCurrent(of features: [String]) async throws -> CountSnapshot? {
        let stamp = try await examples.stamp()
        return try await current(try await counts.counts(of: features), stamp, of: features)
    }

    /// The counts that were read, if they are what the examples said at the time of `stamp` or later.
    private func current(
        _ snapshot: CountSnapshot?, _ stamp: CountStamp, of features: [String]
    ) async throws -> CountSnapshot? {
        guard let snapshot else {
            guard try await examples.isEmpty() else { return nil }
            return CountSnapshot(
                stamp: stamp, categories: CategoryCounts(), asked: features,
                counts: Array(repeating: FeatureCount(), count: features.count))
        }
        guard snapshot.stamp != stamp else { return snapshot }
        // Newer than when the call began is fine, newer than the examples is not: then those were restored from a copy.
        guard snapshot.stamp.extraction == stamp.extraction, snapshot.stamp.sequence > stamp.sequence else {
            return nil
        }
        return snapshot.stamp.sequence <= (try await examples.stamp()).sequence ? snapshot : nil
    }
}
