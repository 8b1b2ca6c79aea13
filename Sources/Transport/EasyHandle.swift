import CCurl
import Foundation

/// The owner of one libcurl easy handle.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>

    init() throws(TransportError) {
        try startLibrary()
        guard let pointer = curl_easy_init() else {
            throw .refused(.other, "libcurl gave no handle; the process is short of memory")
        }
        self.pointer = pointer
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorBuffer.deallocate()
    }

    /// Resets every option; the handle keeps its connections and TLS session.
    func reset() {
        curl_easy_reset(pointer)
        errorBuffer.pointee = 0
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(mb_easy_setopt_long(pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String) throws(TransportError) {
        try check(mb_easy_setopt_string(pointer, option, value), option)
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(TransportError) {
        try check(mb_easy_setopt_pointer(pointer, option, value), option)
    }

    func set(_ option: CURLoption, callback: @escaping mb_data_callback) throws(TransportError) {
        try check(mb_easy_setopt_data_callback(pointer, option, callback), option)
    }

    /// Registers `callback` to be called with `context` right before the first byte of the request
    /// is written.
    func checkBeforeSending(
        _ callback: @escaping curl_prereq_callback, _ context: UnsafeMutableRawPointer
    ) throws(TransportError) {
        try check(
            mb_easy_setopt_departure_callback(pointer, callback, context), CURLOPT_PREREQFUNCTION)
    }

    /// Keeps the connections from being inherited by child processes.
    func closeInChildren() throws(TransportError) {
        let result = mb_easy_setopt_socket_callback(pointer) { _, socket, _ in
            fcntl(socket, F_SETFD, FD_CLOEXEC) == -1 ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK
        }
        try check(result, CURLOPT_SOCKOPTFUNCTION)
    }

    /// Refuses connections to addresses of this machine and of private networks, whatever the
    /// host's name.
    func openPublicAddressesOnly() throws(TransportError) {
        let result = mb_easy_setopt_open_callback(pointer) { _, _, address in
            address.map(publicSocket) ?? -1
        }
        try check(result, CURLOPT_OPENSOCKETFUNCTION)
    }

    /// Sets the bytes to send; libcurl copies them.
    func setBody(_ bytes: [UInt8]) throws(TransportError) {
        try check(
            mb_easy_setopt_off_t(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)),
            CURLOPT_POSTFIELDSIZE_LARGE)
        // An empty array may have no address, and a null address would mean "read the body from a
        // callback".
        let source = bytes.isEmpty ? [0] : bytes
        let result = source.withUnsafeBytes { buffer in
            mb_easy_setopt_pointer(
                pointer, CURLOPT_COPYPOSTFIELDS,
                UnsafeMutableRawPointer(mutating: buffer.baseAddress))
        }
        try check(result, CURLOPT_COPYPOSTFIELDS)
    }

    /// Makes libcurl write its message about a failure to ``errorText``.
    func recordErrors() throws(TransportError) {
        errorBuffer.pointee = 0
        try set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(errorBuffer))
    }

    /// libcurl's message about the last failure; empty if there is none.
    ///
    /// May contain URLs, so it must not be printed unchanged.
    var errorText: String { String(cString: errorBuffer) }

    func integer(_ info: CURLINFO) -> Int {
        var value = 0
        return mb_easy_getinfo_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return mb_easy_getinfo_off_t(pointer, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func socket(_ info: CURLINFO) -> curl_socket_t? {
        var value: curl_socket_t = -1
        return mb_easy_getinfo_socket(pointer, info, &value) == CURLE_OK && value >= 0 ? value : nil
    }

    private func check(_ result: CURLcode, _ option: CURLoption) throws(TransportError) {
        guard result == CURLE_OK else {
            throw TransportError(
                .other, requestDidNotLeave: true,
                message: "libcurl refused option \(option.rawValue): \(result.text)")
        }
    }
}

/// Opens a socket for a public address; returns -1, which ends the attempt, for any other.
private func publicSocket(_ target: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    // The address is longer than its declared type, so it is read in place.
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
    let address = (UnsafeRawPointer(target) + offset).assumingMemoryBound(to: sockaddr.self)
    guard !HostPlace.isLocal(address) else { return -1 }
    return socket(target.pointee.family, target.pointee.socktype, target.pointee.protocol)
}

/// The owner of one libcurl multi handle.
final class MultiHandle {
    let pointer: UnsafeMutableRawPointer
    /// Kept alive because libcurl's callbacks use it until the handle is freed.
    private var watch: SocketWatch?

    init() throws(TransportError) {
        try startLibrary()
        guard let pointer = curl_multi_init() else {
            throw .refused(.other, "libcurl gave no handle; the process is short of memory")
        }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }

    /// Registers a watch, to which libcurl reports the sockets and the timer of the transfers.
    ///
    /// - Throws: ``TransportError`` when libcurl refuses.
    func report(to watch: SocketWatch) throws(TransportError) {
        try watch.attach(to: self)
        self.watch = watch
    }

    /// Lets libcurl handle a ready socket.
    func act(on event: SocketWatch.Event) -> CURLMcode {
        var active: Int32 = 0
        return curl_multi_socket_action(pointer, event.socket, event.actions, &active)
    }

    /// Lets libcurl handle its expired timer.
    func actOnTimer() -> CURLMcode {
        // The value of CURL_SOCKET_TIMEOUT.
        act(on: (-1, 0))
    }

    /// The next finished transfer, with its result.
    func nextResult() -> (handle: UnsafeMutableRawPointer, result: CURLcode)? {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(pointer, &remaining) {
            if message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle {
                return (handle, mb_message_result(message))
            }
        }
        return nil
    }
}

/// The result of initializing libcurl, which must happen once per process
/// (curl_global_init(3)); a global constant is initialized once.
private let libraryStart = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

/// Initializes libcurl, unless that was done before; every owner of a handle calls this first.
///
/// - Throws: ``TransportError`` when the library cannot be used at all.
func startLibrary() throws(TransportError) {
    guard libraryStart == CURLE_OK else {
        throw .refused(.other, "libcurl did not start: \(libraryStart.text)")
    }
}

extension CURLcode {
    /// libcurl's fixed message for this code.
    var text: String { String(cString: curl_easy_strerror(self)) }
}

extension Duration {
    /// Whole milliseconds for libcurl, which reads zero as "no limit" and takes at most a 32-bit
    /// number.
    var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        guard seconds >= 0 else { return 1 }
        return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
