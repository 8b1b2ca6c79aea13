/// Taking links out of a text.
extension TextCleaning {
    /// The text without its `http://` and `https://` links, and with no gap where they stood.
    ///
    /// Brackets around a link go with it, and so does the colon or arrow that led to it where the line or sentence ends.
    /// The text must have no mentions left.
    static func withoutLinks(_ text: String) -> String {
        var remains = Remains()
        for token in PlainTokens(text).tokens {
            switch token {
            case .link: remains.leaveOut()
            case .scalar(let scalar): remains.add(scalar)
            case .mention(let name): for scalar in name { remains.add(scalar) }
            }
        }
        remains.endLine()
        return trimmed(String(remains.scalars))
    }

    /// What is left of a text while links are left out.
    private struct Remains {
        private static let brackets: [Unicode.Scalar: Unicode.Scalar] = [
            "(": ")", "[": "]", "<": ">", "（": "）", "「": "」", "【": "】", "《": "》", "〈": "〉", "“": "”",
        ]
        private static let leaders: Set<Unicode.Scalar> = [":", "：", "→", "⇒", "↓", "👉", "👇"]
        private static let endings: Set<Unicode.Scalar> = [".", ",", "!", "?", ";", "。", "、", "！", "？", "，", "．"]

        private(set) var scalars = String.UnicodeScalarView()
        /// A link was left out since the last scalar.
        private var isGap = false
        /// There was white space beside that link.
        private var hadSpace = false

        mutating func leaveOut() {
            isGap = true
            dropSpaces()
        }

        mutating func add(_ scalar: Unicode.Scalar) {
            guard isGap else { return scalars.append(scalar) }
            if scalar == "\n" { return addLineBreak() }
            if scalar.properties.isWhitespace {
                hadSpace = true
                return
            }
            if let last = scalars.last, Self.brackets[last] == scalar {
                scalars.removeLast()
                return dropSpaces()
            }
            let ends = Self.endings.contains(scalar)
            if ends { dropLeader() }
            if hadSpace, !ends, let last = scalars.last, last != "\n" { scalars.append(" ") }
            scalars.append(scalar)
            (isGap, hadSpace) = (false, false)
        }

        mutating func endLine() {
            if isGap { dropLeader() }
            (isGap, hadSpace) = (false, false)
        }

        private mutating func addLineBreak() {
            endLine()
            // A line that was nothing but a link goes as a whole.
            if let last = scalars.last, last != "\n" { scalars.append("\n") }
        }

        private mutating func dropLeader() {
            guard let last = scalars.last, Self.leaders.contains(last) else { return }
            scalars.removeLast()
            dropSpaces()
        }

        private mutating func dropSpaces() {
            while let last = scalars.last, last != "\n", last.properties.isWhitespace {
                scalars.removeLast()
                hadSpace = true
            }
        }
    }
}
