import Foundation
import Posts

extension Date {
    /// The instant in the form of HTTP headers: `Fri, 20 Nov 2026 08:15:30 GMT`.
    var httpDate: String {
        let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = LocalDay(ordinal: Int((timeIntervalSince1970 / 86_400).rounded(.down)))
        let (year, month, date) = day.components
        let digits = date < 10 ? "0\(date)" : String(date)
        let clock = rfc3339.dropFirst(11).prefix(8)
        return "\(weekdays[day.weekday - 1]), \(digits) \(months[month - 1]) \(year) \(clock) GMT"
    }
}
