/// The fields of an object in which a server, an archive or an export tells of something.
///
/// Both readers of JSON conform, so that each wire format is read by one reader. A field that is
/// missing, null or of another type is `nil`, since nearly every field may be either.
package protocol WireFields {
    func string(_ name: StaticString) -> String?
    /// A string, or the digits of a whole number.
    func text(_ name: StaticString) -> String?
    /// `true` or `false`, and nothing that only stands for them.
    func truth(_ name: StaticString) -> Bool?
    /// The object in a field.
    func child(_ name: StaticString) -> Self?
    /// The objects in a list, without what is none.
    func children(_ name: StaticString) -> [Self]
    /// The strings in a list, without what is none; `nil` if there is no list.
    func texts(_ name: StaticString) -> [String]?
    /// Whether there is something at all that is not null.
    func isPresent(_ name: StaticString) -> Bool
}

extension WireFields {
    /// `true`, 1, `"true"` or `"1"`; or their opposites.
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

/// Why one item was not read.
package struct ItemFault: Error {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}
