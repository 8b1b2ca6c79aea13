/// What somebody may have meant who wrote something that is not there.
package enum Spelling {
    /// The word that differs least from `text`; nil if none is near.
    ///
    /// - Parameters:
    ///   - text: What was written.
    ///   - words: What could have been meant.
    /// - Returns: The first of the nearest words, at most one slip for every three letters away and never more than three.
    package static func nearest(to text: String, among words: [String]) -> String? {
        let limit = min(3, max(1, text.count / 3))
        // Nothing that long is a word, and the comparison takes the product of the lengths.
        guard text.utf8.count <= 100 else { return nil }
        let near = words.map { (word: $0, slips: slips(Array(text), Array($0))) }.filter { $0.slips <= limit }
        return near.min { $0.slips < $1.slips }?.word
    }

    /// How many letters were left out, added, mistaken or swapped with their neighbour (optimal string alignment).
    private static func slips(_ first: [Character], _ second: [Character]) -> Int {
        var (before, last) = ([Int](), Array(0...second.count))
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[second.count]
    }
}
