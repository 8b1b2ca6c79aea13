import Foundation
import Posts

/// An instant as archives write it.
struct WrittenTime {
    let date: Date
    /// False for a time without a zone, which is read as one of UTC.
    let isTrusted: Bool

    /// - Parameters:
    ///   - text: The time in the form of RFC 3339, whose offset may be missing.
    ///   - field: The name of the field, for the fault.
    /// - Throws: ``ItemFault`` for everything else, and for years outside 1970 through 9999.
    init(_ text: String?, field: StaticString) throws(ItemFault) {
        guard let text else { throw ItemFault("\(field) is missing") }
        if let date = Date(rfc3339: text) {
            (self.date, isTrusted) = (date, true)
        } else if let date = Date(rfc3339: text + "Z") {
            (self.date, isTrusted) = (date, false)
        } else {
            throw ItemFault("\(field) is not a time from 1970 to 9999")
        }
    }
}
