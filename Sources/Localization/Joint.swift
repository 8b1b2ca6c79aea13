/// What stands between texts that are read one after the other.
package enum Joint: Sendable {
    /// A comma between the items of a list.
    case comma
    /// A semicolon between clauses.
    case semicolon
    /// Commas, and "and" before the last item.
    case and
    /// Commas, and "or" before the last item.
    case or
    /// What stands between sentences: a space in English, nothing in Japanese.
    case sentence
}

extension Sequence<String> {
    /// Joins texts as the language of the present task does.
    package func joined(by joint: Joint) -> String {
        switch joint {
        case .comma: return joined(separator: localized(", "))
        case .semicolon: return joined(separator: localized("; "))
        case .sentence: return joined(separator: Language.current == .japanese ? "" : " ")
        case .and, .or:
            let items = Array(self)
            guard let last = items.last, items.count > 1 else { return items.first ?? "" }
            let others = items.dropLast().joined(by: .comma)
            return joint == .and
                ? localized("\(others) and \(last)") : localized("\(others) or \(last)")
        }
    }
}
