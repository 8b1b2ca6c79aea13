import Foundation

/// JSON in its stored form: keys are sorted, so that equal values have equal texts.
///
/// Digests of the items that a person was shown are computed from such texts.
package enum StoredJSON {
    /// - Returns: Nil for a value that JSON cannot represent, such as NaN.
    package static func text(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}
