import Blocking
import CCurl
import Dispatch
import Foundation

/// The thread on which all transfers of a client run.
///
/// Other threads put transfers into an inbox and wake this thread; only this thread uses libcurl's
/// handles.
final class TransferLoop: @unchecked Sendable {
    // Unchecked because `inbox`, `isStopping` and `isWaiting` are accessed only while `lock` is
    // held, `waker` is thread-safe, and only the loop's thread accesses the other variables.

    /// The most unused easy handles that are kept for later transfers.
    private static let idleHandles = 64
    /// The most connections that are kept for later requests, of all hosts together; the connection
    /// that was idle longest is closed first.
    private static let keptConnections = 256
    /// The longest wait, in milliseconds.
    ///
    /// It is only a safety net, because a wake-up ends the wait.
    private static let longestWait: Int32 = 10_000
    /// The longest wait, in milliseconds, if the process had no descriptors left for the waker.
    private static let longestWaitUnwoken: Int32 = 50
    /// The time for which the thread polls for the next request before it sleeps, in nanoseconds.
    private static let pollingTime: UInt64 = 50_000

    private let lock = NSLock()
    /// The transfers to start or, if abandoned, to release.
    private var inbox: [Transfer] = []
    private var isStopping = false
    /// Whether the thread waits, or is about to wait, and has not been woken yet; waking it is
    /// needed only then, because it costs a system call.
    private var isWaiting = false
    private let waker = Interruption()

    private let ended = DispatchSemaphore(value: 0)
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    private var queue: TransferQueue
    private var pool: [EasyHandle] = []

    init(name: String, queue: TransferQueue) {
        self.queue = queue
        let thread = Thread {
            self.run()
            self.ended.signal()
        }
        thread.name = name
        thread.start()
    }

    /// Enqueues a transfer; one that comes after the shutdown fails at once.
    func start(_ transfer: Transfer) {
        if !post(transfer) {
            transfer.finish(.failure(Self.shutdownError(transfer, didNotLeave: true)))
        }
    }

    /// Drops a transfer whose task no longer waits.
    func abandon(_ transfer: Transfer) {
        _ = post(transfer)
    }

    /// Ends the thread soon; transfers under way fail.
    func stop() {
        lock.withLock {
            isStopping = true
            wakeLocked()
        }
    }

    /// Ends the thread and waits until it has released libcurl, two seconds at most.
    ///
    /// The process must not exit before: the exit handlers of the TLS library would free data that
    /// the thread still uses.
    func stopAndWait() {
        stop()
        guard ended.wait(timeout: .now() + 2) == .success else { return }
        // Passes the signal on to other callers that wait.
        ended.signal()
    }

    private func post(_ transfer: Transfer) -> Bool {
        lock.withLock {
            guard !isStopping else { return false }
            inbox.append(transfer)
            wakeLocked()
            return true
        }
    }

    private func wakeLocked() {
        guard isWaiting else { return }
        isWaiting = false
        waker.request()
    }

    private func takeInbox() -> (transfers: [Transfer], isStopping: Bool) {
        lock.withLock {
            isWaiting = false
            defer { inbox = [] }
            return (inbox, isStopping)
        }
    }

    /// Prepares a wait, which a new transfer then ends; returns false if there is work to do at
    /// once.
    private func prepareWait() -> Bool {
        lock.withLock {
            isWaiting = inbox.isEmpty && !isStopping
            return isWaiting
        }
    }

    private func run() {
        // With the option NOSIGNAL, libcurl leaves SIGPIPE to the application.
        blockBrokenPipeSignal()
        do {
            let multi = try MultiHandle()
            mb_multi_setopt_long(multi.pointer, CURLMOPT_MAXCONNECTS, Self.keptConnections)
            let watch = SocketWatch(waker: waker.descriptor)
            try multi.report(to: watch)
            serve(multi, watch)
            endAll(on: multi)
        } catch {
            refuseAll(error)
        }
    }

    private func serve(_ multi: MultiHandle, _ watch: SocketWatch) {
        while true {
            let (transfers, isStopping) = takeInbox()
            for transfer in transfers { receive(transfer, on: multi) }
            if isStopping { return }
            failExpired()
            while let transfer = queue.next() { start(transfer, on: multi) }
            var outcome = watch.takeTimer() ? multi.actOnTimer() : CURLM_OK
            // If transfers have finished, slots are free, and callers may already have sent the
            // next request, so the thread does not wait.
            if outcome == CURLM_OK, completeAll(on: multi) { continue }
            if outcome == CURLM_OK {
                let (events, isWoken) = watch.wait(atMost: longestWait)
                if isWoken { waker.reset() }
                for event in events where outcome == CURLM_OK { outcome = multi.act(on: event) }
                _ = completeAll(on: multi)
            }
            if outcome != CURLM_OK {
                failAll(
                    "libcurl stopped: \(String(cString: curl_multi_strerror(outcome)))", on: multi)
            }
        }
    }

