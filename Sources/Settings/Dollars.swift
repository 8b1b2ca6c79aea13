package import Networks
import Posts

extension Money {
    /// The largest amount in a setting, a million dollars.
    private static let maximumDollars = 1_000_000

    /// Parses an amount such as `5` or `0.25`.
    ///
    /// - Parameter text: Dollars in digits, with at most six decimals, without a sign or a
    ///   currency.
    package init?(dollars text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy {
            part in
            !part.isEmpty && part.allSatisfy(\.isASCIIDigit)
        }
        guard isNumber, (1...2).contains(parts.count),
            let dollars = Int(String(decoding: parts[0], as: UTF8.self)),
            dollars <= Self.maximumDollars
        else { return nil }
        // Six digits after the point are millionths; missing ones are zeros.
        let fraction = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : "0"
        guard fraction.count <= 6,
            let millionths = Int(fraction + String(repeating: "0", count: 6 - fraction.count))
        else { return nil }
        self.init(microdollars: dollars * 1_000_000 + millionths)
    }

    /// The amount as ``init(dollars:)`` reads it, without zeros at its end.
    var decimals: String {
        let (whole, millionths) = microdollars.quotientAndRemainder(dividingBy: 1_000_000)
        // Zeros fill the millionths up to six digits.
        let digits = String(repeating: "0", count: 6 - "\(millionths)".count) + "\(millionths)"
        let fraction = digits.replacing(/0+$/, with: "")
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }
}
