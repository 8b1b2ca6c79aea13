/// A point in learning, told to whoever wants to know how far it got.
package enum LearningStep: String, CaseIterable, Sendable {
    /// The examples are committed; the counts know nothing of them.
    case examplesStored = "examples-stored"
    case countsApplied = "counts-applied"
}
