/// What Linux says of a thread in `/proc/PID/task/TID/stat`, of which the state is of use here.
enum ThreadState {
    /// Whether the thread waits and takes no signal meanwhile (`D`), as one does for the disk.
    ///
    /// The state follows the name of the thread, which stands in parentheses and may contain any
    /// others.
    ///
    /// - Parameter text: The whole file.
    /// - Returns: Whether it does; false if the text is not what the system writes.
    static func isUninterruptible(in text: some BidirectionalCollection<UInt8>) -> Bool {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return false }
        return text[end...].starts(with: ") D ".utf8)
    }
}
