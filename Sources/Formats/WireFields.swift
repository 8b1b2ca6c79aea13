/// The fields of a JSON object from a server, an archive or an export.
///
/// Both readers of JSON conform, so that there is one reader for each wire format. A field that is
/// missing, null or of another type is `nil`, because nearly every field may be missing.
package protocol WireFields {
    func string(_ name: StaticString) -> String?
    /// A string, or the digits of a whole number.
    func text(_ name: StaticString) -> String?
    /// `true` or `false`; no other value counts.
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
    /// `true`, 1, `"true"` or `"1"`; or the opposites.
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
    package func word(_ name: StaticString) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The reason why an item could not be read.
package struct ItemFault: Error {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}
