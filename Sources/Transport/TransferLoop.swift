import Blocking
import CCurl
import Dispatch
import Foundation

/// The thread on which all transfers of a client run.
///
/// Other threads leave transfers in an inbox and wake the thread; only the thread itself touches libcurl's handles,
/// except for the wake-up, which libcurl allows from anywhere (curl_multi_wakeup(3)).
final class TransferLoop: @unchecked Sendable {
    // Unchecked because `inbox`, `isStopping`, `wakeable` and `isWaiting` are only touched while `lock` is held and the
    // rest belongs to the thread.
    private static let idleHandles = 32
    private static let keptConnections = 64
    /// For how long the next request is expected before the thread goes to sleep, in nanoseconds.
    private static let lingering: UInt64 = 50_000

    private let lock = NSLock()
    /// What is to be started if somebody waits for it, else to be let go.
    private var inbox: [Transfer] = []
    private var isStopping = false
    private var wakeable: UnsafeMutableRawPointer?
    /// Whether the thread waits, or is about to, and nobody has woken it: a wake-up is a call of the system.
    private var isWaiting = false

    private let ended = DispatchSemaphore(value: 0)
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    private var pool: [EasyHandle] = []

    init(name: String) {
        let thread = Thread {
            self.run()
            self.ended.signal()
        }
        thread.name = name
        thread.start()
    }

    /// Takes a transfer over; one that comes too late fails at once.
    func start(_ transfer: Transfer) {
        if !post(transfer) { transfer.finish(.failure(Self.shutdownError(transfer, didNotLeave: true))) }
    }

    /// Lets go of a transfer whose task no longer waits.
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

    /// Ends the thread and waits until it has let go of libcurl, two seconds at most.
    ///
    /// A process must not exit before: the exit handlers of the TLS library would
    /// take away what the thread still uses.
    func stopAndWait() {
        stop()
        guard ended.wait(timeout: .now() + 2) == .success else { return }
        // Whoever else waits may pass as well.
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
        guard isWaiting, let wakeable else { return }
        isWaiting = false
        curl_multi_wakeup(wakeable)
    }

    private func takeInbox() -> (transfers: [Transfer], isStopping: Bool) {
        lock.withLock {
            isWaiting = false
            defer { inbox = [] }
            return (inbox, isStopping)
        }
    }

    /// False if there is something to do at once; from true on, a transfer wakes the thread.
    private func mayWait() -> Bool {
        lock.withLock {
            isWaiting = inbox.isEmpty && !isStopping
            return isWaiting
        }
    }

    private func run() {
        // libcurl with NOSIGNAL leaves that to its user.
        blockBrokenPipeSignal()
        do {
            let multi = try MultiHandle()
            mb_multi_setopt_long(multi.pointer, CURLMOPT_MAXCONNECTS, Self.keptConnections)
            lock.withLock { wakeable = multi.pointer }
            serve(multi)
            // From here on nobody wakes the handle, which is about to go.
            lock.withLock { wakeable = nil }
            endAll(on: multi)
        } catch {
            refuseAll(error)
        }
    }

    private func serve(_ multi: MultiHandle) {
        while true {
            let (transfers, isStopping) = takeInbox()
            for transfer in transfers {
                if !transfer.isOver { begin(transfer, on: multi) } else { remove(transfer, from: multi) }
            }
            if isStopping { return }
            var active: Int32 = 0
            let outcome = curl_multi_perform(multi.pointer, &active)
            var hasCompleted = false
            while let (handle, result) = multi.nextResult() {
                complete(handle, result, on: multi)
                hasCompleted = true
            }
            if hasCompleted, running.isEmpty { linger() }
            if outcome != CURLM_OK {
                failAll("libcurl stopped: \(String(cString: curl_multi_strerror(outcome)))", on: multi)
            } else if mayWait() {
                // A wake-up ends the wait; the limit is only a safety net.
                curl_multi_poll(multi.pointer, nil, 0, 10_000, nil)
            }
        }
    }

    /// Waits a moment for a transfer: whoever got an answer often sends the next request at once, and to sleep and be
    /// woken takes longer than that.
    private func linger() {
        let end = DispatchTime.now().uptimeNanoseconds + Self.lingering
        while lock.withLock({ inbox.isEmpty && !isStopping }), DispatchTime.now().uptimeNanoseconds < end {
            sched_yield()
        }
    }

    private func begin(_ transfer: Transfer, on multi: MultiHandle) {
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
            transfer.finish(.failure(error))
        }
    }

    private func complete(_ handle: UnsafeMutableRawPointer, _ result: CURLcode, on multi: MultiHandle) {
        guard let transfer = running[handle] else { return }
        transfer.complete(result)
        remove(transfer, from: multi)
    }

    private func remove(_ transfer: Transfer, from multi: MultiHandle) {
        guard let easy = transfer.easy else { return }
        curl_multi_remove_handle(multi.pointer, easy.pointer)
        running[easy.pointer] = nil
        transfer.easy = nil
        easy.reset()
        if pool.count < Self.idleHandles { pool.append(easy) }
    }

    private func failAll(_ message: String, on multi: MultiHandle) {
        for transfer in running.values {
            transfer.finish(
                .failure(
                    TransportError(.other, requestDidNotLeave: false, host: transfer.host, message: message)))
            remove(transfer, from: multi)
        }
    }

    private func endAll(on multi: MultiHandle) {
        for transfer in running.values {
            transfer.finish(.failure(Self.shutdownError(transfer, didNotLeave: false)))
            remove(transfer, from: multi)
        }
        pool = []
    }

    /// Without a multi handle every transfer fails, those to come as well.
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
            .shutdown, requestDidNotLeave: didNotLeave, host: transfer.host, message: "the client was shut down"
        )
    }
}
