import Foundation

/// The middle of some values and how far they are apart.
struct Spread: Sendable {
    let median: Double
    /// The first and the third quartile: half of the values lie between them.
    let quartiles: (low: Double, high: Double)

    /// - Precondition: There is a value.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = Self.quantile(0.5, of: sorted)
        quartiles = (Self.quantile(0.25, of: sorted), Self.quantile(0.75, of: sorted))
    }

    /// The value below which this share of sorted values lies, between neighbours in proportion.
    static func quantile(_ share: Double, of sorted: [Double]) -> Double {
        let place = share * Double(sorted.count - 1)
        let below = Int(place)
        let above = min(below + 1, sorted.count - 1)
        return sorted[below] + (place - Double(below)) * (sorted[above] - sorted[below])
    }
}

/// How numbers are written in the table.
enum Figure {
    /// Three digits that count, with a unit: `61,200 posts/s`, `4.31 ms`.
    static func text(_ value: Double, _ unit: String) -> String {
        guard value.isFinite else { return "–" }
        let digits = value == 0 ? 0 : max(0, 2 - Int(floor(log10(abs(value)))))
        return "\(grouped(String(format: "%.\(min(digits, 6))f", value))) \(unit)"
    }

    static func ratio(_ value: Double) -> String { String(format: "%.2f", value) }

    /// Commas between the thousands of the part before the point.
    private static func grouped(_ number: String) -> String {
        let parts = number.split(separator: ".", maxSplits: 1)
        guard let whole = parts.first, whole.count > 4 else { return number }
        var result = ""
        for (index, digit) in whole.enumerated() {
            if index > 0, (whole.count - index).isMultiple(of: 3), digit.isNumber, result != "-" {
                result += ","
            }
            result.append(digit)
        }
        return parts.count > 1 ? result + "." + parts[1] : result
    }
}
