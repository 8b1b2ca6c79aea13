import Foundation

/// A worker's clock is set while it lives.
struct ClockJump: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case dayAhead = "clock-day-ahead"
        case hourBack = "clock-hour-back"
    }

    var kind: Kind
    /// Real seconds after the episode's beginning.
    var after: Double
    /// For how many real seconds it is wrong before it is set right; nil if the worker ends before.
    var lasting: Double?

    /// How far ahead it is set, in seconds of its own.
    var seconds: TimeInterval {
        switch kind {
        case .dayAhead: 86_400
        case .hourBack: -3_600
        }
    }
}
