import CCurl
import Foundation

/// One request under way and the task that waits for it.
final class Transfer: @unchecked Sendable {
    // Unchecked because `phase` is only touched while `lock` is held, `request` never changes, and the rest belongs to
    // the loop's thread.
    private enum Phase {
        case created
        case waiting(CheckedContinuation<HTTPResponse, any Error>)
        case over
    }

    let request: PreparedRequest
    private let lock = NSLock()
    private var phase = Phase.created

    /// The handle in use, while the transfer is in the loop.
    var easy: EasyHandle?
    private var reader: ResponseReader

    init(_ request: PreparedRequest) {
        self.request = request
        reader = ResponseReader(maximumBodyBytes: request.maximumBodyBytes)
    }

    var isOver: Bool {
        lock.withLock {
            if case .over = phase { true } else { false }
        }
    }

    /// False, and the continuation resumed, when the transfer was cancelled before.
    func wait(with continuation: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
        let isFirst = lock.withLock {
            guard case .created = phase else { return false }
            phase = .waiting(continuation)
            return true
        }
        if !isFirst { continuation.resume(throwing: CancellationError()) }
        return isFirst
    }

    /// Wakes the waiting task; only the first call counts.
    ///
    /// - Parameter result: What the task gets.
    /// - Returns: True when the loop may know the transfer.
    @discardableResult
    func finish(_ result: Result<HTTPResponse, any Error>) -> Bool {
        let waiting: CheckedContinuation<HTTPResponse, any Error>? = lock.withLock {
            defer { phase = .over }
            if case .waiting(let continuation) = phase { return continuation }
            return nil
        }
        waiting?.resume(with: result)
        return waiting != nil
    }

    /// Sets the options and the callbacks, which find the transfer by its address: it must outlive its time in the
    /// multi handle.
    func prepare(_ easy: EasyHandle) throws(TransportError) {
        try request.apply(to: easy)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_HEADERFUNCTION, callback: receiveHeaderLine)
        try easy.set(CURLOPT_HEADERDATA, pointer: context)
        try easy.set(CURLOPT_WRITEFUNCTION, callback: receiveBodyBytes)
        try easy.set(CURLOPT_WRITEDATA, pointer: context)
    }

    func receive(headerLine: UnsafeRawBufferPointer) -> Bool { reader.receive(headerLine: headerLine) }

    func receive(body: UnsafeRawBufferPointer) -> Bool { reader.receive(body: body) }

    /// Ends the transfer with what libcurl reported.
    func complete(_ result: CURLcode) {
        guard let easy else { return }
        let status = easy.integer(CURLINFO_RESPONSE_CODE)
        if result == CURLE_OK, (100...999).contains(status) {
            finish(.success(reader.response(status: status)))
        } else {
            let beginning = reader.beginning(status: status)
            finish(
                .failure(
                    TransportError(
                        result, easy, host: request.host, refusal: reader.refusal, beginning: beginning)))
        }
    }
}

/// libcurl calls this on the loop's thread with one complete header line (CURLOPT_HEADERFUNCTION(3)).
private func receiveHeaderLine(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let data, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return transfer.receive(headerLine: bytes) ? bytes.count : 0
}

/// libcurl calls this on the loop's thread with decoded bytes of the body (CURLOPT_WRITEFUNCTION(3)).
private func receiveBodyBytes(
    data: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    guard let data, let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return transfer.receive(body: bytes) ? bytes.count : 0
}
