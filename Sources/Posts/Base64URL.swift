import Foundation

/// Base64 for addresses, without padding (RFC 4648, section 5).
package enum Base64URL {
    /// The bytes as letters, digits, `-` and `_`.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Decodes a text from ``text(of:)``.
    ///
    /// - Returns: Nil for any other text, also for another spelling of the same bytes.
    package static func bytes(of text: String) -> [UInt8]? {
        let standardText = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: standardText + padding) else { return nil }
        let bytes = Array(data)
        return self.text(of: bytes) == text ? bytes : nil
    }
}
