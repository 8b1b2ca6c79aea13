import Foundation
import Posts
import Settings

/// The browser of the person at the terminal.
///
/// No shell is involved: the program gets the address as one argument, and only if it is a plain
/// web address.
struct Browser {
    /// The longest address that is opened, in bytes.
    private static let longestAddress = 4_096
    /// The characters that an address may contain besides letters and digits, because no program
    /// interprets them specially.
    private static let plainSigns = Set("-._~:/?#[]@&=%+,".utf8)

    /// The program's path and its arguments.
    private let words: [String]
    private let environment: [String: String]

    /// Finds the browser; nil if none can be opened for the person: without a terminal, without a
    /// display, or if none is installed.
    ///
    /// The variable `BROWSER` lists programs, separated by colons, each with arguments and perhaps
    /// `%s` for the address. If none of them can be used, the system's program for opening
    /// addresses is.
    ///
    /// - Parameter console: The console of the command.
    init?(_ console: Console) {
        let environment = console.environment
        guard console.input.isInteractive, Self.hasScreen(environment) else { return nil }
        let listedPrograms =
            environment["BROWSER"].map { $0.split(separator: ":").map(String.init) } ?? []
        let commands = (listedPrograms + [Self.defaultProgram]).lazy
            .map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
            .compactMap { words -> [String]? in
                guard let name = words.first, let path = Self.path(of: name, environment) else {
                    return nil
                }
                return [path] + words.dropFirst()
            }
        guard let words = commands.first else { return nil }
        self.words = words
        let secrets = Set(AnySetting.all.filter(\.isSecret).map(\.name))
        self.environment = environment.filter { !secrets.contains($0.key) }
    }

    #if os(macOS)
        private static let defaultProgram = "open"

        /// Whether the person sits at this machine, and not at the other end of an SSH connection.
        private static func hasScreen(_ environment: [String: String]) -> Bool {
            ["SSH_CONNECTION", "SSH_TTY"].allSatisfy { environment[$0, default: ""].isEmpty }
        }
    #else
        private static let defaultProgram = "xdg-open"

        /// Whether the environment names a display of X11 or Wayland.
        private static func hasScreen(_ environment: [String: String]) -> Bool {
            ["DISPLAY", "WAYLAND_DISPLAY"].contains { !environment[$0, default: ""].isEmpty }
        }
    #endif

    /// The path of a program; only absolute folders are searched.
    private static func path(of name: String, _ environment: [String: String]) -> String? {
        if name.contains("/") { return name.hasPrefix("/") && isProgram(name) ? name : nil }
        return environment["PATH", default: ""].split(separator: ":").lazy
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(where: isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    /// Whether an address, which a server may have chosen, is a plain web address.
    static func isPlain(_ address: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { address.hasPrefix($0) }),
            (scheme.utf8.count + 1...longestAddress).contains(address.utf8.count)
        else { return false }
        return address.utf8.allSatisfy { $0.isASCIIAlphanumeric || plainSigns.contains($0) }
    }

    /// Opens an address, without waiting for the program.
    ///
    /// - Returns: Whether the program was started; false also for an address that is not plain.
    func open(_ address: String) -> Bool {
        guard Self.isPlain(address) else { return false }
        let hasPlaceholder = words.contains { $0.contains("%s") }
        let arguments =
            words.map { $0.replacing("%s", with: address) } + (hasPlaceholder ? [] : [address])
        guard let process = start(arguments) else { return false }
        // The program may run as long as its window is open.
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        return true
    }

    /// Starts the program in a process group of its own, which Ctrl-C at our terminal does not end,
    /// and without our streams.
    private func start(_ arguments: [String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for stream: Int32 in [1, 2] {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        var argv = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for case let text? in argv + variables { free(text) } }
        var process: pid_t = 0
        guard posix_spawn(&process, arguments[0], &actions, &attributes, &argv, &variables) == 0
        else { return nil }
        return process
    }
}
