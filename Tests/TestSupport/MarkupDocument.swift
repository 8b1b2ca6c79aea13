/// XML as it is meant by whoever says that HTML or SVG is well-formed: read strictly, without
/// document types.
///
/// Every element must be closed, every attribute quoted and there once, every reference one that
/// XML itself knows, and no character one that XML cannot hold. A `>` is escaped, other than in a
/// style: HTML reads that as it stands.
package struct MarkupDocument: Sendable {
    /// An element with what is in it.
    package struct Element: Sendable {
        package let name: String
        package let attributes: [String: String]
        /// The names of the elements around it, the outermost first.
        package let parents: [String]
        /// All text inside, that of elements inside too.
        package fileprivate(set) var text = ""
        /// How many elements there are inside, by name.
        package fileprivate(set) var inside: [String: Int] = [:]
    }

    /// In the order in which they begin.
    package private(set) var elements: [Element] = []

    /// By scalars, as XML sees it: what joins a sign before it does not hide that sign.
    private var rest: Substring.UnicodeScalarView
    private var open: [Int] = []

    /// - Throws: ``TestSupportError`` with the first thing that is not well-formed.
    package init(_ text: String) throws {
        rest = text[...].unicodeScalars
        let isXML = text.unicodeScalars.allSatisfy { scalar in
            [0x9, 0xA, 0xD].contains(scalar.value)
                || scalar.value >= 0x20 && ![0xFFFE, 0xFFFF].contains(scalar.value)
        }
        guard isXML else { throw TestSupportError("there is a character that XML cannot hold") }
        for start in ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!DOCTYPE html>"]
        where begins(with: start) {
            rest.removeFirst(start.unicodeScalars.count)
        }
        while !rest.isEmpty { try readPart() }
        guard open.isEmpty else {
            throw fault("<\(elements[open[open.count - 1]].name)> is not closed")
        }
        guard elements.count(where: { $0.parents.isEmpty }) == 1 else {
            throw fault("there is not one root")
        }
    }

    /// The elements of a name.
    package func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

    private func fault(_ what: String) -> TestSupportError {
        TestSupportError("\(what), before: \(String(rest.prefix(60)))")
    }

    private mutating func readPart() throws {
        guard rest.first == "<" else {
            let text = try readText()
            guard !open.isEmpty || text.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
                throw fault("there is text outside the root")
            }
            for index in open { elements[index].text += text }
            return
        }
        rest.removeFirst()
        if rest.first == "/" { try readEnd() } else { try readStart() }
    }

    /// Reads the text up to the next element.
    ///
    /// The text of a `style` may hold no reference, for HTML does not read one there.
    private mutating func readText() throws -> String {
        let text = take { $0 != "<" }
        guard let last = open.last, elements[last].name == "style" else {
            return try Self.decoded(text)
        }
        guard !text.contains("&"), !text.contains("]]>") else {
            throw fault("a style holds a reference")
        }
        return text
    }

    private mutating func readEnd() throws {
        rest.removeFirst()
        let name = take(while: Self.isName)
        guard let last = open.popLast(), elements[last].name == name, rest.first == ">" else {
            throw fault("</\(name)> closes nothing")
        }
        rest.removeFirst()
    }

    private mutating func readStart() throws {
        let name = take(while: Self.isName)
        guard !name.isEmpty else { throw fault("a < begins no element") }
        var attributes: [String: String] = [:]
        while true {
            let space = take(while: \.properties.isWhitespace)
            if begins(with: "/>") || rest.first == ">" { break }
            let key = take(while: Self.isName)
            guard !key.isEmpty, !space.isEmpty, begins(with: "=\"") else {
                throw fault("<\(name)> is no start of an element")
            }
            rest.removeFirst(2)
            let value = take { $0 != "\"" && $0 != "<" }
            guard rest.first == "\"",
                attributes.updateValue(try Self.decoded(value), forKey: key) == nil
            else {
                throw fault("\(key) of <\(name)> is there twice, or is not closed")
            }
            rest.removeFirst()
        }
        for index in open { elements[index].inside[name, default: 0] += 1 }
        elements.append(
            Element(name: name, attributes: attributes, parents: open.map { elements[$0].name }))
        let isClosed = rest.first == "/"
        rest.removeFirst(isClosed ? 2 : 1)
        if !isClosed { open.append(elements.count - 1) }
    }

    private func begins(with text: String) -> Bool { rest.starts(with: text.unicodeScalars) }

    private mutating func take(while isTaken: (Unicode.Scalar) -> Bool) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(taken)
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "-_:".unicodeScalars.contains(scalar))
    }

    private static let references = [
        "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'", "#39": "'",
    ]

    private static func decoded(_ text: String) throws -> String {
        let scalars = text.unicodeScalars
        guard !scalars.contains(">") else {
            throw TestSupportError("a > stands by itself in: \(text.prefix(60))")
        }
        let parts = scalars.split(separator: "&", omittingEmptySubsequences: false)
        var decoded = String.UnicodeScalarView(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: ";"),
                let character = references[String(part[..<end])]
            else {
                throw TestSupportError("&\(String(part.prefix(20))) is no reference")
            }
            decoded += character.unicodeScalars
            decoded += part[part.index(after: end)...]
        }
        return String(decoded)
    }
}
