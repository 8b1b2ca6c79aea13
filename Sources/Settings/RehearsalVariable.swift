/// A variable of a rehearsal, by which the crash harness controls a process whose accounts are all
/// on this machine.
package enum RehearsalVariable: String {
    /// The time that the rehearsal's clock shows at ``started``.
    case origin = "REHEARSAL_ORIGIN"
    /// The time of the system's clock at which the rehearsal started.
    case started = "REHEARSAL_STARTED"
    /// The seconds of the rehearsal's clock in a second of the system's clock.
    case factor = "REHEARSAL_FACTOR"
    /// The seconds after which a lease without a beat may be taken.
    case leaseSeconds = "REHEARSAL_LEASE_SECONDS"
    /// The point of the program at which a signal ends or stops the process.
    case fault = "REHEARSAL_FAULT"
    /// The file that says by how many seconds the clock is set ahead.
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
