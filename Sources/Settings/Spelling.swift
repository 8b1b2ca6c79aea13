/// Suggestions for a word that does not exist.
package enum Spelling {
    /// The word that differs least from `text`; nil if none is near.
    ///
    /// - Parameters:
    ///   - text: What was written.
    ///   - words: What could have been meant.
    /// - Returns: The first of the nearest words, at most one slip for every three letters away and
    ///   never more than three.
    package static func nearest(to text: String, among words: [String]) -> String? {
        // Nothing that long is a word, and the comparison takes the product of the lengths.
        guard text.utf8.count <= 100 else { return nil }
        let letters = Array(text.unicodeScalars)
        let limit = min(3, max(1, letters.count / 3))
        var nearest: (word: String, slips: Int)?
        for word in words {
            let other = Array(word.unicodeScalars)
            // As many letters are missing or too many, at least.
            guard abs(other.count - letters.count) <= limit else { continue }
            guard let slips = slips(letters, other, atMost: limit) else { continue }
            if slips < nearest?.slips ?? .max { nearest = (word, slips) }
        }
        return nearest?.word
    }

    /// How many letters were left out, added, mistaken or swapped with their neighbour (optimal
    /// string alignment); nil if they are more than the limit.
    private static func slips(
        _ first: [Unicode.Scalar], _ second: [Unicode.Scalar], atMost limit: Int
    ) -> Int? {
        var before = [Int]()
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var least = min(
                    last[column + 1] + 1, current[column] + 1,
                    last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            before = last
            last = current
            // A row is made of the two before it, and never holds less than the least of them.
            guard last.contains(where: { $0 <= limit }) || before.contains(where: { $0 <= limit })
            else { return nil }
        }
        return last[second.count] <= limit ? last[second.count] : nil
    }
}
