import CCurl
import Foundation

/// The sockets and the timer that libcurl wants to be watched.
///
/// libcurl reports both through the callbacks of its socket interface
/// (curl_multi_socket_action(3)). The cost of a wake-up then depends on the sockets that are ready,
/// and not on all transfers. Used by one thread.
final class SocketWatch {
    /// A socket that is ready, with libcurl's `CURL_CSELECT_` bits.
    typealias Event = (socket: curl_socket_t, actions: Int32)

    private var watched: [pollfd]
    /// The index of each socket in `watched`.
    private var indexes: [curl_socket_t: Int] = [:]
    /// The end of libcurl's timer, by the monotonic clock in nanoseconds; nil if none is set.
    private var timerEnd: UInt64?

    /// - Parameter waker: A descriptor that becomes readable to end the wait; negative values are
    ///   ignored.
    init(waker: Int32) {
        watched = [pollfd(fd: waker, events: Int16(POLLIN), revents: 0)]
    }

    /// Registers the callbacks with a multi handle, which must not outlive this object.
    ///
    /// - Throws: ``TransportError`` when libcurl refuses.
    func attach(to multi: MultiHandle) throws(TransportError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let outcomes = [
            mb_multi_setopt_socket_callback(multi.pointer, noteSocket),
            mb_multi_setopt_pointer(multi.pointer, CURLMOPT_SOCKETDATA, context),
            mb_multi_setopt_timer_callback(multi.pointer, noteTimer),
            mb_multi_setopt_pointer(multi.pointer, CURLMOPT_TIMERDATA, context),
        ]
        for outcome in outcomes where outcome != CURLM_OK {
            throw .refused(
                .other,
                "libcurl refused a callback: \(String(cString: curl_multi_strerror(outcome)))")
        }
    }

    /// Waits for a ready socket, the waker or the timer.
    ///
    /// - Parameter limit: The longest wait, in milliseconds.
    /// - Returns: The ready sockets of libcurl, and whether the waker was readable.
    func wait(atMost limit: Int32) -> (events: [Event], isWoken: Bool) {
        let count = poll(&watched, nfds_t(watched.count), min(limit, timerMilliseconds))
        guard count > 0 else { return ([], false) }
        var events: [Event] = []
        for entry in watched.dropFirst() where entry.revents != 0 {
            events.append((entry.fd, Self.actions(entry.revents)))
        }
        return (events, watched[0].revents != 0)
    }

    /// Clears the timer if it has expired, and returns whether it had.
    func takeTimer() -> Bool {
        guard let timerEnd, timerEnd <= DispatchTime.now().uptimeNanoseconds else { return false }
        self.timerEnd = nil
        return true
    }

    /// Milliseconds until the timer ends, rounded up; the largest number if none is set.
    private var timerMilliseconds: Int32 {
        guard let timerEnd else { return .max }
        let now = DispatchTime.now().uptimeNanoseconds
        return timerEnd <= now ? 0 : Int32(clamping: (timerEnd - now + 999_999) / 1_000_000)
    }

    fileprivate func setTimer(milliseconds: Int) {
        timerEnd =
            milliseconds < 0
            ? nil : DispatchTime.now().uptimeNanoseconds + UInt64(milliseconds) * 1_000_000
    }

    fileprivate func set(_ socket: curl_socket_t, _ wantedEvents: Int32) {
        let events = Int16(
            (wantedEvents & CURL_POLL_IN != 0 ? POLLIN : 0)
                | (wantedEvents & CURL_POLL_OUT != 0 ? POLLOUT : 0))
        if let index = indexes[socket] {
            watched[index].events = events
        } else {
            indexes[socket] = watched.count
            watched.append(pollfd(fd: socket, events: events, revents: 0))
        }
    }

    fileprivate func remove(_ socket: curl_socket_t) {
        guard let index = indexes.removeValue(forKey: socket), let lastEntry = watched.popLast(),
            lastEntry.fd != socket
        else {
            return
        }
        watched[index] = lastEntry
        indexes[lastEntry.fd] = index
    }

    private static func actions(_ pollEvents: Int16) -> Int32 {
        let ready = Int32(pollEvents)
        return (ready & Int32(POLLIN) != 0 ? CURL_CSELECT_IN : 0)
            | (ready & Int32(POLLOUT) != 0 ? CURL_CSELECT_OUT : 0)
            | (ready & Int32(POLLERR | POLLHUP | POLLNVAL) != 0 ? CURL_CSELECT_ERR : 0)
    }
}

/// libcurl calls this on the loop's thread when other events of a socket are to be watched
/// (CURLMOPT_SOCKETFUNCTION(3)).
private func noteSocket(
    easy: UnsafeMutableRawPointer?, socket: curl_socket_t, wanted: Int32,
    context: UnsafeMutableRawPointer?,
    socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return -1 }
    let watch = Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue()
    if wanted == CURL_POLL_REMOVE { watch.remove(socket) } else { watch.set(socket, wanted) }
    return 0
}

/// libcurl calls this on the loop's thread when its timer changes (CURLMOPT_TIMERFUNCTION(3)).
private func noteTimer(
    multi: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return -1 }
    Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().setTimer(
        milliseconds: milliseconds)
    return 0
}
