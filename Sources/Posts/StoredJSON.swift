import Foundation

/// JSON as databases keep it: the keys of each object have one order, so that equal values have
/// equal texts.
///
/// The digest of what a person saw is made of such texts.
package enum StoredJSON {
    /// - Returns: Nil for a value that JSON cannot express, such as a number that is none.
    package static func text(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}
