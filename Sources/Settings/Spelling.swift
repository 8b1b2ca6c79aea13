/// Suggestions for a word that does not exist.
package enum Spelling {
    /// The word that is most similar to `text`; nil if none is similar.
    ///
    /// - Parameters:
    ///   - text: The misspelled word.
    ///   - words: The possible words.
    /// - Returns: The first of the most similar words, with at most one slip for every three
    ///   letters and never more than three.
    package static func nearest(to text: String, among words: [String]) -> String? {
        // Longer texts are not compared: no word is that long, and a comparison takes time in
        // proportion to the product of the lengths.
        guard text.utf8.count <= 100 else { return nil }
        let letters = Array(text.unicodeScalars)
        let limit = min(3, max(1, letters.count / 3))
        var nearest: (word: String, slips: Int)?
        for word in words {
            let lettersOfWord = Array(word.unicodeScalars)
            // The difference of the lengths is a lower bound of the slips.
            guard abs(lettersOfWord.count - letters.count) <= limit else { continue }
            guard let slips = slips(letters, lettersOfWord, atMost: limit) else { continue }
            if slips < nearest?.slips ?? .max { nearest = (word, slips) }
        }
        return nearest?.word
    }

    /// The number of letters that were left out, added, mistaken or swapped with their neighbour
    /// (optimal string alignment); nil above the limit.
    private static func slips(
        _ first: [Unicode.Scalar], _ second: [Unicode.Scalar], atMost limit: Int
    ) -> Int? {
        var rowBeforeLast = [Int]()
        var lastRow = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var currentRow = [row + 1]
            for (column, otherLetter) in second.enumerated() {
                var fewestSlips = min(
                    lastRow[column + 1] + 1, currentRow[column] + 1,
                    lastRow[column] + (letter == otherLetter ? 0 : 1))
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == otherLetter
                {
                    fewestSlips = min(fewestSlips, rowBeforeLast[column - 1] + 1)
                }
                currentRow.append(fewestSlips)
            }
            rowBeforeLast = lastRow
            lastRow = currentRow
            // A row is computed from the two before it, and its minimum is at least theirs.
            guard
                lastRow.contains(where: { $0 <= limit })
                    || rowBeforeLast.contains(where: { $0 <= limit })
            else { return nil }
        }
        return lastRow[second.count] <= limit ? lastRow[second.count] : nil
    }
}
