/// Reads Prometheus' text format 0.0.4 and refuses whatever its document does not allow.
///
/// Written from https://prometheus.io/docs/instrumenting/exposition_formats/ and not from what
/// writes the format here.
struct ExpositionReader {
    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Problem: Error, CustomStringConvertible {
        let line: Int
        let cause: String

        var description: String { "line \(line): \(cause)" }
    }

    /// The type of each family, by name.
    private(set) var types: [String: String] = [:]
    private(set) var helps: [String: String] = [:]
    private(set) var samples: [Sample] = []

    private var number = 0
    /// The family whose lines are read; all lines of one stand together.
    private var family: String?
    private var ended: Set<String> = []

    init(_ text: String) throws {
        // "The last line must end with a line feed character."
        guard text.hasSuffix("\n"), !text.contains("\r") else {
            throw Problem(line: 0, cause: "no line feed at the end")
        }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            if line.isEmpty { continue }
            if line.hasPrefix("#") { try readComment(line) } else { try readSample(line) }
        }
        for (family, type) in types where type == "histogram" { try checkHistogram(family) }
    }

    /// The only sample with that name and these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private func problem(_ cause: String) -> Problem { Problem(line: number, cause: cause) }

    private mutating func readComment(_ line: Substring) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(
            String.init)
        guard words[0] == "#", words.count > 1, ["HELP", "TYPE"].contains(words[1]) else { return }
        guard words.count == 4, isName(words[2], colons: true) else {
            throw problem("\(words[1]) without a name or text")
        }
        try begin(words[2])
        if words[1] == "HELP" {
            guard helps[words[2]] == nil else { throw problem("a second HELP of \(words[2])") }
            helps[words[2]] = try unescaped(words[3], quotes: false)
        } else {
            guard types[words[2]] == nil else { throw problem("a second TYPE of \(words[2])") }
            guard !samples.contains(where: { isOf(words[2], $0.name) }) else {
                throw problem("TYPE after samples")
            }
            guard ["counter", "gauge", "histogram", "summary", "untyped"].contains(words[3]) else {
                throw problem("\(words[3]) is no type")
            }
            types[words[2]] = words[3]
        }
    }

    private mutating func begin(_ name: String) throws {
        guard family != name else { return }
        if let family { ended.insert(family) }
        guard !ended.contains(name) else {
            throw problem("the lines of \(name) do not stand together")
        }
        family = name
    }

    private func isOf(_ family: String, _ sample: String) -> Bool {
        guard types[family] == "histogram" else { return sample == family }
        return ["_bucket", "_sum", "_count"].contains { sample == family + $0 }
    }

    private mutating func readSample(_ line: Substring) throws {
        var rest = line
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        guard isName(name, colons: true) else { throw problem("\(name) is no name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" { labels = try readLabels(&rest) }
        let words = rest.split(separator: " ")
        guard rest.first == " ", (1...2).contains(words.count) else { throw problem("no value") }
        guard let value = number(words[0]) else { throw problem("\(words[0]) is no number") }
        if words.count == 2, Int64(words[1]) == nil { throw problem("\(words[1]) is no time") }
        guard let family, isOf(family, name) else {
            throw problem("\(name) does not stand below its HELP and TYPE")
        }
        guard types[family] != nil, helps[family] != nil else {
            throw problem("\(family) lacks HELP or TYPE")
        }
        guard !samples.contains(where: { $0.name == name && $0.labels == labels }) else {
            throw problem("a second \(line)")
        }
        if types[family] == "counter" {
            guard family.hasSuffix("_total"), value >= 0 else {
                throw problem("\(family) is no counter")
            }
        }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private func readLabels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        rest = rest.dropFirst()
        while rest.first != "}" {
            let name = String(rest.prefix { $0 != "=" && $0 != "}" })
            rest = rest.dropFirst(name.count)
            guard isName(name, colons: false), !name.hasPrefix("__"), rest.hasPrefix("=\"") else {
                throw problem("\(name) is no label")
            }
            rest = rest.dropFirst(2)
            var raw = ""
            while let next = rest.first, next != "\"" {
                raw.append(next)
                rest = rest.dropFirst()
                if next == "\\", let escaped = rest.first {
                    raw.append(escaped)
                    rest = rest.dropFirst()
                }
            }
            guard rest.first == "\"", labels[name] == nil else {
                throw problem("the value of \(name)")
            }
            labels[name] = try unescaped(raw, quotes: true)
            rest = rest.dropFirst()
            if rest.first == "," {
                rest = rest.dropFirst()
            } else if rest.first != "}" {
                throw problem("no comma")
            }
        }
        rest = rest.dropFirst()
        return labels
    }

    private func unescaped(_ text: String, quotes: Bool) throws -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            guard isEscaped else {
                if character == "\\" { isEscaped = true } else { result.append(character) }
                continue
            }
            switch character {
            case "\\": result.append("\\")
            case "n": result.append("\n")
            case "\"" where quotes: result.append("\"")
            default: throw problem("\\\(character) is no escape")
            }
            isEscaped = false
        }
        guard !isEscaped else { throw problem("an escape of nothing") }
        return result
    }

    private func isName(_ text: String, colons: Bool) -> Bool {
        guard let first = text.unicodeScalars.first, !("0"..."9").contains(first) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                || ("0"..."9").contains(scalar)
                || scalar == "_" || colons && scalar == ":"
        }
    }

    /// As Go's ParseFloat reads it, with the names of what is no number.
    private func number(_ text: Substring) -> Double? {
        switch text {
        case "NaN": .nan
        case "+Inf": .infinity
        case "-Inf": -.infinity
        default: text.contains(where: \.isWhitespace) ? nil : Double(text)
        }
    }

    /// Buckets grow up to +Inf, which is the count.
    private func checkHistogram(_ family: String) throws {
        let buckets = samples.filter { $0.name == family + "_bucket" }
        let groups = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
        for (labels, group) in groups {
            let bounds = try group.map { sample in
                guard let bound = sample.labels["le"].flatMap({ number(Substring($0)) }) else {
                    throw Problem(line: 0, cause: "a bucket of \(family) without a bound")
                }
                return bound
            }
            guard bounds == bounds.sorted(), bounds.last == .infinity,
                group.map(\.value) == group.map(\.value).sorted(),
                value(family + "_count", labels) == group.last?.value,
                value(family + "_sum", labels) != nil
            else { throw Problem(line: 0, cause: "the buckets of \(family)") }
        }
    }
}
