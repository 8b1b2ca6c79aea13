/// What Linux counts of a thread in `/proc/PID/task/TID/schedstat`: three numbers, of which the
/// second is of use here.
enum ScheduleStatistics {
    /// For how long a thread that could go on has waited for a processor so far.
    ///
    /// Read by hand, for it is done some hundred times in a second.
    ///
    /// - Parameter text: The whole file.
    /// - Returns: Nanoseconds; nil if the text is not what the system writes.
    static func waited(in text: some Sequence<UInt8>) -> UInt64? {
        var numbers: (first: UInt64?, second: UInt64?, third: UInt64?)
        var current: UInt64?
        var count = 1
        var isOver = false
        for byte in text {
            if isOver { return nil }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (tens, isTooLarge) = (current ?? 0).multipliedReportingOverflow(by: 10)
                let (number, isLarger) = tens.addingReportingOverflow(
                    UInt64(byte - UInt8(ascii: "0")))
                if isTooLarge || isLarger { return nil }
                current = number
            case UInt8(ascii: " "):
                numbers = (numbers.second, numbers.third, current)
                current = nil
                count += 1
            case UInt8(ascii: "\n"): isOver = true
            default: return nil
            }
        }
        guard count == 3, current != nil, numbers.second != nil else { return nil }
        return numbers.third
    }
}
