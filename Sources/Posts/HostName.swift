import Foundation

/// The name of a server in its canonical form, for comparing and storing, and in the form for
/// people.
///
/// Names with letters other than ASCII have two spellings, `bäw.example` and `xn--bw-via.example`
/// (IDNA, RFC 5891); servers and archives use either.
package enum HostName {
    /// The ASCII form in lower case, without a final dot and without the default ports.
    ///
    /// A text that is not a host is returned in lower case.
    package static func canonical(_ text: some StringProtocol) -> String {
        var host = text.lowercased()
        for port in [":443", ":80"] where host.hasSuffix(port) { host.removeLast(port.count) }
        while host.hasSuffix(".") { host.removeLast() }
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        let hostAndPort = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { part in String(part) }
        var components = URLComponents()
        components.scheme = "https"
        components.host = hostAndPort[0]
        guard var ascii = components.encodedHost, !ascii.isEmpty,
            ascii.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") })
        else { return host }
        while ascii.hasSuffix(".") { ascii.removeLast() }
        return ([ascii.lowercased()] + hostAndPort.dropFirst()).joined(separator: ":")
    }

    /// The form of a canonical host for people, with its non-ASCII letters.
    ///
    /// A label whose encoding is not canonical is unchanged.
    package static func shown(_ canonical: String) -> String {
        guard canonical.contains("xn--") else { return canonical }
        let labels = canonical.split(separator: ".", omittingEmptySubsequences: false).map {
            label -> String in
            guard label.hasPrefix("xn--"), let text = decoded(label.dropFirst(4)) else {
                return String(label)
            }
            return text
        }
        let shownHost = labels.joined(separator: ".")
        return Self.canonical(shownHost) == canonical ? shownHost : canonical
    }

    /// Decodes the Punycode of a label (RFC 3492, section 6.2); nil if it is invalid.
    private static func decoded(_ label: Substring) -> String? {
        var code = 128
        var position = 0
        var bias = 72
        let delimiter = label.lastIndex(of: "-")
        var scalars = delimiter.map { Array(label[..<$0].unicodeScalars) } ?? []
        let encodedStart = delimiter.map { label.index(after: $0) } ?? label.startIndex
        var encoded = Array(label[encodedStart...].utf8)[...]
        while !encoded.isEmpty {
            let start = position
            var weight = 1
            for step in stride(from: 36, through: .max, by: 36) {
                guard let byte = encoded.popFirst(), let digit = digit(byte) else { return nil }
                let (product, isTooLarge) = digit.multipliedReportingOverflow(by: weight)
                guard !isTooLarge, position <= Int32.max, product <= Int32.max else { return nil }
                position += product
                let threshold = min(max(step - bias, 1), 26)
                if digit < threshold { break }
                weight *= 36 - threshold
                guard weight <= Int32.max else { return nil }
            }
            let count = scalars.count + 1
            bias = newBias(delta: position - start, count: count, isFirst: start == 0)
            code += position / count
            position %= count
            guard let scalar = Unicode.Scalar(UInt32(clamping: code)), scalars.count < 63 else {
                return nil
            }
            scalars.insert(scalar, at: position)
            position += 1
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The value of a digit in base 36; nil for a byte that is no digit.
    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
        default: nil
        }
    }

    /// The new bias after a decoded scalar (RFC 3492, section 6.1).
    ///
    /// The names and the constants are those of the RFC.
    private static func newBias(delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