    /// Starts a transfer from the inbox, or drops one that is abandoned.
    private func receive(_ transfer: Transfer, on multi: MultiHandle) {
        if transfer.isOver {
            // A transfer that is still queued is dropped later, when its turn comes.
            remove(transfer, from: multi)
        } else if transfer.mayWait {
            queue.add(transfer)
        } else {
            queue.begin(transfer)
            start(transfer, on: multi)
        }
    }

    /// Fails the transfers whose deadline has passed while they were queued.
    private func failExpired() {
        for transfer in queue.expired(at: .now) {
            transfer.finish(
                .failure(
                    TransportError.refused(
                        .timeout, host: transfer.host,
                        "too many requests to the host were under way")))
        }
    }

    /// The longest time for which the thread may wait, in milliseconds; zero if there is work to
    /// do.
    private var longestWait: Int32 {
        guard prepareWait() else { return 0 }
        let longest = waker.descriptor < 0 ? Self.longestWaitUnwoken : Self.longestWait
        guard let expiry = queue.nextExpiry else { return longest }
        let now = ContinuousClock.now
        return expiry <= now
            ? 0 : min(longest, Int32(clamping: now.duration(to: expiry).curlMilliseconds))
    }

    /// Delivers libcurl's results; returns false if there are none.
    private func completeAll(on multi: MultiHandle) -> Bool {
        var hasCompleted = false
        while let (handle, result) = multi.nextResult() {
            complete(handle, result, on: multi)
            hasCompleted = true
        }
        if hasCompleted, running.isEmpty { pollForNextTransfer() }
        return hasCompleted
    }

    /// Polls for the next transfer for a moment, because a caller that got a response often sends
    /// the next request at once, and sleeping and waking takes longer.
    private func pollForNextTransfer() {
        let end = DispatchTime.now().uptimeNanoseconds + Self.pollingTime
        while lock.withLock({ inbox.isEmpty && !isStopping }),
            DispatchTime.now().uptimeNanoseconds < end
        {
            sched_yield()
        }
    }

    /// Hands a transfer with a slot to libcurl.
    private func start(_ transfer: Transfer, on multi: MultiHandle) {
        do {
            let easy = try pool.popLast() ?? EasyHandle()
            try transfer.prepare(easy)
            let outcome = curl_multi_add_handle(multi.pointer, easy.pointer)
            guard outcome == CURLM_OK else {
                throw TransportError.refused(
                    .other, host: transfer.host, String(cString: curl_multi_strerror(outcome)))
            }
            transfer.easy = easy
            running[easy.pointer] = transfer
        } catch {
            queue.end(transfer)
            transfer.finish(.failure(error))
        }
    }

    private func complete(
        _ handle: UnsafeMutableRawPointer, _ result: CURLcode, on multi: MultiHandle
    ) {
        guard let transfer = running[handle] else { return }
        transfer.complete(result)
        remove(transfer, from: multi)
    }

    private func remove(_ transfer: Transfer, from multi: MultiHandle) {
        guard let easy = transfer.easy else { return }
        curl_multi_remove_handle(multi.pointer, easy.pointer)
        running[easy.pointer] = nil
        transfer.easy = nil
        queue.end(transfer)
        easy.reset()
        if pool.count < Self.idleHandles { pool.append(easy) }
    }

    private func failAll(_ message: String, on multi: MultiHandle) {
        for transfer in running.values {
            transfer.finish(
                .failure(
                    TransportError(
                        .other, requestDidNotLeave: false, host: transfer.host, message: message)))
            remove(transfer, from: multi)
        }
    }

    private func endAll(on multi: MultiHandle) {
        for transfer in running.values {
            transfer.finish(.failure(Self.shutdownError(transfer, didNotLeave: false)))
            remove(transfer, from: multi)
        }
        for transfer in queue.removeWaiting() {
            transfer.finish(.failure(Self.shutdownError(transfer, didNotLeave: true)))
        }
        pool = []
    }

    /// Fails every transfer, including later ones, because there is no multi handle.
    private func refuseAll(_ error: any Error) {
        let waiting = lock.withLock {
            isStopping = true
            defer { inbox = [] }
            return inbox
        }
        for transfer in waiting { transfer.finish(.failure(error)) }
    }

    private static func shutdownError(_ transfer: Transfer, didNotLeave: Bool) -> TransportError {
        TransportError(
            .shutdown, requestDidNotLeave: didNotLeave, host: transfer.host,
            message: "the client was shut down"
        )
    }
}
