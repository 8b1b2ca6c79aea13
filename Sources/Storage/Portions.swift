extension Array {
    /// The values, at most 500 at a time, well under what either engine binds to one statement.
    package var portions: [[Element]] {
        stride(from: 0, to: count, by: 500).map { Array(self[$0..<Swift.min($0 + 500, count)]) }
    }
}
