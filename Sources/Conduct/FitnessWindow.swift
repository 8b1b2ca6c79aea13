import Foundation
package import Posts

/// The time at which a text is fit: days of the year, weekdays, months and times of day, all of
/// which must match.
package struct FitnessWindow: Hashable, Sendable, CustomStringConvertible {
    enum Condition: Hashable {
        /// From one day of every year to another, each as 100 times the month plus the day; may
        /// cross the end of the year.
        case days(from: Int, to: Int)
        /// Days of the week; 1 is Monday.
        case weekdays(Set<Int>)
        case months(Set<Int>)
        /// From one minute to another, both included; may cross midnight.
        case times(from: Int, to: Int)
    }

    private(set) var conditions: [Condition]

    init(_ conditions: [Condition]) { self.conditions = conditions }

    /// Returns the window in which both this one and `other` hold.
    func intersection(_ other: FitnessWindow?) -> FitnessWindow {
        guard let other else { return self }
        return FitnessWindow(
            other.conditions + conditions.filter { !other.conditions.contains($0) })
    }

    /// Whether the text is fit at a minute of a day.
    ///
    /// - Parameters:
    ///   - day: A day of the mirror's clock.
    package func holds(on day: LocalDay, at minute: MinuteOfDay) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .days(let from, let to):
                Self.contains(day.components.month * 100 + day.components.day, from: from, to: to)
            case .weekdays(let weekdays): weekdays.contains(day.weekday)
            case .months(let months): months.contains(day.components.month)
            case .times(let from, let to): Self.contains(minute.value, from: from, to: to)
            }
        }
    }

    private static func contains(_ value: Int, from: Int, to: Int) -> Bool {
        from <= to ? (from...to).contains(value) : value >= from || value <= to
    }

    /// The stored form: `days 12-31..01-03; times 20:00..03:59; weekdays 1 5; months 12`.
    package var description: String { conditions.map(Self.text).joined(separator: "; ") }

    private static func text(_ condition: Condition) -> String {
        func day(_ number: Int) -> String { two(number / 100) + "-" + two(number % 100) }
        func time(_ minute: Int) -> String { two(minute / 60) + ":" + two(minute % 60) }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        func list(_ numbers: Set<Int>) -> String {
            numbers.sorted().map(String.init).joined(separator: " ")
        }
        return switch condition {
        case .days(let from, let to): "days \(day(from))..\(day(to))"
        case .weekdays(let numbers): "weekdays \(list(numbers))"
        case .months(let numbers): "months \(list(numbers))"
        case .times(let from, let to): "times \(time(from))..\(time(to))"
        }
    }

    /// Parses a ``description``; nil for any other text.
    package init?(_ stored: String) {
        var conditions: [Condition] = []
        for part in stored.split(separator: ";") {
            let fields = part.split(separator: " ").map(String.init)
            guard fields.count > 1,
                let condition = Self.condition(fields[0], Array(fields.dropFirst()))
            else {
                return nil
            }
            conditions.append(condition)
        }
        guard !conditions.isEmpty else { return nil }
        self.init(conditions)
    }

    private static func condition(_ kind: String, _ values: [String]) -> Condition? {
        func rangeEnds(_ number: (String) -> Int?) -> (from: Int, to: Int)? {
            let ends = values[0].components(separatedBy: "..").compactMap(number)
            return values.count == 1 && ends.count == 2 ? (from: ends[0], to: ends[1]) : nil
        }
        func numbers(_ range: ClosedRange<Int>) -> Set<Int>? {
            let numbers = values.compactMap { Int($0) }.filter(range.contains)
            return numbers.count == values.count ? Set(numbers) : nil
        }
        switch kind {
        case "days":
            return rangeEnds {
                LocalDay("2000-\($0)").map { $0.components.month * 100 + $0.components.day }
            }
            .map { .days(from: $0.from, to: $0.to) }
        case "times":
            return rangeEnds { MinuteOfDay(clock: $0)?.value }
                .map { .times(from: $0.from, to: $0.to) }
        case "weekdays": return numbers(1...7).map { .weekdays($0) }
        case "months": return numbers(1...12).map { .months($0) }
        default: return nil
        }
    }
}
