/// The stable code of a reason: why an action ended, waits or was not done.
///
/// It is a text such as `too-late`, stored with the action and counted in metrics. Three enums
/// declare the codes, each with its sentences: `Action.Reason`, `Refusal.Reason` and
/// `NetworkError.Code`. Their modules do not import each other, so each adds a function that makes
/// a code of one of its cases: `.outbox(.tooLate)`, `.rule(.tooOld)`, `.network(.transport)`.
///
/// A stored code is kept as it was read, so that the code of a newer version survives.
package struct ReasonCode: RawRepresentable, Hashable, Codable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

extension ReasonCode: CustomStringConvertible {
    package var description: String { rawValue }
}

extension ReasonCode: Comparable {
    package static func < (left: ReasonCode, right: ReasonCode) -> Bool {
        left.rawValue < right.rawValue
    }
}
