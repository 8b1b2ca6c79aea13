import Foundation
import Posts
import Schedule

/// When the local day of an instant began, from which the caps of a day are counted.
enum LocalMidnight {
    static func before(_ now: Date, in zone: TimeZone) -> Date {
        LocalDayMinutes(LocalTime(now, in: zone).day, in: zone).start ?? now
    }
}
