/// An item that could not be read; everything else was.
package struct ImportProblem: Equatable, Sendable, CustomStringConvertible {
    /// Where in its file a problem is.
    package enum Position: Equatable, Sendable {
        case wholeFile
        /// The line of a file of JSON Lines, from 1.
        case line(Int)
        /// The item of a list, from 0, and the byte of the file at which it begins.
        case element(Int, byte: Int)
    }

    /// The file inside the archive, or the path that was given.
    package var file: String
    package var position: Position
    /// What is wrong; never any of the item's own text.
    package var reason: String

    package init(file: String, position: Position, reason: String) {
        self.file = file
        self.position = position
        self.reason = reason
    }

    package var description: String {
        switch position {
        case .wholeFile: "\(file): \(reason)"
        case .line(let number): "\(file), line \(number): \(reason)"
        case .element(let index, let byte): "\(file), element \(index) at byte \(byte): \(reason)"
        }
    }
}

/// Says why one item was not read.
struct ItemFault: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }

    /// The fault behind an error of `JSONDecoder`; its own descriptions may quote the item.
    init(_ error: any Error) {
        switch error {
        case let fault as ItemFault: self = fault
        case DecodingError.keyNotFound(let key, _): self.init("\(key.stringValue) is missing")
        case DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty,
            DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty:
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            self.init("\(path) has the wrong type")
        case DecodingError.typeMismatch, DecodingError.valueNotFound: self.init("not a JSON object")
        default: self.init("not valid JSON")
        }
    }
}
