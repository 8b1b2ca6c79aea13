import Foundation

/// A server that cannot outlive the tests.
///
/// The server runs under a small shell script whose standard input is a pipe
/// that this process holds open. When this process ends, even by `SIGKILL`,
/// the pipe closes, and the script ends the server and removes its folder.
package final class ServerProcess: Sendable {
    /// How to start and end a kind of server.
    struct Recipe: Sendable {
        /// The program and its arguments.
        var command: [String]
        /// The folder that belongs to the server.
        var folder: String
        /// The signal that ends the server in order, such as `TERM`.
        var stopSignal: String
        /// The signal for a server whose tests are gone.
        var deathSignal: String
    }

    private let lifeline: Int32
    private let shell: pid_t
    private let recipe: Recipe
    private let state = State()

    /// `stopped` guards the one write to the lifeline.
    private final class State: @unchecked Sendable {
        // The lock makes every access to `stopped` exclusive.
        private let lock = NSLock()
        private var stopped = false

        func stopOnce(_ body: () -> Void) {
            lock.withLock {
                guard !stopped else { return }
                stopped = true
                body()
            }
        }
    }

    private static let script = """
        folder=$1; stop=$2; death=$3; shift 3
        exec 3<&0
        "$@" </dev/null >>"$folder/server.log" 2>&1 3<&- &
        pid=$!
        echo "$pid" >"$folder/server.pid"
        (
            if read -r order signal <&3; then signal=${signal:-$stop}; else signal=$death; fi
            echo "$order" >"$folder/server.order"
            kill -s "$signal" "$pid" 2>/dev/null
        ) &
        wait "$pid"
        echo $? >"$folder/server.exit"
        wait
        [ "$(cat "$folder/server.order")" = keep ] || rm -rf "$folder"
        """

    /// Starts a server and returns when `isReady` says so.
    ///
    /// - Throws: ``TestSupportError`` with the end of the server's log if it
    ///   ended, or was not ready within ``patience``.
    static func start(
        _ recipe: Recipe, isReady: @escaping @Sendable (_ log: String) -> Bool
    ) async throws -> ServerProcess {
        let server = try ServerProcess(recipe)
        try await ChildProcess.onThread { try server.waitUntil(isReady) }
        return server
    }

    private init(_ recipe: Recipe) throws {
        let shell = [
            "/bin/sh", "-c", Self.script, "server", recipe.folder, recipe.stopSignal,
            recipe.deathSignal,
        ]
        // What an earlier run on the same folder left must not be taken for this one's.
        for name in ["server.log", "server.exit", "server.order"] {
            try? FileManager.default.removeItem(atPath: recipe.folder + "/" + name)
        }
        let child = try ChildProcess.spawn(shell + recipe.command, pipe: .input)
        self.shell = child.pid
        self.lifeline = child.pipe
        self.recipe = recipe
    }

    deinit { end(keepingFolder: false) }

    /// Ends the server and returns when it has ended.
    ///
    /// - Parameters:
    ///   - keepingFolder: Whether the server's folder stays, for a later start
    ///     on the same data.
    ///   - signal: Such as `KILL`; nil for the one that ends it in order.
    func stop(keepingFolder: Bool, signal: String? = nil) async {
        try? await ChildProcess.onThread { self.end(keepingFolder: keepingFolder, signal: signal) }
    }

    private func end(keepingFolder: Bool, signal: String? = nil) {
        state.stopOnce {
            let order = Array("\(keepingFolder ? "keep" : "remove") \(signal ?? "")\n".utf8)
            _ = write(lifeline, order, order.count)
            close(lifeline)
            _ = ChildProcess.wait(for: shell)
        }
    }

    /// Lets go of the lifeline as the end of this process would, and returns
    /// when the server and its folder are gone.
    func abandon() async throws {
        try await ChildProcess.onThread {
            self.state.stopOnce {
                close(self.lifeline)
                _ = ChildProcess.wait(for: self.shell)
            }
        }
    }

    /// The last kilobytes of what the server wrote.
    var log: String {
        let data = FileManager.default.contents(atPath: recipe.folder + "/server.log") ?? Data()
        return String(decoding: data.suffix(8_192), as: UTF8.self)
    }

    /// After this time a server that is not ready counts as one that hangs; far more than any
    /// needs.
    static let patience: Duration = .seconds(1_800)

    private func waitUntil(_ isReady: (String) -> Bool) throws {
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            if isReady(log) { return }
            if FileManager.default.fileExists(atPath: recipe.folder + "/server.exit") {
                throw TestSupportError("could not start \(recipe.command[0]): it ended: \(log)")
            }
            _ = poll(nil, 0, 10)
        }
        throw TestSupportError(
            "could not start \(recipe.command[0]): not ready after \(Self.patience): \(log)")
    }

    /// The path of an installed program.
    ///
    /// - Parameters:
    ///   - name: The program.
    ///   - folders: Where to look before the folders of `PATH`.
    /// - Returns: An absolute path.
    /// - Throws: ``TestSupportError`` that names `make deps`.
    package static func locate(_ name: String, in folders: [String] = []) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        for folder in folders + path.split(separator: ":").map(String.init) {
            let candidate = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw TestSupportError("could not find \(name): install it with `make deps`")
    }
}

/// Asks again and again whether something is so, of a server that tells nobody when it is.
///
/// - Returns: False if it was not so within ``ServerProcess/patience``.
/// - Throws: What `isSo` throws.
func isSoon(_ isSo: @Sendable () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + ServerProcess.patience
    while ContinuousClock.now < end {
        if try await isSo() { return true }
        try await Task.sleep(for: .milliseconds(20))
    }
    return false
}
