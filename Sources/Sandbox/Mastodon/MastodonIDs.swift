/// The form in which a server writes the numbers of its posts, people and notifications.
package enum MastodonIDs: String, CaseIterable, Sendable {
    /// A decimal number.
    case decimal
    /// 26 characters that sort by time, as on GoToSocial.
    case ulid
    /// Large and small letters and digits that sort by length and then by bytes, as on Pleroma.
    case flake
    /// 32 hexadecimal digits that do not sort.
    case hash
    /// Ten digits of seconds before a hash, as snac writes ids of posts; ids of people are the hash
    /// alone.
    case stampedHash

    /// Returns the id for a number of the sandbox.
    func text(of number: Int64) -> String {
        let number = UInt64(max(0, number))
        switch self {
        case .decimal: return String(number)
        case .ulid:
            // 48 bits of time; of the 80 bits that are usually random the first 16 preserve the
            // order.
            let random = Self.mixed(number)
            return Self.digits(alphabet: Self.crockford, high: number, low: random, count: 26)
        case .flake:
            // 64 bits of time, 48 bits for the machine, 16 bits for a counter.
            let low = 0xA11C_E000_0000_0000 | number & 0xFFFF
            let text = Self.digits(alphabet: Self.base62, high: number >> 16, low: low, count: 22)
            return String(text.drop { $0 == "0" })
        case .hash: return Self.hash(of: number)
        case .stampedHash:
            let seconds = String((number >> 16) / 1_000)
            return String(repeating: "0", count: max(0, 10 - seconds.count)) + seconds
                + Self.hash(of: number)
        }
    }

    /// Returns the number of an id; `nil` if such an id was never sent.
    func number(of text: String) -> Int64? {
        let number: UInt64?
        switch self {
        case .decimal:
            guard let decimal = Int64(text), decimal > 0 else { return nil }
            return decimal
        case .ulid: number = Self.value(of: text, alphabet: Self.crockford)?.high
        case .flake:
            number = Self.value(of: text, alphabet: Self.base62).flatMap { value in
                value.high <= .max >> 16 ? value.high << 16 | value.low & 0xFFFF : nil
            }
        case .hash: number = Self.number(ofHash: text[...])
        case .stampedHash:
            let candidate = Self.number(ofHash: text.suffix(32)).flatMap { Int64(exactly: $0) }
            guard let candidate, candidate > 0 else { return nil }
            return [self.text(of: candidate), personText(of: candidate)].contains(text)
                ? candidate : nil
        }
        guard let number = number.flatMap({ Int64(exactly: $0) }), number > 0,
            self.text(of: number) == text
        else {
            return nil
        }
        return number
    }

    /// The number for a bound of a page, which may be an id that was never sent.
    func bound(of text: String) -> Int64? {
        switch self {
        case .decimal, .hash, .stampedHash: number(of: text)
        case .ulid: Self.value(of: text, alphabet: Self.crockford).map { Int64(clamping: $0.high) }
        case .flake:
            Self.value(of: text, alphabet: Self.base62).flatMap { value in
                value.high <= .max >> 17 ? Int64(value.high << 16 | value.low & 0xFFFF) : nil
            }
        }
    }

    /// Returns the id of a person.
    func personText(of number: Int64) -> String {
        self == .stampedHash ? MastodonIDs.hash.text(of: number) : text(of: number)
    }

    private static func hash(of number: UInt64) -> String {
        let first = mixed(number ^ salt)
        return hexadecimal(first) + hexadecimal(mixed(first))
    }

    private static func number(ofHash text: Substring) -> UInt64? {
        UInt64(text.prefix(16), radix: 16).map { unmixed($0) ^ salt }
    }

    private static let salt: UInt64 = 0x736E_6163_736E_6163
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let base62 = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// Writes a number of 128 bits with `alphabet`.
    private static func digits(alphabet: [UInt8], high: UInt64, low: UInt64, count: Int) -> String {
        let base = UInt64(alphabet.count)
        var high = high
        var low = low
        var digits: [UInt8] = []
        for _ in 0..<count {
            let upper = high.quotientAndRemainder(dividingBy: base)
            let lower = base.dividingFullWidth((upper.remainder, low))
            high = upper.quotient
            low = lower.quotient
            digits.append(alphabet[Int(lower.remainder)])
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    /// The 128-bit number; nil for other characters and for larger numbers.
    private static func value(of text: String, alphabet: [UInt8]) -> (high: UInt64, low: UInt64)? {
        let base = UInt64(alphabet.count)
        var high: UInt64 = 0
        var low: UInt64 = 0
        guard !text.isEmpty, text.utf8.count <= 26 else { return nil }
        for byte in text.utf8 {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            let lower = low.multipliedFullWidth(by: base)
            let (sum, carry) = lower.low.addingReportingOverflow(UInt64(digit))
            let upper = high.multipliedReportingOverflow(by: base)
            let (newHigh, overflow) = upper.partialValue.addingReportingOverflow(
                lower.high + (carry ? 1 : 0))
            guard !upper.overflow, !overflow else { return nil }
            high = newHigh
            low = sum
        }
        return (high, low)
    }

    /// Returns a number that does not resemble the original; ``unmixed(_:)`` reverses it.
    private static func mixed(_ number: UInt64) -> UInt64 {
        let product = (number ^ (number >> 32)) &* 0x9E37_79B9_7F4A_7C15
        return product ^ (product >> 32)
    }

    private static func unmixed(_ number: UInt64) -> UInt64 {
        // The inverse of the factor modulo 2^64.
        let product = (number ^ (number >> 32)) &* 0xF1DE_83E1_9937_733D
        return product ^ (product >> 32)
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
