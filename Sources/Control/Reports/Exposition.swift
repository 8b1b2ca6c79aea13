/// Metrics in Prometheus' text format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
package struct Exposition: Equatable, Sendable {
    /// All samples of one name.
    package struct Family: Equatable, Sendable {
        package enum Kind: String, Sendable { case counter, gauge, histogram }

        package let name: String
        package let kind: Kind
        /// The description of the metrics, in one sentence.
        package let help: String
        package var samples: [Sample] = []
        /// Labels added to each sample, before the sample's own labels.
        private let labels: [Label]

        package init(
            _ name: String, _ kind: Kind, _ help: String,
            labels: KeyValuePairs<String, String> = [:]
        ) {
            self.name = name
            self.kind = kind
            self.help = help
            self.labels = labels.map { Label(name: $0.key, value: $0.value) }
        }

        /// Adds a sample.
        ///
        /// - Parameters:
        ///   - suffix: A suffix of the family's name, such as `_sum`.
        ///   - labels: The labels in the displayed order, each name once.
        package mutating func add(
            _ value: Double, _ labels: KeyValuePairs<String, String> = [:], suffix: String = ""
        ) {
            let ownLabels = labels.map { Label(name: $0.key, value: $0.value) }
            samples.append(Sample(suffix: suffix, labels: self.labels + ownLabels, value: value))
        }
    }

    package struct Label: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    package struct Sample: Equatable, Sendable {
        package let suffix: String
        package let labels: [Label]
        package let value: Double
    }

    package private(set) var families: [Family] = []

    package init() {}

    /// Adds families; the samples of a family that exists already are appended to it.
    package mutating func add(_ others: [Family]) {
        for family in others {
            if let index = families.firstIndex(where: { $0.name == family.name }) {
                families[index].samples += family.samples
            } else {
                families.append(family)
            }
        }
    }

    /// The text, with a line break at its end.
    ///
    /// Families without a sample are left out.
    package var text: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { text += "\(family.name)\(sample.line)\n" }
        }
        return text
    }

    fileprivate static func escaped(_ text: String, quotes: Bool) -> String {
        // Nearly no text contains such characters, and checking is faster than replacing.
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\"")
        }
        if isPlain { return text }
        let text = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? text.replacing("\"", with: "\\\"") : text
    }
}

extension Exposition.Sample {
    fileprivate var line: String {
        let pairs = labels.map { "\($0.name)=\"\(Exposition.escaped($0.value, quotes: true))\"" }
        let shown = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        return "\(suffix)\(shown) \(number)"
    }

    private var number: String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // An integer is written without an exponent and a decimal point.
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
