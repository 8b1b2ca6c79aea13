/// A variable of a rehearsal, by which the crash harness controls a process whose accounts are all
/// on this machine.
package enum RehearsalVariable: String {
    case origin = "REHEARSAL_ORIGIN"
    case started = "REHEARSAL_STARTED"
    case factor = "REHEARSAL_FACTOR"
    case leaseSeconds = "REHEARSAL_LEASE_SECONDS"
    case fault = "REHEARSAL_FAULT"
    case clockFile = "REHEARSAL_CLOCK_FILE"

    /// The form of a value, for errors.
    package var form: String {
        switch self {
        case .origin: "a time such as 2026-11-21T09:00:00Z"
        case .started: "milliseconds since 1970"
        case .factor: "a number from 1 to 300"
        case .leaseSeconds: "seconds from 0.3 to 30"
        case .fault: "kill@POINT#N or stop@POINT#N with a known point"
        case .clockFile: "the absolute path of a file"
        }
    }

    /// Returns the variables of a rehearsal in an environment; an empty one counts as not set.
    package static func variables(in environment: [String: String]) -> [String: String] {
        environment.filter { RehearsalVariable(rawValue: $0.key) != nil && !$0.value.isEmpty }
    }
}
