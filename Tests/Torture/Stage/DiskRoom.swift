import Foundation

/// The room on the disk for what the workers write, which may be taken away for a while.
///
/// Nobody needs to fill a disk for it: the system lets the files of a process grow up to a limit
/// only.
final class DiskRoom: @unchecked Sendable {
    // Sendable because every stored variable is only touched under `lock`.
    private struct Tenant { weak var worker: WorkerProcess? }

    private let lock = NSLock()
    private var tenants: [Tenant] = []
    private var limit: UInt64?

    /// Whether this system can do it.
    #if os(Linux)
        static let canBeTaken = true
    #else
        static let canBeTaken = false
    #endif

    /// Puts a new worker under what is so at the moment.
    func admit(_ worker: WorkerProcess) {
        let limit = lock.withLock {
            tenants.removeAll { $0.worker?.state.hasEnded ?? true }
            tenants.append(Tenant(worker: worker))
            return self.limit
        }
        if let limit { worker.limitFiles(to: limit) }
    }

    /// Lets no worker write beyond so many bytes of any file, or as far as it wants again.
    ///
    /// - Returns: Whether some worker was there to feel it.
    @discardableResult
    func limit(to bytes: UInt64?) -> Bool {
        let workers = lock.withLock {
            limit = bytes
            return tenants.compactMap(\.worker).filter { !$0.state.hasEnded }
        }
        for worker in workers { worker.limitFiles(to: bytes) }
        return !workers.isEmpty
    }
}

extension WorkerProcess {
    /// Lets none of its files grow beyond so many bytes; nil for what it may by itself.
    func limitFiles(to bytes: UInt64?) {
        #if os(Linux)
            typealias Function =
                @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?)
                -> Int32
            // prlimit(2) is not in every module of the C library.
            guard !state.hasEnded, let address = dlsym(nil, "prlimit") else { return }
            let limitProcess = unsafeBitCast(address, to: Function.self)
            let resource = Int32(bitPattern: RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            guard limitProcess(process, resource, nil, &limit) == 0 else { return }
            limit.rlim_cur = bytes.map { min(rlim_t($0), limit.rlim_max) } ?? limit.rlim_max
            _ = limitProcess(process, resource, &limit, nil)
        #endif
    }
}
