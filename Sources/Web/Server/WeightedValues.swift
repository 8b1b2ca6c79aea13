/// The values of a header field that a client weights, such as `gzip;q=0.5, *` (RFC 9110, section
/// 12.4.2).
struct WeightedValues {
    /// The values in lower case, each with its weight: 0 refuses the value, 1 is the default, and
    /// anything that is no number counts as 0.
    let entries: [(value: String, weight: Double)]

    /// The most values of a header field that are considered.
    private static let maxValues = 50

    /// Reads the lines of a header field, from any client.
    ///
    /// All lines together are one list.
    init(_ fields: [String]) {
        let values = fields.joined(separator: ",").lowercased().split(separator: ",")
        entries = values.prefix(Self.maxValues).compactMap { value in
            let parts = value.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = parts.first else { return nil }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
            return (name, quality.map { Double($0.dropFirst(2)) ?? 0 } ?? 1)
        }
    }

    /// The weight of a value, the last one if it is named twice; nil if it is not named.
    func weight(of value: String) -> Double? { entries.last { $0.value == value }?.weight }
}
