import Foundation

/// JSON on one line, composed of parts that are JSON.
///
/// A reply contains documents that a command printed. They are inserted unchanged, without being
/// parsed.
struct JSONText: Equatable, Sendable {
    let text: String

    private init(raw text: String) { self.text = text }

    /// A printed document, on one line.
    ///
    /// Its line breaks can be removed: they stand only between the parts of the JSON, because they
    /// are escaped in texts.
    init(document: String) { self.init(raw: document.replacing("\n", with: "")) }

    /// A text value.
    init(_ text: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Every text can be encoded.
        let encoded = (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) }
        self.init(raw: JSONOutput.escaped(encoded ?? "\"\""))
    }

    init(_ number: Int) { self.init(raw: "\(number)") }

    init(_ truth: Bool) { self.init(raw: truth ? "true" : "false") }

    /// An object; members without a value are left out.
    static func object(_ members: [(name: String, value: JSONText?)]) -> JSONText {
        let parts = members.compactMap { name, value in
            value.map { JSONText(name).text + ":" + $0.text }
        }
        return JSONText(raw: "{" + parts.joined(separator: ",") + "}")
    }

    static func list(_ parts: [JSONText]) -> JSONText {
        JSONText(raw: "[" + parts.map(\.text).joined(separator: ",") + "]")
    }
}
