import Posts

/// What a batch of events does to the examples.
///
/// Pure: given what is stored and what happened, it tells which rows to write
/// and delete and how the counts change.
struct Lesson {
    private(set) var change = CountChange()
    private(set) var written: [ExampleTable.Row] = []
    private(set) var deleted: [PostID] = []
    private(set) var summary = LearnSummary()

    /// Whether there is anything to store.
    var isEmpty: Bool { written.isEmpty && deleted.isEmpty }

    /// - Parameters:
    ///   - events: What happened, in order.
    ///   - stored: The examples among the events' posts.
    ///   - features: Finds the features of an example.
    init(_ events: [FavoriteEvent], stored: [PostID: ExampleTable.Row], features: (Example) -> FeatureSet) {
        var current = stored
        var order: [PostID] = []
        var touched: Set<PostID> = []
        for event in events {
            let before = current[event.id]
            let after = ExampleState.after(event, from: before?.state)
            if after == before?.state { summary.unchanged += 1 }
            if touched.insert(event.id).inserted { order.append(event.id) }
            // The text that was learned first stays, so that what is unlearned later is what was learned.
            current[event.id] = after.flatMap { state in
                (before?.example ?? event.example?.stored).map { ExampleTable.Row(example: $0, state: state) }
            }
        }
        for id in order { move(id, from: stored[id], to: current[id], features) }
    }

    private mutating func move(
        _ id: PostID, from old: ExampleTable.Row?, to new: ExampleTable.Row?, _ features: (Example) -> FeatureSet
    ) {
        guard old?.state != new?.state || old?.example != new?.example else { return }
        if let old { change.move(features(old.example), from: old.state, to: nil) }
        if let new { change.move(features(new.example), from: nil, to: new.state) }
        switch (old, new) {
        case (nil, let new?):
            summary.learned += 1
            written.append(new)
        case (_?, let new?):
            summary.relabelled += 1
            written.append(new)
        case (_?, nil):
            summary.unlearned += 1
            deleted.append(id)
        case (nil, nil):
            break
        }
    }
}
