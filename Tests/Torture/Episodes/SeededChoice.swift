import Sandbox

/// Choices that a run makes from its seed.
extension SampleGenerator {
    /// A number between the ends of the range.
    mutating func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + uniform() * (range.upperBound - range.lowerBound)
    }

    /// A whole number from the range.
    mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + number(below: range.count)
    }

    /// One of the values, each as likely as its weight says.
    mutating func choice<Value>(_ weighted: [(value: Value, weight: Double)], otherwise: Value)
        -> Value
    {
        var rest = uniform() * weighted.reduce(0) { $0 + $1.weight }
        for (value, weight) in weighted {
            rest -= weight
            if rest < 0 { return value }
        }
        return otherwise
    }

    /// The elements in another order.
    mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
        var shuffled = elements
        for index in shuffled.indices.reversed() {
            shuffled.swapAt(index, number(below: index + 1))
        }
        return shuffled
    }
}
