/// The fields of a JSON object from a server, an archive or an export.
///
/// Both JSON parsers of the program conform to it, so that each wire format has only one reader. A
/// field that is missing, null or of another type is `nil`, because nearly every field may be
/// missing.
package protocol WireFields {
    func string(_ name: StaticString) -> String?
    /// A string, or the digits of a whole number.
    func text(_ name: StaticString) -> String?
    /// The value of a field that is `true` or `false`; nil for any other value.
    func truth(_ name: StaticString) -> Bool?
    /// The object in a field.
    func child(_ name: StaticString) -> Self?
    /// The objects in a list; other entries are skipped.
    func children(_ name: StaticString) -> [Self]
    /// The strings in a list; other entries are skipped; `nil` if there is no list.
    func texts(_ name: StaticString) -> [String]?
    /// Whether the field is present and not null.
    func isPresent(_ name: StaticString) -> Bool
}

extension WireFields {
    /// True for `true`, 1, `"true"` or `"1"`; false for `false`, 0, `"false"` or `"0"`; nil for any
    /// other value.
    package func flag(_ name: StaticString) -> Bool? {
        if let truth = truth(name) { return truth }
        switch text(name) {
        case "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    /// A whole number, or a string of its digits.
    package func number(_ name: StaticString) -> Int? { text(name).flatMap { Int($0) } }

    /// A string that is not empty.
    package func nonEmptyText(_ name: StaticString) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The reason why an item could not be read.
package struct ItemFault: Error {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}
